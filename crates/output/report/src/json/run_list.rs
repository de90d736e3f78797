//! A list of runs as JSON, for other programs: the figures of each run's digest, without
//! histograms.
//!
//! An unknown key is absent and not `null`. A run whose record or labels can't be read is listed
//! with its errors; the other part stays. Words and units are those of the summary, but the form
//! has its own version.

use super::{bytes, prose};
use crate::calendar::rfc3339;
use crate::plan_name::plan_name;
use crate::run_list::Listed;
use crate::secret;
use drumfire_compare::contract::runs::{Document, Figures, Run};
use drumfire_compare::contract::{Named, RUNS_SCHEMA};
use drumfire_measure::{Coverage, Digest, Unfinished};

/// Runs as one JSON object, indented, with a line feed at its end; described in the manual.
#[must_use]
pub fn runs(runs: &[Listed<'_>]) -> Vec<u8> {
    bytes(&Document {
        schema: RUNS_SCHEMA.to_owned(),
        runs: runs.iter().map(run).collect(),
    })
}

/// A run with the errors of its parts.
fn run(listed: &Listed<'_>) -> Run {
    let labels = listed.labels.ok();
    let errors = [listed.run.err(), listed.labels.err()];
    let unfinished = listed.unfinished.as_ref();
    Run {
        id: listed.id.to_owned(),
        is_elsewhere: listed.is_elsewhere,
        tags: labels.map(|labels| labels.tags.iter().map(prose).collect()),
        note: labels.map(|labels| prose(labels.note)),
        state: listed
            .run
            .ok()
            .map(|_| Named(Unfinished::state(unfinished))),
        done_ns: unfinished.map(|progress| progress.done.0),
        planned_ns: unfinished.and_then(|progress| Some(progress.planned?.0)),
        exit_code: listed.exit,
        figures: listed.run.ok().map(figures),
        errors: errors.into_iter().flatten().map(str::to_owned).collect(),
    }
}

/// The figures of a run's digest.
fn figures(run: &Digest) -> Figures {
    Figures {
        started_at: rfc3339(run.started_at_unix_ns),
        duration_ns: run.duration.0,
        target: secret::url(&run.target),
        name: plan_name(run.name.as_deref()),
        is_whole: run.coverage == Coverage::Whole,
        coverage: Named(run.coverage),
        validity: Named(run.validity),
        load_kept: run.load_kept,
        sent_share: run.sent_share,
        target_state: Named(run.target_state),
        thresholds: run.thresholds,
        thresholds_failed: run.thresholds_failed,
        sent: run.requests,
        ok: run.ok,
        failed: run.failed,
        achieved_per_s: run.achieved_per_s,
        p50_ns: run.latency.p50.map(|p50| p50.time.0),
        p50_is_at_least: run.latency.p50.map(|p50| p50.is_at_least),
        p99_ns: run.latency.p99.map(|p99| p99.time.0),
        p99_is_at_least: run.latency.p99.map(|p99| p99.is_at_least),
    }
}
