//! Several figures of the same pairs, checked at several looks: probabilities that take both into
//! account.
//!
//! If two sides are equal and take turns, each pair could as well have had the opposite result, in
//! all its figures at once. So all signs are flipped, pair by pair, and the whole procedure is
//! repeated with each outcome: the earlier looks, the figures at each of them, and the bound at
//! which the experiment would have ended there. A figure's probability is the share of outcomes
//! that would have ended by now, or that show at least as much as the figure. This needs no
//! assumption about the distribution of the figures, their dependence, or the dependence between
//! looks. Figures that move together cost little, whereas Holm's procedure counts them as separate
//! tests (Westfall and Young 1993, single step).
//!
//! The bound of a look is chosen so that at most [`InterimLooks::spent`] of all outcomes end until
//! then (Lan and DeMets 1983). A figure whose differences are all below the smallest relevant one
//! can have no answer, regardless of their signs: it is not a test, and raises no other
//! probability.

use crate::signed_rank::Ranks;
use drumfire_plan::Random;

/// Up to this number of pairs, all outcomes are enumerated.
const COUNTED_MAX: usize = 12;
/// The number of outcomes that are drawn for more pairs.
const DRAWN: u64 = 8_000;
/// The part of the error that looks before the end may spend.
const EARLY: f64 = 0.4;
/// Probabilities that differ by less are equal except for rounding.
const ROUNDING: f64 = 1e-9;

/// When an experiment is checked, and the error that it may make until then.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InterimLooks {
    /// The number of pairs after which the experiment ends.
    pub pairs: usize,
    /// The number of pairs at the first look.
    pub first: usize,
    /// The number of pairs between two looks; at least 1.
    pub every: usize,
    /// The probability of a false finding in the whole experiment, such as 0.05.
    pub error: f64,
}

/// The differences within pairs of one figure, in the order of the pairs.
#[derive(Clone, Debug, PartialEq)]
pub struct Differences {
    /// One for each pair.
    pub of_pairs: Vec<f64>,
    /// The smallest relevant difference in either direction, above 0.
    pub least: f64,
}

/// The tests of several figures of the same pairs, in the order of the figures.
#[derive(Clone, Debug, PartialEq)]
pub struct JointTests {
    /// The probability of each figure, raised for all figures and for the earlier looks.
    pub probabilities: Vec<f64>,
    /// The probability that a figure by itself must not exceed to be a finding: an interval of the
    /// confidence 1 − level excludes 0 if the figure is a finding. The error of the whole for a
    /// figure that is not a test; `None` if no figure can be a finding.
    pub levels: Vec<Option<f64>>,
}

impl InterimLooks {
    /// Whether a look takes place after this number of pairs; the end is always a look.
    #[must_use]
    pub const fn is_look(&self, pairs: usize) -> bool {
        let every = if self.every == 0 { 1 } else { self.every };
        let is_between = pairs >= self.first && pairs < self.pairs;
        pairs == self.pairs || is_between && (pairs - self.first).is_multiple_of(every)
    }

    /// The shift that four of five experiments of this design find, in standard deviations between
    /// independent runs, for three figures that move together. Fitted to simulations.
    #[must_use]
    pub fn resolution(&self) -> f64 {
        let pairs = self.pairs as f64;
        match self.pairs {
            0..6 => f64::INFINITY,
            // Only one outcome of six pairs is improbable enough, and hardly more outcomes of
            // seven.
            6 => 3.3,
            7 => 2.4,
            _ => 2.9 * (1.0 + 2.0 / pairs) * (2.0 / pairs).sqrt(),
        }
    }

    /// The part of the error that is spent until this number of pairs. Before the end it follows
    /// the bounds of O'Brien and Fleming for [`EARLY`] of the error, and is 0 before the first
    /// look; the rest is left to the end, where most shifts are found.
    #[must_use]
    pub fn spent(&self, pairs: usize) -> f64 {
        if pairs >= self.pairs {
            return self.error;
        }
        if pairs < self.first {
            return 0.0;
        }
        let part = pairs as f64 / self.pairs as f64;
        2.0 * above(deviate(EARLY * self.error / 2.0) / part.sqrt())
    }

