//! The places at which a history of runs changed: E-divisive (Matteson and James, "A nonparametric
//! approach for multiple change point analysis of multivariate data", JASA 2014).
//!
//! The history is cut where two neighbouring parts have the maximum energy statistic, and each part
//! is searched again, as long as a cut is significant. The method assumes no distribution of the
//! values, and finds any number of changes.
//!
//! Permutations within the current parts decide whether a cut is due to chance. The paper permutes
//! single values, which assumes that runs do not depend on each other. But a machine that is slow
//! today is slow in the next run as well, and permutations of single values then report a change in
//! half of the steady histories. So whole blocks of neighbours are permuted, as long as the
//! correlation of the values requires (Carlstein 1986), and the statistic is reduced to compensate
//! for the dependence that such blocks still lose. The correlation is computed from the values
//! minus the levels of their parts, with the tested cut included: otherwise a real change would
//! count as correlation and hide itself. If the cut removes nearly all of the spread, the statistic
//! is hardly reduced: only the small rest depends on the previous run, but the permutations have
//! the spread of the whole.
//!
//! If a change is significant, its place is then found by its likelihood (`place`).

use crate::centre::{mean, without_spikes};
use crate::energy::{Energy, Split};
use crate::place::Place;
use crate::{RUNS_MAX, Shift};
use drumfire_plan::Random;

/// The maximum number of values of a history: its search takes a second.
pub const HISTORY_MAX: usize = 200;
/// The minimum number of values on each side of a change.
const PART_MIN: usize = 3;
/// The maximum number of changes in a history.
const CHANGES_MAX: usize = 8;
/// The number of permutations that a cut is compared with.
const PERMUTATIONS: u32 = 999;
/// After this many permutations with an equal or larger statistic no more are made: the cut is not
/// significant (Besag and Clifford 1991).
const ENOUGH: u32 = 60;
/// The minimum number of blocks: with fewer, no order is improbable enough.
const BLOCKS_MIN: usize = 30;
/// The maximum correlation that is used; a higher one would make the correction hide any change.
const CORRELATION_MAX: f64 = 0.8;
/// The share of the variance that the best cut leaves, above which the dependence counts fully:
/// steady histories of two dozen runs seldom leave less, even if the runs depend strongly on each
/// other.
const REST_FULL: f64 = 0.1;
/// The bias of the correlation of residuals after the best cut, compared with the values'
/// correlation, times n (Marriott and Pope 1954), found by simulation.
const BIAS: f64 = 4.0;
/// The statistics of a history and of an equal permutation differ by rounding.
const ROUNDING: f64 = 1.0 - 1e-9;

/// A figure of a history: a value of each run, on a scale on which a change is a difference.
#[derive(Clone, Debug, PartialEq)]
pub struct Track {
    /// A finite value of each run, in chronological order.
    pub values: Vec<f64>,
    /// The smallest relevant change in either direction, above 0.
    pub least: f64,
}

/// A change of a figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SeriesChange {
    /// The index of the first value after the change.
    pub at: usize,
    /// The lowest and the highest index that the first value after the change may have, with 95 %
    /// confidence.
    pub likely: (usize, usize),
    /// The shift (Hodges and Lehmann) from the values between the previous change and this one to
    /// the values after it.
    pub shift: f64,
    /// The probability that a history without a change looks at least as much as if it had one.
    pub p: f64,
}

/// A search for the changes of several figures of the same runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Divisive {
    /// The probability that a change is found in any figure of a history without changes, such as
    /// 0.05.
    pub error: f64,
    /// The seed of the permutations.
    pub seed: u64,
}

impl Divisive {
    /// The relevant changes of each figure among its last [`HISTORY_MAX`] values, in chronological
    /// order.
    ///
    /// The error is divided among the figures that could have an answer. A figure whose values all
    /// differ by less than the smallest relevant change is not a test: this check uses the sizes of
    /// the values and not their order, so it does not affect the error.
    #[must_use]
    pub fn changes(&self, figures: &[Track]) -> Vec<Vec<SeriesChange>> {
        let tested = figures.iter().filter(|figure| figure.is_test()).count();
        let search = Self {
            error: self.error / tested.max(1) as f64,
            ..*self
        };
        let changes = figures.iter().map(|figure| match figure.is_test() {
            true => search.of_figure(figure),
            false => Vec::new(),
        });
        changes.collect()
    }

