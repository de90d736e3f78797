//! Cumulative laws N(t) and their exact inverses.

use crate::level::{Level, TWO_TO_64};
use crate::ratio::Ratio;
use crate::sine::Sine;
use crate::wide::Wide;

/// N(t) for t from the start of the piece; never decreases.
#[derive(Clone, Debug)]
pub(crate) enum Curve {
    /// N(t) = r·t.
    Even(Ratio),
    /// N(t) = a·t + (b − a)·t² / 2d.
    Line(Line),
    /// See [`Sine`].
    Sine(Sine),
}

/// A rate from `from`/`per` to `to`/`per` over `span`: all below 2^62, `span` at least 1.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub(crate) from: u64,
    pub(crate) to: u64,
    pub(crate) per: u64,
    pub(crate) span: u64,
}

impl Curve {
    /// Whether N(t) ≤ level, exactly (for `Sine`: as exactly as documented there).
    #[inline]
    pub(crate) fn at_most(&self, t: u64, level: Level) -> bool {
        match self {
            Self::Even(rate) => {
                Wide::product(u128::from(t) * u128::from(rate.events), 1 << 64)
                    <= Wide::product(level, u128::from(rate.per))
            }
            Self::Line(line) => line.at_most(t, level),
            Self::Sine(sine) => sine.at_most(t, level),
        }
    }

    /// The largest t with N(t) ≤ level, or `None` if it is not below `end`: the process does not
    /// pass `level` before the piece ends.
    #[inline]
    pub(crate) fn inverse(&self, level: Level, end: u64) -> Option<u64> {
        if self.at_most(end, level) {
            return None;
        }
        let guess = match self {
            Self::Even(rate) => level as f64 / TWO_TO_64 / rate.as_f64(),
            Self::Line(line) => line.guess(level),
            Self::Sine(sine) => sine.guess(level),
        };
        // `as` saturates and converts NaN to 0. A bad guess costs time, but the result is exact.
        let guess = (guess as u64).min(end - 1);
        Some(last_true(guess, end, |t| self.at_most(t, level)))
    }

    /// The least level that N has not passed at `t`: an arrival at this level or above is not
    /// before `t`.
    pub(crate) fn level_at(&self, t: u64) -> Level {
        // Set bits from the top: the largest level that N(t) still exceeds, plus one.
        let mut level: Level = 0;
        if self.at_most(t, 0) {
            return 0;
        }
        for bit in (0..Level::BITS).rev() {
            let trial = level | (1 << bit);
            if !self.at_most(t, trial) {
                level = trial;
            }
        }
        level.saturating_add(1)
    }

    /// Whether the rate exceeds `limit` events per second anywhere; approximate for a sine.
    pub(crate) fn exceeds(&self, limit: u64) -> bool {
        let even = |events: u64, per: u64| {
            u128::from(events) * 1_000_000_000 > u128::from(limit) * u128::from(per)
        };
        match self {
            Self::Even(rate) => even(rate.events, rate.per),
            Self::Line(line) => even(line.from.max(line.to), line.per),
            Self::Sine(sine) => sine.peak() * 1e9 > limit as f64,
        }
    }

    /// The rate at `t` in events per nanosecond, for display.
    pub(crate) fn rate_at(&self, t: u64) -> f64 {
        match self {
            Self::Even(rate) => rate.as_f64(),
            Self::Line(line) => line.rate_at(t),
            Self::Sine(sine) => sine.rate_at(t),
        }
    }
}

impl Line {
    /// N(t) = t·(from·(2d − t) + to·t) / (2d·per), which has no negative term for t ≤ d.
    #[inline]
    fn at_most(&self, t: u64, level: Level) -> bool {
        let (t, span) = (u128::from(t.min(self.span)), u128::from(self.span));
        // from, to, d < 2^62: the sum is below 2^125 and the product below 2^187.
        let doubled = u128::from(self.from) * (2 * span - t) + u128::from(self.to) * t;
        Wide::product(doubled, t).times_2_to_64()
            <= Wide::product(level, 2 * span * u128::from(self.per))
    }

    /// t = 2n / (a + √(a² + 2(b − a)n/d)): the root without cancellation.
    fn guess(&self, level: Level) -> f64 {
        let count = level as f64 / TWO_TO_64;
        let from = self.from as f64 / self.per as f64;
        let slope = (self.to as f64 - self.from as f64) / self.per as f64 / self.span as f64;
        let root = (from * from + 2.0 * slope * count).max(0.0).sqrt();
        2.0 * count / (from + root)
    }

    fn rate_at(&self, t: u64) -> f64 {
        let share = t.min(self.span) as f64 / self.span as f64;
        (self.from as f64 + (self.to as f64 - self.from as f64) * share) / self.per as f64
    }
}

/// The largest t below `end` for which `holds` is true. `holds` must be true from 0 up to some t,
/// and false after it and at `end`. Fast if `guess` is close.
#[inline]
pub(crate) fn last_true(guess: u64, end: u64, holds: impl Fn(u64) -> bool) -> u64 {
    let (mut low, mut high); // holds(low), !holds(high)
    let mut stride = 1;
    if holds(guess) {
        low = guess;
        loop {
            high = low.saturating_add(stride).min(end);
            if high == end || !holds(high) {
                break;
            }
            low = high;
            stride = stride.saturating_mul(2);
        }
    } else {
        high = guess;
        loop {
            low = high.saturating_sub(stride);
            if low == 0 || holds(low) {
                break;
            }
            high = low;
            stride = stride.saturating_mul(2);
        }
    }
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if holds(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::level::level_of;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn last_true_finds_the_edge(edge in 0_u64..1000, guess in 0_u64..1000, more in 1_u64..9) {
            let end = edge + more;
            prop_assert_eq!(last_true(guess.min(end - 1), end, |t| t <= edge), edge);
        }
    }

    #[test]
    fn last_true_reaches_the_far_end() {
        let edge = u64::MAX - 1;
        assert_eq!(last_true(0, u64::MAX, |t| t <= edge), edge);
    }

    #[test]
    fn level_at_is_the_least_level_reached() {
        let curve = Curve::Even(Ratio { events: 1, per: 3 });
        assert_eq!(curve.level_at(0), 0);
        assert_eq!(curve.level_at(3), level_of(1));
        assert_eq!(curve.level_at(1), (1 << 64) / 3 + 1);
    }
}