    /// The probability of each figure at the current number of pairs, raised for all figures and
    /// for the earlier looks. A figure is a finding if its probability is at most [`Self::spent`];
    /// it is 1 for a figure that is not a test. If there are too many outcomes to enumerate, the
    /// seed draws them.
    ///
    /// All figures must have the same number of pairs, at most [`RUNS_MAX`](crate::RUNS_MAX).
    #[must_use]
    pub fn probabilities(&self, figures: &[Differences], seed: u64) -> Vec<f64> {
        self.tests(figures, seed).probabilities
    }

    /// The tests of all figures at the current number of pairs, with the same conditions as
    /// [`Self::probabilities`].
    #[must_use]
    pub fn tests(&self, figures: &[Differences], seed: u64) -> JointTests {
        let pairs = figures.first().map_or(0, |figure| figure.of_pairs.len());
        let outcomes = FlippedSigns::new(pairs, seed);
        let mut ended = vec![false; outcomes.len()];
        let looks = (1..pairs).filter(|look| self.is_look(*look));
        for look in looks {
            let most = Look::after_pairs(look, figures).most(&outcomes);
            let bound = self.bound(&most, &ended, look);
            for (ended, most) in ended.iter_mut().zip(&most) {
                *ended |= *most <= bound;
            }
        }
        let look = Look::after_pairs(pairs, figures);
        let most = look.most(&outcomes);
        let raised = |(own, is_test): (f64, bool)| {
            let each = ended.iter().zip(&most);
            let count = each.filter(|(ended, most)| **ended || **most <= own + ROUNDING);
            let share = outcomes.share(count.count());
            if is_test { share } else { 1.0 }
        };
        let own = look.own();
        let level = self.level(&most, &ended, &outcomes, pairs);
        JointTests {
            probabilities: own.iter().copied().map(raised).collect(),
            levels: own
                .iter()
                .map(|(_, is_test)| match is_test {
                    true => level,
                    false => Some(self.error),
                })
                .collect(),
        }
    }

    /// The probability below which a figure by itself is a finding at the last look: at most the
    /// error, and so small that the outcomes that show as much, with those that ended before, stay
    /// within [`Self::spent`]. `None` if no figure can be a finding.
    fn level(
        &self,
        most: &[f64],
        ended: &[bool],
        outcomes: &FlippedSigns,
        pairs: usize,
    ) -> Option<f64> {
        let bound = self.spent(pairs);
        let before = ended.iter().filter(|ended| **ended).count();
        let alive = most.iter().zip(ended).filter(|(_, ended)| !**ended);
        let mut alive: Vec<f64> = alive.map(|(most, _)| *most).collect();
        alive.sort_by(f64::total_cmp);
        // The smallest probability of an outcome that is one too many.
        let mut at = 0;
        while at < alive.len() {
            let next = alive[at];
            let through = at + alive[at..].partition_point(|most| *most <= next + ROUNDING);
            if outcomes.share(before + through) > bound {
                break;
            }
            at = through;
        }
        match alive.get(at) {
            _ if at == 0 => None,
            // Any probability below the next outcome's is a finding, not only those that occur.
            Some(next) => Some((next - 2.0 * ROUNDING).min(bound)),
            None => Some(bound),
        }
    }

    /// The maximum probability at which outcomes end at a look, chosen so that the total of ended
    /// outcomes stays within the error to be spent; below 0 if none may end.
    fn bound(&self, most: &[f64], ended: &[bool], look: usize) -> f64 {
        let allowed = self.spent(look) * ended.len() as f64;
        let before = ended.iter().filter(|ended| **ended).count();
        let alive = most.iter().zip(ended).filter(|(_, ended)| !**ended);
        let mut alive: Vec<f64> = alive.map(|(most, _)| *most).collect();
        alive.sort_by(f64::total_cmp);
        let mut bound = -1.0;
        let mut at = 0;
        while at < alive.len() {
            let next = alive[at] + ROUNDING;
            let through = at + alive[at..].partition_point(|most| *most <= next);
            if (before + through) as f64 > allowed {
                break;
            }
            (bound, at) = (next, through);
        }
        bound
    }
}

