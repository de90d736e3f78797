//! The parts of an answer: what one JSON text of an interface contains.

use crate::error_kind::{Problem, Word};
use crate::json::{Reader, skip, value};
use crate::pieces::{Channel, Piece, Pieces};
use crate::usage::Report;
use drumfire_plan::{Finish, LlmApi};
use serde::de::MapAccess;

/// The name of an event in the interfaces that have names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Name {
    /// The event has no known name.
    #[default]
    Unknown,
    /// A text of this channel.
    Delta(Channel),
    /// The end of the stream.
    Terminal,
    /// The end of the stream: the answer has failed.
    Failed,
    /// An error.
    Error,
    /// Any other known event.
    Known,
}

impl Name {
    /// The event with this name.
    pub(crate) fn of(name: &str) -> Self {
        match name {
            "response.output_text.delta" => Self::Delta(Channel::Text),
            "response.reasoning_text.delta" | "response.reasoning_summary_text.delta" => {
                Self::Delta(Channel::Reasoning)
            }
            "response.function_call_arguments.delta"
            | "response.custom_tool_call_input.delta"
            | "response.mcp_call_arguments.delta" => Self::Delta(Channel::Tool),
            "response.refusal.delta" => Self::Delta(Channel::Refusal),
            "response.completed" | "response.incomplete" | "message_stop" => Self::Terminal,
            "response.failed" => Self::Failed,
            "error" => Self::Error,
            "message_start"
            | "content_block_start"
            | "content_block_delta"
            | "content_block_stop"
            | "message_delta"
            | "ping" => Self::Known,
            name if name.starts_with("response.") => Self::Known,
            _ => Self::Unknown,
        }
    }
}

/// What a text contains, besides the generated texts and the error.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) name: Name,
    /// Whether any part is known.
    pub(crate) known: bool,
    /// Whether an error is there.
    pub(crate) error: bool,
    pub(crate) finish: Option<Finish>,
    pub(crate) report: Report,
    /// The number of items of a result: embeddings or ranks.
    pub(crate) items: u64,
}

/// The reader of a JSON text: an event, or a whole answer.
pub(crate) struct Part<'a> {
    pub(crate) api: LlmApi,
    /// Whether the text is a whole answer, which contains all of the generated text.
    pub(crate) whole: bool,
    pub(crate) pieces: &'a mut Pieces,
    pub(crate) problem: &'a mut Problem,
    pub(crate) found: &'a mut Found,
}

/// The reason that a service gives for the end of an answer.
fn finish_of(reason: &str) -> Finish {
    match reason {
        "stop" | "end_turn" | "stop_sequence" | "eos" | "completed" | "complete" => Finish::Stop,
        "length" | "max_tokens" | "max_output_tokens" | "model_length" => Finish::Length,
        "tool_calls" | "tool_use" | "function_call" => Finish::ToolCalls,
        "content_filter" | "safety" => Finish::ContentFilter,
        "refusal" => Finish::Refusal,
        _ => Finish::Other,
    }
}

impl Reader for Part<'_> {
    fn field<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        match key {
            "usage" => return value(map, &mut self.found.report),
            "error" => return self.error(map),
            _ => {}
        }
        match self.api {
            LlmApi::Chat | LlmApi::Completions => self.chat(key, map),
            LlmApi::Responses => self.responses(key, map),
            LlmApi::Messages => self.messages(key, map),
            LlmApi::Embeddings | LlmApi::Rerank => self.results(key, map),
        }
    }
}

