//! The deadline of a call as sent to the server (`grpc-timeout`).

use std::fmt;

/// The largest number: "positive integer as ASCII string of at most 8 digits".
const VALUE_MAX: u64 = 99_999_999;

/// Units, each with its length in nanoseconds.
const UNITS: [(u8, u64); 6] = [
    (b'n', 1),
    (b'u', 1_000),
    (b'm', 1_000_000),
    (b'S', 1_000_000_000),
    (b'M', 60_000_000_000),
    (b'H', 3_600_000_000_000),
];

/// A value of `grpc-timeout`, at most nine bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct TimeoutText {
    bytes: [u8; 9],
    start: u8,
}

/// The value for this many nanoseconds, in the finest unit in which it fits, rounded up: the
/// server's deadline is never before the client's.
#[must_use]
pub fn timeout_value(nanos: u64) -> TimeoutText {
    let fits = |&(unit, length): &(u8, u64)| {
        let value = nanos.div_ceil(length);
        (value <= VALUE_MAX).then_some((unit, value))
    };
    // 2^64 ns are 5,124,096 hours, so the last unit always fits.
    let (unit, mut value) = UNITS.iter().find_map(fits).unwrap_or((b'H', VALUE_MAX));
    let mut text = TimeoutText {
        bytes: [b'0'; 9],
        start: 8,
    };
    text.bytes[8] = unit;
    loop {
        text.start -= 1;
        text.bytes[usize::from(text.start)] = b'0' + (value % 10) as u8;
        value /= 10;
        if value == 0 {
            return text;
        }
    }
}

impl TimeoutText {
    /// The bytes to send.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[usize::from(self.start)..]
    }
}

impl fmt::Display for TimeoutText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.as_bytes().escape_ascii())
    }
}

impl fmt::Debug for TimeoutText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::{UNITS, timeout_value};
    use proptest::prelude::*;

    #[test]
    fn the_finest_unit_that_holds_it_is_used() {
        for (nanos, text) in [
            (0, "0n"),
            (1, "1n"),
            (99_999_999, "99999999n"),
            (100_000_000, "100000u"),
            (100_000_001, "100001u"),
            (20_000_000_000, "20000000u"),
            (99_999_999_000, "99999999u"),
            (99_999_999_001, "100000m"),
            (86_400_000_000_000, "86400000m"),
            (u64::MAX, "5124096H"),
        ] {
            assert_eq!(timeout_value(nanos).to_string(), text);
        }
    }

    proptest! {
        #[test]
        fn it_reads_back_within_its_unit(nanos: u64, shift in 0u32..64) {
            let nanos = nanos >> shift;
            let text = timeout_value(nanos);
            let (unit, digits) = text.as_bytes().split_last().expect("a unit");
            prop_assert!((1..=8).contains(&digits.len()));
            let value: u128 = std::str::from_utf8(digits).expect("ASCII").parse().expect("digits");
            let length = UNITS.iter().find(|(name, _)| name == unit).expect("a known unit").1;
            let told = value * u128::from(length);
            prop_assert!(told >= u128::from(nanos));
            prop_assert!(told - u128::from(nanos) < u128::from(length));
        }
    }
}
