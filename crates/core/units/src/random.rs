//! Random numbers that depend only on a seed and on the place of their use.
//!
//! The sequence of a seed never changes, because a run is reproduced by its seed.

use std::f64::consts::TAU;
use std::fmt::Write;

/// 2⁶⁴ divided by the golden ratio, the step of SplitMix64.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
/// The letters of random strings.
const LETTERS: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/// A stream of random numbers: SplitMix64 (Steele, Lea and Flood 2014). Good enough for data, but
/// not for secrets.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The stream for one place in one message of one request.
    #[must_use]
    pub const fn new(seed: u64, number: u64, message: u64, place: u64) -> Self {
        let mut state = mix(seed.wrapping_add(STEP));
        state = mix(state ^ number.wrapping_add(STEP));
        state = mix(state ^ message.wrapping_add(STEP));
        Self(mix(state ^ place.wrapping_add(STEP)))
    }

    /// The SplitMix64 stream that starts at `state`.
    #[must_use]
    pub const fn from_state(state: u64) -> Self {
        Self(state)
    }

    /// The next 64 bits.
    #[inline]
    pub const fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        mix(self.0)
    }

    /// A number from 0 to below `bound`; 0 if `bound` is 0. The bias is at most `bound` / 2⁶⁴.
    pub const fn below(&mut self, bound: u64) -> u64 {
        ((self.bits() as u128 * bound as u128) >> 64) as u64
    }

    /// A number from `min` to `max`, both included; the order of the two does not matter.
    pub const fn int(&mut self, min: i64, max: i64) -> i64 {
        let (low, high) = if min <= max { (min, max) } else { (max, min) };
        let span = high.wrapping_sub(low) as u64;
        let offset = match span.checked_add(1) {
            Some(count) => self.below(count),
            None => self.bits(),
        };
        low.wrapping_add(offset as i64)
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

    /// Appends `length` letters and digits.
    pub fn letters(&mut self, length: usize, out: &mut String) {
        for _ in 0..length {
            let index = self.below(LETTERS.len() as u64) as usize;
            out.push(char::from(LETTERS[index]));
        }
    }

    /// Appends a random UUID (RFC 9562, version 4).
    pub fn uuid(&mut self, out: &mut String) {
        let (high, low) = (self.bits(), self.bits());
        let bits = (u128::from(high) << 64) | u128::from(low);
        let versioned = (bits & !(0xf << 76)) | (4 << 76);
        write_uuid((versioned & !(0b11 << 62)) | (0b10 << 62), out);
    }
}

/// Converts 64 random bits to a number from 0 to below 1, in steps of 2⁻⁵³.
pub(crate) fn unit(bits: u64) -> f64 {
    (bits >> 11) as f64 / (1_u64 << 53) as f64
}

/// Converts a uniform variate to an exponential variate with mean 1: −ln(1 − u).
pub(crate) fn exponential(unit: f64) -> f64 {
    -(1.0 - unit).ln()
}

/// Converts two uniform variates to a standard normal variate: √(−2 ln(1 − u)) · cos 2πv (Box and
/// Muller 1958).
pub(crate) fn normal(radius: f64, angle: f64) -> f64 {
    (2.0 * exponential(radius)).sqrt() * (TAU * angle).cos()
}

/// The finalizer of SplitMix64.
const fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Appends the 36 characters of a UUID.
fn write_uuid(value: u128, out: &mut String) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let mut text = [b'-'; 36];
    let mut shift = 128;
    for (at, place) in text.iter_mut().enumerate() {
        if !matches!(at, 8 | 13 | 18 | 23) {
            shift -= 4;
            *place = HEX[((value >> shift) & 0xf) as usize];
        }
    }
    match std::str::from_utf8(&text) {
        Ok(text) => out.push_str(text),
        // Unreachable, because the text is ASCII; a slow fallback with the same digits.
        Err(_) => drop(write!(out, "{value:032x}")),
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    /// The values of Vigna's splitmix64.c from the state 1234567.
    #[test]
    fn the_generator_is_the_published_one() {
        let mut random = Random::from_state(1_234_567);
        let words: Vec<_> = (0..4).map(|_| random.bits()).collect();
        assert_eq!(
            words,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423,
                4_593_380_528_125_082_431
            ]
        );
    }

    /// The distributions consume the uniform variates in a fixed order, so that a seed always gives
    /// the same values.
    #[test]
    fn a_seed_gives_the_same_variates() {
        let near = |value: f64, expected: f64| (value - expected).abs() < 1e-15;
        let mut random = Random::from_state(7);
        assert!(near(random.normal(), 0.988_474_332_318_735_3));
        assert!(near(random.exponential(), 2.310_220_978_373_141));
        let mut uuid = String::new();
        Random::from_state(9).uuid(&mut uuid);
        assert_eq!(uuid, "aeaf52fe-be70-4064-802d-8a5e87afea62");
    }

    #[test]
    fn streams_differ_by_every_part_of_their_place() {
        let first = |seed, number, message, place| Random::new(seed, number, message, place).bits();
        let base = first(1, 2, 3, 4);
        assert_eq!(base, first(1, 2, 3, 4));
        for other in [
            first(0, 2, 3, 4),
            first(1, 0, 3, 4),
            first(1, 2, 0, 4),
            first(1, 2, 3, 0),
        ] {
            assert_ne!(base, other);
        }
        assert_ne!(first(1, 2, 0, 0), first(2, 1, 0, 0));
    }

    #[test]
    fn numbers_stay_in_their_range_and_reach_its_ends() {
        let mut random = Random::new(0, 0, 0, 0);
        for (min, max) in [(0, 0), (1, 6), (6, 1), (-3, 2), (i64::MIN, i64::MAX)] {
            let drawn: Vec<i64> = (0..500).map(|_| random.int(min, max)).collect();
            let (low, high) = (min.min(max), min.max(max));
            assert!(
                drawn.iter().all(|n| (low..=high).contains(n)),
                "{min} {max}"
            );
            if high.checked_sub(low).is_some_and(|span| span < 10) {
                assert!(drawn.contains(&low) && drawn.contains(&high), "{min} {max}");
            }
        }
        assert!((0..100).all(|_| (0.0..1.0).contains(&random.unit())));
        assert_eq!(random.below(0), 0);
    }

    #[test]
    fn uuids_have_version_and_variant() {
        let mut random = Random::new(5, 0, 0, 0);
        for _ in 0..100 {
            let mut uuid = String::new();
            random.uuid(&mut uuid);
            let bytes = uuid.as_bytes();
            assert_eq!(uuid.len(), 36);
            assert_eq!(bytes[14], b'4', "{uuid}");
            assert!(b"89ab".contains(&bytes[19]), "{uuid}");
            assert!(
                [8, 13, 18, 23].iter().all(|&at| bytes[at] == b'-'),
                "{uuid}"
            );
            let hex = uuid.bytes().filter(u8::is_ascii_hexdigit).count();
            assert_eq!(hex, 32, "{uuid}");
        }
    }
}
