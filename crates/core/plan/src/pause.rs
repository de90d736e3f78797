//! The time that a user waits: a fixed time, or a distribution.

use crate::Random;
use drumfire_units::Nanos;
use std::fmt;
use std::str::FromStr;

/// Times from an unbounded distribution are at most this multiple of its mean or median, because a
/// user that sleeps for a year is useless.
pub const PAUSE_TAIL_MAX: u64 = 1_000;
/// The maximum `sigma`. Above it, the mean of a lognormal distribution is thousands of times its
/// median.
const SIGMA_MAX: f64 = 4.0;

/// The time that a user waits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pause {
    /// Uniformly distributed from the shortest to the longest time.
    Even {
        /// The shortest time.
        from: Nanos,
        /// The longest time; at least `from`.
        to: Nanos,
    },
    /// Exponentially distributed, as the times between random events are.
    Exponential {
        /// The mean; half of the times are below 0.69 of it.
        mean: Nanos,
    },
    /// Lognormally distributed, as human response times are.
    Lognormal {
        /// The median.
        median: Nanos,
        /// The standard deviation of the time's natural logarithm, from 0 to 4.
        sigma: f64,
    },
}

impl Pause {
    /// No pause.
    pub const NONE: Self = Self::constant(Nanos::ZERO);

    /// A constant time.
    #[must_use]
    pub const fn constant(time: Nanos) -> Self {
        Self::Even {
            from: time,
            to: time,
        }
    }

    /// The time, if it is constant.
    #[inline]
    #[must_use]
    pub fn fixed(&self) -> Option<Nanos> {
        match self {
            Self::Even { from, to } if from == to => Some(*from),
            _ => None,
        }
    }

    /// The time drawn from a stream of random numbers.
    #[must_use]
    pub fn drawn(self, mut random: Random) -> Nanos {
        match self {
            Self::Even { from, to } => {
                let span = u128::from(to.0.saturating_sub(from.0)) + 1;
                Nanos(from.0 + ((u128::from(random.bits()) * span) >> 64) as u64)
            }
            Self::Exponential { mean } => scaled(mean, random.exponential()),
            Self::Lognormal { median, sigma } => scaled(median, (sigma * random.normal()).exp()),
        }
    }
}

/// A time multiplied by a limited factor.
fn scaled(time: Nanos, factor: f64) -> Nanos {
    Nanos((time.0 as f64 * factor.min(PAUSE_TAIL_MAX as f64)) as u64)
}

/// Why a text is not a pause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PauseError(pub String);

impl fmt::Display for PauseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for PauseError {}

impl FromStr for Pause {
    type Err = PauseError;

    /// Parses `200ms`, `200ms..1s`, `exponential(1s)` or `lognormal(1s,0.5)`.
    fn from_str(text: &str) -> Result<Self, PauseError> {
        let time = |text: &str| {
            let time = text.trim().parse::<Nanos>();
            time.map_err(|error| PauseError(error.to_string()))
        };
        let text = text.trim();
        if let Some((least, most)) = text.split_once(['-', '~'])
            && let (Ok(least), Ok(most)) = (time(least), time(most))
        {
            let shown = text.escape_debug();
            return Err(PauseError(format!(
                "`{shown}` is not a pause; write a range as `{least}..{most}`"
            )));
        }
        if let Some((law, rest)) = text.split_once('(') {
            let shown = text.escape_debug();
            let inside = rest
                .strip_suffix(')')
                .ok_or_else(|| PauseError(format!("`{shown}` has no closing parenthesis `)`")))?;
            return match (law.trim(), inside.split_once(',')) {
                ("exponential", None) => Ok(Self::Exponential {
                    mean: time(inside)?,
                }),
                ("lognormal", Some((median, sigma))) => Ok(Self::Lognormal {
                    median: time(median)?,
                    sigma: sigma_of(sigma.trim())?,
                }),
                _ => Err(PauseError(format!(
                    "`{shown}` is not a pause; write exponential(MEAN) or lognormal(MEDIAN,SIGMA), \
                     such as lognormal(1s,0.5)"
                ))),
            };
        }
        let (from, to) = text.split_once("..").unwrap_or((text, text));
        let (from, to) = (time(from)?, time(to)?);
        if to < from {
            let message = "the range ends before it begins; write the shorter time first";
            return Err(PauseError(message.to_owned()));
        }
        Ok(Self::Even { from, to })
    }
}