/// Signs of all pairs, in many variants: a bit for each pair, set if it is flipped.
struct FlippedSigns {
    flips: Vec<u64>,
    is_drawn: bool,
}

impl FlippedSigns {
    fn new(pairs: usize, seed: u64) -> Self {
        if pairs <= COUNTED_MAX {
            return Self {
                flips: (0..1_u64 << pairs).collect(),
                is_drawn: false,
            };
        }
        let draw = |number| Random::new(seed, number, 0, 0).bits();
        Self {
            flips: (0..DRAWN).map(draw).collect(),
            is_drawn: true,
        }
    }

    const fn len(&self) -> usize {
        self.flips.len()
    }

    /// The share of all outcomes for a number of them. The observed outcome is one of them: if the
    /// outcomes are drawn, it is added, so that no share is 0.
    fn share(&self, count: usize) -> f64 {
        let seen = usize::from(self.is_drawn);
        (count + seen) as f64 / (self.len() + seen) as f64
    }
}

/// The figures after a number of pairs.
struct Look {
    figures: Vec<Figure>,
}

/// One figure at a look.
struct Figure {
    /// Twice the sum of the ranks of eight pairs, indexed by the bits of the pairs that count.
    sums: Vec<[usize; 256]>,
    probabilities: Vec<f64>,
    /// A bit for each pair whose difference is above 0.
    above: u64,
    is_test: bool,
}

impl Look {
    fn after_pairs(pairs: usize, figures: &[Differences]) -> Self {
        Self {
            figures: figures
                .iter()
                .map(|of| Figure::after_pairs(pairs, of))
                .collect(),
        }
    }

    /// The probability of each figure by itself, as observed, and whether it is a test.
    fn own(&self) -> Vec<(f64, bool)> {
        let figures = self.figures.iter();
        figures
            .map(|figure| (figure.probability(0), figure.is_test))
            .collect()
    }

    /// The smallest probability among the figures that are tests, in each outcome.
    fn most(&self, outcomes: &FlippedSigns) -> Vec<f64> {
        let least = |flips: &u64| {
            let tests = self.figures.iter().filter(|figure| figure.is_test);
            tests
                .map(|figure| figure.probability(*flips))
                .fold(1.0, f64::min)
        };
        outcomes.flips.iter().map(least).collect()
    }
}

impl Figure {
    fn after_pairs(pairs: usize, figure: &Differences) -> Self {
        let seen = &figure.of_pairs[..pairs];
        let ranks = Ranks::from_differences(seen);
        let above = |at: &usize| seen[*at] > 0.0;
        let sum = |ranks: &[usize], bits: usize| {
            let counted = ranks.iter().enumerate();
            let counted = counted.filter(|(at, _)| bits >> at & 1 == 1);
            counted.map(|(_, rank)| rank).sum()
        };
        let eight = |ranks: &[usize]| std::array::from_fn(|bits| sum(ranks, bits));
        Self {
            sums: ranks.doubled.chunks(8).map(eight).collect(),
            probabilities: ranks.probabilities(),
            above: (0..pairs).filter(above).fold(0, |bits, at| bits | 1 << at),
            is_test: seen.iter().any(|of| of.abs() >= figure.least),
        }
    }

    /// The probability of the figure by itself if these pairs are flipped. A difference of 0 has no
    /// rank, so flipping it changes nothing.
    fn probability(&self, flips: u64) -> f64 {
        let bytes = (self.above ^ flips).to_le_bytes();
        let eights = self.sums.iter().zip(bytes);
        let sum: usize = eights.map(|(sums, byte)| sums[usize::from(byte)]).sum();
        self.probabilities[sum]
    }
}

/// The deviate of a normal distribution above which this share lies: by bisection, for a few
/// bounds.
fn deviate(share: f64) -> f64 {
    let (mut low, mut high) = (0.0, 40.0);
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        match above(middle) > share {
            true => low = middle,
            false => high = middle,
        }
    }
    low
}

