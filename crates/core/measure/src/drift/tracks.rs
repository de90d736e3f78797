//! The figures of a run over time, in the form for the drift tests.
//!
//! A track contains only comparable points. So the cells of the timeline are selected before the
//! statistics: the longest stage of the load, from the end of the warm-up on, without the first and
//! the last cell, and without cells that a resumed run cut short. Then the run is judged only if
//! its load was steady there. This is measured by the arrivals that became due, not by the plan, so
//! that a rate changed by hand shows as well.

use super::{DriftFigure, HOUR, POINTS_MIN, SPAN_MIN, Trend};
use crate::quantile::count_needed;
use crate::{Model, Overview, PoolInfo, RunInfo, Timeline};
use drumfire_stats::median;
use drumfire_units::Nanos;
use std::ops::Range;

/// The share by which the two halves of a span may differ in due arrivals, in addition to chance.
const HALVES: f64 = 0.005;
/// The share by which the tenths of a span with the most and the fewest arrivals may differ.
const PARTS: f64 = 0.02;
/// The number of standard deviations of a Poisson process up to which a difference counts as
/// chance.
const DEVIATIONS: f64 = 6.0;

/// The time from the run's start in which the generator's memory is not judged, while its threads,
/// histograms and observers' buffers start to be used.
const START_UP: Nanos = Nanos::from_secs(30);

/// One figure over time.
#[derive(Clone, Debug)]
pub(super) struct Track {
    pub(super) figure: DriftFigure,
    pub(super) points: Vec<Point>,
}

/// The value of a figure in a span.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point {
    pub(super) start: Nanos,
    pub(super) end: Nanos,
    pub(super) value: f64,
}

impl Track {
    pub(super) fn values(&self) -> Vec<f64> {
        self.points.iter().map(|point| point.value).collect()
    }

    /// The span from the beginning of the first point to the end of the last.
    pub(super) fn span(&self) -> Range<Nanos> {
        let edge = |point: Option<&Point>, of: fn(&Point) -> Nanos| point.map_or(Nanos::ZERO, of);
        edge(self.points.first(), |point| point.start)..edge(self.points.last(), |point| point.end)
    }

    /// The median of some points.
    pub(super) fn median(&self, range: Range<usize>) -> f64 {
        let values: Vec<f64> = self.points[range].iter().map(|point| point.value).collect();
        median(&values)
    }

    /// The line through some points: the median of the slopes between any two (Theil 1950, Sen
    /// 1968), through the median of the offsets. Takes n² / 2 slopes, for at most 300 points.
    pub(super) fn trend(&self, range: Range<usize>) -> Trend {
        let values = self.values();
        let values = &values[range.clone()];
        let points = &self.points[range];
        let hours = |at: Nanos| at.0 as f64 / HOUR;
        let times: Vec<f64> = points
            .iter()
            .map(|point| f64::midpoint(hours(point.start), hours(point.end)))
            .collect();
        let mut slopes = Vec::with_capacity(times.len() * times.len() / 2);
        for late in 0..times.len() {
            for early in 0..late {
                slopes.push((values[late] - values[early]) / (times[late] - times[early]));
            }
        }
        let slope = median(&slopes);
        let offsets = values.iter().zip(&times);
        let offsets: Vec<f64> = offsets.map(|(value, time)| value - slope * time).collect();
        let offset = median(&offsets);
        let since = points.first().map_or(Nanos::ZERO, |point| point.start);
        let until = points.last().map_or(Nanos::ZERO, |point| point.end);
        let value = |at: Nanos| (offset + slope * hours(at)).max(0.0);
        let from = value(since);
        Trend {
            per_hour: match self.figure.is_relative() {
                true if from > 0.0 => slope / from,
                _ => slope,
            },
            since,
            until,
            from,
            to: value(until),
        }
    }
}

/// The figures of one cell of a timeline, or of merged neighbours, for the points of all tracks.
#[derive(Clone, Debug)]
struct CellFigures {
    start: Nanos,
    end: Nanos,
    /// The number of exchanges that ended.
    ended: u64,
    failed: u64,
    /// The number of requests that became due.
    due: u64,
    p50: Option<Nanos>,
    p99: Option<Nanos>,
    memory: u64,
}

