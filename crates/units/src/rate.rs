//! Events per time as an exact ratio.

use crate::Nanos;
use std::fmt;
use std::str::FromStr;

/// A rate: `events` in each span of `per`, exact and never reduced to a float.
///
/// `90/m` is 90 events per 60 s; `0.2/s` is 2 events per 10 s.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rate {
    /// How many events happen in `per`; zero is a pause.
    pub events: u64,
    /// The span they happen in; never zero.
    pub per: Nanos,
}

impl Rate {
    /// `events` each second.
    #[must_use]
    pub const fn per_second(events: u64) -> Self {
        Self {
            events,
            per: Nanos::from_secs(1),
        }
    }

    /// Events per second, for printing only.
    #[must_use]
    pub fn as_per_second(self) -> f64 {
        self.events as f64 * 1e9 / self.per.0 as f64
    }
}

/// Units in words that other tools' users write behind a number, without what is counted.
const SPANS: [(&str, &[&str]); 4] = [
    ("s", &["s", "sec", "secs", "second", "seconds"]),
    ("m", &["m", "min", "mins", "minute", "minutes"]),
    ("h", &["h", "hr", "hrs", "hour", "hours"]),
    ("d", &["d", "day", "days"]),
];

/// What a rate counts, in words that may stand before its unit.
const COUNTED: [&str; 26] = [
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
];

/// Units that are one word: their first letter is that of what is counted.
const SHORT: [(&str, &str); 13] = [
    ("rps", "s"),
    ("qps", "s"),
    ("tps", "s"),
    ("ips", "s"),
    ("ops", "s"),
    ("cps", "s"),
    ("mps", "s"),
    ("hz", "s"),
    ("rpm", "m"),
    ("qpm", "m"),
    ("tpm", "m"),
    ("rph", "h"),
    ("qph", "h"),
];

/// The rate that a text in words probably means, as it is to be written: `10/s` of `10 rps`,
/// `10 requests per second`, `1,000 req/s` or `10 / s`. `None` where it means none, and where it is
/// one already.
#[must_use]
pub fn rate_in_words(text: &str) -> Option<String> {
    let text = text.trim();
    let is_number = |c: char| c.is_ascii_digit() || ".,_".contains(c);
    let (number, words) = text.split_at(text.find(|c| !is_number(c))?);
    let number = number.replace([',', '_'], "");
    let (factor, words) = match words.strip_prefix(['k', 'K', 'M']) {
        Some(rest) if !rest.starts_with(char::is_alphabetic) => (&words[..1], rest),
        _ => ("", words),
    };
    let words = words.to_ascii_lowercase().replace('/', " / ");
    let words: Vec<&str> = words.split_whitespace().collect();
    let words = match words.as_slice() {
        [counted, rest @ ..] if !rest.is_empty() && COUNTED.contains(counted) => rest,
        all => all,
    };
    let unit = match words {
        [short] => {
            let known = SHORT.iter().find(|(known, _)| known == short);
            known.map(|(_, unit)| *unit)
        }
        ["/" | "per" | "a" | "an" | "each" | "every", span] => {
            let known = SPANS.iter().find(|(_, names)| names.contains(span));
            known.map(|(unit, _)| *unit)
        }
        _ => None,
    };
    let meant = format!("{number}{factor}/{}", unit?);
    (meant != text && meant.parse::<Rate>().is_ok()).then_some(meant)
}

/// Why a text is not a rate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseRateError {
    text: String,
}

impl fmt::Display for ParseRateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.text.escape_default();
        match rate_in_words(&self.text) {
            Some(meant) => write!(f, "`{text}` is not a rate; write {meant}"),
            None => write!(
                f,
                "`{text}` is not a rate; write requests per time, such as 500/s, 90/m, 0.2/s, or a \
                 bare number per second"
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
    /// When the number is negative, has more than nine decimals or more digits than fit into 64
    /// bits, or the unit is unknown.
    fn from_str(text: &str) -> Result<Self, ParseRateError> {
        let fail = || ParseRateError {
            text: text.chars().take(64).collect(),
        };
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
        if !plain || fraction.len() > 9 || per == Nanos::ZERO {
            return Err(fail());
        }
        let events = digits.parse::<u64>().map_err(|_| fail())?;
        let events = events.checked_mul(factor).ok_or_else(fail)?;
        let scale = 10_u64.pow(u32::try_from(fraction.len()).map_err(|_| fail())?);
        let shrink = common_divisor(events, scale);
        let per = per.0.checked_mul(scale / shrink).ok_or_else(fail)?;
        Ok(Self {
            events: events / shrink,
            per: Nanos(per),
        })
    }
}

/// The greatest common divisor; `scale` is not zero.
fn common_divisor(a: u64, scale: u64) -> u64 {
    let (mut a, mut b) = (a, scale);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

impl fmt::Display for Rate {
    /// Prints the form that parses back to the same value: `500/s`, `90/m`, `1/5s`.
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
        ] {
            assert_eq!(rate_in_words(text), None, "{text}");
        }
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