/// The share of a normal distribution above a deviate of 0 or more: by the continued fraction of
/// Mills' ratio, if it converges (Abramowitz and Stegun 26.2.14), and by the series near 0.
fn above(deviate: f64) -> f64 {
    let density = (-deviate * deviate / 2.0).exp() / std::f64::consts::TAU.sqrt();
    if deviate < 2.0 {
        // Φ(x) − ½ = φ(x)·(x + x³/3 + x⁵/(3·5) + …), 26.2.11.
        let terms = (1..60).scan(deviate, |term, k| {
            let now = *term;
            *term *= deviate * deviate / f64::from(2 * k + 1);
            Some(now)
        });
        return 0.5 - density * terms.sum::<f64>();
    }
    let fraction = (1..=200)
        .rev()
        .fold(deviate, |rest, k| deviate + f64::from(k) / rest);
    density / fraction
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SignedRank;

    const LOOKS: InterimLooks = InterimLooks {
        pairs: 10,
        first: 6,
        every: 2,
        error: 0.05,
    };

    fn figure(of_pairs: &[f64]) -> Differences {
        Differences {
            of_pairs: of_pairs.to_vec(),
            least: 0.01,
        }
    }

    fn close(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-9, "{found} {expected}");
    }

    #[test]
    fn spending_is_that_of_obrien_and_fleming() {
        // From scipy 1.17.1: `2 * norm.sf(norm.isf(0.01) / sqrt(n / 10))`.
        for (pairs, expected) in [
            (6, 0.002_670_670_997_537_348),
            (8, 0.009_296_979_841_821_333),
            (10, 0.05),
            (5, 0.0),
        ] {
            close(LOOKS.spent(pairs), expected);
        }
        let looks: Vec<usize> = (0..=12).filter(|n| LOOKS.is_look(*n)).collect();
        assert_eq!(looks, [6, 8, 10]);
        let resolution = |pairs| InterimLooks { pairs, ..LOOKS }.resolution();
        assert!((6..60).all(|pairs| resolution(pairs) > resolution(pairs + 1)));
    }

    #[test]
    fn one_figure_at_its_only_look_has_its_own_probability() {
        let looks = InterimLooks { first: 10, ..LOOKS };
        let seen = [-1.1, 2.0, 3.2, 0.4, 5.0, 2.2, 0.9, -0.3, 1.8, 2.7];
        let own = SignedRank::from_differences(&seen).unwrap().p;
        close(looks.probabilities(&[figure(&seen)], 1)[0], own);
        // An identical figure is not a further test, and a figure without differences is not a test
        // at all.
        let figures = [figure(&seen), figure(&seen), figure(&[0.001; 10])];
        let found = looks.probabilities(&figures, 1);
        close(found[0], own);
        close(found[1], own);
        close(found[2], 1.0);
    }

    #[test]
    fn figures_and_looks_raise_probabilities() {
        let seen = [2.0, 2.1, 3.2, 0.4, 5.0, 2.2, 0.9, 1.3, 1.8, 2.7];
        let other = [0.3, -0.4, 0.1, 0.2, -0.5, 0.7, -0.6, 0.9, 0.8, -1.0];
        let alone = LOOKS.probabilities(&[figure(&seen)], 1)[0];
        // 2 of 1,024 outcomes are as extreme; the outcomes that ended at earlier looks are added.
        let own = 2.0 / 1_024.0;
        assert!(alone > own && alone < LOOKS.spent(10), "{alone}");
        let once = InterimLooks { first: 10, ..LOOKS };
        let both = once.probabilities(&[figure(&seen), figure(&other)], 1);
        // Two independent figures count nearly as two tests.
        assert!(both[0] > 1.5 * own && both[0] <= 2.0 * own, "{both:?}");
        assert!(both[1] > 0.3, "{both:?}");
    }

    #[test]
    fn no_more_than_is_allowed_of_all_outcomes_ends() {
        // Every outcome of ten pairs, each processed like the experiment: at most 5 % end.
        let sizes = [1.3, 2.1, 3.7, 0.4, 5.0, 2.2, 0.9, 1.1, 1.8, 2.7];
        let other = [1.0, 2.4, 3.1, 0.8, 4.0, 2.9, 0.2, 1.7, 1.5, 2.2];
        let ends = |flips: u32| {
            let flipped = |sizes: &[f64], pairs: usize| {
                let signed = sizes.iter().take(pairs).enumerate();
                let signed = signed.map(|(at, size)| match flips >> at & 1 {
                    1 => -size,
                    _ => *size,
                });
                figure(&signed.collect::<Vec<_>>())
            };
            [6, 8, 10].into_iter().any(|pairs| {
                let figures = [flipped(&sizes, pairs), flipped(&other, pairs)];
                let found = LOOKS.probabilities(&figures, 1);
                found.iter().any(|p| *p <= LOOKS.spent(pairs))
            })
        };
        let ended = (0..1_024).filter(|flips| ends(*flips)).count();
        assert!(ended <= 51, "{ended}");
        // Nearly as many outcomes end as may end.
        assert!(ended >= 40, "{ended}");
    }

    /// The level decides as the raised probability does, and its interval excludes 0 exactly if the
    /// figure is a finding.
    #[test]
    fn a_level_decides_like_the_probability() {
        let shifted = [2.0, 2.1, 3.2, 0.4, 5.0, 2.2, 0.9, 1.3, 1.8, 2.7];
        let mixed = [0.3, -0.4, 0.1, 0.2, -0.5, 0.7, -0.6, 0.9, 0.8, -1.0];
        let nearly = [1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, -0.9, 1.8, -0.2];
        let small = [0.001; 10];
        for pairs in 6..=10 {
            let of = |seen: &[f64]| figure(&seen[..pairs]);
            let figures = [of(&shifted), of(&mixed), of(&nearly), of(&small)];
            let tests = LOOKS.tests(&figures, 1);
            assert_eq!(tests.probabilities, LOOKS.probabilities(&figures, 1));
            let bound = LOOKS.spent(pairs);
            for (at, figure) in figures.iter().take(3).enumerate() {
                let own = SignedRank::from_differences(&figure.of_pairs).unwrap().p;
                let is_found = tests.probabilities[at] <= bound;
                let level = tests.levels[at];
                assert_eq!(is_found, level.is_some_and(|level| own <= level), "{at}");
                let shift = level.and_then(|level| {
                    SignedRank::shift(&figure.of_pairs, 1.0 - level)
                        .unwrap()
                        .interval
                });
                let excludes = shift.is_some_and(|(low, high)| low > 0.0 || high < 0.0);
                assert_eq!(is_found, excludes, "{at} of {pairs}: {shift:?}");
            }
            close(tests.levels[3].unwrap(), LOOKS.error);
        }
        // Four independent figures of six pairs: no outcome is improbable enough.
        let bits = |mask: u32| -> Vec<f64> {
            let sign = |at: usize| if mask >> at & 1 == 1 { -1.0 } else { 1.0 };
            (0..6)
                .map(|at| sign(at) * (1.0 + at as f64 / 10.0))
                .collect()
        };
        let figures = [0, 0b1, 0b11, 0b111].map(|mask| figure(&bits(mask)));
        let six = InterimLooks { pairs: 6, ..LOOKS };
        let tests = six.tests(&figures, 1);
        close(tests.probabilities[0], 4.0 * 2.0 / 64.0);
        assert_eq!(tests.levels, [None; 4]);
        // A single figure of six pairs can be a finding.
        let level = six.tests(&figures[..1], 1).levels[0].unwrap();
        assert!((2.0 / 64.0..=0.05).contains(&level), "{level}");
    }

    #[test]
    fn many_pairs_are_drawn() {
        let looks = InterimLooks { pairs: 60, ..LOOKS };
        let even: Vec<f64> = (1..=30)
            .flat_map(|n| [f64::from(n), f64::from(-n)])
            .collect();
        let shifted: Vec<f64> = (1..=60).map(f64::from).collect();
        let found = looks.probabilities(&[figure(&even), figure(&shifted)], 3);
        assert!(found[0] > 0.9, "{found:?}");
        assert!(found[1] < 0.05, "{found:?}");
        assert_eq!(
            found,
            looks.probabilities(&[figure(&even), figure(&shifted)], 3)
        );
    }
}