impl CellFigures {
    fn from_cell(cell: &Overview) -> Self {
        Self {
            start: cell.start,
            end: cell.end,
            ended: cell.tally.ended(),
            failed: cell.tally.unsuccessful(),
            due: cell.tally.iterations_intended,
            p50: cell.latency.quantile(0.5),
            p99: cell.latency.quantile(0.99),
            memory: cell.memory,
        }
    }

    fn length(&self) -> Nanos {
        self.end - self.start
    }

    /// A figure, if it is known: a quantile only with enough samples, the share of failures only if
    /// any exchange ended.
    fn figure(&self, figure: DriftFigure) -> Option<f64> {
        match figure {
            DriftFigure::P50 => self.p50.map(|time| time.0.max(1) as f64),
            DriftFigure::P99 => self.p99.map(|time| time.0.max(1) as f64),
            DriftFigure::Failed if self.ended == 0 => None,
            DriftFigure::Failed => Some(self.failed as f64 / self.ended as f64),
            DriftFigure::Rate => Some(self.ended as f64 / self.length().as_secs_f64()),
            DriftFigure::Memory => Some(self.memory as f64).filter(|bytes| *bytes > 0.0),
        }
    }
}

/// The tracks of a run's figures that can be judged.
///
/// A p99 needs 368 samples, so each of its points merges as many neighbouring cells as have enough;
/// the other figures have one point per cell.
pub(super) fn tracks(info: &RunInfo, timeline: &Timeline<Overview>, from: Nanos) -> Vec<Track> {
    if timeline.len() < POINTS_MIN {
        return Vec::new();
    }
    let single = sights(info, timeline, from, 1);
    if !is_judged(info, &single) {
        return Vec::new();
    }
    let together = neighbours_needed(&single);
    let wide = match together {
        1 => None,
        _ => Some(sights(info, timeline, from, together)),
    };
    let tracks = DriftFigure::ALL.iter().filter_map(|figure| {
        let sights = match figure {
            DriftFigure::P99 => wide.as_deref().unwrap_or(&single),
            DriftFigure::Memory => after_start_up(&single),
            _ => &single[..],
        };
        track(*figure, sights)
    });
    tracks.collect()
}

fn after_start_up(sights: &[CellFigures]) -> &[CellFigures] {
    let first = sights.partition_point(|sight| sight.start < START_UP);
    &sights[first..]
}

/// The track of a figure that is known nearly everywhere: for nine points of ten, and at least
/// [`POINTS_MIN`].
fn track(figure: DriftFigure, sights: &[CellFigures]) -> Option<Track> {
    let points = sights.iter().filter_map(|sight| {
        Some(Point {
            start: sight.start,
            end: sight.end,
            value: sight.figure(figure)?,
        })
    });
    let points: Vec<Point> = points.collect();
    let is_known = points.len() >= POINTS_MIN && points.len() * 10 >= sights.len() * 9;
    is_known.then_some(Track { figure, points })
}

/// The number of neighbouring cells that together have enough samples for a 99th percentile, plus a
/// quarter, as long as [`POINTS_MIN`] points remain.
fn neighbours_needed(sights: &[CellFigures]) -> usize {
    let ended: Vec<f64> = sights
        .iter()
        .map(|sight| sight.ended.saturating_sub(sight.failed) as f64)
        .collect();
    let needed = count_needed(0.99) as f64 * 1.25 / median(&ended).max(1.0);
    let most = (sights.len() / POINTS_MIN).max(1);
    (needed.ceil() as usize).clamp(1, most)
}

/// The cells within the span of one load, merged in groups of `together`. The first and the last
/// cell of a run are left out, because they contain its start and its drain.
fn sights(
    info: &RunInfo,
    timeline: &Timeline<Overview>,
    from: Nanos,
    together: usize,
) -> Vec<CellFigures> {
    let steady = steady_span(info, timeline, from);
    let cells = timeline.cells().skip(1);
    let cells = cells.take(timeline.len().saturating_sub(2));
    let cells = cells.filter(|cell| steady.start <= cell.start && cell.end <= steady.end);
    let mut sights: Vec<CellFigures> = Vec::new();
    let mut group: Option<Overview> = None;
    let mut within = 0;
    for cell in cells {
        match &mut group {
            Some(group) if together > 1 => group.merge(&cell),
            _ => group = Some(cell),
        }
        within += 1;
        if within == together {
            sights.extend(group.take().as_ref().map(CellFigures::from_cell));
            within = 0;
        }
    }
    // A cell may be short if a run was resumed.
    let lengths: Vec<f64> = sights.iter().map(|sight| sight.length().0 as f64).collect();
    let usual = median(&lengths);
    sights.retain(|sight| sight.length().0 as f64 * 2.0 > usual);
    sights
}

