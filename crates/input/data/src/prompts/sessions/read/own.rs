//! drumfire's own sessions: `{"system": …, "at": …, "turns": [{"user": …, "delay": …}, …]}`.

use super::{SessionReader, check_members, list, text, time, tokens, tokens_of};
use crate::prompts::sessions::recorded::{Content, Turn};
use serde_json::Value as Json;

/// Nanoseconds of a second.
const SECOND: f64 = 1e9;
/// The limit of an answer of which nothing is known.
const OUTPUT_DEFAULT: u64 = 128;

pub(super) fn read(session: &Json, into: &mut SessionReader) -> Result<(), String> {
    check_members(session, &["id", "system", "at", "turns"], "a session")?;
    into.session.at = time(session, "at", SECOND)?;
    if let Some(system) = text(session, "system")? {
        into.session.system = Some(into.text(system));
    }
    for (n, turn) in list(session, "turns")?.iter().enumerate() {
        let read = read_turn(turn, into);
        read.map_err(|message| format!("turn {}: {message}", n + 1))?;
    }
    Ok(())
}

fn read_turn(turn: &Json, into: &mut SessionReader) -> Result<(), String> {
    let known = ["user", "assistant", "input_length", "max_tokens", "delay"];
    check_members(turn, &known, "a turn")?;
    let prompt = match (text(turn, "user")?, tokens(turn, "input_length")?) {
        (Some(_), Some(_)) => return Err("use only one of `user` and `input_length`".to_owned()),
        (Some(user), None) => Content::Text(into.text(user)),
        (None, Some(words)) => Content::Words(words.max(1)),
        (None, None) => return Err("the turn has neither `user` nor `input_length`".to_owned()),
    };
    let answer = text(turn, "assistant")?;
    let output = tokens(turn, "max_tokens")?.or_else(|| answer.map(tokens_of));
    let turn = Turn {
        prompt,
        output: output.unwrap_or(OUTPUT_DEFAULT),
        delay: time(turn, "delay", SECOND)?.unwrap_or_default(),
        at: None,
        answer: answer.map(|answer| into.text(answer)),
    };
    into.turn(turn)
}
