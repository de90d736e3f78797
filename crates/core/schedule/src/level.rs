//! A point on the axis of arrival counts, including points between whole counts.

/// A point on the axis of counts, in arrivals in units of 2^-64, so that a random process can have
/// points between two whole counts.
pub(crate) type Level = u128;

/// The level of the whole count `n`.
#[inline]
pub(crate) const fn level_of(n: u64) -> Level {
    (n as u128) << 64
}

/// 2^64, the number of levels per count.
pub(crate) const TWO_TO_64: f64 = 18_446_744_073_709_551_616.0;
