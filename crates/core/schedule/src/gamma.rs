//! Gamma variates from a seed, with operations that are exact to the last bit on every platform.

use crate::exponential::Exponential;
use crate::level::{Level, TWO_TO_64};
use drumfire_plan::Shape;

/// The gaps of a renewal process with rate 1, from a gamma distribution, in units of 2^-64.
///
/// Machines of a cluster draw the same gaps, so every operation must give the same bits everywhere.
/// Sums, products and square roots of floating-point numbers do (IEEE 754), and so do the two
/// functions of `libm`, which the program brings along. Normal variates come from the polar method,
/// whose logarithm is replaced by an exponential variate.
#[derive(Clone, Debug)]
pub(crate) struct Gamma {
    words: Exponential,
    /// The shape of the distribution, k.
    shape: f64,
    /// k − 1/3, or k + 2/3 if k is below 1.
    d: f64,
    /// 1/√(9d).
    c: f64,
}

impl Gamma {
    /// The gaps for `seed`.
    pub(crate) fn new(shape: Shape, seed: u64) -> Self {
        let shape = shape.number();
        let boosted = if shape < 1.0 { shape + 1.0 } else { shape };
        let d = boosted - 1.0 / 3.0;
        Self {
            words: Exponential::new(seed),
            shape,
            d,
            c: 1.0 / (9.0 * d).sqrt(),
        }
    }

    /// A gamma variate with mean 1, which is one of mean k divided by k.
    pub(crate) fn draw(&mut self) -> Level {
        let variate = self.at_least_one();
        // Γ(k) = Γ(k + 1) · U^(1/k), and −ln U is exponential.
        let variate = match self.shape < 1.0 {
            true => variate * libm::exp(-self.words.number() / self.shape),
            false => variate,
        };
        (variate / self.shape * TWO_TO_64) as Level
    }

    /// A gamma variate of the shape d + 1/3, which is at least 1 (Marsaglia and Tsang 2000).
    ///
    /// With a normal x, v = (1 + cx)³ and a uniform u, accept d·v if v > 0 and
    /// ln u < x²/2 + d − d·v + d·ln v. At least 95 % of the candidates are accepted.
    fn at_least_one(&mut self) -> f64 {
        loop {
            let x = self.normal();
            let root = 1.0 + self.c * x;
            if root <= 0.0 {
                continue;
            }
            let v = root * root * root;
            let bound = x * x / 2.0 + self.d - self.d * v + 3.0 * self.d * libm::log(root);
            // −ln u is exponential.
            if -self.words.number() < bound {
                return self.d * v;
            }
        }
    }

    /// A standard normal variate: √(2E) · cos φ, with E exponential and φ the direction of a point
    /// in the unit disc (Marsaglia's polar method, 1964).
    fn normal(&mut self) -> f64 {
        loop {
            let (a, b) = (self.words.signed(), self.words.signed());
            let square = a * a + b * b;
            if square > 0.0 && square <= 1.0 {
                return a * (2.0 * self.words.number() / square).sqrt();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Gamma;
    use drumfire_plan::Shape;

    /// Fixed values: the gaps of a seed are equal on every platform and in every version.
    #[test]
    fn a_seed_gives_these_gaps() {
        let draws = |thousandths| {
            let shape = Shape::from_thousandths(thousandths).expect("a shape");
            let mut gaps = Gamma::new(shape, 7);
            [gaps.draw(), gaps.draw(), gaps.draw()]
        };
        assert_eq!(
            draws(500),
            [
                98_383_942_117_489_491_968,
                430_469_758_628_834_624,
                67_951_912_608_917_700_608
            ]
        );
        assert_eq!(
            draws(4_000),
            [
                34_574_030_057_686_745_088,
                13_715_080_824_586_409_984,
                24_784_041_505_327_394_816
            ]
        );
    }
}
