//! Time in whole nanoseconds.

use std::fmt;
use std::ops::{Add, AddAssign, Sub};
use std::str::FromStr;
use std::time::Duration;

/// A span of time, or a point in time since the start of a run, in whole nanoseconds.
///
/// The range is 0 to about 584 years. Addition and subtraction saturate: a point in time before the
/// start becomes the start, and [`Nanos::MAX`] means "never".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Nanos(pub u64);

impl Nanos {
    /// The start of a run; an empty span.
    pub const ZERO: Self = Self(0);
    /// Later than any event: "never".
    pub const MAX: Self = Self(u64::MAX);

    /// A span of `n` microseconds.
    #[must_use]
    pub const fn from_micros(n: u64) -> Self {
        Self(n * 1_000)
    }

    /// A span of `n` milliseconds.
    #[must_use]
    pub const fn from_millis(n: u64) -> Self {
        Self(n * 1_000_000)
    }

    /// A span of `n` seconds.
    #[must_use]
    pub const fn from_secs(n: u64) -> Self {
        Self(n * 1_000_000_000)
    }

    /// The span in seconds, only for printing and for rates.
    #[must_use]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// The span as the standard library's type.
    #[must_use]
    pub const fn as_duration(self) -> Duration {
        Duration::from_nanos(self.0)
    }
}

impl Add for Nanos {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Nanos {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Nanos {
    type Output = Self;
    #[inline]
    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl From<Duration> for Nanos {
    fn from(duration: Duration) -> Self {
        Self(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
    }
}

/// Written names of units after a number.
const SPANS: [(&str, &[&str]); 5] = [
    (
        "ms",
        &["ms", "msec", "millis", "millisecond", "milliseconds"],
    ),
    ("s", &["s", "sec", "secs", "second", "seconds"]),
    ("m", &["m", "min", "mins", "minute", "minutes"]),
    ("h", &["h", "hr", "hrs", "hour", "hours"]),
    ("d", &["d", "day", "days"]),
];

/// The short form of a span in words: `s` for `second`, `2s` for `2 seconds`, `1m30s` unchanged.
pub(crate) fn span_in_words(text: &str) -> Option<String> {
    let text: String = text
        .split_whitespace()
        .collect::<String>()
        .to_ascii_lowercase();
    if text.parse::<Nanos>().is_ok() {
        return Some(text);
    }
    let (number, unit) = text.split_at(text.find(char::is_alphabetic)?);
    let known = SPANS.iter().find(|(_, names)| names.contains(&unit));
    known.map(|(unit, _)| format!("{number}{unit}"))
}

/// The error of a text that is not a duration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseNanosError {
    text: String,
    fault: Fault,
}

/// The mistake in a duration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// A number lacks its unit, or is not a number.
    Form,
    /// More than [`Nanos::MAX`].
    TooLong,
    /// Less than a nanosecond, but not 0.
    TooShort,
}

impl fmt::Display for ParseNanosError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.text.is_empty() {
            return f.write_str("the duration is missing; write one such as 10s");
        }
        let text = self.text.escape_debug();
        match self.fault {
            Fault::Form => {}
            Fault::TooLong => return write!(f, "`{text}` is too long; write at most {DAYS_MAX}d"),
            Fault::TooShort => return write!(f, "`{text}` is too short; write at least 1ns, or 0"),
        }
        let meant = span_in_words(&self.text).filter(|meant| meant.parse::<Nanos>().is_ok());
        match meant {
            Some(meant) => write!(f, "`{text}` is not a duration; write {meant}"),
            None => write!(
                f,
                "`{text}` is not a duration; write a number with a unit, such as 10s, 1m30s, \
                 500ms, 250us or 2h"
            ),
        }
    }
}

impl std::error::Error for ParseNanosError {}

/// The whole days in [`Nanos::MAX`].
const DAYS_MAX: u64 = u64::MAX / UNITS[7].1;

/// Units by suffix. `µ` is the micro sign or the Greek letter.
const UNITS: [(&str, u64); 9] = [
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
    ("d", 86_400_000_000_000),
    ("μs", 1_000),
];

impl FromStr for Nanos {
    type Err = ParseNanosError;

