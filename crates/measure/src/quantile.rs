//! Quantiles: nearest rank, and only where the count supports them.

use crate::Histogram;
use drumfire_units::Nanos;

/// Half of the probability outside a 95 % confidence interval.
const TAIL: f64 = 0.025;

/// The nearest rank ⌈q·n⌉, from 1 to `n`; `n` must not be 0.
///
/// A decimal such as 0.999 has no exact binary form, so the product of 0.999 and 1000 may come
/// out a hair above 999. A product within four units in the last place of an integer is that
/// integer.
fn rank(count: u64, q: f64) -> u64 {
    let product = q.clamp(0.0, 1.0) * count as f64;
    let nearest = product.round();
    let whole = if (product - nearest).abs() <= product * 4.0 * f64::EPSILON {
        nearest
    } else {
        product.ceil()
    };
    (whole as u64).clamp(1, count)
}

impl Histogram {
    /// The least number of samples that supports the quantile `q`; see [`Self::supports`].
    #[must_use]
    pub fn count_needed(q: f64) -> u64 {
        let extreme = q.max(1.0 - q);
        if extreme >= 1.0 {
            return 1; // the least or the greatest value itself
        }
        let estimate = (TAIL.ln() / extreme.ln()).ceil();
        // Settle the last step by the rule itself rather than by the rounding of logarithms.
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
    /// 95 % confidence interval with both ends.
    ///
    /// All `n` independent samples lie at or below the true quantile with probability qⁿ. The
    /// greatest sample bounds the quantile from above, with half of the 5 % on that side, when
    /// qⁿ ≤ 0.025; below the median the least sample is the scarce end, with (1 − q)ⁿ. Hence 6
    /// samples for the median, 36 for p90, 368 for p99, 3,688 for p99.9, 36,887 for p99.99. The
    /// least and the greatest value (`q` 0 and 1) need one sample.
    #[must_use]
    pub fn supports(count: u64, q: f64) -> bool {
        let extreme = q.max(1.0 - q);
        count > 0 && (extreme >= 1.0 || extreme.powf(count as f64) <= TAIL)
    }

    /// The quantile `q` (0 to 1): the least recorded time with at least ⌈q·n⌉ samples at or below
    /// it. `None` when the count cannot support it.
    ///
    /// The value is its bucket's upper bound, but never outside the exact extremes.
    #[must_use]
    pub fn quantile(&self, q: f64) -> Option<Nanos> {
        Self::supports(self.count(), q).then(|| self.quantile_unchecked(q))
    }

    /// The quantile `q`, however few samples there are; zero when there are none.
    #[must_use]
    pub fn quantile_unchecked(&self, q: f64) -> Nanos {
        let count = self.count();
        if count == 0 {
            return Nanos::ZERO;
        }
        if q <= 0.0 {
            return self.min();
        }
        let rank = rank(count, q);
        if rank == count {
            return self.max();
        }
        if rank == 1 {
            return self.min();
        }
        Nanos(self.quantile_by_rank(rank))
    }

    /// The upper bound of the bucket that holds the rank, but never outside the extremes.
    fn quantile_by_rank(&self, rank: u64) -> u64 {
        let mut below = 0_u64;
        let reached = self.buckets().find(|(_, _, count)| {
            below = below.saturating_add(*count);
            below >= rank
        });
        let value = reached.map_or(self.max, |(_, high, _)| high);
        value.clamp(self.min, self.max)
    }

    /// Whether the quantile `q` is only a lower bound: whether it would be another if the times
    /// that are lower bounds ([`Self::record_at_least`]) had no end. Their true ends lie in
    /// between, so a quantile that both agree on is exact.
    #[must_use]
    pub fn is_at_least(&self, q: f64) -> bool {
        if self.at_least_from().is_none() || self.is_empty() {
            return false;
        }
        let rank = rank(self.count(), q);
        let mut below = 0_u64;
        let mut exact = self.exact_buckets();
        let reached = exact.find(|(_, count)| {
            below = below.saturating_add(*count);
            below >= rank
        });
        let latest = reached.map(|(high, _)| high.clamp(self.min, self.max));
        latest != Some(self.quantile_by_rank(rank))
    }

    /// The strictest of p99, p90 and p50 that the count supports, with its name; `None` where it
    /// supports none.
    pub(crate) fn near_p99(&self) -> Option<(&'static str, Nanos)> {
        self.near_p99_where(|_| true)
    }

    /// The same among those that are no lower bounds; zero where there is none.
    pub(crate) fn near_p99_measured(&self) -> Nanos {
        let found = self.near_p99_where(|q| !self.is_at_least(q));
        match found {
            Some((_, time)) => time,
            None if self.at_least_from().is_none() => self.max(),
            None => Nanos::ZERO,
        }
    }

    fn near_p99_where(&self, suits: impl Fn(f64) -> bool) -> Option<(&'static str, Nanos)> {
        [("p99", 0.99), ("p90", 0.9), ("p50", 0.5)]
            .into_iter()
            .filter(|(_, q)| suits(*q))
            .find_map(|(name, q)| Some((name, self.quantile(q)?)))
    }
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
            assert_eq!(Histogram::count_needed(q), least, "{q}");
            assert!(Histogram::supports(least, q), "{q}");
            assert!(!Histogram::supports(least - 1, q), "{q}");
        }
    }
}
