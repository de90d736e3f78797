//! The tail of an exact distribution, by which an interval is cut.
//!
//! A test of ranks counts the ways in which each sum comes about ([`crate::RankSum`],
//! [`crate::SignedRank`]); the interval of its shift leaves out what [`beyond`] gives of them.

/// The number of the least sums to leave out, so that they are no more than `tail` of all: one less
/// than there are whose probability, summed from the first, is within it. `ways` are those of each
/// sum in order. `None` where the first is more already.
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
