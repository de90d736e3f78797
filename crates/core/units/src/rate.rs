//! Events per time, as an exact ratio.

use crate::Nanos;
use crate::nanos::span_in_words;
use std::fmt;
use std::str::FromStr;

/// A rate: `events` in each span of `per`, exact and never converted to a float.
///
/// `90/m` is 90 events per 60 s; `0.2/s` is 2 events per 10 s.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rate {
    /// The number of events in `per`; zero is a pause.
    pub events: u64,
    /// The span of `events`; never zero.
    pub per: Nanos,
}

impl Rate {
    /// `events` per second.
    #[must_use]
    pub const fn per_second(events: u64) -> Self {
        Self {
            events,
            per: Nanos::from_secs(1),
        }
    }

    /// Events per second, only for printing.
    #[must_use]
    pub fn as_per_second(self) -> f64 {
        self.events as f64 * 1e9 / self.per.0 as f64
    }
}

/// Counted things, which may be written before the unit of a rate.
const COUNTED: [&str; 27] = [
    "r",
    "rq",
    "rqs",
    "req",
    "reqs",
    "request",
    "requests",
    "q",
    "query",
    "queries",
    "call",
    "calls",
    "op",
    "ops",
    "iter",
    "iters",
    "iteration",
    "iterations",
    "user",
    "users",
    "hit",
    "hits",
    "message",
    "messages",
    "arrivals",
    "transactions",
    "times",
];

/// Units in one word; the first letter is the counted thing.
const SHORT: [(&str, &str); 14] = [
    ("rps", "s"),
    ("qps", "s"),
    ("tps", "s"),
    ("ips", "s"),
    ("ops", "s"),
    ("cps", "s"),
    ("mps", "s"),
    ("ps", "s"),
    ("hz", "s"),
    ("rpm", "m"),
    ("qpm", "m"),
    ("tpm", "m"),
    ("rph", "h"),
    ("qph", "h"),
];

/// The rate that a text in words probably means, in the form of a plan: `10/s` for `10 rps`, `10
/// requests per second` or `10 / s`, `1000/s` for `1,000 req/s`, `10/2s` for `10 every 2 seconds`.
/// `None` if the text is not understood or is already a rate.
#[must_use]
pub fn rate_in_words(text: &str) -> Option<String> {
    let text = text.trim();
    let (number, words) = leading_number(text)?;
    let words = words.to_ascii_lowercase().replace('/', " / ");
    let words: Vec<&str> = words.split_whitespace().collect();
    let words = match words.as_slice() {
        [counted, rest @ ..] if !rest.is_empty() && COUNTED.contains(counted) => rest,
        all => all,
    };
    let per = match words {
        [] if text.starts_with(|c: char| c.is_ascii_digit()) => "s".to_owned(),
        [short] => {
            let known = SHORT.iter().find(|(known, _)| known == short);
            known.map(|(_, unit)| (*unit).to_owned())?
        }
        [
            "/" | "per" | "a" | "an" | "each" | "every" | "in",
            span @ ..,
        ] => span_in_words(&span.concat())?,
        _ => return None,
    };
    let meant = format!("{number}/{per}");
    (text.parse::<Rate>().is_err() && meant.parse::<Rate>().is_ok()).then_some(meant)
}

/// The number at the start of a rate in words, in the form of a plan, and the words after it:
/// `2.5k`, `1000` for `1,000` and `1e3`, 1 for `every`.
fn leading_number(text: &str) -> Option<(String, &str)> {
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    let (first, behind) = text.split_at(end);
    match &*first.to_ascii_lowercase() {
        "once" => return Some(("1".to_owned(), behind)),
        "twice" => return Some(("2".to_owned(), behind)),
        "every" | "each" => return Some(("1".to_owned(), text)),
        _ => {}
    }
    let is_number = |c: char| c.is_ascii_digit() || ".,_".contains(c);
    let end = text.find(|c| !is_number(c)).unwrap_or(text.len());
    let (number, words) = text.split_at(end);
    let number = without_groups(&number.replace('_', ""));
    let is_digit = |c: char| c.is_ascii_digit();
    if let Some(power) = words.strip_prefix(['e', 'E'])
        && power.starts_with(is_digit)
    {
        let end = power.find(|c| !is_digit(c)).unwrap_or(power.len());
        let (power, words) = power.split_at(end);
        return Some((raised(&number, power.parse().ok()?)?, words));
    }
    match words.strip_prefix(['k', 'K', 'M']) {
        Some(rest) if !rest.starts_with(char::is_alphabetic) => {
            Some((format!("{number}{}", &words[..1]), rest))
        }
        _ => Some((number, words)),
    }
}

