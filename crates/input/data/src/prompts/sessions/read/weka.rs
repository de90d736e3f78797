//! The sessions of kv-cache-tester: `{"id": …, "block_size": 64, "requests": [{"t": …, "in": …,
//! "out": …, "hash_ids": […]}, …]}`. Each request has its whole prompt.

use super::{SessionReader, list, text, time, tokens};
use crate::prompts::sessions::recorded::{Content, Turn};
use crate::prompts::trace::hash;
use drumfire_units::Nanos;
use serde_json::Value as Json;

/// Nanoseconds of a second.
const SECOND: f64 = 1e9;
/// The tokens of a block, if the session has no other number.
const BLOCK_DEFAULT: u64 = 64;

pub(super) fn read(session: &Json, into: &mut SessionReader) -> Result<(), String> {
    let block = tokens(session, "block_size")?
        .unwrap_or(BLOCK_DEFAULT)
        .max(1);
    if into.trace.block != block && !into.trace.sessions.is_empty() {
        let before = into.trace.block;
        return Err(format!(
            "`block_size` is {block}, and {before} in the sessions before; use one size in a file"
        ));
    }
    into.trace.block = block;
    into.trace.whole = true;
    let scope = match text(session, "hash_id_scope")? {
        Some("global") => None,
        Some("local") | None => {
            // Equal numbers of two sessions are different blocks.
            let id = text(session, "id")?.unwrap_or_default();
            let number = into.trace.sessions.len() as u64;
            Some(hash(id.as_bytes()) ^ hash(&number.to_le_bytes()))
        }
        Some(_) => return Err("`hash_id_scope` is neither `local` nor `global`".to_owned()),
    };
    let mut end = None;
    for (n, request) in list(session, "requests")?.iter().enumerate() {
        if text(request, "type")? == Some("subagent") {
            into.leave_out("of sub-agents");
            continue;
        }
        let read = read_request(request, scope, &mut end, into);
        read.map_err(|message| format!("request {}: {message}", n + 1))?;
    }
    Ok(())
}

/// Reads a request. `end` is the end of the request before, in the session's time.
fn read_request(
    request: &Json,
    scope: Option<u64>,
    end: &mut Option<Nanos>,
    into: &mut SessionReader,
) -> Result<(), String> {
    let required = |name: &str| {
        let number = tokens(request, name)?;
        number.ok_or_else(|| format!("`{name}` is missing"))
    };
    let (input, output) = (required("in")?, required("out")?);
    let at = time(request, "t", SECOND)?;
    let api = time(request, "api_time", SECOND)?;
    let think = time(request, "think_time", SECOND)?;
    let since = at.zip(*end);
    let since = since.map(|(at, end)| Nanos(at.0.saturating_sub(end.0)));
    *end = at.map(|at| at + api.unwrap_or_default());
    if input == 0 {
        into.leave_out("without a prompt");
        return Ok(());
    }
    let ids = list(request, "hash_ids")?;
    let numbered = |id: &Json| {
        let number = id.as_u64();
        number.map(|number| scope.map_or(number, |scope| scope.wrapping_add(number)))
    };
    let ids: Option<Vec<u64>> = ids.iter().map(numbered).collect();
    let ids = ids.ok_or("`hash_ids` is not a list of numbers")?;
    let (block, count) = (into.trace.block, ids.len());
    let needed = input.div_ceil(block);
    if count as u64 != needed {
        return Err(format!(
            "`hash_ids` has {count} blocks of {block} tokens, but {input} tokens need {needed}"
        ));
    }
    let is_first = into.turns() == 0;
    let turn = Turn {
        prompt: Content::Blocks(into.blocks(&ids), input),
        output,
        delay: match is_first {
            true => Nanos::ZERO,
            false => think.or(since).unwrap_or_default(),
        },
        at,
        answer: None,
    };
    into.turn(turn)
}
