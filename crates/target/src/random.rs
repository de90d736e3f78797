//! Random numbers from a seed: the same seed, the same run.

/// xoshiro256++ of Blackman and Vigna (2019), seeded through SplitMix64.
///
/// Small, fast and good enough for latency laws; of no use for secrets.
#[derive(Clone, Debug)]
pub(crate) struct Random {
    state: [u64; 4],
}

impl Random {
    /// The `stream`-th independent sequence of a seed; each worker takes its own.
    pub(crate) fn new(seed: u64, stream: u64) -> Self {
        let mut mix = seed ^ stream.wrapping_mul(0xA076_1D64_78BD_642F);
        let mut next = || {
            mix = mix.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mut z = mix;
            z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            z ^ (z >> 31)
        };
        Self {
            state: [next(), next(), next(), next()],
        }
    }

    fn next_u64(&mut self) -> u64 {
        let s = &mut self.state;
        let result = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        result
    }

    /// Uniform in [0, 1), in steps of 2⁻⁵³.
    pub(crate) fn uniform(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Exponential with mean 1: −ln(1 − u).
    pub(crate) fn exponential(&mut self) -> f64 {
        -(1.0 - self.uniform()).ln()
    }

    /// Standard normal, by the Box–Muller transform: √(−2 ln(1 − u)) · cos 2πv.
    pub(crate) fn normal(&mut self) -> f64 {
        let radius = (2.0 * self.exponential()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_repeats_and_streams_differ() {
        let draw = |seed, stream| Random::new(seed, stream).next_u64();
        assert_eq!(draw(1, 0), draw(1, 0));
        assert_ne!(draw(1, 0), draw(1, 1));
        assert_ne!(draw(1, 0), draw(2, 0));
    }

    #[test]
    fn moments_are_those_of_the_laws() {
        let mut random = Random::new(7, 0);
        let n = 200_000;
        let (mut uniform, mut exponential, mut normal, mut square) = (0.0, 0.0, 0.0, 0.0);
        for _ in 0..n {
            uniform += random.uniform();
            exponential += random.exponential();
            let z = random.normal();
            normal += z;
            square += z * z;
        }
        let n = f64::from(n);
        assert!((uniform / n - 0.5).abs() < 0.005);
        assert!((exponential / n - 1.0).abs() < 0.01);
        assert!((normal / n).abs() < 0.01);
        assert!((square / n - 1.0).abs() < 0.02);
    }
}
