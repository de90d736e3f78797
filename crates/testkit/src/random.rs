//! Random numbers from a seed.

use drumfire_units::Nanos;

/// A SplitMix64 generator (Steele, Lea and Flood 2014): small, fast, and the same everywhere.
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
}

impl Random {
    /// The numbers that belong to a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number in [0, 1), in steps of 2⁻⁵³.
    pub fn share(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A time from the exponential distribution with this mean: −mean · ln(1 − u).
    pub fn exponential(&mut self, mean: Nanos) -> Nanos {
        Nanos((-(1.0 - self.share()).ln() * mean.0 as f64) as u64)
    }

    /// A number from the standard normal distribution (Box and Muller).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.share()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.share()).cos()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_moments_are_those_of_the_laws() {
        let mut random = Random::new(1);
        let n = 200_000;
        let mean =
            |values: &mut dyn FnMut() -> f64| (0..n).map(|_| values()).sum::<f64>() / f64::from(n);
        let share = mean(&mut || random.share());
        assert!((share - 0.5).abs() < 0.005, "{share}");
        let exponential = mean(&mut || random.exponential(Nanos(1_000_000)).0 as f64);
        assert!((exponential / 1e6 - 1.0).abs() < 0.01, "{exponential}");
        let normal = mean(&mut || random.normal());
        assert!(normal.abs() < 0.01, "{normal}");
    }
}
