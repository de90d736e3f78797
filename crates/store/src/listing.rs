//! The runs in a folder, as a list has them.

use crate::{Labels, Record, directory};
use drumfire_measure::Summary;
use drumfire_units::Nanos;
use std::cmp::Reverse;
use std::fs;
use std::path::Path;

/// The facts of one run that a list of runs shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunRow {
    /// The name of its directory.
    pub id: String,
    /// When it began, in nanoseconds since 1970-01-01 00:00 UTC.
    pub started_at_unix_ns: u64,
    /// The measured span.
    pub duration: Nanos,
    /// The target as the user named it.
    pub target: String,
    /// `valid`, `suspect` or `invalid`.
    pub verdict: String,
    /// The 99th percentile of the latency of its model, where there are samples.
    pub p99: Option<Nanos>,
    /// Requests that were sent.
    pub requests: u64,
    /// Those of them that failed.
    pub failed: u64,
    /// Whether its record goes to its end.
    pub is_whole: bool,
    /// The user's labels of it.
    pub labels: Labels,
    /// Why it can't be read.
    pub error: Option<String>,
}

impl RunRow {
    /// The runs in a folder, the newest first. One that can't be read says why.
    #[must_use]
    pub fn all(runs: &Path) -> Vec<Self> {
        let entries = fs::read_dir(runs).into_iter().flatten();
        let entries = entries.filter_map(Result::ok);
        let found = entries.filter(|entry| directory::is_run(&entry.path()));
        let row = |entry: fs::DirEntry| {
            let id = entry.file_name().into_string().ok()?;
            Some(Self::read(&id, &entry.path()))
        };
        let mut rows: Vec<Self> = found.filter_map(row).collect();
        rows.sort_by_key(|row| Reverse((row.started_at_unix_ns, row.id.clone())));
        rows
    }

    /// The run in a directory of this name.
    #[must_use]
    pub fn read(id: &str, path: &Path) -> Self {
        let labels = Labels::read(path).unwrap_or_default();
        let id = id.to_owned();
        match Record::read(path) {
            Err(error) => Self {
                id,
                labels,
                error: Some(error.to_string()),
                ..Self::default()
            },
            Ok(record) => Self {
                id,
                started_at_unix_ns: record.summary.info.started_at_unix_ns,
                duration: record.summary.duration,
                target: record.summary.info.target.clone(),
                verdict: record.summary.verdict.validity.name().to_owned(),
                p99: p99(&record.summary),
                requests: record.summary.total.counts.sent,
                failed: record.summary.total.counts.failed,
                is_whole: record.is_whole(),
                labels,
                error: None,
            },
        }
    }
}

fn p99(summary: &Summary) -> Option<Nanos> {
    let latency = summary.model().latency(&summary.total.latency);
    latency.quantile(0.99)
}
