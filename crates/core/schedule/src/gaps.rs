//! The gaps of a random process from a seed: equal on every platform.

use crate::exponential::Exponential;
use crate::gamma::Gamma;
use crate::level::Level;
use drumfire_plan::Arrivals;

/// The independent gaps of a random process with rate 1, in units of 2^-64.
#[derive(Clone, Debug)]
pub(crate) enum Gaps {
    /// Of a Poisson process.
    Exponential(Exponential),
    /// From a gamma distribution with mean 1.
    Gamma(Gamma),
}

impl Gaps {
    /// The gaps of these arrivals for `seed`; `None` if the arrivals are not random.
    pub(crate) fn new(arrivals: Arrivals, seed: u64) -> Option<Self> {
        match arrivals {
            Arrivals::Constant => None,
            Arrivals::Poisson => Some(Self::Exponential(Exponential::new(seed))),
            Arrivals::Gamma(shape) => Some(Self::Gamma(Gamma::new(shape, seed))),
        }
    }

    /// The next gap.
    #[inline]
    pub(crate) fn draw(&mut self) -> Level {
        match self {
            Self::Exponential(gaps) => gaps.draw(),
            Self::Gamma(gaps) => gaps.draw(),
        }
    }
}