fn sigma_of(text: &str) -> Result<f64, PauseError> {
    let number = text.parse::<f64>().ok();
    number
        .filter(|sigma| (0.0..=SIGMA_MAX).contains(sigma))
        .ok_or_else(|| {
            let shown = text.escape_debug();
            PauseError(format!(
                "`{shown}` is not a sigma of a lognormal law; write a number from 0 to \
                 {SIGMA_MAX}, such as 0.5"
            ))
        })
}

impl fmt::Display for Pause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Even { from, to } if from == to => write!(f, "{from}"),
            Self::Even { from, to } => write!(f, "{from}..{to}"),
            Self::Exponential { mean } => write!(f, "exponential({mean})"),
            Self::Lognormal { median, sigma } => write!(f, "lognormal({median},{sigma})"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{PAUSE_TAIL_MAX, Pause};
    use crate::Random;
    use drumfire_units::Nanos;

    fn drawn(pause: Pause, count: u64) -> Vec<f64> {
        let draw = |n| pause.drawn(Random::new(1, n, 0, 0)).0 as f64 / 1e9;
        let mut all: Vec<f64> = (0..count).map(draw).collect();
        all.sort_unstable_by(f64::total_cmp);
        all
    }

    #[test]
    fn ranges_reach_both_their_ends() {
        let pause = Pause::Even {
            from: Nanos(10),
            to: Nanos(12),
        };
        let all: Vec<u64> = (0..3_000)
            .map(|n| pause.drawn(Random::new(1, n, 0, 0)).0)
            .collect();
        for time in 10..=12 {
            let count = all.iter().filter(|drawn| **drawn == time).count();
            assert!((900..1_100).contains(&count), "{time}: {count}");
        }
        let one = Pause::constant(Nanos(5));
        assert_eq!(one.drawn(Random::new(1, 2, 3, 4)), Nanos(5));
        assert_eq!((one.fixed(), pause.fixed()), (Some(Nanos(5)), None));
        let whole = Pause::Even {
            from: Nanos(0),
            to: Nanos(u64::MAX),
        };
        assert!(whole.drawn(Random::new(1, 2, 3, 4)).0 > 0);
    }

    #[test]
    fn laws_have_their_means_and_medians() {
        let second = Nanos::from_secs(1);
        let all = drawn(Pause::Exponential { mean: second }, 100_000);
        let mean = all.iter().sum::<f64>() / 1e5;
        assert!((mean - 1.0).abs() < 0.01, "{mean}");
        assert!((all[50_000] - 2_f64.ln()).abs() < 0.01, "{}", all[50_000]);
        let lognormal = Pause::Lognormal {
            median: second,
            sigma: 0.5,
        };
        let all = drawn(lognormal, 100_000);
        let mean = all.iter().sum::<f64>() / 1e5;
        assert!((all[50_000] - 1.0).abs() < 0.01, "{}", all[50_000]);
        assert!((mean - 0.125_f64.exp()).abs() < 0.01, "{mean}");
        // 84.13 % are less than one deviation above the median.
        assert!(
            (all[84_134] - 0.5_f64.exp()).abs() < 0.02,
            "{}",
            all[84_134]
        );
        let wide = Pause::Lognormal {
            median: second,
            sigma: 4.0,
        };
        let longest = drawn(wide, 100_000)[99_999];
        assert!(longest <= PAUSE_TAIL_MAX as f64, "{longest}");
    }

    #[test]
    fn texts_are_read_and_written() {
        for text in ["200ms", "200ms..1s", "exponential(1s)", "lognormal(1s,0.5)"] {
            let pause: Pause = text.parse().expect(text);
            assert_eq!(pause.to_string(), text);
        }
        assert_eq!(
            " lognormal( 1s , 0.50 ) ".parse(),
            "lognormal(1s,0.5)".parse::<Pause>()
        );
        for (text, part) in [
            ("1s..200ms", "ends before it begins"),
            ("soon", "soon"),
            ("exponential(1s", "closing parenthesis"),
            ("exponential()", "the duration is missing"),
            ("normal(1s,1)", "write exponential(MEAN) or lognormal"),
            ("lognormal(1s,-1)", "from 0 to 4"),
            ("lognormal(1s,NaN)", "from 0 to 4"),
        ] {
            let error = text.parse::<Pause>().expect_err(text).to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
