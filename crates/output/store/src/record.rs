//! A stored run, complete or cut off.

use crate::directory::LOG;
use crate::frame::{Break, BreakKind};
use crate::log::{Entries, Entry};
use crate::teardown::TeardownFailure;
use crate::{StoreError, directory};
use drumfire_measure::{
    Changed, Coverage, Ending, Interval, LoadEnd, Reading, Reason, RunEvent, RunInfo, Summary,
};
use drumfire_plan::{StopReason, Warmup};
use drumfire_units::{Nanos, rounded};
use std::ffi::OsStr;
use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

/// A stored run.
#[derive(Clone, Debug)]
pub struct Record {
    /// The summary of everything that is stored.
    pub summary: Summary,
    /// The parts of the run; a resumed run has several.
    pub parts: Vec<Part>,
    /// The maximum number of connections of the process; `None` means no limit, or unknown.
    pub connections_max: Option<u64>,
    /// The number of valid bytes of the log.
    pub whole: u64,
    /// The number of stored intervals; old ones are merged.
    pub intervals: u64,
    /// The text that the caller stored for itself.
    pub caller: String,
    /// The failure of the last part's teardown.
    pub teardown: Option<TeardownFailure>,
    /// What the caller found out with the run, in the caller's form.
    pub finding: Option<Vec<u8>>,
    /// The id of the newest part, which is the id of the process that wrote it.
    pub newest_id: String,
}

/// One part of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The start of the part, in nanoseconds since 1970-01-01 00:00 UTC.
    pub started_at_unix_ns: u64,
    /// The end of the part's record, from the part's own start.
    pub end: Nanos,
    /// Whether its end is stored.
    pub is_whole: bool,
    /// The end of the part's load, from its own start; `None` if it is not stored.
    pub load_end: Option<Nanos>,
}

impl Part {
    /// The length of the part's load, from its own start. A part that was cut off counts as loaded
    /// to its end.
    #[must_use]
    pub fn load(&self) -> Nanos {
        self.load_end.map_or(self.end, |at| at.min(self.end))
    }
}

impl Record {
    /// Reads the run in a directory.
    ///
    /// # Errors
    /// If the directory contains no run, or nothing of it can be read.
    pub fn read(path: &Path) -> Result<Self, StoreError> {
        Self::replay(path, &mut |_| {})
    }

    /// Reads the run in a directory, and calls `show` for its start and its intervals as stored.
    /// The intervals of a resumed part come after the intervals of earlier parts.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn replay(path: &Path, show: &mut dyn FnMut(&RunEvent)) -> Result<Self, StoreError> {
        if !directory::is_run(path) {
            return Err(StoreError::NoRun(path.to_owned()));
        }
        let log = path.join(LOG);
        let mut entries = Entries::open(&log)?;
        let reader = Reader::read(&mut entries, show).map_err(StoreError::read(&log))?;
        match reader {
            Some(reader) => Ok(reader.finish(&entries, Some(path))),
            None => Err(unreadable(&entries, log)),
        }
    }

    /// Reads a run from the bytes of its log; `None` if nothing of it can be read.
    ///
    /// # Errors
    /// If reading the bytes fails.
    pub fn from_log(log: impl Read) -> io::Result<Option<Self>> {
        let Some(mut entries) = Entries::new(log)? else {
            return Ok(None);
        };
        let reader = Reader::read(&mut entries, &mut |_| {})?;
        Ok(reader.map(|reader| reader.finish(&entries, None)))
    }

    /// Whether an entry of a folder of runs leads to the run with its name. Another run may have
    /// taken the directory of a link's target since. If the record cannot be read, the name counts
    /// as correct.
    #[must_use]
    pub fn is_named(entry: &Path) -> bool {
        if !entry.is_symlink() {
            return true;
        }
        let entries = Entries::open(&entry.join(LOG)).ok();
        let first = entries.and_then(|mut entries| entries.next_part().ok().flatten());
        first.is_none_or(|info| entry.file_name() == Some(OsStr::new(&info.id)))
    }

    /// The id of the newest part of the run in a directory. Measurements are not read, because they
    /// may be large.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn newest_id(path: &Path) -> Result<String, StoreError> {
        if !directory::is_run(path) {
            return Err(StoreError::NoRun(path.to_owned()));
        }
        let log = path.join(LOG);
        let mut entries = Entries::open(&log)?;
        let mut newest = None;
        while let Some(info) = entries.next_part().map_err(StoreError::read(&log))? {
            newest = Some(info.id);
        }
        newest.ok_or(StoreError::Empty(log))
    }

    /// A number that changes when the record in a directory grows or changes: a hash of the log's
    /// length and time. `None` if the directory has no log.
    #[must_use]
    pub fn version(path: &Path) -> Option<u64> {
        let facts = fs::metadata(path.join(LOG)).ok()?;
        let changed = facts.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
        let mut hasher = DefaultHasher::new();
        (facts.len(), changed).hash(&mut hasher);
        Some(hasher.finish())
    }

    /// Whether the record of every part is complete.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.summary.coverage == Coverage::Whole
    }
}