impl Part<'_> {
    fn error<'de, A: MapAccess<'de>>(&mut self, map: &mut A) -> Result<(), A::Error> {
        self.problem.begin();
        value(map, self.problem)?;
        self.found.error |= self.problem.any();
        Ok(())
    }

    /// A field that is part of an error without an object of its own.
    fn error_field<'de, A: MapAccess<'de>>(
        &mut self,
        key: &str,
        map: &mut A,
    ) -> Result<(), A::Error> {
        match key {
            "message" => value(map, self.problem),
            _ => value(map, &mut Word(self.problem)),
        }
    }

    fn chat<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        match key {
            "choices" => {
                self.found.known = true;
                value(map, &mut Choice(self))
            }
            // Earlier versions of vLLM send `{"object": "error", "message": …}`.
            "object" => value(map, &mut Object(self.found)),
            "message" | "type" | "code" => self.error_field(key, map),
            _ => skip(map),
        }
    }

    fn responses<'de, A: MapAccess<'de>>(
        &mut self,
        key: &str,
        map: &mut A,
    ) -> Result<(), A::Error> {
        match key {
            "type" => value(map, &mut NameText(self.found)),
            "delta" => {
                // The type, which may follow, determines the channel.
                let (pieces, channel) = (&mut *self.pieces, Channel::Text);
                value(map, &mut Piece { pieces, channel })
            }
            "code" | "message" => self.error_field(key, map),
            "response" => value(map, &mut Response(self)),
            _ if self.whole => Response(self).field(key, map),
            _ => skip(map),
        }
    }

    fn messages<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        match key {
            "type" => value(map, &mut NameText(self.found)),
            "message" | "delta" | "content_block" => value(map, &mut Block(self)),
            "content" | "stop_reason" if self.whole => Block(self).field(key, map),
            _ => skip(map),
        }
    }

    fn results<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        match key {
            "data" | "results" => {
                self.found.known = true;
                value(map, &mut Items(&mut self.found.items))
            }
            // Cohere has the usage in `meta.tokens`.
            "meta" => value(map, &mut Meta(&mut self.found.report)),
            _ => skip(map),
        }
    }

    fn piece<'de, A: MapAccess<'de>>(
        &mut self,
        channel: Channel,
        map: &mut A,
    ) -> Result<(), A::Error> {
        let pieces = &mut *self.pieces;
        value(map, &mut Piece { pieces, channel })
    }

    fn finish<'de, A: MapAccess<'de>>(&mut self, map: &mut A) -> Result<(), A::Error> {
        value(map, &mut FinishText(&mut self.found.finish))
    }
}

/// The `object` of a chunk.
struct Object<'a>(&'a mut Found);

impl Reader for Object<'_> {
    fn text(&mut self, text: &str) {
        self.0.error |= text == "error";
    }
}

struct NameText<'a>(&'a mut Found);

impl Reader for NameText<'_> {
    fn text(&mut self, text: &str) {
        self.0.name = Name::of(text);
        // The type of a whole answer of Anthropic's interface.
        self.0.known |= text == "message";
    }
}

/// Reads the reason of the end.
struct FinishText<'a>(&'a mut Option<Finish>);

impl Reader for FinishText<'_> {
    fn text(&mut self, text: &str) {
        *self.0 = Some(finish_of(text));
    }
}

/// A choice of a chat or a completion.
struct Choice<'a, 'p>(&'a mut Part<'p>);

impl Reader for Choice<'_, '_> {
    fn field<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        match key {
            "delta" | "message" => {
                let has_reasoning = false;
                let part = &mut *self.0;
                value(
                    map,
                    &mut Delta {
                        part,
                        has_reasoning,
                    },
                )
            }
            "text" => self.0.piece(Channel::Text, map),
            "finish_reason" => self.0.finish(map),
            "error" => self.0.error(map),
            _ => skip(map),
        }
    }
}

/// The generated part of a choice.
struct Delta<'a, 'p> {
    part: &'a mut Part<'p>,
    /// Whether reasoning was found: some servers send it under two names.
    has_reasoning: bool,
}