    fn of_figure(&self, figure: &Track) -> Vec<SeriesChange> {
        let skipped = figure.values.len().saturating_sub(HISTORY_MAX);
        let values = &figure.values[skipped..];
        let found = self.cuts(values);
        let mut edges: Vec<usize> = found.iter().map(|(at, _)| *at).collect();
        edges.insert(0, 0);
        edges.push(values.len());
        let placed = found.iter().enumerate().map(|(number, (at, p))| {
            let (from, to) = (edges[number], edges[number + 2]);
            let place = Place::find(&values[from..to], PART_MIN - 1, at - from);
            let shown = |at: usize| skipped + from + at;
            SeriesChange {
                at: shown(place.at),
                likely: (shown(place.likely.0), shown(place.likely.1)),
                shift: shift(&values[from..to], place.at),
                p: *p,
            }
        });
        placed.filter(|of| of.shift.abs() >= figure.least).collect()
    }

    /// The significant cuts of a series, in order, each with its probability.
    fn cuts(&self, values: &[f64]) -> Vec<(usize, f64)> {
        let energy = Energy::from_values(values);
        let mut edges = vec![0, values.len()];
        let mut found: Vec<(usize, f64)> = Vec::new();
        while found.len() < CHANGES_MAX {
            let Some(split) = best(&energy, &edges) else {
                break;
            };
            let p = self.probability(values, &edges, split, found.len() as u64);
            if p > self.error {
                break;
            }
            found.push((split.at, p));
            edges.push(split.at);
            edges.sort_unstable();
        }
        found.sort_by_key(|(at, _)| *at);
        found
    }

    /// The share of permutations within the parts whose best cut is as good as this one.
    fn probability(&self, values: &[f64], edges: &[usize], split: Split, number: u64) -> f64 {
        let dependence = Dependence::from_cut(values, edges, split);
        let found = split.statistic / dependence.excess * ROUNDING;
        let mut random = Random::new(self.seed, number, 0, 0);
        let mut energy = Energy::from_values(&[]);
        let mut shuffled = values.to_vec();
        let (mut as_great, mut made) = (0, 0);
        while made < PERMUTATIONS && as_great < ENOUGH {
            for part in edges.windows(2) {
                let (from, to) = (part[0], part[1]);
                permute(
                    &values[from..to],
                    dependence.block,
                    &mut random,
                    &mut shuffled[from..to],
                );
            }
            energy.fill(&shuffled);
            let by_chance = best(&energy, edges);
            as_great += u32::from(by_chance.is_some_and(|by| by.statistic >= found));
            made += 1;
        }
        f64::from(as_great + 1) / f64::from(made + 1)
    }
}

impl Track {
    /// Whether its values differ so much that a change could be relevant.
    fn is_test(&self) -> bool {
        let values = self.values.iter();
        let (least, greatest) = values.fold((f64::MAX, f64::MIN), |(least, greatest), value| {
            (least.min(*value), greatest.max(*value))
        });
        greatest - least >= self.least
    }
}

/// The shift at a place of a series, from as many of its neighbours as a comparison uses.
fn shift(values: &[f64], at: usize) -> f64 {
    let before = &values[at.saturating_sub(RUNS_MAX)..at];
    let behind = &values[at..values.len().min(at + RUNS_MAX)];
    Shift::estimate(before, behind, 0.95).map_or(0.0, |shift| shift.estimate)
}

/// The best cut of the whole series.
///
/// `None` if the series has fewer than twice [`PART_MIN`] values.
#[must_use]
pub fn best_split(values: &[f64]) -> Option<Split> {
    Energy::from_values(values).best(0, values.len(), PART_MIN)
}

/// The best cut of any part.
fn best(energy: &Energy, edges: &[usize]) -> Option<Split> {
    let parts = edges.windows(2);
    let cuts = parts.filter_map(|part| energy.best(part[0], part[1], PART_MIN));
    cuts.max_by(|one, other| one.statistic.total_cmp(&other.statistic))
}

/// The dependence of a series' values on the values before them, as a first-order autoregression.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Dependence {
    /// The length of the blocks that are permuted.
    block: usize,
    /// The factor by which the statistic of the series exceeds the statistics of its permutations
    /// because of the dependence that blocks of this length lose.
    excess: f64,
}

impl Dependence {
    /// The dependence that remains after subtracting the levels of all parts, and the levels
    /// before, after and beyond the cut: a level that returns is a change, too.
    fn from_cut(values: &[f64], edges: &[usize], cut: Split) -> Self {
        let mut edges = edges.to_vec();
        edges.extend([cut.at, cut.to]);
        edges.sort_unstable();
        edges.dedup();
        let parts = edges.windows(2).map(|part| &values[part[0]..part[1]]);
        let rests = parts.flat_map(|part| {
            let part = without_spikes(part);
            let level = part.iter().sum::<f64>() / part.len().max(1) as f64;
            part.into_iter().map(move |value| value - level)
        });
        let rests: Vec<f64> = rests.collect();
        let cuts = (edges.len() - 2) as f64;
        let from = edges.iter().rev().find(|edge| **edge < cut.at);
        let (before, behind) = (from.map_or(0, |from| *from)..cut.at, cut.at..cut.to);
        let rest = share_of_rest(&values[before], &values[behind], &rests);
        Self::with(correlation(&rests, BIAS * cuts), values.len()).weighted(rest)
    }