/// `1000` for `1,000`, with groups of three digits; any other comma is a decimal point.
fn without_groups(number: &str) -> String {
    let whole = number.split('.').next().unwrap_or_default();
    let has_groups = whole.split(',').skip(1).all(|group| group.len() == 3);
    number.replace(',', if has_groups { "" } else { "." })
}

/// `6000` for `6` and 3; `None` if a fraction remains, or if the power is too large for a rate.
fn raised(number: &str, power: usize) -> Option<String> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let zeros = power.checked_sub(fraction.len()).filter(|n| *n < 20)?;
    let digits = format!("{whole}{fraction}{}", "0".repeat(zeros));
    Some(digits.trim_start_matches('0').to_owned())
}

/// The error of a text that is not a rate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseRateError {
    text: String,
    /// Whether it is a rate that is too high or too low to be counted.
    is_beyond: bool,
}

impl ParseRateError {
    /// Whether the text has the form of a rate that is too high, too low or too precise to be counted.
    #[must_use]
    pub const fn is_beyond(&self) -> bool {
        self.is_beyond
    }
}

impl fmt::Display for ParseRateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.text.is_empty() {
            return f.write_str("the rate is missing; write one such as 500/s");
        }
        let text = self.text.escape_debug();
        match rate_in_words(&self.text) {
            _ if self.is_beyond => write!(
                f,
                "`{text}` can't be counted: a rate has at most 19 digits and 9 decimals; write one \
                 such as 500/s or 1/10d"
            ),
            Some(meant) => write!(f, "`{text}` is not a rate; write {meant}"),
            None if self.text.parse::<Nanos>().is_ok() => {
                write!(
                    f,
                    "`{text}` is a time, not a rate; for one request every {text}, write 1/{text}"
                )
            }
            None => write!(
                f,
                "`{text}` is not a rate; write requests per unit of time, such as 500/s, 90/m or \
                 0.2/s, or a bare number for requests per second"
            ),
        }
    }
}

impl std::error::Error for ParseRateError {}

impl FromStr for Rate {
    type Err = ParseRateError;

    /// Parses `500/s`, `90/m`, `1000/h`, `0.2/s`, `5/10s`, `10k/s`, or a bare number per second.
    ///
    /// # Errors
    /// If the number is negative, has more than nine decimals, or does not fit into 64 bits, or if
    /// the unit is unknown.
    fn from_str(text: &str) -> Result<Self, ParseRateError> {
        let wrong = |is_beyond| ParseRateError {
            text: text.chars().take(64).collect(),
            is_beyond,
        };
        let fail = || wrong(false);
        let beyond = || wrong(true);
        let (number, unit) = text.split_once('/').unwrap_or((text, "s"));
        let per = match unit {
            "ms" | "s" | "m" | "h" | "d" => format!("1{unit}").parse::<Nanos>(),
            span => span.parse::<Nanos>(),
        }
        .map_err(|_| fail())?;
        let (number, factor) = match number.char_indices().last() {
            Some((at, 'k' | 'K')) => (&number[..at], 1_000),
            Some((at, 'M')) => (&number[..at], 1_000_000),
            _ => (number, 1),
        };
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let digits = format!("{whole}{fraction}");
        let plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
        if !plain || per == Nanos::ZERO {
            return Err(fail());
        }
        if fraction.len() > 9 {
            return Err(beyond());
        }
        let events = digits.parse::<u64>().map_err(|_| beyond())?;
        let events = events.checked_mul(factor).ok_or_else(beyond)?;
        let scale = 10_u64.pow(u32::try_from(fraction.len()).map_err(|_| beyond())?);
        let shrink = common_divisor(events, scale);
        let per = per.0.checked_mul(scale / shrink).ok_or_else(beyond)?;
        Ok(Self {
            events: events / shrink,
            per: Nanos(per),
        })
    }
}

