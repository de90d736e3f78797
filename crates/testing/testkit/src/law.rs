//! Distributions of times.

use drumfire_units::{Nanos, Random};

/// A distribution of times, for services and for network paths.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Law {
    /// Always this long.
    Const(Nanos),
    /// Exponential, with this mean.
    Exponential(Nanos),
    /// Lognormal: median · e^(sigma · N(0, 1)).
    Lognormal {
        /// Half of the times are at most this value.
        median: Nanos,
        /// The standard deviation of the logarithm.
        sigma: f64,
    },
}

impl Law {
    /// Always zero.
    pub const NONE: Self = Self::Const(Nanos::ZERO);

    /// The next time.
    pub fn draw(&self, random: &mut Random) -> Nanos {
        match *self {
            Self::Const(time) => time,
            Self::Exponential(mean) => Nanos((random.exponential() * mean.0 as f64) as u64),
            Self::Lognormal { median, sigma } => {
                Nanos((median.0 as f64 * (sigma * random.normal()).exp()) as u64)
            }
        }
    }
}
