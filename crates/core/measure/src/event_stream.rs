//! The stream of a run's events as bytes, for another process or another machine.
//!
//! Each event is one byte string, which the caller frames. An event is the version, the number of
//! its kind and its value, in the same form as in a run's log and on the control socket.
//!
//! The stream has the events between the first and the last. The facts of a run, which are the
//! content of [`RunEvent::Started`], come before them, because intervals can be read only with its
//! pools. The summary of [`RunEvent::Finished`] is large, and nearly all of it follows from earlier
//! events: its [`crate::Ending`] comes after them, and [`crate::Reading::restore`] rebuilds the
//! summary.

use crate::form::{self, Form, FormError, Input, VERSION, push_number};
use crate::sample::form::KeptForm;
use crate::{Interval, RunEvent, RunInfo};
use std::sync::Arc;

/// The kinds of events by their numbers. 0 and 6 are the first and the last event of a run, which
/// the stream does not have.
const INTERVAL: u64 = 1;
const KEPT: u64 = 2;
const TRANSCRIPTS: u64 = 3;
const CHANGED: u64 = 4;
const STOPPING: u64 = 5;
const FAILED: u64 = 7;

/// The bytes of one event, without loss; `None` of the first and of the last event of a run, which
/// are sent as facts and ending. Intervals must be summed up, as published ones are.
#[must_use]
pub fn encode_event(event: &RunEvent) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    push_number(&mut out, VERSION);
    match event {
        RunEvent::Started(_) | RunEvent::Finished(_) => return None,
        RunEvent::IntervalClosed(interval) => {
            push_number(&mut out, INTERVAL);
            out.extend_from_slice(&interval.encode());
        }
        RunEvent::Kept(kept) => {
            push_number(&mut out, KEPT);
            KeptForm::write(kept, &mut out);
        }
        RunEvent::Transcripts(transcripts) => put_kind(TRANSCRIPTS, transcripts, &mut out),
        RunEvent::Failed(body) => put_kind(FAILED, body, &mut out),
        RunEvent::Changed(command) => put_kind(CHANGED, command, &mut out),
        RunEvent::Stopping { reason } => put_kind(STOPPING, reason, &mut out),
    }
    Some(out)
}

/// Appends a kind and the value of the event.
fn put_kind<T: Form>(kind: u64, value: &T, out: &mut Vec<u8>) {
    push_number(out, kind);
    form::write(value, out);
}

/// Decodes an event between the first and the last, of a run with these facts, from the bytes of
/// [`encode_event`].
///
/// # Errors
/// If the bytes are not such an event, or have a later version.
pub fn decode_event(bytes: &[u8], info: &RunInfo) -> Result<RunEvent, FormError> {
    let mut input = Input::new(bytes);
    input.version(VERSION)?;
    let kind = input.number()?;
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
        _ => return Err(FormError::Malformed("an event of an unknown kind")),
    };
    input.finish()?;
    Ok(event)
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