/// Greatest common divisor; `scale` must not be zero.
fn common_divisor(a: u64, scale: u64) -> u64 {
    let (mut a, mut b) = (a, scale);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

impl fmt::Display for Rate {
    /// Prints a form that parses to the same value: `500/s`, `90/m`, `1/5s`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let per = self.per.to_string();
        write!(
            f,
            "{}/{}",
            self.events,
            per.strip_prefix('1')
                .filter(|u| u.parse::<u8>().is_err() && ["s", "m", "h", "ms"].contains(u))
                .unwrap_or(&per)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_and_prints() {
        assert_eq!("500/s".parse(), Ok(Rate::per_second(500)));
        assert_eq!("500".parse(), Ok(Rate::per_second(500)));
        let most = Rate {
            events: u64::MAX,
            per: Nanos(7),
        };
        assert_eq!(most.to_string().parse(), Ok(most));
        assert!("18446744073709551616/s".parse::<Rate>().is_err());
        assert_eq!(
            "90/m".parse(),
            Ok(Rate {
                events: 90,
                per: Nanos::from_secs(60)
            })
        );
        assert_eq!(
            "0.2/s".parse(),
            Ok(Rate {
                events: 1,
                per: Nanos::from_secs(5)
            })
        );
        assert_eq!("10k".parse(), Ok(Rate::per_second(10_000)));
        assert_eq!("1.5k/s".parse(), Ok(Rate::per_second(1_500)));
        assert_eq!("2M/s".parse(), Ok(Rate::per_second(2_000_000)));
        for text in ["500/s", "90/m", "1/5s", "3/h", "1/11s"] {
            assert_eq!(text.parse::<Rate>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn rates_in_words_are_understood_and_not_taken() {
        for (text, meant) in [
            ("10rps", "10/s"),
            ("10 RPS", "10/s"),
            ("2.5k qps", "2.5k/s"),
            ("600rpm", "600/m"),
            ("10 req/s", "10/s"),
            ("10req/sec", "10/s"),
            ("10/sec", "10/s"),
            ("10 / s", "10/s"),
            ("10 per second", "10/s"),
            ("90 requests per minute", "90/m"),
            ("5 users a second", "5/s"),
            ("1,000/s", "1000/s"),
            ("1_000 requests/s", "1000/s"),
            ("20ops", "20/s"),
            ("20 iters/s", "20/s"),
            ("3 per hour", "3/h"),
            ("50Hz", "50/s"),
            ("10 every 2 seconds", "10/2s"),
            ("10 every 2s", "10/2s"),
            ("10 requests in 500 ms", "10/500ms"),
            ("5 per 10 minutes", "5/10m"),
            ("1 / 5 s", "1/5s"),
            ("3/2min", "3/2m"),
            ("every 2 seconds", "1/2s"),
            ("Once a minute", "1/m"),
            ("twice every hour", "2/h"),
            ("100 times a second", "100/s"),
            ("100ps", "100/s"),
            ("6e3/m", "6000/m"),
            ("1.5E3 rps", "1500/s"),
            ("1e3", "1000/s"),
            ("1,000", "1000/s"),
            ("1,000,000.5 per hour", "1000000.5/h"),
            ("0,5/s", "0.5/s"),
            ("10 every 1m30s", "10/1m30s"),
        ] {
            assert_eq!(rate_in_words(text).as_deref(), Some(meant), "{text}");
            let error = text.parse::<Rate>().expect_err("words").to_string();
            assert!(error.ends_with(&format!("write {meant}")), "{error}");
        }
        for text in [
            "10/s",
            "10",
            "fast",
            "rps",
            "10s",
            "10 apples",
            "10 per",
            "",
            "1/5s",
            "10 s",
            "5,10,7",
            "1e99",
            "1.5e0",
            "10 every",
            "every other second",
            "once",
            "10 every 2 fortnights",
            "100 times",
        ] {
            assert_eq!(rate_in_words(text), None, "{text}");
        }
    }

    #[test]
    fn rates_beyond_the_bounds_are_named() {
        for text in [
            "18446744073709551616/s",
            "99999999999999999M",
            "0.0000000001/s",
        ] {
            let error = text.parse::<Rate>().expect_err(text);
            assert!(error.is_beyond(), "{error}");
            let words = format!("`{text}` can't be counted: ");
            assert!(error.to_string().starts_with(&words), "{error}");
        }
        assert!(!"fast".parse::<Rate>().expect_err("a word").is_beyond());
    }

    #[test]
    fn a_time_is_told_from_a_rate() {
        let error = "2s".parse::<Rate>().expect_err("a time").to_string();
        assert_eq!(
            error,
            "`2s` is a time, not a rate; for one request every 2s, write 1/2s"
        );
    }

    #[test]
    fn refuses_what_is_not_a_rate() {
        for text in [
            "",
            "fast",
            "-1/s",
            "1/",
            "/s",
            "1/0",
            "1e3",
            "k",
            "1kk",
            "5m",
            "18446744073709551615k",
            "1/fortnight",
            ".",
            "NaN",
            "inf",
        ] {
            assert!(text.parse::<Rate>().is_err(), "{text}");
        }
    }
}
