//! A run that is being stored.

use crate::Record;
use crate::StoreError;
use crate::compaction::{self, Schedule};
use crate::directory::Directory;
use crate::log::{self, FrameKind, LogWriter};
use crate::teardown::TeardownFailure;
use drumfire_measure::{Ending, Interval, RunInfo, form};
use drumfire_plan::Command;
use std::fs::File;
use std::io::Write as _;
use std::ops::Range;
use std::path::Path;

/// The facts of a run that are written before its first interval.
#[derive(Clone, Copy, Debug)]
pub struct Beginning<'a> {
    /// The facts of the run.
    pub info: &'a RunInfo,
    /// The facts as JSON, for people and other programs.
    pub info_json: &'a [u8],
    /// The plan, without secrets.
    pub plan: &'a str,
    /// A text that the caller stores for itself.
    pub caller: &'a str,
}

/// A run that is being stored. Everything that was added survives a crash of the program or the
/// machine once the call has returned.
#[derive(Debug)]
pub struct Recording {
    directory: Directory,
    log: LogWriter,
    events: File,
    schedule: Schedule,
    /// The place of the facts of the run, or of its part, in the log.
    facts: Range<u64>,
    is_part: bool,
}

impl Recording {
    /// Starts to store a run in an empty directory, which is abandoned on failure.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn create(directory: Directory, beginning: Beginning<'_>) -> Result<Self, StoreError> {
        match Files::create(&directory, beginning) {
            Ok(Files { log, events, facts }) => Ok(Self {
                directory,
                log,
                events,
                schedule: Schedule::default(),
                facts,
                is_part: false,
            }),
            Err(error) => {
                directory.abandon();
                Err(error)
            }
        }
    }

    /// Continues to store a run with this record: a further part begins.
    ///
    /// # Errors
    /// If a file cannot be written, or these are the facts of another run.
    pub fn resume(
        directory: Directory,
        record: &Record,
        info: &RunInfo,
    ) -> Result<Self, StoreError> {
        if !log::are_alike(&record.summary.info.pools, &info.pools) {
            return Err(StoreError::OtherRun(directory.path().to_owned()));
        }
        let events = directory.events()?;
        let mut log = LogWriter::reopen(&directory.log(), record.whole)?;
        let facts_at = log.whole();
        log.append(FrameKind::Part, &form::encode(info))?;
        let facts_end = log.whole();
        Ok(Self {
            directory,
            log,
            events,
            schedule: Schedule::default(),
            facts: facts_at..facts_end,
            is_part: true,
        })
    }

    /// Replaces the facts of the run, or of its part. They were written before its load began, and
    /// now have the time of its start.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn start(&mut self, info: &RunInfo, info_json: &[u8]) -> Result<(), StoreError> {
        if !self.is_part {
            self.directory.write_info(info_json)?;
        }
        self.log
            .rewrite(self.facts.clone(), FrameKind::Part, &form::encode(info))
    }

    /// Adds an interval, which must be summed up. From time to time, old intervals are merged into
    /// coarser ones.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn interval(&mut self, interval: &Interval) -> Result<(), StoreError> {
        self.log.append(FrameKind::Interval, &interval.encode())?;
        match self.schedule.is_due(interval.end) {
            true => self.compact(),
            false => Ok(()),
        }
    }

    /// Merges old intervals. If the disk has no room for that, the log stays unchanged.
    fn compact(&mut self) -> Result<(), StoreError> {
        if compaction::compact(&self.directory, self.log.path()).is_err() {
            return Ok(());
        }
        self.log.follow()
    }

    /// Adds a command that changed the run.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn changed(&mut self, command: &Command) -> Result<(), StoreError> {
        self.log.append(FrameKind::Command, &form::encode(command))
    }

    /// Adds a line to the events. It survives a crash from the next interval on.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn event(&mut self, line: &[u8]) -> Result<(), StoreError> {
        let written = self.events.write_all(line);
        written.map_err(StoreError::write(
            &self.directory.path().join("events.jsonl"),
        ))
    }

    /// The directory of the run.
    #[must_use]
    pub const fn directory(&self) -> &Directory {
        &self.directory
    }

    /// Whether this is a further part of a run.
    #[must_use]
    pub const fn is_part(&self) -> bool {
        self.is_part
    }

    /// Adds the end. Afterwards only the summary remains to be written.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn finish(mut self, ending: &Ending) -> Result<Directory, StoreError> {
        self.log.append(FrameKind::Ending, &form::encode(ending))?;
        Ok(self.directory)
    }
}

/// Adds the failure of its teardown to the run in a directory, whose end is stored.
///
/// # Errors
/// If the directory contains no run, another program uses it, or a file cannot be written.
pub fn add_teardown_failure(path: &Path, failure: &TeardownFailure) -> Result<(), StoreError> {
    append(path, FrameKind::Teardown, &form::encode(failure))
}

/// Adds what the caller found out with the run in a directory, whose end is stored.
///
/// # Errors
/// As [`add_teardown_failure`].
pub fn add_finding(path: &Path, finding: &[u8]) -> Result<(), StoreError> {
    append(path, FrameKind::Finding, finding)
}

/// Appends an entry to the run in a directory.
fn append(path: &Path, kind: FrameKind, payload: &[u8]) -> Result<(), StoreError> {
    let directory = Directory::open(path)?;
    LogWriter::reopen_whole(&directory.log())?.append(kind, payload)
}

/// The open files of a run that begins.
struct Files {
    log: LogWriter,
    events: File,
    /// The place of the facts in the log.
    facts: Range<u64>,
}

impl Files {
    /// Writes the plan and the facts of a run.
    fn create(directory: &Directory, beginning: Beginning<'_>) -> Result<Self, StoreError> {
        directory.write_plan(beginning.plan, beginning.info_json)?;
        let events = directory.events()?;
        let facts = form::encode(beginning.info);
        let caller = beginning.caller.as_bytes();
        let entries = [(FrameKind::Part, &*facts), (FrameKind::Caller, caller)];
        let log = LogWriter::create(&directory.log(), &entries)?;
        directory.sync()?;
        Ok(Self {
            log,
            events,
            facts: log::first_entry(facts.len()),
        })
    }
}
