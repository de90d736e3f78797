//! Numbers as they are compared: exactly where both are whole.

use drumfire_units::{ByteSize, Nanos};
use std::cmp::Ordering;

/// A number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Number {
    /// A whole one.
    Whole(i128),
    /// Any other, to the nearest that 64 bits hold.
    Real(f64),
}

impl Number {
    /// A decimal number as JSON, header fields and texts have it.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        // Rust also reads `inf`, `nan` and `infinity`, which are words here.
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

    /// A limit as a plan has it: a number, a time (which compares as seconds) or a size (as bytes).
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

    /// How two numbers compare; never if one is no number.
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
