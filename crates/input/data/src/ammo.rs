//! Ammo: files whose every entry is a request.
//!
//! A file is read once before the run, in windows: every entry is decoded and checked, and the
//! [`Class`]es are found, one for each method and name. A small file's entries then stay in memory.
//! Of a larger one a sparse index stays, of a bounded size, and a worker decodes the block that has
//! the entry that it wants. Which entry that is follows from the arrival's number alone.

mod access_log;
mod batch;
mod block;
mod call_json;
mod class;
mod decoder;
mod field;
mod har;
mod json_line;
mod keyed;
mod pacing;
mod raw;
mod remark;
mod render;
mod step;
mod target;
mod uri;

pub use call_json::Calls;
pub use class::{AutoTag, Class};
pub use decoder::{AMMO_FORMATS, AmmoFormat};
pub use field::{AmmoField, Precedence};
pub use render::{AmmoData, AmmoPick};

use crate::read_at::{MEMORY_BYTES_MAX, ReadAt, Window};
use batch::Batch;
use block::Block;
use class::Classes;
use decoder::Decoder;
use drumfire_plan::HttpVersion;
use drumfire_units::Nanos;
use remark::Remark;
use std::fmt;
use std::sync::Arc;
use step::Step;

/// The bytes between two entries of the index, at first.
const STRIDE_BYTES: u64 = 4 << 10;
/// An index has at most this many entries; when there would be more, every second goes.
const INDEX_MAX: usize = 1 << 16;
/// The headers that are kept with entries of the index together have at most this many bytes.
const STATES_BYTES_MAX: usize = 16 << 20;
/// The remarks on a file that are noted.
const REMARKS_MAX: usize = 20;
/// The moments of a file that is replayed with its own timing.
const TIMES_MAX: usize = 10_000_000;

/// How a file is read.
#[derive(Clone, Debug, Default)]
pub struct AmmoOptions {
    /// The name of the file in notes.
    pub file: String,
    /// Its format.
    pub format: AmmoFormat,
    /// The version of HTTP that sends its requests: HTTP/2 has no fields of a connection.
    pub version: HttpVersion,
    /// Only entries with one of these tags are used; all, where there is none.
    pub chosen: Vec<String>,
    /// Fields of every request, each name once.
    pub fields: Vec<AmmoField>,
    /// The name of requests without a tag; their method where there is none.
    pub name: Option<String>,
    /// Tags that are made of paths.
    pub auto_tag: Option<AutoTag>,
    /// Whether the entries stay in memory, however large the file is.
    pub storage: Storage,
    /// Whether the moments of the entries are kept.
    pub timing: Timing,
    /// What makes messages of the payloads of calls, which stay as they are without it.
    pub calls: Option<Arc<dyn Calls>>,
}

/// Where decoded entries lie.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Storage {
    /// In memory if the file is small.
    #[default]
    BySize,
    /// In memory.
    Memory,
}

/// When entries are sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Timing {
    /// As the load says.
    #[default]
    Load,
    /// As they were once sent: every entry has a moment.
    Own,
}

/// Why ammo could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AmmoError {
    /// The line it was found in, from 1; 0 when it concerns the whole.
    pub line: u64,
    /// The mistake.
    pub message: String,
}

impl fmt::Display for AmmoError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => f.write_str(&self.message),
            line => write!(f, "line {line}: {}", self.message),
        }
    }
}

impl std::error::Error for AmmoError {}

impl AmmoError {
    fn at_line(line: u64, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { line, message }
    }
}

/// The entries of a file.
#[derive(Debug)]
pub struct Ammo {
    options: AmmoOptions,
    source: Arc<dyn ReadAt>,
    classes: Classes,
    rows: u64,
    entries: Entries,
    times: Vec<u64>,
    /// What has no effect in the entries, each with the first line that has it.
    remarks: Vec<(Remark, u64)>,
    /// How many entries have no request that can be sent, and the line of the first.
    left_out: (u64, u64),
}

