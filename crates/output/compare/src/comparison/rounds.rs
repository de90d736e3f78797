//! The pairs of an experiment: a test of each figure by the differences within the pairs.
//!
//! The experiment may be tested while further pairs are still to come. `Looks` then decides how
//! improbable a difference must be. Its probabilities account for all figures and all earlier
//! looks, so that the probability of any false alarm in the whole experiment stays at 5 %. Equality
//! is decided by the interval of the shift at the end, and does not end an experiment.
//!
//! Differences are computed on the scale of differences (`Figure::scaled`). Both runs of a duet
//! have the same arrivals in the same seconds, so latencies are compared second by second: if the
//! machine slows down for some seconds, the medians do not move.

use super::{Least, Row, agreed, judge};
use crate::answer::CONFIDENCE;
use crate::compared::Compared;
use crate::counted;
use crate::figure::Figure;
use crate::round::{ROUNDS_MIN, RoundForm, Rounds, RoundsEnd};
use drumfire_measure::{LatencyKind, Overview, Summary};
use drumfire_stats::{Differences, SignedRank, median};

/// The minimum number of seconds for a meaningful median.
const SECONDS_MIN: usize = 5;
/// The seed of the drawn outcomes. Any seed would do; a constant makes comparisons reproducible.
const SEED: u64 = 1;

/// The runs of both sides, the kind of time that is the latency of all runs, and the form of the
/// rounds.
#[derive(Clone, Copy)]
struct Pairs<'a> {
    base: &'a [Compared],
    candidate: &'a [Compared],
    kind: LatencyKind,
    form: RoundForm,
}

/// A figure over all pairs.
struct Measured {
    figure: Figure,
    medians: [f64; 2],
    differences: Differences,
}

/// The test of a figure beside the others.
struct FigureTest {
    /// The raised probability.
    p: f64,
    /// The probability that the figure by itself must not exceed.
    level: Option<f64>,
    /// Whether equal sides would rarely differ this much.
    is_improbable: bool,
}

/// A row for each figure that all runs have, and cautions for the reader.
pub(crate) fn rows(
    base: &[Compared],
    candidate: &[Compared],
    least: Least,
    rounds: Rounds,
) -> (Vec<Row>, Vec<String>) {
    let figures = Figure::TESTED.into_iter();
    let kind = Compared::latency_kind(base.iter().chain(candidate));
    let pairs = Pairs {
        base,
        candidate,
        kind,
        form: rounds.form,
    };
    let measured = figures.filter_map(|figure| Measured::measure(figure, pairs, least));
    let measured: Vec<Measured> = measured.collect();
    let differences: Vec<Differences> = measured.iter().map(|of| of.differences.clone()).collect();
    let looks = rounds.looks();
    let tests = looks.tests(&differences, SEED);
    let bound = looks.spent(base.len());
    let tests = tests.probabilities.into_iter().zip(tests.levels);
    let rows = measured.iter().zip(tests);
    let rows = rows.filter_map(|(measured, (p, level))| {
        let test = FigureTest {
            p,
            level,
            is_improbable: p <= bound,
        };
        measured.row(&test, rounds, least)
    });
    let mut cautions = cautions(base.len(), rounds);
    if let (RoundForm::Duet, [base, ..], [candidate, ..]) = (rounds.form, base, candidate) {
        cautions.extend(shared(
            &base.summary().info.target,
            &candidate.summary().info.target,
        ));
    }
    (rows.collect(), cautions)
}

impl Measured {
    /// The row of the figure.
    fn row(&self, test: &FigureTest, rounds: Rounds, least: Least) -> Option<Row> {
        let figure = self.figure;
        let of_pairs = &self.differences.of_pairs;
        let shifts = |(low, high): (f64, f64)| (figure.shift(low), figure.shift(high));
        let alone = SignedRank::shift(of_pairs, CONFIDENCE)?;
        let estimate = figure.shift(alone.estimate);
        let interval = test.level.and_then(|level| {
            let found = SignedRank::shift(of_pairs, 1.0 - level)?.interval?;
            Some(agreed(shifts(found), estimate, test.is_improbable))
        });
        let spread = spread(of_pairs);
        let least = least.of_figure(figure, self.medians[0]);
        let needed = spread.and_then(|spread| rounds.needed(spread, figure.difference(least)));
        Some(Row {
            figure,
            medians: self.medians,
            shift: estimate,
            interval,
            confidence: test
                .level
                .filter(|_| interval.is_some())
                .map(|level| 1.0 - level),
            interval_alone: alone.interval.map(shifts),
            p: Some(test.p),
            detectable: spread.map(|spread| figure.shift(rounds.resolution(spread))),
            needed,
            least,
            answer: Some(judge(figure, estimate, interval, test.is_improbable, least)),
        })
    }