/// The part of a run that its parts cover. If the last part has an end, an earlier one may still
/// have been cut off.
fn coverage(parts: &[Part]) -> Coverage {
    match parts.last() {
        Some(last) if last.is_whole => match parts.iter().all(|part| part.is_whole) {
            true => Coverage::Whole,
            false => Coverage::Resumed,
        },
        _ => Coverage::Begun,
    }
}

/// Why nothing of a log could be read.
pub(crate) fn unreadable<R: Read>(entries: &Entries<R>, log: PathBuf) -> StoreError {
    match entries.first_error() {
        Some(error) => StoreError::Unreadable { path: log, error },
        None => StoreError::Empty(log),
    }
}

/// The merged entries of a log that were read so far.
#[derive(Clone, Debug)]
pub(crate) struct Reader {
    reading: Reading,
    parts: Vec<Part>,
    /// The time from the start of the run to the start of the current part.
    offset: Nanos,
    endings: Vec<Ending>,
    /// The notes about how the parts follow each other, and about changes of parts that were cut
    /// off.
    seams: Vec<String>,
    /// The notes about changes of the current part, which its ending contains too.
    changes: Vec<String>,
    /// Whether any part had a load that differs from its plan.
    other_load: bool,
    intervals: u64,
    caller: String,
    teardown: Option<TeardownFailure>,
    finding: Option<Vec<u8>>,
    newest_id: String,
}

impl Reader {
    /// Reads all entries; `None` if even the first one is missing.
    pub(crate) fn read<R: Read>(
        entries: &mut Entries<R>,
        show: &mut dyn FnMut(&RunEvent),
    ) -> io::Result<Option<Self>> {
        let Some(Entry::Part(info)) = entries.next()? else {
            return Ok(None);
        };
        let mut reader = Self::new(*info);
        show(&RunEvent::Started(Arc::clone(
            &reader.reading.so_far().info,
        )));
        reader.go_on(entries, show)?;
        Ok(Some(reader))
    }

    /// Reads the entries that were added since.
    pub(crate) fn go_on<R: Read>(
        &mut self,
        entries: &mut Entries<R>,
        show: &mut dyn FnMut(&RunEvent),
    ) -> io::Result<()> {
        while let Some(entry) = entries.next()? {
            match entry {
                Entry::Part(info) => self.begin_part(&info),
                Entry::Interval(interval) => {
                    let event = RunEvent::IntervalClosed(self.absorb(*interval));
                    show(&event);
                    if let RunEvent::IntervalClosed(shown) = event {
                        // An observer may have kept the interval.
                        let _kept = Arc::try_unwrap(shown).map(|interval| entries.reuse(interval));
                    }
                }
                Entry::Caller(text) => self.caller = text,
                Entry::Command(command) => {
                    let info = &self.reading.so_far().info;
                    self.change(Changed::from_command(&command, info));
                }
                Entry::Ending(ending) => self.end_part(*ending),
                Entry::Teardown(failure) => self.teardown = Some(failure),
                Entry::Finding(finding) => self.finding = Some(finding),
            }
        }
        Ok(())
    }

    /// Whether the newest part has an interval, so that its facts no longer change.
    pub(crate) fn has_begun(&self) -> bool {
        self.parts.last().is_some_and(|part| part.end > Nanos::ZERO)
    }

