//! Exponential gaps from a seed, with integers only: equal on every platform.

use crate::level::{Level, TWO_TO_64};
use drumfire_units::Xoshiro256;

/// The gaps of a Poisson process with rate 1, in units of 2^-64.
#[derive(Clone, Debug)]
pub(crate) struct Exponential {
    words: Xoshiro256,
}

impl Exponential {
    /// The gaps for `seed`.
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            words: Xoshiro256::new(seed, 0),
        }
    }

    /// An exponential variate with mean 1, as a number.
    pub(crate) fn number(&mut self) -> f64 {
        self.draw() as f64 / TWO_TO_64
    }

    /// A number from -1 to below 1, in steps of 2^-53.
    pub(crate) fn signed(&mut self) -> f64 {
        2.0 * self.words.unit() - 1.0
    }

    /// An exponential variate with mean 1, by von Neumann's comparison method (1951).
    ///
    /// Draw u₁, then further numbers as long as each is below its predecessor. The length of the
    /// run is odd with probability e^-u₁. An odd run accepts u₁ as the fraction, with exactly the
    /// required density. Each rejection adds one to the whole part, which is therefore geometric.
    /// The method takes no logarithm, so nothing is rounded.
    #[inline]
    pub(crate) fn draw(&mut self) -> Level {
        let mut whole = 0_u64;
        loop {
            let fraction = self.words.bits();
            let mut previous = fraction;
            let mut accept = true;
            loop {
                let next = self.words.bits();
                if next >= previous {
                    break;
                }
                previous = next;
                accept = !accept;
            }
            if accept {
                return (u128::from(whole) << 64) | u128::from(fraction);
            }
            whole = whole.saturating_add(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draws(seed: u64, count: usize) -> Vec<f64> {
        let mut gaps = Exponential::new(seed);
        (0..count).map(|_| gaps.number()).collect()
    }

    #[test]
    fn gaps_are_exponential() {
        for seed in [0, 1, 42, u64::MAX] {
            let count = 100_000;
            let mut sample = draws(seed, count);
            let mean = sample.iter().sum::<f64>() / count as f64;
            assert!((mean - 1.0).abs() < 0.015, "seed {seed}: mean {mean}");
            let lagged = sample.windows(2).map(|w| (w[0] - 1.0) * (w[1] - 1.0));
            let correlation = lagged.sum::<f64>() / count as f64;
            assert!(correlation.abs() < 0.015, "seed {seed}: {correlation}");
            sample.sort_by(f64::total_cmp);
            let distance = sample
                .iter()
                .enumerate()
                .map(|(k, x)| {
                    let exact = 1.0 - (-x).exp();
                    let (below, above) = (k as f64, (k + 1) as f64);
                    (exact - below / count as f64)
                        .abs()
                        .max((above / count as f64 - exact).abs())
                })
                .fold(0.0, f64::max);
            // Kolmogorov and Smirnov's critical value at 1 %: 1.63/√n.
            assert!(
                distance < 1.63 / (count as f64).sqrt(),
                "{seed}: {distance}"
            );
        }
    }
}
