//! The tokens of one answer, and the events that carry them.

use super::api::Api;
use super::behaviour::LlmBehaviour;
use super::events::EventWriter;
use super::fault::{DueFault, StreamFaultKind};
use super::form::{Channel, Finish, Form, Piece, TokenCounts, WholeAnswer, arguments};
use super::request::{LlmRequest, Tool};
use super::vocabulary::push_random;
use crate::law::{Law, TokenCount};
use drumfire_units::Xoshiro256;

/// The number of tokens of an answer without a limit.
const TOKENS_DEFAULT: u32 = 128;

/// The length of an answer, and how it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AnswerLength {
    pub(crate) tokens: u32,
    /// The first tokens, which are reasoning.
    pub(crate) reasoning: u32,
    /// The kind of the other tokens.
    pub(crate) channel: Channel,
    pub(crate) finish: Finish,
}

impl AnswerLength {
    /// Draws the extent of the answer to a request. All tokens of a completion are text.
    pub(crate) fn draw(
        api: Api,
        request: &LlmRequest,
        behaviour: &LlmBehaviour,
        random: &mut Xoshiro256,
    ) -> Self {
        let is_text = api == Api::Completions;
        let is_call = match &request.tool {
            _ if is_text => false,
            Tool::Never => false,
            Tool::Always(_) => true,
            Tool::Maybe(_) => behaviour.tool_calls.happens(random),
        };
        let limit = request.tokens_max;
        let natural = match behaviour.output_tokens {
            Some(law) => law.draw(random).0,
            None => limit.unwrap_or(TOKENS_DEFAULT),
        };
        let natural = natural.max(request.tokens_min);
        let tokens = match limit {
            Some(limit) if request.ignores_end => limit,
            Some(limit) => natural.min(limit),
            None => natural,
        };
        Self {
            tokens,
            reasoning: match is_text {
                true => 0,
                false => behaviour.reasoning.min(tokens),
            },
            channel: if is_call {
                Channel::Tool
            } else {
                Channel::Text
            },
            finish: match limit {
                _ if is_call => Finish::Tool,
                Some(limit) if tokens >= limit => Finish::Length,
                _ => Finish::Stop,
            },
        }
    }
}

/// The next part of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// A write with events that have this many tokens in total.
    Tokens(u32),
    /// A fault, which ends the stream.
    Fault(StreamFaultKind),
    /// The events after the last token.
    End,
}

/// The answer of a request as a stream.
pub(crate) struct AnswerStream {
    form: Box<dyn Form>,
    out: EventWriter,
    extent: AnswerLength,
    counts: TokenCounts,
    tokens_per_event: Law<TokenCount>,
    events_per_write: u32,
    fault: Option<DueFault>,
    random: Xoshiro256,
    text: String,
    /// The tokens of each event of the current write.
    events: Vec<u32>,
}

impl AnswerStream {
    /// The stream of an answer with this extent.
    pub(crate) fn new(
        form: Box<dyn Form>,
        extent: AnswerLength,
        counts: TokenCounts,
        behaviour: &LlmBehaviour,
        mut random: Xoshiro256,
    ) -> Self {
        Self {
            form,
            out: EventWriter::new(behaviour),
            extent,
            counts,
            tokens_per_event: behaviour.tokens_per_event,
            events_per_write: behaviour.events_per_write.get(),
            fault: DueFault::draw(&behaviour.faults, extent.tokens, &mut random),
            random,
            text: String::new(),
            events: Vec::new(),
        }
    }

    /// Adds a fault to the stream: a cut of the connection.
    pub(crate) fn set_fault(&mut self, fault: DueFault) {
        self.fault = Some(fault);
    }

    /// The events before the first token.
    pub(crate) fn open(&mut self) {
        self.form.open(self.counts, &mut self.out);
    }

    /// The bytes that are to be sent next.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.out.bytes
    }

    /// Forgets the bytes that were sent.
    pub(crate) fn sent(&mut self) {
        self.out.bytes.clear();
        self.events.clear();
    }

    /// The tokens of each event among the bytes.
    pub(crate) fn events(&self) -> &[u32] {
        &self.events
    }

    /// The counts up to the last event.
    pub(crate) fn counts(&self) -> TokenCounts {
        self.counts
    }

    /// The reason of the end.
    pub(crate) fn finish(&self) -> Finish {
        self.extent.finish
    }

    /// Makes the bytes of the next part.
    pub(crate) fn next(&mut self) -> Step {
        let mut tokens = 0;
        for _ in 0..self.events_per_write {
            let at = self.counts.output;
            match self.fault.filter(|fault| fault.after == at) {
                Some(fault) if fault.kind == StreamFaultKind::BadJson => {
                    self.fault = None;
                    self.form.broken(&mut self.out);
                }
                Some(fault) if tokens == 0 => return self.fail(fault.kind),
                // The fault is the next part.
                Some(_) => break,
                None => {}
            }
            if at == self.extent.tokens {
                break;
            }
            tokens += self.event();
        }
        if tokens > 0 {
            return Step::Tokens(tokens);
        }
        self.form
            .close(self.extent.finish, self.counts, &mut self.out);
        Step::End
    }

    fn fail(&mut self, kind: StreamFaultKind) -> Step {
        if kind == StreamFaultKind::Error {
            self.form.error(&mut self.out);
        }
        Step::Fault(kind)
    }

    /// Makes the next event, and returns the number of its tokens.
    fn event(&mut self) -> u32 {
        let (at, extent) = (self.counts.output, self.extent);
        let (channel, begin, end) = match at < extent.reasoning {
            true => (Channel::Reasoning, 0, extent.reasoning),
            false => (extent.channel, extent.reasoning, extent.tokens),
        };
        let stop = self.fault.map_or(end, |fault| match fault.after > at {
            true => fault.after.min(end),
            false => end,
        });
        let tokens = self
            .tokens_per_event
            .draw(&mut self.random)
            .0
            .min(stop - at);
        self.text.clear();
        for n in at..at + tokens {
            if n > begin {
                self.text.push(' ');
            }
            push_random(&mut self.random, &mut self.text);
        }
        self.counts.output += tokens;
        if channel == Channel::Reasoning {
            self.counts.reasoning += tokens;
        }
        let piece = Piece {
            channel,
            text: &self.text,
            is_first: at == begin,
            is_last: at + tokens == end,
            counts: self.counts,
        };
        self.form.piece(&piece, &mut self.out);
        self.events.push(tokens);
        tokens
    }

    /// The whole answer as JSON, for a request without a stream.
    pub(crate) fn whole(&mut self) -> String {
        let mut answer = WholeAnswer::default();
        let extent = self.extent;
        for n in 0..extent.tokens {
            let text = match n < extent.reasoning {
                true => &mut answer.reasoning,
                false => &mut answer.text,
            };
            if !text.is_empty() {
                text.push(' ');
            }
            push_random(&mut self.random, text);
        }
        if extent.channel == Channel::Tool {
            answer.arguments = Some(arguments(&std::mem::take(&mut answer.text)));
        }
        self.counts.output = extent.tokens;
        self.counts.reasoning = extent.reasoning;
        self.form
            .whole(&answer, extent.finish, self.counts)
            .to_string()
    }

    /// The fault of a request without a stream.
    pub(crate) fn fault(&self) -> Option<StreamFaultKind> {
        self.fault.map(|fault| fault.kind)
    }

    /// The number of tokens of the whole answer.
    pub(crate) fn tokens(&self) -> u32 {
        self.extent.tokens
    }
}