    fn new(info: RunInfo) -> Self {
        let thresholds = info.thresholds.clone();
        Self {
            parts: vec![Part::new(&info)],
            offset: Nanos::ZERO,
            endings: Vec::new(),
            seams: Vec::new(),
            changes: Vec::new(),
            other_load: false,
            intervals: 0,
            caller: String::new(),
            teardown: None,
            finding: None,
            newest_id: info.id.clone(),
            reading: Reading::new(Arc::new(info), &thresholds),
        }
    }

    fn part(&mut self) -> Option<&mut Part> {
        self.parts.last_mut()
    }

    /// Adds an interval, and returns it with times of the whole run.
    fn absorb(&mut self, mut interval: Interval) -> Arc<Interval> {
        if let Some(part) = self.parts.last_mut() {
            part.end = part.end.max(interval.end);
        }
        self.intervals += 1;
        interval.start += self.offset;
        interval.end += self.offset;
        self.reading.absorb(&interval);
        Arc::new(interval)
    }

    fn change(&mut self, changed: Changed) {
        let changed = changed.after(self.offset);
        self.reading.note_change(&changed);
        self.other_load |= changed.kind.is_of_load();
        self.changes.push(changed.note);
    }

    fn end_part(&mut self, ending: Ending) {
        self.changes.clear();
        if let Some(part) = self.part() {
            part.is_whole = true;
            part.load_end = ending.load_end.at;
        }
        self.endings.push(ending);
    }

    fn begin_part(&mut self, info: &RunInfo) {
        let last = self.parts.last().copied();
        let last = last.unwrap_or_else(|| Part::new(info));
        let first = self.reading.so_far().info.started_at_unix_ns;
        let begins = Nanos(info.started_at_unix_ns.saturating_sub(first));
        let ended = self.offset + last.end;
        // A clock that was set back must not make parts overlap.
        self.offset = begins.max(ended);
        self.reading.begin_part(self.offset, info);
        let gap = self.offset - ended;
        let how = match last.is_whole {
            true => "ended",
            false => "was cut off",
        };
        let load = match self.other_load {
            true => ", with the load of its plan",
            false => "",
        };
        self.seams.append(&mut self.changes);
        self.seams.push(format!(
            "the run {how} after {} and was resumed {} later{load}",
            rounded::time(last.end.0 as f64),
            rounded::time(gap.0 as f64)
        ));
        self.parts.push(Part::new(info));
        self.newest_id.clone_from(&info.id);
        // The rest of a run has a separate teardown, and the caller may find out something else.
        self.teardown = None;
        self.finding = None;
    }

    /// The record of the entries that were read, from a directory or from bytes alone.
    pub(crate) fn finish<R: Read>(self, entries: &Entries<R>, directory: Option<&Path>) -> Record {
        let (broken, whole) = (entries.broken(), entries.whole());
        let Self {
            reading,
            parts,
            mut endings,
            seams,
            changes,
            intervals,
            caller,
            teardown,
            finding,
            newest_id,
            offset,
            ..
        } = self;
        let last = endings.last().cloned();
        let has_end = parts.last().is_some_and(|part| part.is_whole);
        let connections_max = last.as_ref().and_then(|ending| ending.connections_max);
        let mut summary = match (parts.as_slice(), endings.pop()) {
            ([_], Some(ending)) => reading.restore(ending),
            (_, ending) => {
                endings.extend(ending);
                merged(reading, offset, &parts, &endings)
            }
        };
        let mut notes = seams;
        notes.extend(changes);
        let untimed = summary.total.untimed();
        if !has_end {
            let end = parts.last().map_or(Nanos::ZERO, |part| part.end);
            match directory.is_some_and(directory::is_held) {
                true => notes.push(so_far(end, untimed)),
                false => doubt(&mut summary, end, untimed),
            }
        } else if untimed > 0 && parts.len() > 1 {
            // The report of a run with one part contains this note already, in its own words.
            notes.push(format!(
                "{} when a part of the run was cut off; they count as in flight or pending, and their \
                 times are unknown",
                open_requests(untimed)
            ));
        }
        if let Some(Break {
            at,
            kind: BreakKind::Damaged,
        }) = broken
        {
            notes.push(format!(
                "the log is damaged after its first {at} bytes; the rest is ignored"
            ));
        }
        Arc::make_mut(&mut summary.info).notes.extend(notes);
        summary.coverage = coverage(&parts);
        Record {
            summary,
            parts,
            connections_max,
            whole,
            intervals,
            caller,
            teardown,
            finding,
            newest_id,
        }
    }
}

