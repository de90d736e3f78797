//! Pools of beginnings that prompts share.

use super::LENGTH_MAX;
use crate::Random;
use std::fmt;
use std::str::FromStr;

/// The maximum number of prefixes in a pool.
const POOL_MAX: u64 = 100_000;

/// Beginnings that prompts share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PrefixPool {
    /// The number of different prefixes; at least 1.
    pub count: u64,
    /// The words of each.
    pub words: u64,
    /// How one is chosen for a prompt.
    pub order: PrefixOrder,
}

/// How a prefix is chosen for a prompt.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PrefixOrder {
    /// Each with the same probability.
    Uniform,
    /// The n-th with a probability in proportion to n to the power of minus this exponent.
    Zipf(f64),
    /// One after the other.
    Turn,
}

impl PrefixPool {
    /// The choice of a prefix, prepared.
    pub(super) fn chooser(&self) -> Chooser {
        match self.order {
            PrefixOrder::Uniform => Chooser::Uniform(self.count),
            PrefixOrder::Turn => Chooser::Turn(self.count),
            PrefixOrder::Zipf(exponent) => {
                let mut sum = 0.0;
                let sums = (1..=self.count).map(|n| {
                    sum += (n as f64).powf(-exponent);
                    sum
                });
                Chooser::Sums(sums.collect())
            }
        }
    }
}

/// The choice of a prefix for a prompt.
#[derive(Clone, Debug)]
pub(super) enum Chooser {
    Uniform(u64),
    Turn(u64),
    /// The sums of the weights up to each prefix.
    Sums(Vec<f64>),
}

impl Chooser {
    /// The number of the prefix of a row, from 0.
    pub(super) fn choose(&self, row: u64, mut random: Random) -> u64 {
        match self {
            Self::Uniform(count) => random.below(*count),
            Self::Turn(count) => row % count,
            Self::Sums(sums) => {
                let drawn = random.unit() * sums.last().copied().unwrap_or_default();
                let at = sums.partition_point(|sum| *sum <= drawn);
                at.min(sums.len().saturating_sub(1)) as u64
            }
        }
    }
}

/// Why a text is not a pool of prefixes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrefixPoolError(String);

impl fmt::Display for PrefixPoolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for PrefixPoolError {}

impl FromStr for PrefixPool {
    type Err = PrefixPoolError;

    /// Parses `pool=10,tokens=256`, to which `zipf=1.1` or `turn` may be added.
    fn from_str(text: &str) -> Result<Self, PrefixPoolError> {
        let wrong = |why: String| {
            PrefixPoolError(format!(
                "{why}; write a pool of prefixes such as pool=10,tokens=256 or \
                 pool=10,tokens=256,zipf=1.1"
            ))
        };
        let (mut count, mut words, mut order) = (None, None, PrefixOrder::Uniform);
        for part in text.split(',').map(str::trim) {
            let (key, value) = part.split_once('=').unwrap_or((part, ""));
            let number = |most: u64| {
                let number = value.trim().parse().ok();
                let in_range = number.filter(|number| (1..=most).contains(number));
                in_range.ok_or_else(|| wrong(format!("`{key}` is a number from 1 to {most}")))
            };
            match key.trim() {
                "pool" => count = Some(number(POOL_MAX)?),
                "tokens" => words = Some(number(LENGTH_MAX)?),
                "turn" if value.is_empty() => order = PrefixOrder::Turn,
                "zipf" => {
                    let exponent = value.trim().parse::<f64>().ok();
                    let exponent = exponent.filter(|exponent| (0.0..=10.0).contains(exponent));
                    let why = || wrong("`zipf` is an exponent from 0 to 10".to_owned());
                    order = PrefixOrder::Zipf(exponent.ok_or_else(why)?);
                }
                other => {
                    let shown = other.escape_debug();
                    return Err(wrong(format!("unknown setting `{shown}`")));
                }
            }
        }
        match (count, words) {
            (Some(count), Some(words)) => Ok(Self {
                count,
                words,
                order,
            }),
            (None, _) => Err(wrong(
                "`pool`, the number of prefixes, is missing".to_owned(),
            )),
            (_, None) => Err(wrong(
                "`tokens`, the length of a prefix, is missing".to_owned(),
            )),
        }
    }
}
