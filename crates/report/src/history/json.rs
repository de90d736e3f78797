//! A history as JSON, for scripts.
//!
//! Times are nanoseconds, shares lie from 0 to 1, rates are per second. A value that a run lacks is
//! `null`. Changes name runs by their ids.

use crate::calendar::rfc3339;
use crate::json::bytes;
use crate::listing::Listed;
use crate::secret;
use drumfire_compare::{Change, History, Track};
use serde::Serialize;

/// The name and version of the form; fields are only ever added to it.
pub const SCHEMA: &str = "drumfire.history.v1";

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    /// The target of the newest run.
    target: String,
    runs: Vec<Run<'a>>,
    left_out: Vec<LeftOut<'a>>,
    /// Older runs than a history has.
    older: usize,
    figures: Vec<Entry<'a>>,
}

/// A run, in the order of time. `started_at` is RFC 3339 in UTC.
#[derive(Serialize)]
struct Run<'a> {
    id: &'a str,
    started_at: String,
    tags: Vec<String>,
}

/// A run of the plan whose figures are no measure of its target, with the reason.
#[derive(Serialize)]
struct LeftOut<'a> {
    id: &'a str,
    reason: &'static str,
}

/// A figure: a value for each run.
#[derive(Serialize)]
struct Entry<'a> {
    name: &'static str,
    unit: &'static str,
    /// In the order of `runs`; `unit` says what they are: `ns`, `share` or `per_s`.
    values: &'a [Option<f64>],
    changes: Vec<Changed<'a>>,
}

/// The levels are medians of the runs between two changes.
#[derive(Serialize)]
struct Changed<'a> {
    run: &'a str,
    /// The first and the last run at which the change may have been, with 95 % confidence.
    likely_from: &'a str,
    likely_to: &'a str,
    before: Option<f64>,
    after: Option<f64>,
    /// A ratio less 1; of failures a difference of shares.
    shift: f64,
    /// The probability of a change as large in a history without one.
    p: f64,
    is_worse: bool,
}

/// The history as one JSON object, indented, with a line feed at its end.
#[must_use]
pub fn json(history: &History<Listed<'_>>) -> Vec<u8> {
    let newest = history.runs.last().and_then(|run| run.run.ok());
    let document = Document {
        schema: SCHEMA,
        target: newest.map_or_else(String::new, |run| secret::excerpt(&run.target)),
        runs: history.runs.iter().map(run).collect(),
        left_out: history
            .left_out
            .iter()
            .map(|(run, reason)| LeftOut { id: run.id, reason })
            .collect(),
        older: history.older,
        figures: history
            .tracks
            .iter()
            .map(|track| entry(history, track))
            .collect(),
    };
    bytes(&document)
}

/// A figure with its changes, each with the levels on both sides of it.
fn entry<'a>(history: &'a History<Listed<'a>>, track: &'a Track) -> Entry<'a> {
    let id = |number: usize| history.runs[number].id;
    let change = |(number, change): (usize, &Change)| {
        let [before, after] = track.levels(number);
        Changed {
            run: id(change.at),
            likely_from: id(change.likely.0),
            likely_to: id(change.likely.1),
            before,
            after,
            shift: change.shift,
            p: change.p,
            is_worse: change.is_worse(track.figure),
        }
    };
    Entry {
        name: track.figure.name(),
        unit: track.figure.unit(),
        values: &track.values,
        changes: track.changes.iter().enumerate().map(change).collect(),
    }
}
/// The id and the tags of a run; a tag that looks like a secret is masked as everywhere.
fn run<'a>(listed: &Listed<'a>) -> Run<'a> {
    let started = listed.run.map(|run| rfc3339(run.started_at_unix_ns));
    let tags = listed.labels.map_or(&[][..], |labels| labels.tags).iter();
    Run {
        id: listed.id,
        started_at: started.unwrap_or_default(),
        tags: tags.map(|tag| secret::setting("", tag)).collect(),
    }
}
