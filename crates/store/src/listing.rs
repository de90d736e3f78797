//! The runs in a folder, as a list has them.

use crate::{Labels, Record, StoreError, TeardownFailure, directory};
use drumfire_measure::Digest;
use std::cmp::Reverse;
use std::fs;
use std::path::Path;

/// A list's row for one run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunRow {
    /// The name of its directory in the folder, or of the link that leads to it.
    pub id: String,
    /// Whether the folder has a link to its directory, which lies where the user wanted it.
    pub is_elsewhere: bool,
    /// The user's tags and note, or why they can't be read.
    pub labels: Result<Labels, String>,
    /// What is known of the run, or why its record can't be read.
    pub run: Result<Digest, String>,
    /// The failure of its teardown, where its record has one.
    pub teardown: Option<TeardownFailure>,
}

impl RunRow {
    /// The runs in a folder, the newest first, and last the ones that can't be read.
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

    /// The run in a directory of this name.
    #[must_use]
    pub fn read(id: &str, path: &Path) -> Self {
        let text = |error: StoreError| error.to_string();
        let mut record = Record::read(path).map_err(text);
        let teardown = record
            .as_mut()
            .ok()
            .and_then(|record| record.teardown.take());
        Self {
            id: id.to_owned(),
            is_elsewhere: path.is_symlink(),
            labels: Labels::read(path).map_err(text),
            run: record.map(|record| Digest::of(&record.summary)),
            teardown,
        }
    }

    /// When it began, in nanoseconds since 1970-01-01 00:00 UTC, where that is known.
    #[must_use]
    pub fn started_at_unix_ns(&self) -> Option<u64> {
        self.run.as_ref().ok().map(|run| run.started_at_unix_ns)
    }

    /// Whether a rule may delete the run: it lies in the folder, its age is known, and it has no
    /// tag for certain. A run of a later version, or one that is damaged, has neither age nor tags.
    #[must_use]
    pub fn may_be_pruned(&self) -> bool {
        let is_untagged = |labels: &Labels| labels.tags.is_empty();
        self.run.is_ok() && self.labels.as_ref().is_ok_and(is_untagged) && !self.is_elsewhere
    }
}