impl Reader for Delta<'_, '_> {
    fn field<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        match key {
            "content" => self.part.piece(Channel::Text, map),
            "reasoning_content" | "reasoning" if !self.has_reasoning => {
                let before = self.part.pieces.len();
                self.part.piece(Channel::Reasoning, map)?;
                self.has_reasoning = self.part.pieces.len() > before;
                Ok(())
            }
            "refusal" => self.part.piece(Channel::Refusal, map),
            "tool_calls" | "function_call" => value(map, &mut Tool(self.part.pieces)),
            _ => skip(map),
        }
    }
}

/// The calls of tools.
struct Tool<'a>(&'a mut Pieces);

impl Reader for Tool<'_> {
    fn field<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        match key {
            "function" | "custom" => value(map, self),
            "name" | "arguments" | "input" => {
                let (pieces, channel) = (&mut *self.0, Channel::Tool);
                value(map, &mut Piece { pieces, channel })
            }
            _ => skip(map),
        }
    }
}

/// The response of OpenAI's interface of that name: in an event, or the whole answer.
struct Response<'a, 'p>(&'a mut Part<'p>);

impl Reader for Response<'_, '_> {
    fn field<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        self.0.found.known = true;
        match key {
            "usage" => value(map, &mut self.0.found.report),
            "error" => self.0.error(map),
            "incomplete_details" => value(map, &mut Details(&mut self.0.found.finish)),
            // The last event of a stream repeats the whole answer.
            "output" if self.0.whole => value(
                map,
                &mut Output {
                    pieces: self.0.pieces,
                    channel: Channel::Text,
                },
            ),
            _ => skip(map),
        }
    }
}

/// Why a response is incomplete.
struct Details<'a>(&'a mut Option<Finish>);

impl Reader for Details<'_> {
    fn field<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        match key {
            "reason" => value(map, &mut FinishText(self.0)),
            _ => skip(map),
        }
    }
}

/// The items of a whole response: messages, reasoning and calls of tools.
struct Output<'a> {
    pieces: &'a mut Pieces,
    channel: Channel,
}

impl Reader for Output<'_> {
    fn item(&mut self) {
        self.channel = Channel::Text;
    }

    fn text(&mut self, text: &str) {
        if text == "reasoning" {
            self.channel = Channel::Reasoning;
        }
    }

    fn field<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        let channel = match key {
            "type" => return value(map, self),
            "content" => self.channel,
            "summary" => Channel::Reasoning,
            "name" | "arguments" => Channel::Tool,
            _ => return skip(map),
        };
        let pieces = &mut *self.pieces;
        value(map, &mut Content(Piece { pieces, channel }))
    }
}

/// The content of an item: parts with a text or a refusal, or a text.
struct Content<'a>(Piece<'a>);

impl Reader for Content<'_> {
    fn text(&mut self, text: &str) {
        self.0.text(text);
    }

    fn field<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        let channel = match key {
            "text" => self.0.channel,
            "refusal" => Channel::Refusal,
            _ => return skip(map),
        };
        let pieces = &mut *self.0.pieces;
        value(map, &mut Piece { pieces, channel })
    }
}

/// A block of Anthropic's interface, its beginning or a part of it; also the message around it.
struct Block<'a, 'p>(&'a mut Part<'p>);

impl Reader for Block<'_, '_> {
    fn field<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        match key {
            "text" => self.0.piece(Channel::Text, map),
            "thinking" => self.0.piece(Channel::Reasoning, map),
            "partial_json" | "name" => self.0.piece(Channel::Tool, map),
            "content" => value(map, self),
            "stop_reason" => self.0.finish(map),
            "usage" => value(map, &mut self.0.found.report),
            // Also a signature, which is not generated text.
            _ => skip(map),
        }
    }
}

/// Counts the items of a list, and skips their contents.
struct Items<'a>(&'a mut u64);

impl Reader for Items<'_> {
    fn item(&mut self) {
        *self.0 += 1;
    }
}

struct Meta<'a>(&'a mut Report);

impl Reader for Meta<'_> {
    fn field<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        match key {
            "tokens" => value(map, self.0),
            _ => skip(map),
        }
    }
}
