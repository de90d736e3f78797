//! The runs in a folder, as shown in a list.

use crate::{Labels, Record, StoreError, TeardownFailure, directory};
use drumfire_measure::{Digest, Unfinished};
use drumfire_units::Nanos;
use std::cmp::Reverse;
use std::fs;
use std::path::Path;

/// The row of one run in a list.
#[derive(Clone, Debug, PartialEq)]
pub struct RunRow {
    /// The name of the run's directory in the folder, or of the link to it.
    pub id: String,
    /// Whether the folder has only a link to the directory, which is at a place that the user
    /// selected.
    pub is_elsewhere: bool,
    /// The user's tags and note, or why they cannot be read.
    pub labels: Result<Labels, String>,
    /// The digest of the run, or why its record cannot be read.
    pub run: Result<Digest, String>,
    /// The progress of the run, if its record has no end.
    pub unfinished: Option<Unfinished>,
    /// The failure of the run's teardown, if its record has one.
    pub teardown: Option<TeardownFailure>,
}

impl RunRow {
    /// The runs in a folder, newest first, followed by unreadable ones.
    #[must_use]
    pub fn all(runs: &Path) -> Vec<Self> {
        let entries = fs::read_dir(runs).into_iter().flatten();
        let entries = entries.filter_map(Result::ok);
        let is_run = |path: &Path| directory::is_run(path) && Record::is_named(path);
        let found = entries.filter(|entry| is_run(&entry.path()));
        let row = |entry: fs::DirEntry| {
            let id = entry.file_name().into_string().ok()?;
            Some(Self::read(&id, &entry.path()))
        };
        let mut rows: Vec<Self> = found.filter_map(row).collect();
        rows.sort_by_key(|row| Reverse((row.started_at_unix_ns(), row.id.clone())));
        rows
    }

    /// The run in a directory with this name.
    #[must_use]
    pub fn read(id: &str, path: &Path) -> Self {
        let text = |error: StoreError| error.to_string();
        let mut record = Record::read(path).map_err(text);
        let teardown = record
            .as_mut()
            .ok()
            .and_then(|record| record.teardown.take());
        let unfinished = record
            .as_ref()
            .ok()
            .and_then(|record| Self::progress(record, path));
        Self {
            id: id.to_owned(),
            unfinished,
            is_elsewhere: path.is_symlink(),
            labels: Labels::read(path).map_err(text),
            run: record.map(|record| Digest::from_summary(&record.summary)),
            teardown,
        }
    }

    /// The progress of a run without an end, which a program may be writing.
    fn progress(record: &Record, path: &Path) -> Option<Unfinished> {
        if record.summary.coverage.has_end() {
            return None;
        }
        let parts = record.parts.iter().map(|part| part.end);
        Some(Unfinished {
            is_active: directory::is_held(path),
            done: parts.fold(Nanos::ZERO, |sum, part| sum + part),
            planned: record.summary.info.planned(),
        })
    }

    /// The start of the run, in nanoseconds since 1970-01-01 00:00 UTC, if known.
    #[must_use]
    pub fn started_at_unix_ns(&self) -> Option<u64> {
        self.run.as_ref().ok().map(|run| run.started_at_unix_ns)
    }

    /// Whether a rule may delete the run: the run is in the folder itself, its age is known, and it
    /// certainly has no tag. The age and tags of a damaged run, or of a run of a later version, are
    /// unknown.
    #[must_use]
    pub fn may_be_pruned(&self) -> bool {
        let is_untagged = |labels: &Labels| labels.tags.is_empty();
        self.run.is_ok() && self.labels.as_ref().is_ok_and(is_untagged) && !self.is_elsewhere
    }
}