/// The longest span in which no pool changes from one stage of its load to another.
fn steady_span(info: &RunInfo, timeline: &Timeline<Overview>, from: Nanos) -> Range<Nanos> {
    let stages = info.pools.iter().flat_map(|pool| &pool.stages);
    let mut edges: Vec<Nanos> = stages.map(|stage| stage.start).collect();
    let end = timeline.end();
    edges.retain(|edge| from < *edge && *edge < end);
    edges.extend([from, end]);
    edges.sort_unstable();
    let spans = edges.windows(2).map(|pair| pair[0]..pair[1]);
    let longest = spans.max_by_key(|span| span.end - span.start);
    longest.unwrap_or(Nanos::ZERO..Nanos::ZERO)
}

/// Whether there are enough points and the load was constant. A closed model's load follows the
/// target's speed, so it is not compared.
fn is_judged(info: &RunInfo, sights: &[CellFigures]) -> bool {
    let (Some(first), Some(last)) = (sights.first(), sights.last()) else {
        return false;
    };
    if sights.len() < POINTS_MIN || last.end - first.start < SPAN_MIN {
        return false;
    }
    let is_open = |pool: &PoolInfo| pool.model == Model::Open;
    // A law with one piece but without a constant rate.
    let varies = |pool: &PoolInfo| pool.intended_rate.is_none() && pool.stages.len() < 2;
    if info.pools.iter().any(|pool| is_open(pool) && varies(pool)) {
        return false;
    }
    !info.pools.iter().all(is_open) || is_load_steady(sights)
}

/// Whether arrivals became due at one rate in all parts of a span, except for chance: in its
/// halves, which show slow growth, and in its tenths, which show waves.
fn is_load_steady(sights: &[CellFigures]) -> bool {
    let rate = |part: &[CellFigures]| {
        let due: u64 = part.iter().map(|sight| sight.due).sum();
        let time: f64 = part.iter().map(|sight| sight.length().as_secs_f64()).sum();
        due as f64 / time
    };
    let differ = |one: f64, other: f64, due: f64, share: f64| {
        let by_chance = DEVIATIONS * (2.0 / due.max(1.0)).sqrt();
        (one - other).abs() > (share + by_chance) * one.max(other)
    };
    let due: u64 = sights.iter().map(|sight| sight.due).sum();
    let (early, late) = sights.split_at(sights.len() / 2);
    if differ(rate(early), rate(late), due as f64 / 2.0, HALVES) {
        return false;
    }
    let parts = 10;
    let edge = |number: usize| number * sights.len() / parts;
    let rates: Vec<f64> = (0..parts)
        .map(|number| rate(&sights[edge(number)..edge(number + 1)]))
        .collect();
    let most = rates.iter().copied().fold(0.0, f64::max);
    let least = rates.iter().copied().fold(f64::INFINITY, f64::min);
    !differ(most, least, due as f64 / parts as f64, PARTS)
}

#[cfg(test)]
mod tests {
    use super::super::beside_scipy::{CASES, assert_close};
    use super::*;

    #[test]
    fn trends_are_those_of_scipy() {
        for case in CASES {
            let minutes = |count: usize| Nanos::from_secs(60 * count as u64);
            let points = case.values.iter().enumerate().map(|(at, value)| Point {
                start: minutes(at),
                end: minutes(at + 1),
                value: *value,
            });
            let track = Track {
                figure: DriftFigure::Failed,
                points: points.collect(),
            };
            let count = case.values.len();
            let trend = track.trend(0..count);
            assert_close(trend.per_hour, case.slope);
            assert_close(trend.from, case.offset);
            assert_close(trend.to, case.offset + case.slope * count as f64 / 60.0);
            // As a share of the value at the beginning.
            let figure = DriftFigure::P50;
            let trend = Track { figure, ..track }.trend(0..count);
            assert_close(trend.per_hour, case.slope / case.offset);
        }
    }
}
