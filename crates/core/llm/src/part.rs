//! The parts of an answer: what one JSON text of an interface contains.

use crate::error_kind::{Problem, Word};
use crate::json::{Reader, skip, value};
use crate::links::{self, Link};
use crate::pieces::{Channel, Piece, Pieces};
use crate::usage::Report;
use drumfire_plan::{Finish, LlmApi};
use serde::de::MapAccess;

/// The name of an event in the interfaces that have names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum NamedEvent {
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
    /// The end of an item, which contains the whole item.
    ItemDone,
    /// Any other known event.
    Known,
}

impl NamedEvent {
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
            "response.output_item.done" => Self::ItemDone,
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
    pub(crate) name: NamedEvent,
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
                value(map, &mut ChoiceReader(self))
            }
            // Earlier versions of vLLM send `{"object": "error", "message": …}`.
            "object" => value(map, &mut ObjectReader(self.found)),
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
            "item" | "output_index" => self.links(key, map),
            "response" => value(map, &mut Response(self)),
            _ if self.whole => Response(self).field(key, map),
            _ => skip(map),
        }
    }

    fn messages<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        match key {
            "type" => value(map, &mut NameText(self.found)),
            "message" => value(map, &mut Block(self, HasCallParts::No)),
            "delta" | "content_block" => value(map, &mut Block(self, HasCallParts::Yes)),
            "content" | "stop_reason" if self.whole => {
                Block(self, HasCallParts::No).field(key, map)
            }
            "index" => self.links(key, map),
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

    /// Reads parts of calls, if they are wanted.
    fn links<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        match (&mut self.pieces.links, key) {
            (None, _) => skip(map),
            (Some(_), "item") => value(map, &mut CallItem(self.pieces)),
            (Some(links), _) => value(map, &mut CallNumber(links)),
        }
    }
}

/// Reads a text that is a link, and with a channel also a generated text.
struct LinkText<'a> {
    pieces: &'a mut Pieces,
    channel: Option<Channel>,
    link: Link,
}

impl Reader for LinkText<'_> {
    fn text(&mut self, text: &str) {
        if let Some(channel) = self.channel {
            self.pieces.push(channel, text);
        }
        if let Some(links) = &mut self.pieces.links {
            links.push(self.link, text);
        }
    }
}

/// Reads the number of a call.
struct CallNumber<'a>(&'a mut links::Links);

impl Reader for CallNumber<'_> {
    fn number(&mut self, number: u64) {
        self.0.number(number);
    }
}

/// The item of a stream of OpenAI's responses, if it is a call.
struct CallItem<'a>(&'a mut Pieces);

impl Reader for CallItem<'_> {
    fn field<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        let link = match key {
            "call_id" => Link::Id,
            "name" => Link::Name,
            "arguments" => Link::Arguments,
            _ => return skip(map),
        };
        let (pieces, channel) = (&mut *self.0, None);
        value(
            map,
            &mut LinkText {
                pieces,
                channel,
                link,
            },
        )
    }
}

/// Whether an object has parts of calls.
#[derive(Clone, Copy, PartialEq, Eq)]
enum HasCallParts {
    Yes,
    No,
}

/// The `object` of a chunk.
struct ObjectReader<'a>(&'a mut Found);

impl Reader for ObjectReader<'_> {
    fn text(&mut self, text: &str) {
        self.0.error |= text == "error";
    }
}

struct NameText<'a>(&'a mut Found);

impl Reader for NameText<'_> {
    fn text(&mut self, text: &str) {
        self.0.name = NamedEvent::of(text);
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
struct ChoiceReader<'a, 'p>(&'a mut Part<'p>);

impl Reader for ChoiceReader<'_, '_> {
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
    fn item(&mut self) {
        if let Some(links) = &mut self.0.links {
            links.begin();
        }
    }

    fn field<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        let (channel, link) = match (key, &mut self.0.links) {
            ("function" | "custom", _) => return value(map, self),
            ("name", _) => (Some(Channel::Tool), Link::Name),
            ("arguments" | "input", _) => (Some(Channel::Tool), Link::Arguments),
            ("id", Some(_)) => (None, Link::Id),
            ("index", Some(links)) => return value(map, &mut CallNumber(links)),
            _ => return skip(map),
        };
        let pieces = &mut *self.0;
        value(
            map,
            &mut LinkText {
                pieces,
                channel,
                link,
            },
        )
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
struct Block<'a, 'p>(&'a mut Part<'p>, HasCallParts);

impl Reader for Block<'_, '_> {
    fn field<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        let has_links = self.1 == HasCallParts::Yes && self.0.pieces.links.is_some();
        match key {
            "text" => self.0.piece(Channel::Text, map),
            "thinking" => self.0.piece(Channel::Reasoning, map),
            "name" if has_links => self.link(Some(Channel::Tool), Link::Name, map),
            "partial_json" if has_links => self.link(Some(Channel::Tool), Link::Arguments, map),
            "partial_json" | "name" => self.0.piece(Channel::Tool, map),
            "content" => value(map, self),
            "stop_reason" => self.0.finish(map),
            "usage" => value(map, &mut self.0.found.report),
            "id" if has_links => self.link(None, Link::Id, map),
            // A signature is not generated text.
            "signature" if has_links => self.link(None, Link::Signature, map),
            _ => skip(map),
        }
    }
}

impl Block<'_, '_> {
    fn link<'de, A: MapAccess<'de>>(
        &mut self,
        channel: Option<Channel>,
        link: Link,
        map: &mut A,
    ) -> Result<(), A::Error> {
        let pieces = &mut *self.0.pieces;
        value(
            map,
            &mut LinkText {
                pieces,
                channel,
                link,
            },
        )
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
