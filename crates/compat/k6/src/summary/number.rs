//! Numbers as summaries write them.

use serde_json::{Number, Value};

use crate::metric::Kind;
use crate::metrics::Contains;

/// A fixed unit of times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeUnit {
    /// Seconds.
    Seconds,
    /// Milliseconds.
    Milliseconds,
    /// Microseconds.
    Microseconds,
}

impl TimeUnit {
    /// Parse `s`, `ms` or `us`.
    ///
    /// # Errors
    ///
    /// The unit is unknown.
    pub fn parse(text: &str) -> Result<Self, String> {
        match text {
            "s" => Ok(Self::Seconds),
            "ms" => Ok(Self::Milliseconds),
            "us" => Ok(Self::Microseconds),
            _ => Err(format!("unknown time unit `{text}`; use s, ms or us")),
        }
    }

    /// The name in options.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Seconds => "s",
            Self::Milliseconds => "ms",
            Self::Microseconds => "us",
        }
    }

    fn text(self, milliseconds: f64) -> String {
        match self {
            Self::Seconds => format!("{}s", fixed(milliseconds * 0.001, 2)),
            Self::Milliseconds => format!("{}ms", fixed(milliseconds, 2)),
            Self::Microseconds => format!("{}µs", fixed(milliseconds * 1000.0, 2)),
        }
    }
}

/// What a number is, and how it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// A number.
    Plain,
    /// A share of 1, as a percentage.
    Share,
    /// Bytes.
    Bytes,
    /// Milliseconds, in this unit.
    Time(Option<TimeUnit>),
}

impl Unit {
    pub(crate) fn of(kind: Kind, contains: Contains, unit: Option<TimeUnit>) -> Self {
        match (kind, contains) {
            (Kind::Rate, _) => Self::Share,
            (_, Contains::Default) => Self::Plain,
            (_, Contains::Data) => Self::Bytes,
            (_, Contains::Time) => Self::Time(unit),
        }
    }

    pub(crate) fn text(self, value: f64) -> String {
        match self {
            Self::Plain => plain(value),
            Self::Share => percent(value),
            Self::Bytes => bytes(value),
            Self::Time(Some(unit)) => unit.text(value),
            Self::Time(None) => time(value),
        }
    }
}

/// A percentage that is cut after two digits: 2 of 3 are 66.66 %.
pub(super) fn percent(share: f64) -> String {
    let cut = (share * 100.0 * 100.0).trunc() / 100.0;
    format!("{}%", fixed(cut, 2))
}

/// At most six digits after the point.
fn plain(value: f64) -> String {
    shortest(fixed(value, 6).parse().unwrap_or(value))
}

/// Bytes in units of 1000: one digit after the point below 10.
fn bytes(value: f64) -> String {
    const UNITS: [&str; 7] = ["B", "kB", "MB", "GB", "TB", "PB", "EB"];
    if value < 10.0 {
        return format!("{} B", shortest(value));
    }
    let power = (value.ln() / 1000_f64.ln()).floor().clamp(0.0, 6.0);
    let part = (value / 1000_f64.powf(power) * 10.0 + 0.5).floor() / 10.0;
    let digits = usize::from(part < 10.0);
    format!("{} {}", fixed(part, digits), UNITS[power as usize])
}

/// Milliseconds in a unit that fits.
fn time(milliseconds: f64) -> String {
    if milliseconds == 0.0 {
        return "0s".to_owned();
    }
    if milliseconds < 0.001 {
        return format!("{}ns", shortest((milliseconds * 1e6).trunc() + 0.0));
    }
    if milliseconds < 1.0 {
        return format!("{}µs", cut(milliseconds * 1000.0));
    }
    if milliseconds < 1000.0 {
        return format!("{}ms", cut(milliseconds));
    }
    let seconds = milliseconds / 1000.0;
    if seconds < 60.0 {
        return format!("{}s", cut(seconds));
    }
    let whole = seconds.trunc();
    let (minutes, hours) = ((whole / 60.0).trunc(), (whole / 3600.0).trunc());
    let rest = whole - minutes * 60.0;
    if hours > 0.0 {
        return format!("{hours}h{}m{rest}s", minutes - hours * 60.0);
    }
    format!("{minutes}m{rest}s")
}

/// At most two digits after the point; the rest is cut.
fn cut(value: f64) -> String {
    shortest((value * 100.0).trunc() / 100.0)
}

