//! The stream of a run's events as bytes, for another process or another machine.
//!
//! Each event is one byte string, which the caller frames: [`encode_event`] makes it, and one
//! [`EventReader`] reads the events of one run, in the order in which they were published. The
//! first is [`RunEvent::Started`]; the intervals after it can be read only with its pools. After
//! [`RunEvent::Finished`] the reader accepts nothing.
//!
//! An event is the version, the number of its kind and its value in the form that the value has in
//! the log of a run and on the control socket.
//!
//! A summary is large, and nearly all of it follows from events that were sent before. Therefore
//! the end of a run travels as its [`Ending`], and the reader keeps a [`Reading`] of the events from
//! which it makes the same summary again. Its memory is bounded as that of any reading; a stream
//! whose intervals were merged on the way gives the same sums in coarser rows.

use crate::form::{self, Form, FormError, Input, VERSION, put};
use crate::sample::form::KeptForm;
use crate::{Ending, Interval, Reading, RunEvent, RunInfo};
use std::sync::Arc;

/// The kinds of events by their numbers.
const STARTED: u64 = 0;
const INTERVAL: u64 = 1;
const KEPT: u64 = 2;
const TRANSCRIPTS: u64 = 3;
const CHANGED: u64 = 4;
const STOPPING: u64 = 5;
const FINISHED: u64 = 6;
const FAILED: u64 = 7;

/// The bytes of one event: lossless. An interval must be summed up, as published ones are.
///
/// Of [`RunEvent::Finished`] only the ending is written, without the number of connections that the
/// process could have, which no summary depends on.
#[must_use]
pub fn encode_event(event: &RunEvent) -> Vec<u8> {
    let mut out = Vec::new();
    put(&mut out, VERSION);
    match event {
        RunEvent::Started(info) => put_kind(STARTED, info, &mut out),
        RunEvent::IntervalClosed(interval) => {
            put(&mut out, INTERVAL);
            out.extend_from_slice(&interval.encode());
        }
        RunEvent::Kept(kept) => {
            put(&mut out, KEPT);
            KeptForm::write(kept, &mut out);
        }
        RunEvent::Transcripts(transcripts) => put_kind(TRANSCRIPTS, transcripts, &mut out),
        RunEvent::Failed(body) => put_kind(FAILED, body, &mut out),
        RunEvent::Changed(command) => put_kind(CHANGED, command, &mut out),
        RunEvent::Stopping { reason } => put_kind(STOPPING, reason, &mut out),
        RunEvent::Finished(summary) => put_kind(FINISHED, &summary.ending(None), &mut out),
    }
    out
}

/// Appends a kind and the value of the event.
fn put_kind<T: Form>(kind: u64, value: &T, out: &mut Vec<u8>) {
    put(out, kind);
    form::write(value, out);
}

/// The reader of one run's events.
#[derive(Debug, Default)]
pub struct EventReader {
    phase: Phase,
}

/// The place in the stream, by which events that can't come next are refused.
#[derive(Debug, Default)]
enum Phase {
    /// The reader has read no event.
    #[default]
    Unstarted,
    /// The events since the start, as far as they were read.
    Running(Box<Reading>),
    /// The last event was read.
    Finished,
}

impl EventReader {
    /// A reader of a run none of whose events was read.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The next event, of the bytes that [`encode_event`] made of it. An error leaves the reader as
    /// it was.
    ///
    /// # Errors
    /// When the bytes are not an event, of a later version, or of an event that can't come next.
    pub fn read(&mut self, bytes: &[u8]) -> Result<RunEvent, FormError> {
        let mut input = Input::new(bytes);
        input.version(VERSION)?;
        let kind = input.number()?;
        match &mut self.phase {
            Phase::Unstarted if kind == STARTED => {
                let info: Arc<RunInfo> = form::read(&mut input)?;
                input.end()?;
                let reading = Reading::new(Arc::clone(&info), &info.thresholds);
                self.phase = Phase::Running(Box::new(reading));
                Ok(RunEvent::Started(info))
            }
            Phase::Unstarted => Err(FormError::Malformed("an event before the run's start")),
            Phase::Running(_) if kind == FINISHED => {
                let ending = form::read(&mut input)?;
                input.end()?;
                self.finish(ending)
            }
            Phase::Running(reading) => {
                let event = middle(kind, input, &reading.so_far().info)?;
                reading.observe(&event);
                Ok(event)
            }
            Phase::Finished => Err(FormError::Malformed("an event after the run's end")),
        }
    }

    /// The last event: the summary of all that was read, with this ending. The reading is consumed,
    /// so that nothing can be read behind it.
    fn finish(&mut self, ending: Ending) -> Result<RunEvent, FormError> {
        match std::mem::replace(&mut self.phase, Phase::Finished) {
            Phase::Running(reading) => Ok(RunEvent::Finished(Arc::new(reading.restore(ending)))),
            Phase::Unstarted | Phase::Finished => Err(FormError::Malformed("an end without a run")),
        }
    }
}

/// An event between the first and the last, of a run with these facts, of the bytes that
/// [`encode_event`] made of it: for a reader that accumulates the events itself.
///
/// # Errors
/// When the bytes are not such an event, or of a later version.
pub fn decode_event(bytes: &[u8], info: &RunInfo) -> Result<RunEvent, FormError> {
    let mut input = Input::new(bytes);
    input.version(VERSION)?;
    let kind = input.number()?;
    middle(kind, input, info)
}

/// The bytes of the interval, for [`Interval::decode`], where an event of [`encode_event`] is that of
/// a closed one: for a reader that keeps the memory of intervals.
///
/// # Errors
/// When the bytes are no event, or of a later version.
pub fn interval_of_event(bytes: &[u8]) -> Result<Option<&[u8]>, FormError> {
    let mut input = Input::new(bytes);
    input.version(VERSION)?;
    Ok((input.number()? == INTERVAL).then(|| input.rest()))
}

/// An event between the first and the last.
fn middle(kind: u64, mut input: Input<'_>, info: &RunInfo) -> Result<RunEvent, FormError> {
    let event = match kind {
        INTERVAL => {
            let interval = Interval::decode(input.rest(), &info.pools)?;
            return Ok(RunEvent::IntervalClosed(Arc::new(interval)));
        }
        CHANGED => RunEvent::Changed(form::read(&mut input)?),
        KEPT => RunEvent::Kept(Arc::new(KeptForm::read(&mut input)?)),
        TRANSCRIPTS => RunEvent::Transcripts(form::read(&mut input)?),
        FAILED => RunEvent::Failed(form::read(&mut input)?),
        STOPPING => RunEvent::Stopping {
            reason: form::read(&mut input)?,
        },
        STARTED => return Err(FormError::Malformed("a run that starts twice")),
        _ => return Err(FormError::Malformed("an event of an unknown kind")),
    };
    input.end()?;
    Ok(event)
}
