//! The lifetime of connections that the plan closes.

use crate::{Pause, Random};
use drumfire_units::Nanos;
use std::fmt;
use std::str::FromStr;

/// When a working connection is closed, as the connections of a service's real callers are closed
/// by deployments, scaling and load balancing.
///
/// A connection with active exchanges takes no further ones, and is closed when they have ended.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Life {
    /// The age; each connection draws its own.
    pub age: Option<Pause>,
    /// The fraction of all connections that is closed at random per unit of time.
    pub churn: Option<Churn>,
    /// The maximum time without an exchange.
    pub idle: Option<Nanos>,
}

impl Life {
    /// Whether connections are closed at some age.
    #[must_use]
    pub const fn ends(&self) -> bool {
        self.age.is_some() || self.churn.is_some()
    }

    /// The age at which a connection is closed: for the `life`-th connection with this number, both
    /// from 0, with this seed. [`Nanos::MAX`] if it is never closed.
    #[must_use]
    pub fn age_of(&self, seed: u64, number: u32, life: u32) -> Nanos {
        let random = |place| Random::new(seed, u64::from(number), u64::from(life), place);
        let age = self.age.map(|age| age.drawn(random(0)));
        let churn = self.churn.map(|Churn { mean }| Pause::Exponential { mean });
        let chance = churn.map(|law| law.drawn(random(1)));
        let least = age.into_iter().chain(chance).min();
        least.unwrap_or(Nanos::MAX)
    }
}

/// The fraction of all connections that is closed per unit of time, such as `10%/m`. The
/// connections are chosen at random: their ages are exponentially distributed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Churn {
    /// The mean age of a connection.
    pub mean: Nanos,
}

/// Why a text is not a churn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChurnError(String);

impl fmt::Display for ChurnError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ChurnError {}

impl FromStr for Churn {
    type Err = ChurnError;

    /// Parses a percentage above 0 and a unit of time: `10%/m`, `0.5%/s`, `200%/h`.
    fn from_str(text: &str) -> Result<Self, ChurnError> {
        let wrong = || {
            ChurnError(format!(
                "invalid churn `{}`; write the share of connections to replace per unit of time, \
                 such as 10%/m",
                text.escape_debug()
            ))
        };
        let (share, unit_text) = text.trim().split_once("%/").ok_or_else(wrong)?;
        let plain = share
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'.');
        let percent: f64 = share.parse().map_err(|_| wrong())?;
        let unit: Nanos = format!("1{unit_text}").parse().map_err(|_| wrong())?;
        let mean = unit.0 as f64 * 100.0 / percent;
        let bare = unit_text.bytes().all(|byte| byte.is_ascii_alphabetic());
        match plain && bare && mean >= 1.0 && mean < u64::MAX as f64 {
            true => Ok(Self {
                mean: Nanos(mean as u64),
            }),
            false => Err(wrong()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn churn_is_a_mean_age() {
        for (text, seconds) in [
            ("10%/m", 600),
            ("0.5%/s", 200),
            ("200%/h", 1800),
            ("100%/1s", 0),
        ] {
            let churn = text.parse::<Churn>().ok().map(|churn| churn.mean);
            let expected = (seconds > 0).then(|| Nanos::from_secs(seconds));
            assert_eq!(churn, expected, "{text}");
        }
        for text in [
            "", "10%", "10/m", "0%/m", "-1%/m", "1e3%/m", "10%/x", "10%/", "NaN%/s", "%/s",
        ] {
            let error = text.parse::<Churn>().expect_err(text);
            assert!(error.to_string().contains("such as 10%/m"), "{error}");
        }
    }

    #[test]
    fn the_shorter_age_counts_and_each_life_has_its_own() {
        let hour = Nanos::from_secs(3600);
        let life = Life {
            age: Some(Pause::constant(hour)),
            churn: Some(Churn { mean: hour }),
            idle: None,
        };
        let ages: Vec<Nanos> = (0..1000).map(|n| life.age_of(7, n, 0)).collect();
        let all = ages.iter().filter(|age| **age == hour).count();
        // The fraction 1/e lives longer than the mean.
        assert!((300..440).contains(&all), "{all}");
        assert!(ages.iter().all(|age| *age <= hour));
        assert_ne!(life.age_of(7, 3, 0), life.age_of(7, 3, 1));
        assert_eq!(Life::default().age_of(7, 3, 1), Nanos::MAX);
    }
}