    /// Parses `10s`, `1m30s`, `1.5h`, `250us`; `0` needs no unit.
    ///
    /// # Errors
    /// If a number has no unit, a unit is unknown, the sum exceeds [`Nanos::MAX`], or a nonzero
    /// number is below a nanosecond: 0 often means "forever".
    fn from_str(text: &str) -> Result<Self, ParseNanosError> {
        let wrong = |fault| ParseNanosError {
            text: text.chars().take(64).collect(),
            fault,
        };
        let fail = || wrong(Fault::Form);
        if text == "0" {
            return Ok(Self::ZERO);
        }
        let mut rest = text;
        let mut total: u128 = 0;
        if rest.is_empty() {
            return Err(fail());
        }
        while !rest.is_empty() {
            let digits = rest
                .find(|c: char| !c.is_ascii_digit() && c != '.')
                .ok_or_else(fail)?;
            let (number, tail) = rest.split_at(digits);
            let length = tail
                .find(|c: char| c.is_ascii_digit() || c == '.')
                .unwrap_or(tail.len());
            let (suffix, tail) = tail.split_at(length);
            let (_, scale) = *UNITS
                .iter()
                .find(|(name, _)| *name == suffix)
                .ok_or_else(fail)?;
            let is_whole = number.bytes().all(|byte| byte.is_ascii_digit());
            let part = match decimal_times(number, scale) {
                None if is_whole && !number.is_empty() => u128::MAX,
                part => part.ok_or_else(fail)?,
            };
            total = total.saturating_add(part);
            rest = tail;
        }
        if total == 0 && text.contains(|c| matches!(c, '1'..='9')) {
            return Err(wrong(Fault::TooShort));
        }
        u64::try_from(total)
            .map(Self)
            .map_err(|_| wrong(Fault::TooLong))
    }
}

/// `number` (decimal, at most 18 digits on either side of the point) times `scale`, rounded down.
fn decimal_times(number: &str, scale: u64) -> Option<u128> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if (whole.is_empty() && fraction.is_empty()) || whole.len() > 18 || fraction.len() > 18 {
        return None;
    }
    let parse = |digits: &str| {
        if digits.is_empty() {
            Some(0)
        } else {
            digits.parse::<u128>().ok()
        }
    };
    let tenths = 10_u128.pow(u32::try_from(fraction.len()).ok()?);
    Some(parse(whole)? * u128::from(scale) + parse(fraction)? * u128::from(scale) / tenths)
}

impl fmt::Display for Nanos {
    /// Prints a form that parses to the same value: `1m30s`, `500ms`, `1s250ms`, `0`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 0 {
            return f.write_str("0");
        }
        let mut rest = self.0;
        for (name, scale) in [
            ("h", UNITS[6].1),
            ("m", UNITS[5].1),
            ("s", UNITS[4].1),
            ("ms", 1_000_000),
            ("us", 1_000),
            ("ns", 1),
        ] {
            if rest >= scale {
                write!(f, "{}{name}", rest / scale)?;
                rest %= scale;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_what_it_parses() {
        for text in ["1m30s", "500ms", "250us", "2h", "1s250ms", "7ns", "0"] {
            assert_eq!(text.parse::<Nanos>().unwrap().to_string(), text);
        }
        assert_eq!("1.5s".parse::<Nanos>(), Ok(Nanos::from_millis(1500)));
        assert_eq!("0.0s".parse::<Nanos>(), Ok(Nanos::ZERO));
        assert_eq!("1d".parse::<Nanos>(), Ok(Nanos::from_secs(86_400)));
        for micro in ["1us", "1\u{b5}s", "1\u{3bc}s"] {
            assert_eq!(micro.parse::<Nanos>(), Ok(Nanos(1_000)), "{micro}");
        }
    }

    #[test]
    fn durations_in_words_are_understood_and_not_taken() {
        for (text, meant) in [
            ("10 seconds", "write 10s"),
            ("10sec", "write 10s"),
            ("1 Min", "write 1m"),
            ("1m 30s", "write 1m30s"),
            ("1.5 hours", "write 1.5h"),
            ("10S", "write 10s"),
            ("1 week", "such as 10s"),
            ("second", "such as 10s"),
            ("10", "such as 10s"),
            ("", "the duration is missing"),
            ("∞", "`∞` is not a duration"),
            ("213504d", "`213504d` is too long; write at most 213503d"),
            (
                "99999999999999999999s",
                "is too long; write at most 213503d",
            ),
            ("0.1ns", "`0.1ns` is too short; write at least 1ns, or 0"),
            ("1s..2s", "such as 10s"),
        ] {
            let error = text.parse::<Nanos>().expect_err(text).to_string();
            assert!(error.contains(meant), "{error}");
        }
    }

    #[test]
    fn refuses_what_is_not_a_duration() {
        for text in [
            "",
            "10",
            "s",
            "-5s",
            "1 week",
            "1h30",
            "∞",
            "1..5s",
            "1e3s",
            "999999999h",
            ".s",
            "0.1ns",
            "0.000000000000000001h",
            &"999999999999999999d".repeat(100),
        ] {
            assert!(text.parse::<Nanos>().is_err(), "{text}");
        }
    }
}