/// So many digits after the point. A value in the middle of two texts becomes the greater one, as in
/// JavaScript; beyond 10²¹ there is no point.
fn fixed(value: f64, digits: usize) -> String {
    if !value.is_finite() || value.abs() >= 1e21 {
        return shortest(value);
    }
    let text = format!("{value:.digits$}");
    let exact = format!("{value:.0$}", digits + 60);
    let tail = exact
        .rfind('.')
        .map_or("", |point| &exact[point + 1 + digits..]);
    let is_middle = tail.starts_with('5') && tail[1..].bytes().all(|digit| digit == b'0');
    if !is_middle {
        return text;
    }
    let step = 0.25 * 10_f64.powi(-(digits as i32));
    format!("{:.digits$}", value + step.copysign(value))
}

/// The shortest text that reads as the value, as JavaScript writes it.
pub(crate) fn shortest(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }
    if value.abs() >= 1e21 {
        return format!("{value:e}").replace('e', "e+");
    }
    if value.abs() < 1e-6 {
        return format!("{value:e}");
    }
    value.to_string()
}

/// A number of JSON without a needless `.0`; null if it is not finite.
pub(crate) fn json_number(value: f64) -> Value {
    const WHOLE_MAX: f64 = 9_007_199_254_740_992.0;
    if value.fract() == 0.0 && value.abs() <= WHOLE_MAX {
        return Value::from(value as i64);
    }
    Number::from_f64(value).map_or(Value::Null, Value::Number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn times() {
        for (milliseconds, text) in [
            (0.0, "0s"),
            (4e-7, "0ns"),
            (0.00099, "990ns"),
            (0.001, "1µs"),
            (0.0011, "1.1µs"),
            (0.9999, "999.9µs"),
            (1.005, "1ms"),
            (1.999_999, "1.99ms"),
            (999.9999, "999.99ms"),
            (1000.0, "1s"),
            (12_345.0, "12.34s"),
            (59_999.0, "59.99s"),
            (60_500.0, "1m0s"),
            (61_500.0, "1m1s"),
            (119_999.0, "1m59s"),
            (3_661_001.5, "1h1m1s"),
            (90_000_000.0, "25h0m0s"),
            (-5.0, "-5000000ns"),
        ] {
            assert_eq!(Unit::Time(None).text(milliseconds), text, "{milliseconds}");
        }
        for (unit, text) in [
            ("s", "61.00s"),
            ("ms", "61000.00ms"),
            ("us", "61000000.00µs"),
        ] {
            let unit = TimeUnit::parse(unit).expect(unit);
            assert_eq!(Unit::Time(Some(unit)).text(61_000.0), text);
        }
        assert_eq!(
            TimeUnit::parse("ns"),
            Err("unknown time unit `ns`; use s, ms or us".to_owned())
        );
    }

    #[test]
    fn numbers_shares_and_bytes() {
        for (value, text) in [
            (0.123_456_4, "0.123456"),
            (0.007_812_5, "0.007813"),
            (-0.007_812_5, "-0.007813"),
            (1e20, "100000000000000000000"),
            (1.5e21, "1.5e+21"),
            (1e-7, "0"),
            (-3.25, "-3.25"),
            (1_035_713_691_843_452.8, "1035713691843452.8"),
        ] {
            assert_eq!(Unit::Plain.text(value), text);
        }
        for (share, text) in [
            (2.0 / 3.0, "66.66%"),
            (1.0, "100.00%"),
            (1.0 / 29_997.0, "0.00%"),
            (0.0, "0.00%"),
        ] {
            assert_eq!(Unit::Share.text(share), text);
        }
        for (value, text) in [
            (0.0, "0 B"),
            (3.5, "3.5 B"),
            (222.0, "222 B"),
            (999.96, "1000 B"),
            (1000.0, "1.0 kB"),
            (3400.0, "3.4 kB"),
            (18_000.0, "18 kB"),
            (1.25e9, "1.3 GB"),
        ] {
            assert_eq!(Unit::Bytes.text(value), text);
        }
    }

    proptest! {
        /// A text never shows more than the value has, and at most a hundredth less.
        #[test]
        fn times_are_cut(seconds in 1.0_f64..59.9) {
            let text = Unit::Time(None).text(seconds * 1000.0);
            let shown: f64 = text.trim_end_matches('s').parse().expect("a number");
            prop_assert!(shown <= seconds + 1e-9 && seconds - shown < 0.010_001, "{text} of {seconds}");
        }

        #[test]
        fn json_numbers_read_as_the_value(value in prop::num::f64::NORMAL) {
            let text = json_number(value).to_string();
            prop_assert_eq!(text.parse::<f64>().expect("a number"), value);
        }
    }
}
