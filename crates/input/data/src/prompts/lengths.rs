//! Laws of lengths in tokens.

use crate::Random;
use std::fmt;
use std::str::FromStr;

/// The maximum length of a text, in tokens.
pub const LENGTH_MAX: u64 = 1 << 20;

/// A law of lengths in tokens. Each length is from 1 to [`LENGTH_MAX`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Lengths {
    /// One length.
    Fixed(u64),
    /// Uniformly distributed, both ends included.
    Uniform {
        /// The minimum.
        from: u64,
        /// The maximum.
        to: u64,
    },
    /// Normally distributed; lengths below 1 become 1.
    Normal {
        /// The mean.
        mean: f64,
        /// The standard deviation.
        deviation: f64,
    },
    /// Lognormally distributed, as the prompts of people are.
    Lognormal {
        /// The median.
        median: f64,
        /// The standard deviation of the natural logarithm.
        sigma: f64,
    },
}

impl Lengths {
    /// A length drawn from a stream of random numbers.
    #[must_use]
    pub fn drawn(&self, mut random: Random) -> u64 {
        let rounded = |length: f64| (length.round() as u64).clamp(1, LENGTH_MAX);
        match *self {
            Self::Fixed(length) => length,
            Self::Uniform { from, to } => from + random.below(to - from + 1),
            Self::Normal { mean, deviation } => rounded(mean + deviation * random.normal()),
            Self::Lognormal { median, sigma } => rounded(median * (sigma * random.normal()).exp()),
        }
    }
}

/// Why a text is not a law of lengths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LengthsError(String);

impl fmt::Display for LengthsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for LengthsError {}

impl FromStr for Lengths {
    type Err = LengthsError;

    /// Parses `1024`, `uniform:512,1536`, `normal:550,100` or `lognormal:800,0.6`.
    fn from_str(text: &str) -> Result<Self, LengthsError> {
        let wrong = |why: &str| {
            let shown = text.escape_debug();
            let forms = "a number such as 1024, uniform:512,1536, normal:550,100 or \
                         lognormal:800,0.6";
            LengthsError(format!(
                "`{shown}` is not a law of lengths{why}; write {forms}"
            ))
        };
        let too_long = || {
            let most = format!("a length is from 1 to {LENGTH_MAX} tokens");
            LengthsError(format!("`{}`: {most}", text.escape_debug()))
        };
        let in_range = |length: u64| (1..=LENGTH_MAX).contains(&length);
        let text_ = text.trim();
        let Some((law, parameters)) = text_.split_once(':') else {
            let length: u64 = text_.parse().map_err(|_| wrong(""))?;
            return match in_range(length) {
                true => Ok(Self::Fixed(length)),
                false => Err(too_long()),
            };
        };
        let (one, two) = parameters.split_once(',').ok_or_else(|| wrong(""))?;
        let (one, two) = (one.trim(), two.trim());
        let number = |text: &str| {
            let number = text.parse::<f64>().ok();
            number.filter(|number| number.is_finite() && *number >= 0.0)
        };
        match law.trim() {
            "uniform" => {
                let from: u64 = one.parse().map_err(|_| wrong(""))?;
                let to: u64 = two.parse().map_err(|_| wrong(""))?;
                if to < from {
                    return Err(wrong(": its maximum is below its minimum"));
                }
                match in_range(from) && in_range(to) {
                    true => Ok(Self::Uniform { from, to }),
                    false => Err(too_long()),
                }
            }
            law @ ("normal" | "lognormal") => {
                let center = number(one).ok_or_else(|| wrong(""))?;
                let spread = number(two).ok_or_else(|| wrong(""))?;
                if !(1.0..=LENGTH_MAX as f64).contains(&center) {
                    return Err(too_long());
                }
                Ok(match law {
                    "normal" => Self::Normal {
                        mean: center,
                        deviation: spread,
                    },
                    _ if spread > 4.0 => return Err(wrong(": its sigma is above 4")),
                    _ => Self::Lognormal {
                        median: center,
                        sigma: spread,
                    },
                })
            }
            _ => Err(wrong("")),
        }
    }
}
