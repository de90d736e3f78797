//! The stream of a run's events as bytes, for another process or another machine.
//!
//! Each event is one byte string, which the caller frames. [`encode_event`] writes it, and one
//! [`EventReader`] reads the events of one run, in the order in which they were published. The
//! first is [`RunEvent::Started`]; later intervals can be read only with its pools. After
//! [`RunEvent::Finished`] the reader accepts nothing.
//!
//! An event is the version, the number of its kind and its value, in the same form as in a run's
//! log and on the control socket.
//!
//! A summary is large, and nearly all of it follows from earlier events. Therefore the end of a run
//! is sent as its [`Ending`], and the reader keeps a [`Reading`] of the events, from which it
//! rebuilds the summary. Its memory is bounded like any reading's; a stream with merged intervals
//! gives the same sums in coarser rows.

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

/// The bytes of one event, without loss. Intervals must be summed up, as published ones are.
///
/// Of [`RunEvent::Finished`] only the ending is written, without the maximum number of connections
/// of the process, because no summary depends on it.
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

/// The position in the stream, by which events that cannot come next are refused.
#[derive(Debug, Default)]
enum Phase {
    /// No event has been read.
    #[default]
    Unstarted,
    /// The accumulated events since the start.
    Running(Box<Reading>),
    /// The last event was read.
    Finished,
}

impl EventReader {
    /// A reader before the first event of a run.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads the next event from the bytes of [`encode_event`]. An error leaves the reader
    /// unchanged.
    ///
    /// # Errors
    /// If the bytes are not an event, have a later version, or contain an event that cannot come
    /// next.
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

    /// The last event: the summary of all earlier events, with this ending. Consumes the reading,
    /// so that nothing can be read afterwards.
    fn finish(&mut self, ending: Ending) -> Result<RunEvent, FormError> {
        match std::mem::replace(&mut self.phase, Phase::Finished) {
            Phase::Running(reading) => Ok(RunEvent::Finished(Arc::new(reading.restore(ending)))),
            Phase::Unstarted | Phase::Finished => Err(FormError::Malformed("an end without a run")),
        }
    }
}

/// Decodes an event between the first and the last, of a run with these facts, from the bytes of
/// [`encode_event`]. For readers that accumulate the events themselves.
///
/// # Errors
/// If the bytes are not such an event, or have a later version.
pub fn decode_event(bytes: &[u8], info: &RunInfo) -> Result<RunEvent, FormError> {
    let mut input = Input::new(bytes);
    input.version(VERSION)?;
    let kind = input.number()?;
    middle(kind, input, info)
}

/// The bytes for [`Interval::decode`], if the bytes of [`encode_event`] are a closed interval's
/// event. For readers that keep the memory of intervals.
///
/// # Errors
/// If the bytes are not an event, or have a later version.
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
