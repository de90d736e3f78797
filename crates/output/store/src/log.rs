//! The log of a run: its facts, its intervals, commands and its end, as frames.
//!
//! A frame contains a value in the form that `measure` defines. The same forms send a run's events
//! to other processes, so an event has the same encoding in the log, on the control socket and in
//! the stream of events.

use crate::StoreError;
use crate::frame::{self, Break, Frame, Frames, MAGIC};
use crate::own_files;
use crate::teardown::TeardownFailure;
use drumfire_measure::form::{self, FormError};
use drumfire_measure::{Ending, Interval, PoolInfo, RunInfo};
use drumfire_plan::Command;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek as _, SeekFrom, Write as _};
use std::ops::Range;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

/// The kind of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FrameKind {
    /// The facts of a run, or of a further part of it.
    Part = 1,
    /// An interval of the preceding part.
    Interval = 2,
    /// The end of the preceding part.
    Ending = 3,
    /// A text that the caller stored for itself.
    Caller = 4,
    /// A command that changed the preceding part.
    Command = 5,
    /// The failure of the preceding part's teardown.
    Teardown = 6,
    /// What the caller found out with the run, in the caller's form.
    Finding = 7,
}

/// The content of one frame.
#[derive(Clone, Debug)]
pub(crate) enum Entry {
    /// The start of a part; a resumed run has several.
    Part(Box<RunInfo>),
    /// The next interval of the part.
    Interval(Box<Interval>),
    /// The end of the part.
    Ending(Box<Ending>),
    /// A text that the caller stored for itself.
    Caller(String),
    /// A command that changed the part.
    Command(Box<Command>),
    /// The failure of the part's teardown.
    Teardown(TeardownFailure),
    /// What the caller found out with the run.
    Finding(Vec<u8>),
}

/// Reads the valid entries of a log one by one.
pub(crate) struct Entries<R> {
    frames: Frames<R>,
    /// The pools of the newest part.
    pools: Vec<PoolInfo>,
    /// Why the content of the first frame is not an entry.
    first_error: Option<FormError>,
    /// The memory of an interval that was read before.
    spare: Option<Interval>,
    count: u64,
}

/// The position in a log up to which its entries were read.
#[derive(Clone, Debug)]
pub(crate) struct Mark {
    /// The number of valid bytes.
    pub(crate) whole: u64,
    pools: Vec<PoolInfo>,
    count: u64,
}

impl Entries<BufReader<File>> {
    /// The entries of a file.
    pub(crate) fn open(path: &Path) -> Result<Self, StoreError> {
        let wrong = StoreError::read(path);
        let file = own_files::read(path).map_err(&wrong)?;
        let entries = Self::new(BufReader::new(file)).map_err(&wrong)?;
        entries.ok_or_else(|| StoreError::NoRun(path.to_owned()))
    }
}

impl<R: Read> Entries<R> {
    /// The entries of a log; `None` if the input is not a log.
    pub(crate) fn new(input: R) -> io::Result<Option<Self>> {
        let frames = Frames::open(input)?;
        Ok(frames.map(|frames| Self {
            frames,
            pools: Vec::new(),
            first_error: None,
            spare: None,
            count: 0,
        }))
    }

    /// The entries after a mark, at which the input is positioned.
    pub(crate) fn go_on(input: R, mark: Mark) -> Self {
        Self {
            frames: Frames::go_on(input, mark.whole),
            pools: mark.pools,
            first_error: None,
            spare: None,
            count: mark.count,
        }
    }

    /// The mark up to which entries were read, and the input.
    pub(crate) fn stop(self) -> (Mark, R) {
        let mark = Mark {
            whole: self.frames.whole(),
            pools: self.pools,
            count: self.count,
        };
        (mark, self.frames.into_input())
    }

