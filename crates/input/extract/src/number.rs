//! Numbers for comparisons, which are exact if both are whole.

use drumfire_units::{ByteSize, Nanos};
use std::cmp::Ordering;

/// A number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Number {
    /// A whole number.
    Whole(i128),
    /// Any other number, as the nearest 64-bit float.
    Real(f64),
}

impl Number {
    /// A decimal number in the forms of JSON, header fields and texts.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        // Rust also parses `inf`, `nan` and `infinity`, which are words here.
        let is_decimal = text.bytes().any(|b| b.is_ascii_digit())
            && text
                .bytes()
                .all(|b| b.is_ascii_digit() || b"+-.eE".contains(&b));
        if !is_decimal {
            return None;
        }
        let whole = text.parse().ok().map(Self::Whole);
        whole.or_else(|| text.parse().ok().map(Self::Real))
    }

    /// A limit in a plan: a number, a time (in seconds) or a size (in bytes).
    pub(crate) fn parse_limit(text: &str) -> Option<Self> {
        if let Some(number) = Self::parse(text) {
            return Some(number);
        }
        if let Ok(size) = text.parse::<ByteSize>() {
            return Some(Self::Whole(size.0.into()));
        }
        let time = text.parse::<Nanos>().ok()?;
        Some(Self::Real(time.as_secs_f64()))
    }

    /// The order of two numbers; `None` if one is NaN.
    pub(crate) fn compare(self, other: Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Whole(a), Self::Whole(b)) => Some(a.cmp(&b)),
            (a, b) => a.as_real().partial_cmp(&b.as_real()),
        }
    }

    fn as_real(self) -> f64 {
        match self {
            Self::Whole(n) => n as f64,
            Self::Real(x) => x,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Number;
    use std::cmp::Ordering::{Equal, Greater, Less};

    #[test]
    fn numbers_compare_by_value() {
        let of = |text| Number::parse_limit(text).expect(text);
        for (a, order, b) in [
            ("1", Less, "2"),
            ("1.0", Equal, "1"),
            ("1e3", Equal, "1000"),
            ("-1", Less, "0"),
            ("9007199254740993", Greater, "9007199254740992"),
            ("10kB", Equal, "10000"),
            ("1KiB", Equal, "1024"),
            ("500ms", Equal, "0.5"),
            ("250us", Less, "0.0003"),
            ("1m", Equal, "60"),
        ] {
            assert_eq!(of(a).compare(of(b)), Some(order), "{a} {b}");
        }
        for text in [
            "", "x", "nan", "inf", "1x", "0x10", "--1", "1 2", "e", "500 ms",
        ] {
            assert_eq!(Number::parse_limit(text), None, "{text}");
        }
    }
}
