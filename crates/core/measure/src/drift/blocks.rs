//! Tests for a trend and for a change in a series whose values depend on the previous ones.
//!
//! Simple tests assume independent values, and take the dependence of real figures for a trend. So
//! the series is divided into blocks of equal length, represented by their means. The remaining
//! dependence between neighbouring blocks is estimated, and while it is too high, fewer and longer
//! blocks are used. Both tests are permutation tests of the blocks, so they assume no distribution
//! and include the search for the position of a step. The statistic of the series is divided by the
//! factor by which the remaining dependence inflates it.

use super::shape;
use drumfire_plan::Random;
use drumfire_stats::{mean, without_spikes};

/// The maximum number of blocks.
const BLOCKS: usize = 40;
/// The minimum number of blocks: with fewer, permutations cannot show a low probability.
const BLOCKS_MIN: usize = 20;
/// With more correlation between neighbours than this, longer blocks are used.
const CORRELATION: f64 = 0.2;
/// The maximum estimate of the correlation; a larger correction would hide any movement.
const CORRELATION_MAX: f64 = 0.9;
/// The number of permutations with which a series is compared.
const PERMUTATIONS: u32 = 1_999;
/// The number of permutations with an equal or larger statistic after which the comparison stops.
const ENOUGH: u32 = 40;
/// The statistic of a series and of an equal permutation differ by rounding; the former is
/// multiplied by this.
const ROUNDING: f64 = 1.0 - 1e-6;

/// A series in blocks.
#[derive(Clone, Debug)]
pub(super) struct Blocks {
    means: Vec<f64>,
    /// The factor by which a squared statistic of the means is too large.
    inflation: f64,
}

/// The probabilities that a steady series looks like this one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chances {
    /// The probability of an equally strong trend.
    pub(super) trend: f64,
    /// The probability of an equally strong change.
    pub(super) change: f64,
}

/// The squared t, or the F, of both tests.
#[derive(Clone, Copy, Debug)]
struct Statistics {
    trend: f64,
    change: f64,
}

impl Blocks {
    /// The blocks of a series of at least [`BLOCKS_MIN`] values; series from
    /// [`judge`](super::judge) are much longer.
    pub(super) fn from_values(values: &[f64]) -> Self {
        let values = without_spikes(values);
        let mut count = BLOCKS.min(values.len());
        loop {
            let means = shape::parts(&values, count, mean);
            let correlation = correlation(&means);
            let fewer = count * 3 / 4;
            if correlation <= CORRELATION || fewer < BLOCKS_MIN {
                // The variance of the mean of a first-order autoregression, relative to independent
                // values.
                let inflation = (1.0 + correlation) / (1.0 - correlation);
                return Self { means, inflation };
            }
            count = fewer;
        }
    }

    /// Compares the series with permutations of itself. Stops early if the series soon proves
    /// ordinary (Besag and Clifford 1991).
    pub(super) fn chances(&self) -> Chances {
        let found = Statistics::from_means(&self.means);
        let trend = found.trend / self.inflation * ROUNDING;
        let change = found.change / self.inflation * ROUNDING;
        let mut shuffled = self.means.clone();
        let mut random = Random::new(0, 0, 0, 0);
        let (mut trends, mut changes, mut compared) = (0, 0, 0);
        while compared < PERMUTATIONS && (trends < ENOUGH || changes < ENOUGH) {
            shuffle(&mut shuffled, &mut random);
            let by_chance = Statistics::from_means(&shuffled);
            trends += u32::from(by_chance.trend >= trend);
            changes += u32::from(by_chance.change >= change);
            compared += 1;
        }
        let share = |count: u32| f64::from(count + 1) / f64::from(compared + 1);
        Chances {
            trend: share(trends),
            change: share(changes),
        }
    }
}

impl Statistics {
    /// The statistics of a line's slope, and of the best cut into levels: with one step or two,
    /// whichever explains more for its number of parameters.
    fn from_means(means: &[f64]) -> Self {
        let n = means.len() as f64;
        let middle = (n - 1.0) / 2.0;
        let by_time = |(at, value): (usize, &f64)| value * (at as f64 - middle);
        let with_time: f64 = means.iter().enumerate().map(by_time).sum();
        let times = n * (n * n - 1.0) / 12.0;
        let total = shape::total_squares(means);
        let squared_t = |explained: f64, parameters: f64| {
            let rest = (total - explained).max(total * 1e-12);
            match total > 0.0 {
                true => explained / rest * (n - 1.0 - parameters) / parameters,
                false => 0.0,
            }
        };
        let [one, two] = shape::steps(means);
        Self {
            trend: squared_t(with_time * with_time / times, 1.0),
            change: squared_t(one.explained, 1.0).max(squared_t(two.explained, 2.0)),
        }
    }
}

/// The correlation between neighbours that no shape explains: the minimum over the residuals of all
/// shapes, at least 0. The residuals of a fit are less correlated than the noise, by about
/// (parameters) / n (Kendall 1954; Marriott and Pope 1954), which is added.
fn correlation(means: &[f64]) -> f64 {
    let n = means.len() as f64;
    let rests = shape::rests(means).map(|rest| {
        let left = neighbours(&rest.values);
        (n * left + rest.bias) / (n - 4.0)
    });
    let least = rests.into_iter().fold(CORRELATION_MAX, f64::min);
    least.max(0.0)
}

/// The correlation of residuals with the next ones.
fn neighbours(rests: &[f64]) -> f64 {
    let squares: f64 = rests.iter().map(|rest| rest * rest).sum();
    let products: f64 = rests.windows(2).map(|pair| pair[0] * pair[1]).sum();
    match squares > 0.0 {
        true => products / squares,
        false => 0.0,
    }
}

/// The shuffle of Fisher and Yates.
fn shuffle(values: &mut [f64], random: &mut Random) {
    for last in (1..values.len()).rev() {
        let other = random.below(last as u64 + 1) as usize;
        values.swap(last, other);
    }
}

#[cfg(test)]
mod tests {
    use super::super::beside_scipy::{CASES, assert_close};
    use super::*;

    #[test]
    fn statistics_are_those_of_scipy() {
        for case in CASES {
            let found = Statistics::from_means(case.values);
            assert_close(found.trend, case.trend);
            assert_close(found.change, case.change);
            let rests = shape::rests(case.values);
            for (rest, expected) in rests.iter().zip(case.neighbours) {
                assert_close(neighbours(&rest.values), expected);
            }
        }
    }
}