    /// Measures a figure; `None` if a run lacks it.
    fn measure(figure: Figure, pairs: Pairs<'_>, least: Least) -> Option<Self> {
        let Pairs {
            base,
            candidate,
            kind,
            form,
        } = pairs;
        let values = |runs: &[Compared]| -> Option<Vec<f64>> {
            runs.iter().map(|run| figure.value(run, kind)).collect()
        };
        let [of_base, of_candidate] = [values(base)?, values(candidate)?];
        let pairs = base.iter().zip(candidate);
        let wholes = of_base.iter().zip(&of_candidate);
        let of_pairs = pairs.zip(wholes).map(|((base, candidate), wholes)| {
            let whole = figure.scaled(*wholes.1) - figure.scaled(*wholes.0);
            match (form, figure) {
                (RoundForm::Duet, Figure::Latency(_, q)) => {
                    let runs = [base, candidate].map(Compared::summary);
                    // The seconds of a run contain only the run's own kind of latency.
                    let is_one_kind = runs.iter().all(|run| run.latency_kind() == kind);
                    let by_second = is_one_kind.then(|| by_second(q, runs)).flatten();
                    by_second.unwrap_or(whole)
                }
                _ => whole,
            }
        });
        let medians = [median(&of_base), median(&of_candidate)];
        let least = least.of_figure(figure, medians[0]);
        Some(Self {
            figure,
            medians,
            differences: Differences {
                of_pairs: of_pairs.collect(),
                least: figure.difference(least),
            },
        })
    }
}

/// The median, over the seconds of a duet, of the logarithm of a latency's ratio. `None` if fewer
/// than half of the seconds have enough requests on both sides.
fn by_second(q: f64, [base, candidate]: [&Summary; 2]) -> Option<f64> {
    let seconds = |run: &Summary| -> Vec<Option<f64>> {
        let known = |cell: Overview| cell.latency().quantile(q).filter(|time| time.0 > 0);
        run.over_time()
            .map(|cell| known(cell).map(|time| (time.0 as f64).ln()))
            .collect()
    };
    let (base, candidate) = (seconds(base), seconds(candidate));
    let both = base.iter().zip(&candidate);
    let ratios: Vec<f64> = both.filter_map(|(a, b)| Some((*b)? - (*a)?)).collect();
    let half = base.len().max(candidate.len()).div_ceil(2);
    (ratios.len() >= half.max(SECONDS_MIN)).then(|| median(&ratios))
}

/// The standard deviation between runs of one side, from the differences within pairs. Each
/// difference has the variance of two runs. `None` for fewer than two pairs.
fn spread(of_pairs: &[f64]) -> Option<f64> {
    let count = of_pairs.len() as f64;
    let mean = of_pairs.iter().sum::<f64>() / count;
    let squares: f64 = of_pairs.iter().map(|of| (of - mean).powi(2)).sum();
    (of_pairs.len() > 1).then(|| (squares / (count - 1.0) / 2.0).sqrt())
}

/// A caution if both sides of a duet share a server or a machine, according to their targets.
fn shared(base: &str, candidate: &str) -> Option<String> {
    let [base, candidate] = [base, candidate].map(authority);
    let [base_host, candidate_host] = [base, candidate].map(host);
    if base == candidate {
        return Some(
            "Both sides used the same server at the same time: each waits for the other, so the measured shift \
             is too small. A duet needs two servers; without --duet the sides take turns."
                .to_owned(),
        );
    }
    (base_host == candidate_host).then(|| {
        "Both servers are on one machine: a side that uses more CPU, memory or network slows the other side, \
         too, so the measured shift is smaller than the real one."
            .to_owned()
    })
}

/// The host and port of a target.
fn authority(target: &str) -> &str {
    let rest = target.split_once("://").map_or(target, |(_, rest)| rest);
    rest.split(['/', '?']).next().unwrap_or(rest)
}

fn host(authority: &str) -> &str {
    let is_port = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    match authority.rsplit_once(':') {
        Some((host, port)) if is_port(port) => host,
        _ => authority,
    }
}

/// Cautions about missing rounds, with the reason.
fn cautions(made: usize, rounds: Rounds) -> Vec<String> {
    let planned = rounds.planned;
    let first = match rounds.ended {
        RoundsEnd::Planned => None,
        RoundsEnd::Shown => Some(format!(
            "Ended after {made} of {planned} rounds because the answer was clear. An early end makes the shift look \
             slightly too large."
        )),
        RoundsEnd::Signal => Some(format!("Interrupted after {made} of {planned} rounds.")),
        RoundsEnd::Unsound => Some(format!(
            "Ended after {made} of {planned} rounds: too many had a run that can't be compared."
        )),
    };
    let few = (made < ROUNDS_MIN).then(|| {
        let made = counted(made as u64, "round");
        format!(
            "{made} can't show any difference, however large; at least {ROUNDS_MIN} are needed."
        )
    });
    first.into_iter().chain(few).collect()
}
