//! Merges old intervals into coarser ones: unchanged for an hour, 10 s for a day, 60 s afterwards.
//!
//! The new log is written next to the old one and then replaces it, so that after a crash one of
//! them exists. Both have the same sums.

use crate::StoreError;
use crate::directory::{Directory, LOG};
use crate::frame::{self, Frame, Frames, MAGIC};
use crate::log::FrameKind;
use crate::own_files;
use drumfire_measure::form::{self, FormError};
use drumfire_measure::{Interval, Resolution, RunInfo};
use drumfire_units::Nanos;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Write};
use std::path::Path;

/// The time of the run between two compactions.
const EVERY: Nanos = Nanos::from_secs(3_600);

/// The time of the next compaction.
#[derive(Debug)]
pub(crate) struct Schedule {
    next: Nanos,
}

impl Default for Schedule {
    /// Intervals of the first hour are not merged, so the first compaction is due after two hours.
    fn default() -> Self {
        Self {
            next: EVERY + EVERY,
        }
    }
}

impl Schedule {
    /// Whether a compaction is due at this time of the run.
    pub(crate) fn is_due(&mut self, now: Nanos) -> bool {
        let is_due = now >= self.next;
        while now >= self.next {
            self.next += EVERY;
        }
        is_due
    }
}

/// Rewrites the log with coarser intervals for old ones. Incomplete frames at the end are omitted.
pub(crate) fn compact(directory: &Directory, log: &Path) -> Result<(), StoreError> {
    let last = last_part(log).map_err(StoreError::read(log))?;
    let mut write = |file: &mut File| {
        let mut out = BufWriter::new(file);
        rewrite(log, last, &mut out)?;
        out.flush()
    };
    directory.replace_by(LOG, &mut write)?;
    directory.sync()
}

fn frames(log: &Path) -> io::Result<Frames<BufReader<File>>> {
    let frames = Frames::open(BufReader::new(own_files::read(log)?))?;
    frames.ok_or_else(|| io::Error::other("it is not a log"))
}

/// The last part of a log.
#[derive(Clone, Copy, Debug, Default)]
struct LastPart {
    /// The number of the part, from 1.
    number: u64,
    /// The end of the part's last interval.
    latest: Nanos,
}

fn last_part(log: &Path) -> io::Result<LastPart> {
    let mut frames = frames(log)?;
    let mut last = LastPart::default();
    while let Some(frame) = frames.next()? {
        if frame.kind == FrameKind::Part as u8 {
            last = LastPart {
                number: last.number + 1,
                latest: Nanos::ZERO,
            };
        } else if frame.kind == FrameKind::Interval as u8 {
            let span = Interval::encoded_span(&frame.payload).map_err(wrong)?;
            last.latest = last.latest.max(span.end);
        }
    }
    Ok(last)
}

fn wrong(error: FormError) -> io::Error {
    io::Error::other(error)
}

/// Consecutive intervals of one cell.
struct Cell {
    begin: Nanos,
    /// The encoded interval, if there is only one.
    first: Vec<u8>,
    /// The merged intervals, if there are several.
    merged: Option<Interval>,
}

/// Copies a log, merging neighbouring intervals of the same cell in the last part. Earlier parts
/// stay as they were when they ended.
fn rewrite(log: &Path, last: LastPart, out: &mut dyn Write) -> io::Result<()> {
    let mut frames = frames(log)?;
    out.write_all(&MAGIC)?;
    let mut info: Option<RunInfo> = None;
    let mut part = 0;
    let mut cell: Option<Cell> = None;
    while let Some(frame) = frames.next()? {
        if frame.kind != FrameKind::Interval as u8 {
            write_cell(cell.take(), out)?;
        }
        if frame.kind == FrameKind::Part as u8 {
            info = Some(form::decode(&frame.payload).map_err(wrong)?);
            part += 1;
        }
        match &info {
            Some(info) if frame.kind == FrameKind::Interval as u8 && part == last.number => {
                cell = Some(add_interval(cell.take(), frame, info, last.latest, out)?);
            }
            _ => write_frame(&frame, out)?,
        }
    }
    write_cell(cell, out)
}

/// Adds an interval to its cell, or writes the old cell and begins a new one.
fn add_interval(
    cell: Option<Cell>,
    frame: Frame,
    info: &RunInfo,
    latest: Nanos,
    out: &mut dyn Write,
) -> io::Result<Cell> {
    let decode = |bytes: &[u8]| Interval::decode(bytes, &info.pools).map_err(wrong);
    let span = Interval::encoded_span(&frame.payload).map_err(wrong)?;
    let begin = Resolution::cell_by_age(info, span.start, latest);
    match cell {
        Some(mut cell) if cell.begin == begin => {
            let mut merged = match cell.merged.take() {
                Some(merged) => merged,
                None => decode(&cell.first)?,
            };
            merged.merge(&decode(&frame.payload)?);
            merged.sum_up();
            cell.merged = Some(merged);
            Ok(cell)
        }
        cell => {
            write_cell(cell, out)?;
            Ok(Cell {
                begin,
                first: frame.payload,
                merged: None,
            })
        }
    }
}

fn write_cell(cell: Option<Cell>, out: &mut dyn Write) -> io::Result<()> {
    let Some(cell) = cell else {
        return Ok(());
    };
    let payload = match cell.merged {
        Some(merged) => merged.encode(),
        None => cell.first,
    };
    let kind = FrameKind::Interval as u8;
    write_frame(&Frame { kind, payload }, out)
}

fn write_frame(frame: &Frame, out: &mut dyn Write) -> io::Result<()> {
    let bytes = frame::encode(frame.kind, &frame.payload);
    let bytes = bytes.ok_or_else(|| io::Error::from(io::ErrorKind::FileTooLarge))?;
    out.write_all(&bytes)
}
