//! The text of an answer as a whole, kept for a plan that uses it.

use crate::json;
use crate::links::{Link, Links};
use crate::pieces::{Channel, Pieces};
use drumfire_plan::{AnswerText, LlmApi, ToolCall};
use serde::de::MapAccess;
use serde_json::Value as Json;

/// The maximum number of calls of tools that are kept of an answer.
const CALLS_MAX: usize = 128;

/// The text of an answer, up to a limit.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    pub(crate) text: AnswerText,
    /// The numbers of the calls, in the order of `text.calls`.
    numbers: Vec<u64>,
    /// The bytes that may still be kept; `None` after an answer that was longer.
    room: Option<usize>,
}

impl Kept {
    /// Begins an answer of this interface, of which at most `max` bytes are kept.
    pub(crate) fn begin(&mut self, api: LlmApi, max: usize) {
        let text = &mut self.text;
        text.api = api;
        for part in [&mut text.text, &mut text.reasoning, &mut text.signature] {
            part.clear();
        }
        text.calls.clear();
        self.numbers.clear();
        self.room = Some(max);
    }

    /// Whether the answer is longer than its limit.
    pub(crate) const fn is_too_long(&self) -> bool {
        self.room.is_none()
    }

    /// Keeps the texts of an event.
    pub(crate) fn add(&mut self, pieces: &Pieces) {
        for (channel, text) in pieces.iter() {
            let fits = self.reserve(text.len());
            let kept = match channel {
                Channel::Text | Channel::Refusal => &mut self.text.text,
                Channel::Reasoning => &mut self.text.reasoning,
                Channel::Tool => continue,
            };
            if fits {
                kept.push_str(text);
            }
        }
    }

    /// Keeps the parts of calls, and the signature.
    pub(crate) fn add_links(&mut self, links: &Links) {
        for (number, link, text) in links.iter() {
            if !self.reserve(text.len()) {
                return;
            }
            if link == Link::Signature {
                self.text.signature.push_str(text);
                continue;
            }
            let Some(call) = self.call(number) else {
                return;
            };
            let call = &mut self.text.calls[call];
            let part = match link {
                Link::Id => &mut call.id,
                Link::Name => &mut call.name,
                Link::Arguments | Link::Signature => &mut call.arguments,
            };
            part.push_str(text);
        }
    }

    /// Keeps the calls of an answer that came as a whole.
    pub(crate) fn add_whole(&mut self, body: &[u8]) {
        let Ok(body) = serde_json::from_slice::<Json>(body) else {
            return;
        };
        let mut links = Links::default();
        let items = match self.text.api {
            LlmApi::Messages => &body["content"],
            LlmApi::Responses => &body["output"],
            _ => &body["choices"][0]["message"]["tool_calls"],
        };
        for item in items.as_array().into_iter().flatten() {
            if let Some(signature) = item["signature"].as_str() {
                links.push(Link::Signature, signature);
            }
            let function = match &item["function"] {
                Json::Null => item,
                function => function,
            };
            let id = item["call_id"].as_str().or_else(|| item["id"].as_str());
            let (Some(id), Some(name)) = (id, function["name"].as_str()) else {
                continue;
            };
            let arguments = match (&function["arguments"], &function["input"]) {
                (Json::String(text), _) => text.clone(),
                (_, input) => input.to_string(),
            };
            links.begin();
            links.push(Link::Id, id);
            links.push(Link::Name, name);
            links.push(Link::Arguments, &arguments);
        }
        self.add_links(&links);
    }

    /// Ends the answer. Arguments that are not an object of JSON become `{}`, because services
    /// refuse others in the next request.
    pub(crate) fn finish(&mut self) {
        for call in &mut self.text.calls {
            let is_object = call.arguments.trim_start().starts_with('{');
            if !is_object || json::read(call.arguments.as_bytes(), &mut Anything).is_err() {
                "{}".clone_into(&mut call.arguments);
            }
        }
    }

    /// Takes bytes of the room. Returns whether there were as many.
    fn reserve(&mut self, bytes: usize) -> bool {
        self.room = self.room.and_then(|room| room.checked_sub(bytes));
        self.room.is_some()
    }

    /// The place of the call with this number, which is added if it is new. `None` if there are too
    /// many calls, and the answer then counts as too long.
    fn call(&mut self, number: u64) -> Option<usize> {
        let known = self.numbers.iter().position(|known| *known == number);
        if known.is_none() && self.numbers.len() == CALLS_MAX {
            self.room = None;
            return None;
        }
        known.or_else(|| {
            self.numbers.push(number);
            self.text.calls.push(ToolCall::default());
            Some(self.numbers.len() - 1)
        })
    }
}

/// Reads a text only to see that it is JSON.
struct Anything;

impl json::Reader for Anything {
    fn field<'de, A: MapAccess<'de>>(&mut self, _: &str, map: &mut A) -> Result<(), A::Error> {
        json::skip(map)
    }
}