    /// The next entry; `None` at the end, or at a break.
    pub(crate) fn next(&mut self) -> io::Result<Option<Entry>> {
        let Some(frame) = self.frames.next()? else {
            return Ok(None);
        };
        match self.entry(&frame) {
            Ok(entry) => {
                self.count += 1;
                Ok(Some(entry))
            }
            Err(error) => {
                // The checksum is correct, so another version or another program wrote these bytes.
                self.frames.refuse(&frame);
                self.first_error = (self.count == 0).then_some(error);
                Ok(None)
            }
        }
    }

    /// The start of the next part; entries before it are skipped.
    pub(crate) fn next_part(&mut self) -> io::Result<Option<RunInfo>> {
        while let Some(frame) = self.frames.next()? {
            if frame.kind == FrameKind::Part as u8 {
                return Ok(form::decode(&frame.payload).ok());
            }
        }
        Ok(None)
    }

    /// Takes back the memory of an interval that was read here, for the next one. The log of a week
    /// has tens of thousands of intervals, and allocating memory from the system for each is slow.
    pub(crate) fn reuse(&mut self, interval: Interval) {
        self.spare = Some(interval);
    }

    fn entry(&mut self, frame: &Frame) -> Result<Entry, FormError> {
        let payload = &frame.payload;
        if frame.kind == FrameKind::Part as u8 {
            let info = form::decode::<RunInfo>(payload)?;
            if self.count > 0 && !are_alike(&self.pools, &info.pools) {
                return Err(FormError::Malformed("a part of another run"));
            }
            self.pools.clone_from(&info.pools);
            return Ok(Entry::Part(Box::new(info)));
        }
        if self.count == 0 {
            return Err(FormError::Malformed("a log that does not begin with a run"));
        }
        if frame.kind == FrameKind::Interval as u8 {
            Interval::decode_into(&mut self.spare, payload, &self.pools)?;
            let interval = self.spare.take();
            let mut interval = interval.ok_or(FormError::Malformed("an interval"))?;
            interval.sum_up();
            return Ok(Entry::Interval(Box::new(interval)));
        }
        if frame.kind == FrameKind::Ending as u8 {
            return Ok(Entry::Ending(Box::new(form::decode(payload)?)));
        }
        if frame.kind == FrameKind::Command as u8 {
            return Ok(Entry::Command(Box::new(form::decode(payload)?)));
        }
        if frame.kind == FrameKind::Teardown as u8 {
            return Ok(Entry::Teardown(form::decode(payload)?));
        }
        if frame.kind == FrameKind::Finding as u8 {
            return Ok(Entry::Finding(payload.clone()));
        }
        if frame.kind == FrameKind::Caller as u8 {
            let text = std::str::from_utf8(payload);
            let text = text.map_err(|_| FormError::Malformed("a text is not UTF-8"))?;
            return Ok(Entry::Caller(text.to_owned()));
        }
        Err(FormError::Malformed("a frame of an unknown kind"))
    }

    pub(crate) fn broken(&self) -> Option<Break> {
        self.frames.broken()
    }

    pub(crate) fn first_error(&self) -> Option<FormError> {
        self.first_error
    }

    /// The number of valid bytes so far.
    pub(crate) fn whole(&self) -> u64 {
        self.frames.whole()
    }
}

/// Whether the intervals of both runs can be merged.
pub(crate) fn are_alike(one: &[PoolInfo], other: &[PoolInfo]) -> bool {
    let series = |pool: &PoolInfo| (pool.steps.clone(), pool.iterations, pool.scenarios.clone());
    one.iter().map(series).eq(other.iter().map(series))
}

/// The place of a log's first entry, whose payload has this length.
pub(crate) const fn first_entry(payload_bytes: usize) -> Range<u64> {
    let begin = MAGIC.len() as u64;
    begin..begin + frame::bytes(payload_bytes)
}

/// The frame of an entry.
fn encoded(kind: FrameKind, payload: &[u8]) -> io::Result<Vec<u8>> {
    frame::encode(kind as u8, payload).ok_or_else(|| io::ErrorKind::FileTooLarge.into())
}

