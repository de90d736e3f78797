//! The distribution of a delay or of a count: a law and its text form.

use drumfire_units::{Nanos, Xoshiro256};
use std::fmt;
use std::str::FromStr;

/// The maximum delay; longer draws are cut to it.
pub(crate) const DELAY_MAX: Nanos = Nanos::from_secs(3_600);

/// A number of tokens, at most a million.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TokenCount(pub u32);

impl fmt::Display for TokenCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A quantity that a law can draw.
pub trait Quantity: Copy + PartialOrd + fmt::Display {
    /// The maximum value; larger draws are cut to it.
    const MAX: Self;
    /// The end of the message about an invalid law.
    const REMEDY: &'static str;

    /// The value of a text, if it is at most [`Self::MAX`].
    fn read(text: &str) -> Option<Self>;

    /// The value as a number of its smallest unit.
    fn number(self) -> f64;

    /// The value of a number, cut at [`Self::MAX`].
    fn of_number(number: f64) -> Self;
}

impl Quantity for Nanos {
    const MAX: Self = DELAY_MAX;
    const REMEDY: &'static str = "a delay; use const:5ms, exp:10ms, lognormal:10ms,0.5 (median, \
                                  sigma) or uniform:5ms,15ms, each at most 1h";

    fn read(text: &str) -> Option<Self> {
        text.parse().ok().filter(|span| *span <= DELAY_MAX)
    }

    fn number(self) -> f64 {
        self.0 as f64
    }

    fn of_number(number: f64) -> Self {
        // A float above u64 saturates, and is then cut.
        Self(number as u64).min(DELAY_MAX)
    }
}

impl Quantity for TokenCount {
    const MAX: Self = Self(1_000_000);
    const REMEDY: &'static str = "a number of tokens; use 4, exp:4, lognormal:4,0.5 (median, \
                                  sigma) or uniform:1,8, each from 1 to 1000000";

    fn read(text: &str) -> Option<Self> {
        let count = text.parse().ok().map(Self);
        count.filter(|count| (Self(1)..=Self::MAX).contains(count))
    }

    fn number(self) -> f64 {
        f64::from(self.0)
    }

    fn of_number(number: f64) -> Self {
        Self(number.round() as u32).clamp(Self(1), Self::MAX)
    }
}

/// The distribution of a quantity. Every draw of a delay is cut at one hour.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Law<Q = Nanos> {
    /// A constant value: `const:5ms`.
    Constant(Q),
    /// Memoryless, with this mean: `exp:10ms`.
    Exponential {
        /// The mean.
        mean: Q,
    },
    /// exp(N(ln median, sigma²)): `lognormal:10ms,0.5` has median 10 ms and sigma 0.5.
    Lognormal {
        /// Half of all draws are below.
        median: Q,
        /// The standard deviation of the logarithm, 0 to 10.
        sigma: f64,
    },
    /// Evenly spread between two values: `uniform:5ms,15ms`.
    Uniform {
        /// The smallest draw.
        from: Q,
        /// The upper bound.
        to: Q,
    },
}

impl<Q: Quantity> Law<Q> {
    /// One draw.
    pub(crate) fn draw(self, random: &mut Xoshiro256) -> Q {
        let number = match self {
            Self::Constant(value) => return if value > Q::MAX { Q::MAX } else { value },
            Self::Exponential { mean } => mean.number() * random.exponential(),
            Self::Lognormal { median, sigma } => median.number() * (sigma * random.normal()).exp(),
            Self::Uniform { from, to } => {
                from.number() + (to.number() - from.number()) * random.unit()
            }
        };
        Q::of_number(number)
    }
}

/// The reason why a text is not a law.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseLawError {
    text: String,
    remedy: &'static str,
}

impl fmt::Display for ParseLawError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is not {}", self.text.escape_default(), self.remedy)
    }
}

impl std::error::Error for ParseLawError {}

impl<Q: Quantity> FromStr for Law<Q> {
    type Err = ParseLawError;

