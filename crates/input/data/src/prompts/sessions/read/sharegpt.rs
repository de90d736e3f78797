//! ShareGPT's conversations, with all of their turns.

use super::{SessionReader, list, tokens_of};
use crate::prompts::sessions::recorded::{Content, Turn};
use drumfire_units::Nanos;
use serde_json::Value as Json;

pub(super) fn read(conversation: &Json, into: &mut SessionReader) -> Result<(), String> {
    let wrong = || "`conversations` is not a list of turns with `from` and `value`".to_owned();
    let said = |turn: &Json| {
        let text = |name: &str| turn[name].as_str().map(str::to_owned);
        text("from").zip(text("value")).ok_or_else(wrong)
    };
    let turns = list(conversation, "conversations")?;
    let turns: Vec<(String, String)> = turns.iter().map(said).collect::<Result<_, _>>()?;
    let is_person = |from: &str| ["human", "user"].contains(&from);
    let is_model = |from: &str| ["gpt", "assistant", "chatgpt", "bing", "bard"].contains(&from);
    let system = turns.first().filter(|(from, _)| from == "system");
    if let Some((_, text)) = system {
        into.session.system = Some(into.text(text));
    }
    let from = turns.iter().position(|(from, _)| is_person(from));
    let mut rest = turns.get(from.unwrap_or(turns.len())..).unwrap_or_default();
    // A turn without an answer, and what follows it, has no recorded length.
    while let [(who, prompt), (model, answer), later @ ..] = rest
        && is_person(who)
        && is_model(model)
        && !prompt.is_empty()
    {
        let turn = Turn {
            prompt: Content::Text(into.text(prompt)),
            output: tokens_of(answer),
            delay: Nanos::ZERO,
            at: None,
            answer: Some(into.text(answer)),
        };
        into.turn(turn)?;
        rest = later;
    }
    Ok(())
}
