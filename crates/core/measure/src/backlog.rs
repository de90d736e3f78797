//! Detects a target that answers more slowly than requests become due.
//!
//! In the open model, a target whose capacity is below the rate answers at its capacity, while the
//! number of requests without an answer grows for as long as the load lasts. Failures do not show
//! this before the first timeout, and the quantiles of a whole run depend on its length. The growth
//! does show it. The growth is distinguished from effects that also occur with a target that keeps
//! up:
//!
//! - *Chance*: the number of requests without an answer fluctuates. Its growth must exceed
//!   [`GROWTH_MIN`] requests, 2.5 times its standard error, and four standard deviations of the
//!   difference of two Poisson numbers; more of them if arrivals come in bursts.
//! - *The beginning*: before the first answers, nothing is answered, and if times vary, answers
//!   increase for several response times. But then growth slows down, answers increase, or some
//!   answers are as quick as before, while in a queue each request waits for all earlier ones.
//! - *A past stop*: the requests of that time are answered later, so that the growth is reversed.
//! - *Too few connections*: requests wait for a connection, and the number of running ones does not
//!   grow.
//!
//! Only the second half of the measured load is judged, so a slow start does not count.

#[cfg(test)]
mod alarms;

use crate::{AskedLoad, Histogram, Model, Overview, Reason, Remedy, RunInfo};
use drumfire_plan::Arrivals;
use drumfire_units::Nanos;
use drumfire_units::rounded::{count, rate, time};

/// A target that keeps up answers at least this share of the requested load.
const ANSWERED_MIN: f64 = 0.97;
/// Smaller growth, in requests, is not judged.
const GROWTH_MIN: f64 = 30.0;
/// The growth must exceed this number of standard errors.
const ERRORS_MIN: f64 = 2.5;
/// The growth must exceed this number of standard deviations of the difference of two Poisson
/// numbers.
const DEVIATIONS_MIN: f64 = 4.0;
/// The growth in the second half must be at least this share of the growth before it.
const STEADY_MIN: f64 = 0.2;
/// Answers are considered still increasing if the second part of the last half has this many times
/// as many as the first.
const RISING: f64 = 1.25;
/// The quantile of the last response times that represents quick requests, and the minimum share of
/// the wait in the queue that it must have.
const QUICK: f64 = 0.1;
const QUICK_MIN: f64 = 0.5;
/// The number of running requests must have grown by this factor.
const UNDER_WAY_MIN: i64 = 2;
/// The minimum number of cells and of seconds in a half.
const CELLS_MIN: usize = 3;
const SECONDS_MIN: f64 = 2.0;

/// A target that falls behind: since when, the rates of requests and answers since then, and the
/// number of requests without an answer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Backlog {
    /// The time at which the target began to fall behind.
    since: Nanos,
    asked_per_s: f64,
    answered_per_s: f64,
    /// Requests that were due and had no answer, at that time and at the end of the load.
    unanswered: [u64; 2],
    /// The median of *the* latency, in the first cell with answers since then and in the last one.
    latency: Option<[Nanos; 2]>,
}

impl Backlog {
    /// The judgement of the cells of an open run from a time on, up to the end of its load. `None`
    /// if the target keeps up, or too little is known.
    pub(crate) fn of_run(
        info: &RunInfo,
        cells: impl Iterator<Item = Overview>,
        from: Nanos,
        load_end: Option<Nanos>,
    ) -> Option<Self> {
        if info.model() != Model::Open {
            return None;
        }
        let until = load_end.unwrap_or(Nanos::MAX);
        let cells = cells.filter(|cell| cell.start >= from && cell.end <= until);
        let mut cells: Vec<Overview> = cells.collect();
        let last = cells.iter().rposition(|cell| cell.tally.intended > 0)?;
        cells.truncate(last + 1);
        Self::detect(&cells, dispersion(info))
    }

    /// `dispersion` is the variance of the number of arrivals, divided by that of a Poisson process.
    fn detect(cells: &[Overview], dispersion: f64) -> Option<Self> {
        let half = cells.len().div_ceil(2);
        if half < CELLS_MIN {
            return None;
        }
        let (before, judged) = cells.split_at(cells.len() - half);
        if seconds(judged) < SECONDS_MIN {
            return None;
        }
        let growth = sum(judged, growth_of);
        let asked = sum(judged, asked);
        let former = sum(before, growth_of).max(0.0);
        let grows = sum(judged, ended) < ANSWERED_MIN * asked
            && growth >= GROWTH_MIN
            && growth >= DEVIATIONS_MIN * (2.0 * former * dispersion).sqrt()
            && growth >= STEADY_MIN * former
            && exceeds_errors(judged)
            && !is_rising(judged)
            && fills_up(cells)
            && all_wait(judged, (former + growth) * seconds(judged) / asked);
        grows.then(|| Self::since(cells, growth / seconds(judged)))
    }

