//! A run as it is being stored.

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

/// The facts that are written of a run before its first interval.
#[derive(Clone, Copy, Debug)]
pub struct Beginning<'a> {
    /// The facts of the run.
    pub info: &'a RunInfo,
    /// The same for people and other programs.
    pub info_json: &'a [u8],
    /// The plan, without secrets.
    pub plan: &'a str,
    /// A text that the caller stores for itself.
    pub caller: &'a str,
}

/// A run as it is being stored. Everything that was added survives a crash of the program or the
/// machine once the call has returned.
#[derive(Debug)]
pub struct Recording {
    directory: Directory,
    log: LogWriter,
    events: File,
    schedule: Schedule,
    /// Where the facts of the run, or of its part, stand in the log.
    facts: Range<u64>,
    is_part: bool,
}

impl Recording {
    /// Begins to store a run in an empty directory, which is abandoned where that fails.
    ///
    /// # Errors
    /// When it can't be written.
    pub fn begin(directory: Directory, beginning: Beginning<'_>) -> Result<Self, StoreError> {
        match Files::begin(&directory, beginning) {
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

    /// Goes on with a run of which this is the record so far: a further part of it begins.
    ///
    /// # Errors
    /// When it can't be written, or when these are the facts of another run.
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

    /// Replaces the facts of the run, or of its part, by these: they were written before its load
    /// began, and have now the time of that moment.
    ///
    /// # Errors
    /// When it can't be written.
    pub fn start(&mut self, info: &RunInfo, info_json: &[u8]) -> Result<(), StoreError> {
        if !self.is_part {
            self.directory.write_info(info_json)?;
        }
        self.log
            .rewrite(self.facts.clone(), FrameKind::Part, &form::encode(info))
    }

    /// Adds an interval, which is summed up. Now and then old ones are merged into coarser ones.
    ///
    /// # Errors
    /// When it can't be written.
    pub fn interval(&mut self, interval: &Interval) -> Result<(), StoreError> {
        self.log.append(FrameKind::Interval, &interval.encode())?;
        match self.schedule.is_due(interval.end) {
            true => self.compact(),
            false => Ok(()),
        }
    }

    /// Merges old intervals. Where there is no room for that, the log stays as it is.
    fn compact(&mut self) -> Result<(), StoreError> {
        if compaction::compact(&self.directory, self.log.path()).is_err() {
            return Ok(());
        }
        self.log.follow()
    }

    /// Adds a command that changed the run.
    ///
    /// # Errors
    /// When it can't be written.
    pub fn changed(&mut self, command: &Command) -> Result<(), StoreError> {
        self.log.append(FrameKind::Command, &form::encode(command))
    }

    /// Adds a line to what happened; it survives with the next interval.
    ///
    /// # Errors
    /// When it can't be written.
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

    /// Whether it is a further part of a run.
    #[must_use]
    pub const fn is_part(&self) -> bool {
        self.is_part
    }

    /// Adds the end. What is left to be written is the summary.
    ///
    /// # Errors
    /// When it can't be written.
    pub fn end(mut self, ending: &Ending) -> Result<Directory, StoreError> {
        self.log.append(FrameKind::Ending, &form::encode(ending))?;
        Ok(self.directory)
    }
}

/// Adds the failure of its teardown to the run in a directory, whose end is stored.
///
/// # Errors
/// When there is no run, another program has it, or it can't be written.
pub fn add_teardown_failure(path: &Path, failure: &TeardownFailure) -> Result<(), StoreError> {
    let directory = Directory::open(path)?;
    let mut log = LogWriter::reopen_whole(&directory.log())?;
    log.append(FrameKind::Teardown, &form::encode(failure))
}

/// The open files of a run that begins.
struct Files {
    log: LogWriter,
    events: File,
    /// Where the facts stand in the log.
    facts: Range<u64>,
}

impl Files {
    /// Writes the plan and the facts of a run.
    fn begin(directory: &Directory, beginning: Beginning<'_>) -> Result<Self, StoreError> {
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
