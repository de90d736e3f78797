//! Whether a long run became worse or better over time.
//!
//! Each figure of a run over time becomes a [`Track`] and is tested twice ([`Blocks`]); if the
//! tests find a movement, its form is determined ([`Shape`]). The order matters: a form is fitted
//! only if the movement is not chance, because a form can also be fitted to noise.
//! docs/design/07-store-and-runs.md#drift has the statistics and the reasons. The probability that
//! a finding is chance is at most [`DRIFT_LEVEL`], over all figures together.
//!
//! The judgement is a pure function of the cells of a run's timeline: the permutations have a fixed
//! seed, so that a run always has the same text. The 300 cells of a timeline and the number of
//! permutations bound its cost, which is incurred once, when the summary is closed.

#[cfg(test)]
mod alarms;
#[cfg(test)]
mod beside_scipy;
mod blocks;
mod shape;
mod tracks;

use crate::{Overview, RunInfo, Timeline};
use blocks::Blocks;
use drumfire_stats::holm;
use drumfire_units::Nanos;
use shape::Shape;
use std::ops::Range;
use tracks::{Track, tracks};

/// The maximum probability of chance at which a movement is reported.
pub const DRIFT_LEVEL: f64 = 0.01;
/// The number of tests per figure: for a trend and for a change. The probability is multiplied by
/// it (Bonferroni), because the better result counts.
const TESTS: f64 = 2.0;
/// The minimum number of points.
const POINTS_MIN: usize = 50;
/// The minimum span.
const SPAN_MIN: Nanos = Nanos(50_000_000_000);
/// The maximum depth of cuts into two parts: there are at most 2ⁿ − 1 changes.
const CUTS: u32 = 3;
/// A movement over fewer points is a change, not a trend.
const TREND_POINTS_MIN: usize = 10;
/// A movement over less than this part of the points is a change, too.
const TREND_PART: usize = 10;
/// Nanoseconds per hour.
const HOUR: f64 = 3.6e12;

/// A figure of a run that may drift.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DriftFigure {
    /// The median of *the* latency of the run's model, in nanoseconds.
    P50,
    /// The 99th percentile of *the* latency, in nanoseconds.
    P99,
    /// The share of exchanges that failed, from 0 to 1.
    Failed,
    /// Exchanges that ended, per second.
    Rate,
    /// The resident memory of the generator, in bytes.
    Memory,
}

impl DriftFigure {
    /// All figures, in the order of a report.
    pub const ALL: [Self; 5] = [Self::P50, Self::P99, Self::Failed, Self::Rate, Self::Memory];

    /// The name in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::P50 => "p50",
            Self::P99 => "p99",
            Self::Failed => "failed",
            Self::Rate => "rate",
            Self::Memory => "memory",
        }
    }

    /// Whether movements are shares of the figure; otherwise they are differences.
    #[must_use]
    pub const fn is_relative(self) -> bool {
        !matches!(self, Self::Failed)
    }

    /// Whether a movement from one value to another is large enough to matter. With enough samples
    /// a test finds movements of a tenth of a percent, which are irrelevant in practice.
    fn matters(self, from: f64, to: f64) -> bool {
        let difference = (to - from).abs();
        let share = difference / from.abs().min(to.abs()).max(f64::MIN_POSITIVE);
        match self {
            Self::P50 | Self::P99 | Self::Rate => share >= 0.01,
            Self::Failed => difference >= 0.001,
            Self::Memory => share >= 0.05 && difference >= f64::from(2 << 20),
        }
    }
}

/// The drift of a figure over a run: the judged part, the movement, and the probability of chance.
#[derive(Clone, Debug, PartialEq)]
pub struct DriftFinding {
    /// The figure.
    pub figure: DriftFigure,
    /// The part of the run that was judged.
    pub span: Range<Nanos>,
    /// The probability that a steady figure moves at least as much: corrected for the number of
    /// figures and tests, at most 1.
    pub p: f64,
    /// The movement, which may be [`Movement::Steady`].
    pub movement: Movement,
}

/// The movement of a figure. A series that changes abruptly also has a trend, so only the form with
/// the best fit is reported; a trend over few points counts as a change.
#[derive(Clone, Debug, PartialEq)]
pub enum Movement {
    /// The figure moved no more than chance explains, or too little to matter.
    Steady,
    /// The figure grew or fell steadily from one time to another.
    Trend(Trend),
    /// The figure changed at these times, at least one, and was steady in between.
    Changes(Vec<ChangePoint>),
}

/// A steady growth or fall.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trend {
    /// The growth per hour: for a relative figure ([`DriftFigure::is_relative`]) as a share of its
    /// value at the beginning, 0.01 for 1 %; otherwise in the figure's unit.
    pub per_hour: f64,
    /// The beginning of the trend.
    pub since: Nanos,
    /// The end of the trend.
    pub until: Nanos,
    /// The figure at the beginning of the trend.
    pub from: f64,
    /// The figure at the end of the trend.
    pub to: f64,
}