    /// Parses `const:5ms` (or `5ms`), `exp:10ms`, `lognormal:10ms,0.5`, `uniform:5ms,15ms`.
    ///
    /// # Errors
    /// If the name is unknown, a value is malformed or too large, or sigma is not in 0 to 10.
    fn from_str(text: &str) -> Result<Self, ParseLawError> {
        let fail = || ParseLawError {
            text: text.chars().take(64).collect(),
            remedy: Q::REMEDY,
        };
        let value = |text: &str| Q::read(text).ok_or_else(fail);
        let (name, rest) = text.split_once(':').unwrap_or(("const", text));
        match name {
            "const" => Ok(Self::Constant(value(rest)?)),
            "exp" => Ok(Self::Exponential { mean: value(rest)? }),
            "lognormal" => {
                let (median, sigma) = rest.split_once(',').ok_or_else(fail)?;
                let sigma = sigma.parse::<f64>().map_err(|_| fail())?;
                let median = value(median)?;
                if !(0.0..=10.0).contains(&sigma) {
                    return Err(fail());
                }
                Ok(Self::Lognormal { median, sigma })
            }
            "uniform" => {
                let (from, to) = rest.split_once(',').ok_or_else(fail)?;
                let (from, to) = (value(from)?, value(to)?);
                if from > to {
                    return Err(fail());
                }
                Ok(Self::Uniform { from, to })
            }
            _ => Err(fail()),
        }
    }
}

impl<Q: fmt::Display> fmt::Display for Law<Q> {
    /// Prints the form that can be parsed back.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Constant(value) => write!(f, "const:{value}"),
            Self::Exponential { mean } => write!(f, "exp:{mean}"),
            Self::Lognormal { median, sigma } => write!(f, "lognormal:{median},{sigma}"),
            Self::Uniform { from, to } => write!(f, "uniform:{from},{to}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_and_prints() {
        for text in [
            "const:5ms",
            "exp:10ms",
            "lognormal:10ms,0.5",
            "uniform:5ms,15ms",
        ] {
            assert_eq!(text.parse::<Law>().unwrap().to_string(), text);
        }
        assert_eq!("5ms".parse(), Ok(Law::Constant(Nanos::from_millis(5))));
    }

    #[test]
    fn refuses_what_is_not_a_law() {
        for text in [
            "",
            "gauss:1ms",
            "exp:",
            "exp:10",
            "exp:2h",
            "lognormal:1ms",
            "lognormal:1ms,-1",
            "lognormal:1ms,NaN",
            "uniform:2ms,1ms",
        ] {
            assert!(text.parse::<Law>().is_err(), "{text}");
        }
    }

    #[test]
    fn draws_have_the_stated_centre() {
        let mut random = Xoshiro256::new(3, 0);
        let mut centre = |text: &str| {
            let law = text.parse::<Law>().unwrap();
            let mut draws: Vec<u64> = (0..100_001).map(|_| law.draw(&mut random).0).collect();
            draws.sort_unstable();
            let mean = draws.iter().sum::<u64>() as f64 / 100_001.0;
            (mean / 1e6, draws[50_000] as f64 / 1e6)
        };
        let near = |value: f64, expected: f64| (value / expected - 1.0).abs() < 0.02;
        let (mean, median) = centre("exp:10ms");
        assert!(near(mean, 10.0) && near(median, 10.0 * 2.0_f64.ln()));
        let (mean, median) = centre("lognormal:10ms,0.5");
        assert!(near(mean, 10.0 * 0.125_f64.exp()) && near(median, 10.0));
        let (mean, median) = centre("uniform:5ms,15ms");
        assert!(near(mean, 10.0) && near(median, 10.0));
        assert_eq!(centre("const:2ms"), (2.0, 2.0));
    }

    #[test]
    fn counts_of_tokens_are_whole_and_at_least_one() {
        let mut random = Xoshiro256::new(3, 0);
        let law = "uniform:1,3".parse::<Law<TokenCount>>().unwrap();
        let mut seen = [0; 4];
        for _ in 0..1_000 {
            seen[law.draw(&mut random).0 as usize] += 1;
        }
        assert!(
            seen[0] == 0 && seen[1..].iter().all(|n| *n > 100),
            "{seen:?}"
        );
        assert_eq!("4".parse(), Ok(Law::Constant(TokenCount(4))));
        for text in ["0", "1.5", "5ms", "uniform:0,3", "1000001"] {
            assert!(text.parse::<Law<TokenCount>>().is_err(), "{text}");
        }
    }

    #[test]
    fn no_draw_exceeds_an_hour() {
        let mut random = Xoshiro256::new(3, 0);
        let law = "lognormal:1h,10".parse::<Law>().unwrap();
        assert!((0..1_000).all(|_| law.draw(&mut random) <= DELAY_MAX));
    }
}