    /// Reduces the excess to its effect on this share of the spread, because it does not apply to
    /// the step.
    fn weighted(self, rest: f64) -> Self {
        let weight = (rest / REST_FULL).min(1.0);
        Self {
            excess: 1.0 + (self.excess - 1.0) * weight,
            ..self
        }
    }

    /// Chooses blocks for a correlation of neighbours. Compared with independent values, the
    /// variance of the mean is larger by the factor 1 + 2 Σ (1 − k/b) r^k for a block of length b,
    /// with k from 1 to b − 1, and by (1 + r) / (1 − r) for the whole series.
    fn with(correlation: f64, length: usize) -> Self {
        // An estimate from independent values may be this far from 0.
        if correlation <= 1.0 / (length as f64).sqrt() {
            return Self {
                block: 1,
                excess: 1.0,
            };
        }
        let r = correlation.min(CORRELATION_MAX);
        let scale = 6_f64.sqrt() * r / (1.0 - r * r);
        let wanted = (scale * scale * length as f64).cbrt().ceil() as usize;
        let block = wanted.clamp(1, (length / BLOCKS_MIN).max(1));
        let kept = (1..block).map(|k| (1.0 - k as f64 / block as f64) * r.powi(k as i32));
        let kept = 1.0 + 2.0 * kept.sum::<f64>();
        Self {
            block,
            excess: (1.0 + r) / (1.0 - r) / kept,
        }
    }
}

/// The part of the variance around a cut that the step there does not explain: m and n values that
/// differ by d add mn / (m + n)² · d². Spikes are removed from both sides, because they are not a
/// step.
fn share_of_rest(before: &[f64], behind: &[f64], rests: &[f64]) -> f64 {
    let [m, n] = [before, behind].map(|side| side.len().max(1) as f64);
    let [low, high] = [before, behind].map(|side| mean(&without_spikes(side)));
    let step = m * n / (m + n).powi(2) * (high - low).powi(2);
    let rest = rests.iter().map(|rest| rest * rest).sum::<f64>() / rests.len().max(1) as f64;
    match rest + step > 0.0 {
        true => rest / (rest + step),
        false => 1.0,
    }
}

/// The correlation of residuals with the next ones, corrected for the bias of a fit.
fn correlation(rests: &[f64], bias: f64) -> f64 {
    let squares: f64 = rests.iter().map(|rest| rest * rest).sum();
    let products: f64 = rests.windows(2).map(|pair| pair[0] * pair[1]).sum();
    let n = rests.len() as f64;
    match squares > 0.0 {
        true => (products / squares * n + bias) / n,
        false => 0.0,
    }
}

