//! Whether the target answers as fast as it is asked.
//!
//! In the open model a target whose capacity is below the rate answers at its capacity, while the
//! requests without an answer grow for as long as the load lasts. Failures do not show this before
//! the first timeout, and quantiles of a whole run depend on its length. The growth does, and it is
//! told apart from what a target that keeps up also does:
//!
//! - *Chance*: the requests of a moment without an answer fluctuate. Their growth must exceed
//!   [`GROWTH_MIN`] requests, 2.5 times its standard error, and four standard deviations of the difference
//!   of two Poisson numbers.
//! - *The beginning*: until the first answers come, nothing is answered, and where times vary, answers
//!   increase for several response times. But growth slows down then, answers increase, or some are as
//!   quick as ever, while in a queue each request waits for all before it.
//! - *A stop that is over*: the requests of that time are answered later, so that what grew shrinks.
//! - *Too few connections*: requests wait for one, and those under way do not grow.
//!
//! Only the last half of the measured load is judged, so a slow start does not count.

#[cfg(test)]
mod alarms;

use crate::{Histogram, Model, Overview, Reason, Remedy, RunInfo};
use drumfire_units::Nanos;
use drumfire_units::rounded::{count, rate, time};

/// The share of the requested load that a target which keeps up answers at least.
const ANSWERED_MIN: f64 = 0.97;
/// Growth by fewer requests is not judged.
const GROWTH_MIN: f64 = 30.0;
/// How many standard errors the growth exceeds.
const ERRORS_MIN: f64 = 2.5;
/// How many standard deviations of the difference of two Poisson numbers it exceeds.
const DEVIATIONS_MIN: f64 = 4.0;
/// The part of the growth before it that the growth of the last half reaches at least.
const STEADY_MIN: f64 = 0.2;
/// How much more is answered in the second part of the last half than in the first where answers still
/// increase.
const RISING: f64 = 1.25;
/// The quantile of the last response times that stands for the quick ones, and the part of the wait
/// in the queue that it has at least.
const QUICK: f64 = 0.1;
const QUICK_MIN: f64 = 0.5;
/// How many times the requests under way have grown.
const UNDER_WAY_MIN: i64 = 2;
/// Fewer cells in a half are not judged, and no fewer seconds.
const CELLS_MIN: usize = 3;
const SECONDS_MIN: f64 = 2.0;

/// A target that falls behind: what it was asked and what it answered since it does, and what became
/// of the rest.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Backlog {
    /// When it began to fall behind.
    since: Nanos,
    asked_per_s: f64,
    answered_per_s: f64,
    /// Requests that were due and had no answer, then and at the end of the load.
    unanswered: [u64; 2],
    /// The median of *the* latency, of the first cell with answers since then and of the last one.
    latency: Option<[Nanos; 2]>,
}

impl Backlog {
    /// The judgement over the cells of an open run from a time on, up to the end of its load. `None`
    /// where the target keeps up, or too little is known.
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
        Self::of(&cells)
    }

    fn of(cells: &[Overview]) -> Option<Self> {
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
            && growth >= DEVIATIONS_MIN * (2.0 * former).sqrt()
            && growth >= STEADY_MIN * former
            && exceeds_errors(judged)
            && !is_rising(judged)
            && fills_up(cells)
            && all_wait(judged, (former + growth) * seconds(judged) / asked);
        grows.then(|| Self::since(cells, growth / seconds(judged)))
    }

    /// What happened since the line through the end of the load, with this slope, was at zero.
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

/// How many more requests had no answer at the end of a cell than at its beginning.
fn growth_of(cell: &Overview) -> f64 {
    asked(cell) - ended(cell) - cell.tally.dropped as f64
}

/// Whether the mean growth exceeds its standard error, as the growth of single cells varies.
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

/// Whether more requests were under way at the end than in a moment before.
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

/// Whether the quick ones of the last answers have waited, too, for about this many seconds. What came
/// in first is answered first by nearly all servers; one that answers the newest first is not found.
fn all_wait(cells: &[Overview], wait: f64) -> bool {
    let mut last = Histogram::small();
    let newest = cells.iter().rev().take((cells.len() / 4).max(1));
    newest.for_each(|cell| last.merge(&cell.latency));
    last.is_empty() || last.quantile_unchecked(QUICK).as_secs_f64() >= QUICK_MIN * wait
}
