//! The delay of an answer: a law and its text form.

use drumfire_units::{Nanos, Xoshiro256};
use std::fmt;
use std::str::FromStr;

/// The maximum delay; longer draws are cut to it.
pub(crate) const DELAY_MAX: Nanos = Nanos::from_secs(3_600);

/// The distribution of a delay. Every draw is cut at one hour.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Law {
    /// A constant delay: `const:5ms`.
    Constant(Nanos),
    /// Memoryless, with this mean: `exp:10ms`.
    Exponential {
        /// The mean.
        mean: Nanos,
    },
    /// exp(N(ln median, sigma²)): `lognormal:10ms,0.5` has median 10 ms and sigma 0.5.
    Lognormal {
        /// Half of all draws are below.
        median: Nanos,
        /// The standard deviation of the logarithm, 0 to 10.
        sigma: f64,
    },
    /// Evenly spread between two values: `uniform:5ms,15ms`.
    Uniform {
        /// The smallest draw.
        from: Nanos,
        /// The exclusive upper bound.
        to: Nanos,
    },
}

impl Law {
    /// One draw.
    pub(crate) fn draw(self, random: &mut Xoshiro256) -> Nanos {
        let nanos = match self {
            Self::Constant(value) => return value.min(DELAY_MAX),
            Self::Exponential { mean } => mean.0 as f64 * random.exponential(),
            Self::Lognormal { median, sigma } => median.0 as f64 * (sigma * random.normal()).exp(),
            Self::Uniform { from, to } => from.0 as f64 + (to - from).0 as f64 * random.unit(),
        };
        // A float above u64 saturates, and is then cut.
        Nanos(nanos as u64).min(DELAY_MAX)
    }
}

/// The reason why a text is not a delay law.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseLawError {
    text: String,
}

impl fmt::Display for ParseLawError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}` is not a delay; use const:5ms, exp:10ms, lognormal:10ms,0.5 (median, sigma) or \
             uniform:5ms,15ms, each at most 1h",
            self.text.escape_default()
        )
    }
}

impl std::error::Error for ParseLawError {}

impl FromStr for Law {
    type Err = ParseLawError;

    /// Parses `const:5ms` (or `5ms`), `exp:10ms`, `lognormal:10ms,0.5`, `uniform:5ms,15ms`.
    ///
    /// # Errors
    /// If the name is unknown, a duration is malformed or longer than an hour, or sigma is not in 0
    /// to 10.
    fn from_str(text: &str) -> Result<Self, ParseLawError> {
        let fail = || ParseLawError {
            text: text.chars().take(64).collect(),
        };
        let span = |text: &str| {
            text.parse::<Nanos>()
                .ok()
                .filter(|span| *span <= DELAY_MAX)
                .ok_or_else(fail)
        };
        let (name, rest) = text.split_once(':').unwrap_or(("const", text));
        match name {
            "const" => Ok(Self::Constant(span(rest)?)),
            "exp" => Ok(Self::Exponential { mean: span(rest)? }),
            "lognormal" => {
                let (median, sigma) = rest.split_once(',').ok_or_else(fail)?;
                let sigma = sigma.parse::<f64>().map_err(|_| fail())?;
                let median = span(median)?;
                if !(0.0..=10.0).contains(&sigma) {
                    return Err(fail());
                }
                Ok(Self::Lognormal { median, sigma })
            }
            "uniform" => {
                let (from, to) = rest.split_once(',').ok_or_else(fail)?;
                let (from, to) = (span(from)?, span(to)?);
                if from > to {
                    return Err(fail());
                }
                Ok(Self::Uniform { from, to })
            }
            _ => Err(fail()),
        }
    }
}

impl fmt::Display for Law {
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
    fn no_draw_exceeds_an_hour() {
        let mut random = Xoshiro256::new(3, 0);
        let law = "lognormal:1h,10".parse::<Law>().unwrap();
        assert!((0..1_000).all(|_| law.draw(&mut random) <= DELAY_MAX));
    }
}