/// A log that grows.
#[derive(Debug)]
pub(crate) struct LogWriter {
    file: File,
    path: PathBuf,
    /// The number of valid bytes.
    whole: u64,
}

impl LogWriter {
    /// Creates a log that begins with these entries, in one write, so that the load waits only once
    /// for the disk.
    pub(crate) fn create(path: &Path, entries: &[(FrameKind, &[u8])]) -> Result<Self, StoreError> {
        let wrong = StoreError::write(path);
        let mut bytes = MAGIC.to_vec();
        for (kind, payload) in entries {
            bytes.extend(encoded(*kind, payload).map_err(&wrong)?);
        }
        let file = own_files::create_new(path);
        let mut log = Self {
            file: file.map_err(&wrong)?,
            path: path.to_owned(),
            whole: 0,
        };
        log.write(&bytes)?;
        Ok(log)
    }

    /// Opens an existing log to append after its first `whole` bytes; the bytes after them are
    /// removed.
    pub(crate) fn reopen(path: &Path, whole: u64) -> Result<Self, StoreError> {
        let wrong = StoreError::write(path);
        let file = own_files::write(path).map_err(&wrong)?;
        let mut log = Self {
            file,
            path: path.to_owned(),
            whole,
        };
        log.cut_back().map_err(&wrong)?;
        if whole == 0 {
            log.write(&MAGIC)?;
        }
        Ok(log)
    }

    /// Opens an existing log to append after its valid frames.
    pub(crate) fn reopen_whole(path: &Path) -> Result<Self, StoreError> {
        let wrong = StoreError::read(path);
        let file = own_files::read(path).map_err(&wrong)?;
        let frames = Frames::open(BufReader::new(file)).map_err(&wrong)?;
        let mut frames = frames.ok_or_else(|| StoreError::NoRun(path.to_owned()))?;
        while frames.next().map_err(&wrong)?.is_some() {}
        Self::reopen(path, frames.whole())
    }

    /// Continues in the file that has replaced this log.
    pub(crate) fn follow(&mut self) -> Result<(), StoreError> {
        let wrong = StoreError::write(&self.path);
        let whole = std::fs::metadata(&self.path).map_err(wrong)?.len();
        *self = Self::reopen(&self.path, whole)?;
        Ok(())
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Appends an entry, which survives a crash once this call has returned.
    pub(crate) fn append(&mut self, kind: FrameKind, payload: &[u8]) -> Result<(), StoreError> {
        let frame = encoded(kind, payload).map_err(StoreError::write(&self.path))?;
        self.write(&frame)
    }

    /// The number of valid bytes.
    pub(crate) const fn whole(&self) -> u64 {
        self.whole
    }

    /// Replaces an entry with one of the same length, in one write. If the lengths differ, the old
    /// entry stays.
    pub(crate) fn rewrite(
        &self,
        place: Range<u64>,
        kind: FrameKind,
        payload: &[u8],
    ) -> Result<(), StoreError> {
        let frame = frame::encode(kind as u8, payload);
        let fits = |frame: &Vec<u8>| frame.len() as u64 == place.end - place.start;
        match frame.filter(fits) {
            None => Ok(()),
            Some(frame) => {
                let written = self.file.write_all_at(&frame, place.start);
                let synced = written.and_then(|()| self.file.sync_data());
                synced.map_err(StoreError::write(&self.path))
            }
        }
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), StoreError> {
        let written = self.file.write_all(bytes);
        let synced = written.and_then(|()| self.file.sync_data());
        match synced {
            Ok(()) => {
                self.whole += bytes.len() as u64;
                Ok(())
            }
            Err(error) => {
                // A partial frame is harmless, because it is not read.
                let _left = self.cut_back();
                Err(StoreError::write(&self.path)(error))
            }
        }
    }

    fn cut_back(&mut self) -> io::Result<()> {
        self.file.set_len(self.whole)?;
        self.file.seek(SeekFrom::Start(self.whole))?;
        Ok(())
    }
}
