//! Quantiles: nearest rank, and only if there are enough samples.
//!
//! A quantile of too few samples is the maximum under another name, and differs from run to run
//! without cause. The rule is distribution-free: a quantile is shown only if the order statistics
//! of n samples give it a two-sided 95 % confidence interval (David and Nagaraja, *Order
//! Statistics*, section 7.1).

/// Half of the probability outside a 95 % confidence interval.
const TAIL: f64 = 0.025;

/// The nearest rank ⌈q·n⌉, from 1 to `n`; `n` must not be 0.
///
/// A decimal such as 0.999 has no exact binary form, so the product of 0.999 and 1000 may be
/// slightly above 999. A product within four units in the last place of an integer is treated as
/// that integer.
pub(crate) fn rank(count: u64, q: f64) -> u64 {
    let product = q.clamp(0.0, 1.0) * count as f64;
    let nearest = product.round();
    let whole = if (product - nearest).abs() <= product * 4.0 * f64::EPSILON {
        nearest
    } else {
        product.ceil()
    };
    (whole as u64).clamp(1, count)
}

/// The minimum number of samples that supports the quantile `q`: their order statistics give it a
/// two-sided 95 % confidence interval.
#[must_use]
pub fn count_needed(q: f64) -> u64 {
    let extreme = q.max(1.0 - q);
    if extreme >= 1.0 {
        return 1; // the minimum or the maximum itself
    }
    let estimate = (TAIL.ln() / extreme.ln()).ceil();
    // Determine the last step by the rule itself, not by rounded logarithms.
    let mut count = (estimate as u64).max(1);
    while count > 1 && extreme.powf((count - 1) as f64) <= TAIL {
        count -= 1;
    }
    while extreme.powf(count as f64) > TAIL {
        count += 1;
    }
    count
}

/// Whether `count` samples support the quantile `q`: whether the order statistics give it a
/// two-sided 95 % confidence interval.
///
/// All `n` independent samples are at or below the true quantile with probability qⁿ. The maximum
/// is an upper bound of the quantile, with half of the 5 % on that side, if qⁿ ≤ 0.025; below the
/// median the minimum is decisive, with (1 − q)ⁿ. Hence 6 samples for the median, 36 for p90, 368
/// for p99, 3,688 for p99.9, 36,887 for p99.99. The minimum and the maximum (`q` 0 and 1) need one
/// sample.
#[must_use]
pub(crate) fn supports(count: u64, q: f64) -> bool {
    let extreme = q.max(1.0 - q);
    count > 0 && (extreme >= 1.0 || extreme.powf(count as f64) <= TAIL)
}

/// The upper bound of the bucket with this rank, from buckets with their upper bounds and counts in
/// ascending order; `None` if their total count is lower.
pub(crate) fn bucket_at(rank: u64, mut buckets: impl Iterator<Item = (u64, u64)>) -> Option<u64> {
    let mut below = 0_u64;
    let reached = buckets.find(|(_, count)| {
        below = below.saturating_add(*count);
        below >= rank
    });
    reached.map(|(high, _)| high)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ⌈q·n⌉ in integers, for a decimal q given in millionths.
    fn exact_rank(count: u64, millionths: u64) -> u64 {
        let product = u128::from(count) * u128::from(millionths);
        u64::try_from(product.div_ceil(1_000_000)).unwrap()
    }

    #[test]
    fn rank_of_a_decimal_is_that_of_the_decimal_number() {
        let counts = (1..=3000).chain([
            99_999,
            100_000,
            1_000_000,
            1_000_003,
            1 << 40,
            (1 << 44) + 1,
        ]);
        for count in counts {
            for millionths in [
                1, 10_000, 70_000, 290_000, 500_000, 570_000, 750_000, 900_000, 950_000, 990_000,
                999_000, 999_900, 999_990, 999_999, 1_000_000,
            ] {
                let q = millionths as f64 / 1e6;
                let expected = exact_rank(count, millionths).max(1);
                assert_eq!(rank(count, q), expected, "{q} of {count}");
            }
        }
    }

    #[test]
    fn support_has_the_published_minimum() {
        for (q, least) in [
            (0.5, 6),
            (0.75, 13),
            (0.9, 36),
            (0.95, 72),
            (0.99, 368),
            (0.999, 3_688),
            (0.9999, 36_887),
            (0.1, 36),
            (0.01, 368),
            (0.0, 1),
            (1.0, 1),
        ] {
            assert_eq!(count_needed(q), least, "{q}");
            assert!(supports(least, q), "{q}");
            assert!(!supports(least - 1, q), "{q}");
        }
    }
}