/// Where the entries are.
#[derive(Debug)]
enum Entries {
    /// All of them, decoded.
    Memory(Batch),
    /// In the file, from these places on.
    Blocks(Vec<Block>),
}

impl Ammo {
    /// Reads a file.
    ///
    /// # Errors
    /// The first entry that can't be decoded, or none that can be used.
    pub fn read(source: Arc<dyn ReadAt>, options: AmmoOptions) -> Result<Self, AmmoError> {
        let is_small = source.size() <= MEMORY_BYTES_MAX;
        let in_memory = is_small || options.storage == Storage::Memory;
        let mut ammo = Self {
            classes: Classes::new(&options),
            options,
            source,
            rows: 0,
            entries: match in_memory {
                true => Entries::Memory(Batch::default()),
                false => Entries::Blocks(Vec::new()),
            },
            times: Vec::new(),
            remarks: Vec::new(),
            left_out: (0, 0),
        };
        match ammo.options.format {
            AmmoFormat::Har => ammo.read_har()?,
            _ => ammo.read_entries()?,
        }
        if ammo.rows > 0 {
            let unmet = ammo.classes.unmet();
            ammo.note(unmet, 0);
            return Ok(ammo);
        }
        Err(AmmoError::at_line(
            0,
            match ammo.options.chosen.is_empty() {
                true => "the file has no requests".to_owned(),
                false => format!(
                    "no request in the file has a tag from this list: {}",
                    ammo.options.chosen.join(", ")
                ),
            },
        ))
    }

    /// HAR is one JSON value, which is read as a whole.
    fn read_har(&mut self) -> Result<(), AmmoError> {
        let opened = Window::open(Arc::clone(&self.source));
        let mut window = opened.map_err(|error| AmmoError::at_line(0, error))?;
        let bytes = window
            .whole()
            .map_err(|error| AmmoError::at_line(0, error))?;
        let mut all = Batch::default();
        har::decode(bytes, &mut all)?;
        self.left_out.0 = all.take_left_out();
        self.note(all.take_remarks(), 0);
        all.sort_by_time();
        let mut kept = Batch::default();
        for row in 0..all.len() {
            kept.copy(&all, row);
            self.keep(&mut kept, 0)?;
        }
        self.entries = Entries::Memory(kept);
        Ok(())
    }

    fn read_entries(&mut self) -> Result<(), AmmoError> {
        let opened = Window::open(Arc::clone(&self.source));
        let mut window = opened.map_err(|error| AmmoError::at_line(0, error))?;
        let mut decoder = Decoder::new(self.options.format);
        let mut index = block::Index::new(STRIDE_BYTES, INDEX_MAX, STATES_BYTES_MAX);
        let mut all = Batch::default();
        let mut line = 1;
        loop {
            let is_streamed = matches!(self.entries, Entries::Blocks(_));
            if is_streamed {
                index.note(window.offset(), self.rows, &decoder);
                all.clear();
            }
            match decoder.step(window.rest(), window.is_last(), &mut all) {
                Step::Took { bytes, rows } => {
                    self.note_left_out(all.take_left_out(), line);
                    if rows > 0 {
                        // What stands before the entry may have lines of its own.
                        let blanks = window.rest().iter();
                        let blanks = blanks.take_while(|byte| byte.is_ascii_whitespace());
                        let line = line + window.lines_before(blanks.count());
                        self.note(all.take_remarks(), line);
                        self.keep(&mut all, line)?;
                    }
                    line += window.consume(bytes);
                }
                Step::More => window
                    .grow()
                    .map_err(|error| AmmoError::at_line(line, error))?,
                Step::Broken { at, message } => {
                    return Err(AmmoError::at_line(line + window.lines_before(at), message));
                }
                Step::End => break,
            }
        }
        match &mut self.entries {
            Entries::Memory(batch) => *batch = all,
            Entries::Blocks(blocks) => *blocks = index.finish(window.offset(), self.rows),
        }
        Ok(())
    }

