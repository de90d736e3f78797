//! An interval in the contracts: a line of its own, and one of a summary's `intervals`.
//!
//! Both have the same fields, and stages have them too: a line of `--json-lines`, a row of the
//! summary and a stage differ only in their span.
//!
//! Quantiles are absent where the interval has too few samples to tell them, and are named in
//! `at_least` where a failure or a timeout makes them a lower bound: a reader that takes them as
//! they are underestimates, and never overestimates.
//!
//! [`Interval::of`] is the one way from a row of `measure` to the contract. A [`Line`] puts the
//! form and the run before it and is written as soon as the interval is closed; a [`Stage`] puts
//! its name before it and is written once, with the summary; the summary's own rows are intervals
//! as they are. No field is computed anew in any of them, so that the three can be read by one
//! program.
//!
//! Times are given twice: `at` is the calendar's, for logs of others; `start_ns` counts from the
//! run's start and is what rows are joined by, since a calendar may be set back.

use super::{INTERVAL_SCHEMA, prose};
use crate::calendar::rfc3339;
use drumfire_measure::{IntervalRow, RunInfo, StageRow};
use serde::Serialize;
use std::collections::BTreeMap;

/// A line: the interval and the run to which it belongs.
#[derive(Serialize)]
pub(super) struct Line<'a> {
    schema: &'static str,
    run: &'a str,
    #[serde(flatten)]
    interval: Interval,
}

/// A stage of a pool's load, with the figures of an interval over its span.
#[derive(Serialize)]
pub(super) struct Stage {
    pool: String,
    name: String,
    /// The measured part of its length, where that is not all of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    measured_ns: Option<u64>,
    #[serde(flatten)]
    figures: Interval,
}

impl Stage {
    /// The stage of a pool, whose figures are made like those of an interval.
    pub(super) fn of(stage: &StageRow<'_>) -> Self {
        Self {
            pool: prose(&stage.pool.name),
            name: prose(&stage.stage.name),
            measured_ns: (stage.measured != stage.row.length()).then_some(stage.measured.0),
            figures: Interval::of(&stage.row),
        }
    }
}

/// The figures of an interval. Times are nanoseconds, and are those of the latency that the run's
/// model has; counts are of exchanges that ended within the interval, `goal` of requests that
/// became due within it.
#[derive(Serialize)]
pub(super) struct Interval {
    at: String,
    start_ns: u64,
    length_ns: u64,
    good: u64,
    bad: u64,
    failed: u64,
    checks_failed: u64,
    warmup: u64,
    goal: Option<u64>,
    goal_share: Option<f64>,
    dropped: u64,
    in_flight: u64,
    /// `min`, `p50` and so on, as far as the count supports them.
    #[serde(flatten)]
    times: BTreeMap<&'static str, u64>,
    /// The names of those that are lower bounds; absent where none is.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    at_least: Vec<&'static str>,
    lag_p99: Option<u64>,
    change: i8,
}

impl<'a> Line<'a> {
    /// The line of an interval, which names its run: files of several runs may be joined.
    pub(super) fn of(row: &IntervalRow, info: &'a RunInfo) -> Self {
        Self {
            schema: INTERVAL_SCHEMA,
            run: &info.id,
            interval: Interval::of(row),
        }
    }
}

impl Interval {
    /// The figures of a row. Times keep the names that every output has for them, from the row
    /// itself, so that a new quantile needs no change here.
    pub(super) fn of(row: &IntervalRow) -> Self {
        let times = row.latency.named();
        let known = times
            .iter()
            .filter_map(|(name, reading)| reading.map(|reading| (*name, reading)));
        Self {
            at: rfc3339(row.started_at_unix_ns),
            start_ns: row.start.0,
            length_ns: row.length().0,
            good: row.good,
            bad: row.bad,
            failed: row.failed,
            checks_failed: row.checks_failed,
            warmup: row.warmup,
            goal: row.goal,
            goal_share: row.goal_share(),
            dropped: row.dropped,
            in_flight: row.in_flight,
            times: known
                .clone()
                .map(|(name, reading)| (name, reading.time.0))
                .collect(),
            at_least: known
                .filter(|(_, reading)| reading.is_at_least)
                .map(|(name, _)| name)
                .collect(),
            lag_p99: row.lag_p99.map(|time| time.0),
            change: row.change.orders(),
        }
    }
}
