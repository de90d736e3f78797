//! Random numbers from a seed, of better quality than [`Random`].

use crate::Random;
use crate::random::{exponential, normal, unit};

/// xoshiro256++ 1.0 (Blackman and Vigna 2019); SplitMix64 fills its state.
///
/// Small and fast, and with 256 bits of state good enough for the laws of arrivals and delays. Not
/// suitable for secrets.
#[derive(Clone, Debug)]
pub struct Xoshiro256 {
    state: [u64; 4],
}

impl Xoshiro256 {
    /// The `stream`-th sequence of a seed, independent of all other streams.
    #[must_use]
    pub fn new(seed: u64, stream: u64) -> Self {
        let mut filling = Random::from_state(seed ^ stream.wrapping_mul(0xa076_1d64_78bd_642f));
        Self {
            state: std::array::from_fn(|_| filling.bits()),
        }
    }

    /// The next 64 bits.
    #[inline]
    pub const fn bits(&mut self) -> u64 {
        let [a, b, c, d] = &mut self.state;
        let word = a.wrapping_add(*d).rotate_left(23).wrapping_add(*a);
        let shifted = *b << 17;
        *c ^= *a;
        *d ^= *b;
        *b ^= *c;
        *a ^= *d;
        *c ^= shifted;
        *d = d.rotate_left(45);
        word
    }

    /// A number from 0 to below 1, in steps of 2⁻⁵³.
    pub fn unit(&mut self) -> f64 {
        unit(self.bits())
    }

    /// An exponentially distributed number with mean 1.
    pub fn exponential(&mut self) -> f64 {
        exponential(self.unit())
    }

    /// A standard normally distributed number.
    pub fn normal(&mut self) -> f64 {
        normal(self.unit(), self.unit())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The reference sequence of xoshiro256++ from the state 1, 2, 3, 4.
    #[test]
    fn the_generator_is_the_published_one() {
        let mut random = Xoshiro256 {
            state: [1, 2, 3, 4],
        };
        let words: Vec<_> = (0..4).map(|_| random.bits()).collect();
        assert_eq!(
            words,
            [
                41_943_041,
                58_720_359,
                3_588_806_011_781_223,
                3_591_011_842_654_386
            ]
        );
    }

    /// Stored runs contain their seeds, so the sequence of a seed must not change.
    #[test]
    fn a_seed_repeats_and_streams_differ() {
        let words = |seed, stream| {
            let mut random = Xoshiro256::new(seed, stream);
            [random.bits(), random.bits(), random.bits()]
        };
        assert_eq!(
            words(42, 0),
            [
                15_021_278_609_987_233_951,
                5_881_210_131_331_364_753,
                18_149_643_915_985_481_100
            ]
        );
        assert_eq!(
            words(3, 1),
            [
                1_475_090_712_857_880_056,
                5_263_315_655_469_419_260,
                4_842_398_733_731_238_183
            ]
        );
        assert_ne!(words(3, 0), words(3, 1));
        assert_ne!(words(1, 0), words(2, 0));
    }

    #[test]
    fn moments_are_those_of_the_laws() {
        let mut random = Xoshiro256::new(7, 0);
        let n = 200_000;
        let (mut unit, mut exponential, mut normal, mut square) = (0.0, 0.0, 0.0, 0.0);
        for _ in 0..n {
            unit += random.unit();
            exponential += random.exponential();
            let z = random.normal();
            normal += z;
            square += z * z;
        }
        let n = f64::from(n);
        assert!((unit / n - 0.5).abs() < 0.005);
        assert!((exponential / n - 1.0).abs() < 0.01);
        assert!((normal / n).abs() < 0.01);
        assert!((square / n - 1.0).abs() < 0.02);
    }
}