impl Part {
    fn new(info: &RunInfo) -> Self {
        Self {
            started_at_unix_ns: info.started_at_unix_ns,
            end: Nanos::ZERO,
            is_whole: false,
            load_end: None,
        }
    }
}

/// The summary of a run that was cut off or resumed. The whole has no ending, so the verdict is
/// computed again. The last part begins `offset` after the run.
fn merged(mut reading: Reading, offset: Nanos, parts: &[Part], endings: &[Ending]) -> Summary {
    reading.break_off();
    let bodies = endings.iter().flat_map(|of| of.failed_bodies.iter());
    bodies.for_each(|body| reading.add_failed_body(body.clone()));
    let slowest = endings.iter().flat_map(|of| of.slowest.clone().take());
    slowest.for_each(|slow| reading.add_slow(slow));
    let doubts = endings.iter().flat_map(|of| &of.doubts);
    doubts.for_each(|doubt| reading.doubt(doubt.clone()));
    let warmup = reading.so_far().info.warmup;
    // A warm-up that a part detected is in no interval: the whole run detects its own.
    let is_found = warmup == Warmup::Auto;
    let mut ended = endings.iter();
    let spans = parts.iter().map(|part| match part.is_whole && !is_found {
        true => ended.next().map_or(Nanos::ZERO, |ending| ending.duration),
        false => part.end - warmup.span(),
    });
    let duration = spans.fold(Nanos::ZERO, |sum, span| sum + span);
    let steal = endings.iter().map(|ending| ending.steal_share);
    let mut summary = reading.close(duration, steal.fold(0.0, f64::max));
    let is_ended = parts.last().is_some_and(|part| part.is_whole);
    let last = endings.last().filter(|_| is_ended);
    let end = last.map(|ending| ending.load_end);
    summary.load_end = end.map_or_else(LoadEnd::default, |end| LoadEnd {
        at: end.at.map(|at| at + offset),
        ..end
    });
    let info = Arc::make_mut(&mut summary.info);
    let parts_before = endings.len() - usize::from(is_ended && !endings.is_empty());
    for (part, ending) in endings.iter().enumerate() {
        let end = ending.load_end.reason.and_then(StopReason::early_note);
        for note in &ending.notes {
            // A part that ended early was resumed, which has a separate note.
            let is_over = part < parts_before && end == Some(note);
            if !is_over && !info.notes.contains(note) {
                info.notes.push(note.clone());
            }
        }
    }
    summary
}

/// The note of a run in progress, whose record ends at this time. For `untimed` requests, only the
/// due time was recorded.
fn so_far(end: Nanos, untimed: u64) -> String {
    format!(
        "the run is in progress: this is its record up to {end}{}",
        open_then(untimed)
    )
}

/// Adds the reason and the note that the record is cut off.
fn doubt(summary: &mut Summary, end: Nanos, untimed: u64) {
    summary.doubt(Reason {
        text: format!(
            "the run was cut off: its record ends after {end}{}",
            open_then(untimed)
        ),
        remedies: Vec::new(),
    });
    let interval = summary.info.interval;
    Arc::make_mut(&mut summary.info).notes.push(format!(
        "the run was cut off: everything after {end} is missing. A killed program loses the \
         current interval ({interval}) and those that were not yet on disk; a log that was \
         truncated or damaged later may have lost any number of intervals"
    ));
}

/// The requests that were open at the end of the record, as the end of a sentence.
fn open_then(untimed: u64) -> String {
    match untimed {
        0 => String::new(),
        count => format!(
            "; {} then: they count as in flight or pending, and their times are unknown",
            open_requests(count)
        ),
    }
}

/// The number of due requests without an end, as text.
fn open_requests(count: u64) -> String {
    match count {
        1 => "1 request was open".to_owned(),
        count => format!("{count} requests were open"),
    }
}