/// A time at which a figure changed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChangePoint {
    /// The time of the change, between two intervals of the judged series.
    pub at: Nanos,
    /// The median of the figure from the previous change to this one.
    pub before: f64,
    /// The median of the figure from this change to the next one.
    pub after: f64,
}

impl DriftFinding {
    /// Judges each figure of a run from a time on.
    ///
    /// The result is empty if the run is too short (fewer than 50 cells, or 50 s), or if its load
    /// is not constant for long enough: figures move with the load, which is the plan's choice.
    #[must_use]
    pub fn of_run(info: &RunInfo, timeline: &Timeline<Overview>, from: Nanos) -> Vec<Self> {
        judge(&tracks(info, timeline, from))
    }
}

/// Tests every track, and corrects for their number with Holm's method.
fn judge(tracks: &[Track]) -> Vec<DriftFinding> {
    let tested: Vec<f64> = tracks.iter().map(|track| chance(&track.values())).collect();
    let corrected = holm(&tested);
    let judged = tracks.iter().zip(corrected).map(|(track, p)| DriftFinding {
        figure: track.figure,
        span: track.span(),
        p,
        movement: match p < DRIFT_LEVEL {
            true => movement(track, tracks.len()),
            false => Movement::Steady,
        },
    });
    judged.collect()
}

/// The probability of chance from the stronger of the tests.
fn chance(values: &[f64]) -> f64 {
    let chances = Blocks::from_values(values).chances();
    (chances.trend.min(chances.change) * TESTS).min(1.0)
}

/// The form of a movement that is not chance; `of` is the number of judged figures.
///
/// A trend over few points is reported as a change, because a slope that is extrapolated from few
/// points to an hour claims too much. A movement that does not matter counts as steady.
fn movement(track: &Track, of: usize) -> Movement {
    let values = track.values();
    let found = match Shape::fit(&values) {
        Shape::Step { at } => {
            let mut cuts = vec![at];
            cut(&values, 0..at, of, CUTS - 1, &mut cuts);
            cut(&values, at..values.len(), of, CUTS - 1, &mut cuts);
            cuts.sort_unstable();
            return changes(track, &cuts);
        }
        Shape::Line => 0..values.len(),
        Shape::LineFrom { at } => at..values.len(),
        Shape::LineUntil { at } => 0..at,
    };
    if found.len() < TREND_POINTS_MIN.max(values.len() / TREND_PART) {
        let at = if found.start == 0 {
            found.end
        } else {
            found.start
        };
        return changes(track, &[at]);
    }
    let trend = track.trend(found);
    match track.figure.matters(trend.from, trend.to) {
        true => Movement::Trend(trend),
        false => Movement::Steady,
    }
}

/// Cuts a part of a series at its step, and continues with both sides (binary segmentation: Scott
/// and Knott 1974). Each part is tested separately, and parts that are too short to be tested stay
/// whole.
fn cut(values: &[f64], part: Range<usize>, of: usize, depth: u32, cuts: &mut Vec<usize>) {
    let within = &values[part.clone()];
    if depth == 0 || within.len() < POINTS_MIN {
        return;
    }
    let p = Blocks::from_values(within).chances().change * TESTS * of as f64;
    if let (true, Shape::Step { at }) = (p < DRIFT_LEVEL, Shape::fit(within)) {
        let at = part.start + at;
        cuts.push(at);
        cut(values, part.start..at, of, depth - 1, cuts);
        cut(values, at..part.end, of, depth - 1, cuts);
    }
}

/// The changes at these cuts, as far as they matter: levels are medians between neighbouring cuts,
/// and a step between two nearly equal levels is left out.
fn changes(track: &Track, cuts: &[usize]) -> Movement {
    let edges = |at: usize| cuts.get(at).copied().unwrap_or(track.points.len());
    let mut points: Vec<ChangePoint> = Vec::new();
    let mut before = track.median(0..edges(0));
    for (number, at) in cuts.iter().enumerate() {
        let after = track.median(*at..edges(number + 1));
        if track.figure.matters(before, after) {
            points.push(ChangePoint {
                at: track.points[*at].start,
                before,
                after,
            });
            before = after;
        }
    }
    match points.is_empty() {
        true => Movement::Steady,
        false => Movement::Changes(points),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_movements_do_not_matter() {
        for (figure, from, to, matters) in [
            (DriftFigure::P99, 1e6, 1.02e6, true),
            (DriftFigure::P99, 1e6, 1.005e6, false),
            (DriftFigure::Failed, 0.0, 0.0005, false),
            (DriftFigure::Failed, 0.0, 0.002, true),
            (DriftFigure::Memory, 1e9, 1.003e9, false),
            (DriftFigure::Memory, 2e6, 3e6, false),
            (DriftFigure::Memory, 3e7, 4e7, true),
            (DriftFigure::Rate, 100.0, 0.0, true),
        ] {
            assert_eq!(figure.matters(from, to), matters, "{figure:?} {from} {to}");
        }
    }
}