/// Writes the values in blocks of neighbours in another order. The series is treated as a circle,
/// and its blocks begin at a random place, so that no cut is favoured.
fn permute(values: &[f64], block: usize, random: &mut Random, into: &mut [f64]) {
    let length = values.len();
    if length == 0 {
        return;
    }
    let offset = match block {
        1 => 0,
        _ => random.below(length as u64) as usize,
    };
    let mut starts: Vec<usize> = (0..length).step_by(block).collect();
    for last in (1..starts.len()).rev() {
        let other = random.below(last as u64 + 1) as usize;
        starts.swap(last, other);
    }
    let order = starts
        .iter()
        .flat_map(|start| *start..(*start + block).min(length));
    for (to, from) in into.iter_mut().zip(order) {
        *to = values[(from + offset) % length];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEARCH: Divisive = Divisive {
        error: 0.05,
        seed: 1,
    };

    /// Numbers around 0 in random order.
    fn noise(seed: u64, length: usize) -> Vec<f64> {
        let mut random = Random::new(seed, 0, 0, 0);
        let sum = |_| (0..12).map(|_| random.unit()).sum::<f64>() - 6.0;
        (0..length).map(sum).collect()
    }

    fn stepped(seed: u64, length: usize, steps: &[(usize, f64)]) -> Track {
        let mut values = noise(seed, length);
        for (at, height) in steps {
            values[*at..].iter_mut().for_each(|value| *value += height);
        }
        Track { values, least: 0.5 }
    }

    #[test]
    fn steps_are_found_where_they_are() {
        for seed in 0..5 {
            let track = stepped(seed, 60, &[(20, 5.0), (45, -4.0)]);
            let found = SEARCH.changes(&[track]).remove(0);
            let [up, down] = found[..] else {
                panic!("{seed}: {found:?}");
            };
            for (change, at, height) in [(up, 20, 5.0), (down, 45, -4.0)] {
                assert!(change.at.abs_diff(at) <= 1, "{seed}: {change:?}");
                assert!(change.likely.0 <= change.at && change.at <= change.likely.1);
                assert!((change.shift - height).abs() < 1.5, "{seed}: {change:?}");
                assert!(change.p <= 0.05);
            }
        }
    }

    /// Two dozen runs that depend on each other, with a step far larger than their spread.
    #[test]
    fn a_great_step_is_found_in_a_short_history() {
        for seed in 0..10 {
            let mut wave = 0.0;
            let follow = |value: f64| {
                wave = 0.5 * wave + value;
                wave
            };
            let mut values: Vec<f64> = noise(seed, 24).into_iter().map(follow).collect();
            values[14..].iter_mut().for_each(|value| *value += 100.0);
            let least = 0.5;
            let found = SEARCH.changes(&[Track { values, least }]).remove(0);
            assert!(found.iter().any(|of| of.at == 14), "{seed}: {found:?}");
        }
    }

    #[test]
    fn a_search_is_of_the_newest_values() {
        let mut track = stepped(3, HISTORY_MAX, &[(120, 5.0)]);
        track.values.splice(0..0, [0.0; 10]);
        let found = SEARCH.changes(&[track]).remove(0);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].at.abs_diff(130) <= 1, "{found:?}");
    }

    #[test]
    fn steady_histories_seldom_change() {
        let changed = (0..60).filter(|seed| {
            let tracks = [stepped(*seed, 30, &[]), stepped(seed + 100, 30, &[])];
            SEARCH
                .changes(&tracks)
                .iter()
                .any(|found| !found.is_empty())
        });
        let changed = changed.count();
        assert!(changed <= 6, "{changed} of 60");
    }

    #[test]
    fn a_figure_that_hardly_moves_is_no_test_and_a_small_step_no_change() {
        let mut flat = stepped(1, 40, &[(20, 6.0)]);
        flat.least = 50.0;
        let mut small = stepped(1, 40, &[(20, 6.0)]);
        small.least = 7.0;
        let clear = stepped(1, 40, &[(20, 6.0)]);
        let found = SEARCH.changes(&[flat, small, clear]);
        assert_eq!([0, 1, 2].map(|of: usize| found[of].len()), [0, 0, 1]);
        let constant = Track {
            values: vec![0.0; 40],
            least: 0.001,
        };
        assert_eq!(SEARCH.changes(&[constant])[0], []);
        assert_eq!(SEARCH.changes(&[]), Vec::<Vec<SeriesChange>>::new());
        let few = stepped(1, 4, &[]);
        assert_eq!(SEARCH.changes(&[few])[0], []);
    }

    #[test]
    fn blocks_are_as_long_as_the_correlation_asks_for() {
        let independent = Dependence::with(0.09, 100);
        assert_eq!((independent.block, independent.excess), (1, 1.0));
        // (6 · (2/3)² · 200)^(1/3) = 8.1, but to get thirty blocks out of 200 values, their length
        // is at most six.
        let half = Dependence::with(0.5, 200);
        assert_eq!(half.block, 6);
        // 3 of all blocks, and 1 + 2 (5/6 · 1/2 + 4/6 · 1/4 + 3/6 · 1/8 + 2/6 · 1/16 + 1/6 · 1/32).
        let kept = 1.0 + 2.0 * (5.0 / 12.0 + 1.0 / 6.0 + 1.0 / 16.0 + 1.0 / 48.0 + 1.0 / 192.0);
        assert!((half.excess - 3.0 / kept).abs() < 1e-12, "{half:?}");
    }

    #[test]
    fn a_permutation_keeps_every_value_and_the_neighbours_of_a_block() {
        let values: Vec<f64> = (0..17).map(f64::from).collect();
        let mut into = vec![0.0; 17];
        for seed in 0..50 {
            let mut random = Random::new(seed, 0, 0, 0);
            permute(&values, 4, &mut random, &mut into);
            let mut sorted = into.clone();
            sorted.sort_by(f64::total_cmp);
            assert_eq!(sorted, values);
            let neighbours = into.windows(2).filter(|pair| {
                let next = pair[0] as usize + 1;
                next % 17 == pair[1] as usize
            });
            assert!(neighbours.count() >= 12, "{into:?}");
        }
    }
}