    /// Counts entries that were left out.
    const fn note_left_out(&mut self, count: u64, line: u64) {
        if self.left_out.0 == 0 {
            self.left_out.1 = line;
        }
        self.left_out.0 += count;
    }

    /// Keeps each remark once, with its first line.
    fn note(&mut self, remarks: Vec<Remark>, line: u64) {
        for remark in remarks {
            let is_known = self.remarks.iter().any(|(known, _)| *known == remark);
            if !is_known && self.remarks.len() < REMARKS_MAX {
                self.remarks.push((remark, line));
            }
        }
    }

    /// Counts the last entry of a batch with its class, or takes it out again where it is not
    /// chosen.
    fn keep(&mut self, batch: &mut Batch, line: u64) -> Result<(), AmmoError> {
        let class = self.classes.insert(batch.last());
        let class = class.map_err(|message| AmmoError::at_line(line, message))?;
        let Some(class) = class else {
            batch.pop();
            return Ok(());
        };
        let unsent = self.classes.unsent(batch.last());
        self.note(unsent, line);
        if self.options.timing == Timing::Own {
            let missing = "the entry has no time, so it can't be replayed at its recorded time";
            let time = batch
                .last()
                .time
                .ok_or_else(|| AmmoError::at_line(line, missing))?;
            if self.times.len() == TIMES_MAX {
                let message =
                    format!("a replay at recorded times can have at most {TIMES_MAX} requests");
                return Err(AmmoError::at_line(line, message));
            }
            self.times.push(time);
        }
        batch.set_class(class);
        let made = self.make_message(batch);
        made.map_err(|message| AmmoError::at_line(line, message))?;
        self.rows += 1;
        Ok(())
    }

    /// Makes the payload of the last entry of a batch its message.
    fn make_message(&self, batch: &mut Batch) -> Result<(), String> {
        let Some(calls) = &self.options.calls else {
            return Ok(());
        };
        batch.remake_body(|entry, out| {
            let mut fields = entry.fields();
            fields.try_for_each(|(key, value)| calls.check_metadata(key, value))?;
            let payload = entry.body.map(std::str::from_utf8);
            let payload = payload.and_then(Result::ok).unwrap_or_default();
            let call = self.classes.call_of(entry).unwrap_or_default();
            calls.message(call, payload, out)
        })
    }

    /// How many requests one pass has; at least 1.
    #[must_use]
    pub const fn rows(&self) -> u64 {
        self.rows
    }

    /// The classes of requests.
    #[must_use]
    pub fn classes(&self) -> &[Class] {
        self.classes.list()
    }

    /// The parts of the file that are not used: keys and fields of entries, at most 20, and entries
    /// without a request.
    fn notes(&self) -> Vec<String> {
        let file = &self.options.file;
        let remarks = self.remarks.iter().map(|(remark, line)| match line {
            0 => format!("{file}: {}", remark.words()),
            line => format!("{file}:{line}: {}", remark.words()),
        });
        let left_out = match self.left_out {
            (0, _) => None,
            (count, 0) => Some(format!(
                "{file}: entries that are not HTTP requests are skipped ({count})"
            )),
            (count, line) => Some(format!(
                "{file}:{line}: entries without a request that can be sent are skipped ({count})"
            )),
        };
        remarks.chain(left_out).collect()
    }

    /// Whether the entries are in memory.
    #[must_use]
    pub const fn is_in_memory(&self) -> bool {
        matches!(self.entries, Entries::Memory(_))
    }

    /// When the requests were once sent, from the first on, at a speed: 2.0 is twice as fast.
    /// Empty unless the entries' own timing was asked for.
    #[must_use]
    pub fn times(&self, speed: f64) -> Vec<Nanos> {
        pacing::times(&self.times, speed)
    }
}

#[cfg(test)]
mod tests;