    /// The finding since the time at which a line with this slope through the end of the load was
    /// zero.
    fn since(cells: &[Overview], per_second: f64) -> Self {
        let end = cells.last().map_or(Nanos::ZERO, |cell| cell.end);
        let last = sum(cells, growth_of);
        let ago = Nanos((last / per_second * 1e9) as u64);
        let first = cells.iter().position(|cell| cell.start >= end - ago);
        let (before, since) = cells.split_at(first.unwrap_or(0));
        let medians = since.iter().filter_map(|cell| cell.latency.quantile(0.5));
        let medians: Vec<Nanos> = medians.collect();
        let latency = medians.first().zip(medians.last());
        Self {
            since: since.first().map_or(end, |cell| cell.start),
            asked_per_s: sum(since, asked) / seconds(since),
            answered_per_s: sum(since, ended) / seconds(since),
            unanswered: [sum(before, growth_of), last].map(|count| count.max(0.0) as u64),
            latency: latency.map(|(first, last)| [*first, *last]),
        }
    }

    /// The finding as a reason.
    pub(crate) fn reason(&self) -> Reason {
        let [from, to] = self.unanswered.map(count);
        let latency = self.latency.map_or_else(String::new, |medians| {
            let [from, to] = medians.map(|median| time(median.0 as f64));
            format!(", the response time (p50) from {from} to {to}")
        });
        let since = match self.since {
            Nanos::ZERO => "the start".to_owned(),
            at => format!("{} on", time(at.0 as f64)),
        };
        let text = format!(
            "answered {} of {} from {since}; requests without an answer grew from {from} to {to}{latency}",
            rate(self.answered_per_s),
            rate(self.asked_per_s),
        );
        Reason::new(text, &[Remedy::LowerRate])
    }
}

/// The variance of the number of arrivals in a long time, divided by that of a Poisson process of
/// the same rate: for gaps from a gamma distribution, the inverse of its shape. The pool with the
/// largest one counts, and never less than 1, because answers are random, too.
fn dispersion(info: &RunInfo) -> f64 {
    let loads = info.pools.iter().filter_map(|pool| pool.asked.as_ref());
    let of_pools = loads.map(|asked| match asked.load {
        AskedLoad::Open {
            arrivals: Arrivals::Gamma(shape),
            ..
        } => 1.0 / shape.number(),
        _ => 1.0,
    });
    of_pools.fold(1.0, f64::max)
}

fn sum(cells: &[Overview], of: impl Fn(&Overview) -> f64) -> f64 {
    cells.iter().map(of).sum()
}

fn seconds(cells: &[Overview]) -> f64 {
    sum(cells, |cell| (cell.end - cell.start).as_secs_f64())
}

fn asked(cell: &Overview) -> f64 {
    cell.tally.intended as f64
}

fn ended(cell: &Overview) -> f64 {
    cell.tally.ended() as f64
}

/// The growth of the number of requests without an answer during a cell.
fn growth_of(cell: &Overview) -> f64 {
    asked(cell) - ended(cell) - cell.tally.dropped as f64
}

/// Whether the mean growth exceeds its standard error, estimated from the variation between cells.
fn exceeds_errors(cells: &[Overview]) -> bool {
    let n = cells.len() as f64;
    let mean = sum(cells, growth_of) / n;
    let variance = sum(cells, |cell| (growth_of(cell) - mean).powi(2)) / (n - 1.0);
    mean > ERRORS_MIN * (variance / n).sqrt()
}

/// Whether answers still increase.
fn is_rising(cells: &[Overview]) -> bool {
    let (first, last) = cells.split_at(cells.len() / 2);
    let [first, last] = [first, last].map(|part| sum(part, ended) / seconds(part));
    last > RISING * first
}

/// Whether more requests were running at the end than in an earlier moment.
fn fills_up(cells: &[Overview]) -> bool {
    let mut level = 0;
    let levels = cells.iter().map(|cell| {
        level += cell.tally.under_way;
        level
    });
    let levels: Vec<i64> = levels.collect();
    let least = levels.iter().min().copied().unwrap_or_default();
    let last = levels.last().copied().unwrap_or_default();
    last >= UNDER_WAY_MIN * least.max(1)
}

/// Whether even the quick ones of the last answers have waited for about this many seconds. Nearly
/// all servers answer in order of arrival; a server that answers the newest first is not detected.
fn all_wait(cells: &[Overview], wait: f64) -> bool {
    let mut last = Histogram::small();
    let newest = cells.iter().rev().take((cells.len() / 4).max(1));
    newest.for_each(|cell| last.merge(&cell.latency));
    last.is_empty() || last.quantile_unchecked(QUICK).as_secs_f64() >= QUICK_MIN * wait
}
