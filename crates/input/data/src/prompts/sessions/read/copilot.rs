//! The sessions of GitHub Copilot's coding agent: `{"session_id": …, "turns": [{"llm_calls":
//! [{"timestamp": …, "duration_ms": …, "tokens": {"prompt": …, "completion": …}}, …]}, …]}`.
//!
//! The trace has no texts. Each call has its whole prompt, which is made of the first words of a text
//! of the session: a longer prompt begins with the shorter ones before it.

use super::{SessionReader, list, text, time, tokens};
use crate::prompts::sessions::recorded::{Content, Turn};
use crate::prompts::trace::date;
use drumfire_units::Nanos;
use serde_json::Value as Json;

/// Nanoseconds of a millisecond.
const MILLISECOND: f64 = 1e6;

/// A call of the model.
struct Call {
    at: Nanos,
    duration: Nanos,
    input: u64,
    output: u64,
}

pub(super) fn read(session: &Json, into: &mut SessionReader) -> Result<(), String> {
    into.trace.whole = true;
    let mut calls = Vec::new();
    for (n, turn) in list(session, "turns")?.iter().enumerate() {
        for (m, call) in list(turn, "llm_calls")?.iter().enumerate() {
            let read = read_call(call);
            let read = read.map_err(|why| format!("turn {}, call {}: {why}", n + 1, m + 1))?;
            match read {
                Some(call) => calls.push(call),
                None => into.leave_out("that failed or had no tokens"),
            }
        }
    }
    calls.sort_by_key(|call| call.at);
    let start = calls.first().map(|call| call.at);
    into.session.at = start;
    let mut end: Option<Nanos> = None;
    for call in calls {
        let since = end.map_or(0, |end| call.at.0.saturating_sub(end.0));
        end = Some(call.at + call.duration);
        into.turn(Turn {
            prompt: Content::Beginning(call.input),
            output: call.output,
            delay: Nanos(since),
            at: start.map(|start| call.at - start),
            answer: None,
        })?;
    }
    Ok(())
}

/// Reads a call; `None` if it failed or has no tokens.
fn read_call(call: &Json) -> Result<Option<Call>, String> {
    let numbers = &call["tokens"];
    let (input, output) = (tokens(numbers, "prompt")?, tokens(numbers, "completion")?);
    let at = text(call, "timestamp")?.and_then(date);
    let at = at.ok_or("`timestamp` is not a date such as 2026-06-01T12:00:00Z")?;
    let duration = time(call, "duration_ms", MILLISECOND)?;
    let is_ok = text(call, "result")?.is_none_or(|result| result == "Success");
    let (Some(input), Some(output)) = (input, output) else {
        return Ok(None);
    };
    let has_tokens = input > 0 && output > 0;
    Ok((is_ok && has_tokens).then_some(Call {
        at: Nanos(at),
        duration: duration.unwrap_or_default(),
        input,
        output,
    }))
}
