//! A list of runs as JSON, for other programs.
//!
//! It has the figures of each run's digest and no histograms, so that a list of thousands is one
//! small document. A run whose record or labels can't be read is listed with its errors instead of
//! being left out.
//!
//! A key of a run that is not known is absent and not `null`, for two reasons that a reader must be
//! able to tell apart: a run without an end has no exit code, and a run that can't be read has no
//! figures but an error.
//!
//! The caller decides which runs are listed and in which order. Each [`Listed`] brings the results
//! of two readings, of its record and of its labels, and [`row`] lets neither hide the other:
//! labels of a run with a broken record can still be searched. The figures are flattened into the
//! run, so that a filter of a shell (`jq '.runs[] | select(.p99_ns > 1e9)'`) needs one name for
//! each.
//!
//! The words are those of the summary's contract wherever it has the same figure. The form is
//! versioned apart from it: a list may get a key that a summary has had for long.

use super::{bytes, prose};
use crate::calendar::rfc3339;
use crate::listing::Listed;
use crate::secret;
use drumfire_measure::{Coverage, Digest};
use serde::Serialize;

/// The name and version of the form.
const SCHEMA: &str = "drumfire.runs.v1";

/// The document: its form, and the runs in the order given, which is the caller's choice.
#[derive(Serialize)]
struct List<'a> {
    schema: &'static str,
    runs: Vec<Row<'a>>,
}

/// A run. What is not known of it is absent. A run whose record can't be read has its id, its
/// labels where these can be read, and its errors.
#[derive(Serialize)]
struct Row<'a> {
    id: &'a str,
    /// Outside of the folder of runs, by `-o`.
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

/// Its figures: the words and units are those of `drumfire.summary.v1`, but that answers are
/// flattened, for a list is filtered by them.
#[derive(Serialize)]
struct Figures {
    started_at: String,
    duration_ns: u64,
    target: String,
    is_whole: bool,
    coverage: &'static str,
    validity: &'static str,
    load_kept: bool,
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

/// Runs as one JSON object, indented, with a line feed at its end; described in the manual. An
/// empty list is an object with no runs, and no error.
#[must_use]
pub fn runs(runs: &[Listed<'_>]) -> Vec<u8> {
    let list = List {
        schema: SCHEMA,
        runs: runs.iter().map(row).collect(),
    };
    bytes(&list)
}

/// A run in the contract's words, with the errors of its parts.
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
