//! A list of runs as JSON, for other programs: the figures of each run's digest, without
//! histograms.
//!
//! An unknown key is absent and not `null`. A run whose record or labels can't be read is listed
//! with its errors; the other part stays. Words and units are those of the summary, but the form
//! has its own version.

use super::{bytes, prose};
use crate::calendar::rfc3339;
use crate::run_list::Listed;
use crate::secret;
use drumfire_measure::{Coverage, Digest};
use serde::Serialize;

/// The name and version of the form.
const SCHEMA: &str = "drumfire.runs.v1";

/// The document: its form, and the runs in the caller's order.
#[derive(Serialize)]
struct List<'a> {
    schema: &'static str,
    runs: Vec<Row<'a>>,
}

/// A run. Unknown values are absent.
#[derive(Serialize)]
struct Row<'a> {
    id: &'a str,
    /// Whether the directory is outside of the folder of runs, by `-o`.
    is_elsewhere: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    tags: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<u8>,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    run: Option<Figures>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    errors: Vec<&'a str>,
}

/// The figures of a run. Answers are flattened, because lists are filtered by them.
#[derive(Serialize)]
struct Figures {
    started_at: String,
    duration_ns: u64,
    target: String,
    is_whole: bool,
    coverage: &'static str,
    validity: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    load_kept: Option<bool>,
    sent_share: f64,
    target_state: &'static str,
    thresholds: u64,
    thresholds_failed: u64,
    sent: u64,
    ok: u64,
    failed: u64,
    achieved_per_s: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    p99_ns: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    p99_is_at_least: Option<bool>,
}

/// Runs as one JSON object, indented, with a line feed at its end; described in the manual.
#[must_use]
pub fn runs(runs: &[Listed<'_>]) -> Vec<u8> {
    let list = List {
        schema: SCHEMA,
        runs: runs.iter().map(row).collect(),
    };
    bytes(&list)
}

/// A run with the errors of its parts.
fn row<'a>(listed: &Listed<'a>) -> Row<'a> {
    let labels = listed.labels.ok();
    let errors = [listed.run.err(), listed.labels.err()];
    Row {
        id: listed.id,
        is_elsewhere: listed.is_elsewhere,
        tags: labels.map(|labels| labels.tags.iter().map(prose).collect()),
        note: labels.map(|labels| prose(labels.note)),
        exit_code: listed.exit,
        run: listed.run.ok().map(figures),
        errors: errors.into_iter().flatten().collect(),
    }
}

/// The figures of a run's digest.
fn figures(run: &Digest) -> Figures {
    Figures {
        started_at: rfc3339(run.started_at_unix_ns),
        duration_ns: run.duration.0,
        target: secret::url(&run.target),
        is_whole: run.coverage == Coverage::Whole,
        coverage: run.coverage.name(),
        validity: run.validity.name(),
        load_kept: run.load_kept,
        sent_share: run.sent_share,
        target_state: run.target_state.name(),
        thresholds: run.thresholds,
        thresholds_failed: run.thresholds_failed,
        sent: run.requests,
        ok: run.ok,
        failed: run.failed,
        achieved_per_s: run.achieved_per_s,
        p99_ns: run.latency.p99.map(|p99| p99.time.0),
        p99_is_at_least: run.latency.p99.map(|p99| p99.is_at_least),
    }
}
