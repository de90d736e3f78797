//! The forms of answers: what an interface sends for tokens, at the beginning and at the end.

mod chat;
mod completions;
mod messages;
mod responses;

use super::api::Api;
use super::behaviour::{DoneMark, LlmBehaviour, ReasoningField, UsagePlace};
use super::events::EventWriter;
use super::request::LlmRequest;
use serde_json::{Value, json};

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Channel {
    Reasoning,
    Text,
    /// The arguments of a tool.
    Tool,
}

/// The reason why an answer ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Finish {
    Stop,
    Length,
    Tool,
}

impl Finish {
    /// The reason as OpenAI's interfaces write it.
    pub(crate) fn reason(self) -> &'static str {
        match self {
            Self::Stop => "stop",
            Self::Length => "length",
            Self::Tool => "tool_calls",
        }
    }
}

/// The tokens of a request, and of its answer so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TokenCounts {
    pub(crate) prompt: u32,
    /// The tokens of the prompt that were cached.
    pub(crate) cached: u32,
    pub(crate) output: u32,
    /// The tokens of the output that are reasoning.
    pub(crate) reasoning: u32,
}

impl TokenCounts {
    /// The usage of chat and completions.
    fn to_json(self) -> Value {
        json!({
            "prompt_tokens": self.prompt,
            "completion_tokens": self.output,
            "total_tokens": self.prompt + self.output,
            "prompt_tokens_details": { "cached_tokens": self.cached },
            "completion_tokens_details": { "reasoning_tokens": self.reasoning },
        })
    }
}

/// Some tokens of one channel, which are sent as one event.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece<'a> {
    pub(crate) channel: Channel,
    pub(crate) text: &'a str,
    /// Whether these are the first tokens of the channel.
    pub(crate) is_first: bool,
    /// Whether these are the last tokens of the channel.
    pub(crate) is_last: bool,
    /// The counts up to these tokens.
    pub(crate) counts: TokenCounts,
}

/// A whole answer.
#[derive(Debug, Default)]
pub(crate) struct WholeAnswer {
    pub(crate) reasoning: String,
    pub(crate) text: String,
    /// The arguments of a tool.
    pub(crate) arguments: Option<String>,
}

/// The form of one answer. A stream is `open`, `piece` for each event, then `close`; or `error`
/// instead of the rest.
pub(crate) trait Form {
    /// The events before the first token.
    fn open(&mut self, counts: TokenCounts, out: &mut EventWriter);

    /// The events of some tokens.
    fn piece(&mut self, piece: &Piece<'_>, out: &mut EventWriter);

    /// The events after the last token.
    fn close(&mut self, finish: Finish, counts: TokenCounts, out: &mut EventWriter);

    /// An error within a stream.
    fn error(&mut self, out: &mut EventWriter);

    /// Half of a JSON object.
    fn broken(&mut self, out: &mut EventWriter);

    /// The answer without a stream.
    fn whole(&self, answer: &WholeAnswer, finish: Finish, counts: TokenCounts) -> Value;
}

/// The form of an answer to this request.
pub(crate) fn form(api: Api, setting: FormSetting) -> Box<dyn Form> {
    match api {
        Api::Completions => Box::new(completions::Completions::new(setting)),
        Api::Responses => Box::new(responses::Responses::new(setting)),
        Api::Messages => Box::new(messages::Messages::new(setting)),
        Api::Chat | Api::Embeddings | Api::Rerank => Box::new(chat::Chat::new(setting)),
    }
}

/// The parts of an answer that do not change in its course.
#[derive(Debug)]
pub(crate) struct FormSetting {
    /// The number of the request in this server.
    pub(crate) number: u64,
    /// The time in seconds since 1970.
    pub(crate) created: u64,
    pub(crate) model: String,
    pub(crate) tool: String,
    pub(crate) usage: UsagePlace,
    pub(crate) done: DoneMark,
    pub(crate) field: ReasoningField,
}

impl FormSetting {
    /// The setting of a request, by what it asks for and by the server's behaviour.
    pub(crate) fn new(
        api: Api,
        request: &LlmRequest,
        tool: String,
        behaviour: &LlmBehaviour,
    ) -> Self {
        let done = match api {
            Api::Chat | Api::Completions => DoneMark::Yes,
            _ => DoneMark::No,
        };
        Self {
            number: 0,
            created: 0,
            model: request.model.clone(),
            tool,
            usage: behaviour.usage.unwrap_or(match api {
                Api::Chat | Api::Completions => request.usage,
                // These interfaces always send it.
                _ => UsagePlace::Last,
            }),
            done: behaviour.done.unwrap_or(done),
            field: behaviour.reasoning_field,
        }
    }

    /// The id of the answer.
    fn id(&self, prefix: &str) -> String {
        format!("{prefix}{:08x}", self.number)
    }
}

/// A text as a JSON string.
fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// The text of an error within a stream.
const OVERLOADED: &str = "the server is overloaded";

/// The beginning and the end of a tool's arguments, within a JSON string.
const ARGUMENTS: [&str; 2] = ["{\\\"text\\\":\\\"", "\\\"}"];

/// What surrounds the text of a piece within a JSON string.
fn around(piece: &Piece<'_>) -> [&'static str; 2] {
    let is_tool = piece.channel == Channel::Tool;
    [
        if is_tool && piece.is_first {
            ARGUMENTS[0]
        } else {
            ""
        },
        if is_tool && piece.is_last {
            ARGUMENTS[1]
        } else {
            ""
        },
    ]
}

/// The arguments of a tool with this text.
pub(crate) fn arguments(text: &str) -> String {
    json!({ "text": text }).to_string()
}
