//! The tail of an exact distribution, which determines the ends of an interval.
//!
//! A test of ranks counts the ways in which each sum occurs ([`crate::RankSum`],
//! [`crate::SignedRank`]); the interval of its shift leaves out as many as [`beyond`] returns.

/// The number of the smallest sums to leave out, so that their share is at most `tail`: one less
/// than the number of sums whose cumulative probability is within it. `ways` contains the ways of
/// each sum in order. `None` if even the first exceeds it.
pub(crate) fn beyond(ways: &[f64], tail: f64) -> Option<usize> {
    let all: f64 = ways.iter().sum();
    let below = ways.iter().scan(0.0, |sum, ways| {
        *sum += ways / all;
        Some(*sum)
    });
    below
        .take_while(|below| *below <= tail)
        .count()
        .checked_sub(1)
}
