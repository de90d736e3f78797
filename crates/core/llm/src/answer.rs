//! An answer: what its events have contained so far, and how it ended.

use crate::error_kind::Problem;
use crate::json;
use crate::kept::Kept;
use crate::links::Links;
use crate::part::{Found, NamedEvent, Part};
use crate::pieces::{Channel, Pieces};
use drumfire_plan::{AnswerText, EventClass, Finish, LlmApi, LlmError, TokenUsage};

/// A stream fails if more than one of this many events is not JSON.
const EVENTS_PER_BAD: u64 = 1_000;

/// What one event has contained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The class of the event.
    pub class: EventClass,
    /// Whether the event has visible text; its class is then [`EventClass::Token`].
    pub is_visible: bool,
    /// The number of tokens generated so far, if the event has text and the server reports it.
    pub output: Option<u32>,
}

/// How an answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// With its end marker, or as a whole.
    Complete,
    /// With a reason, but without an end marker, which some servers omit.
    Unmarked,
    /// Without a reason and without an end marker.
    Cut,
    /// Without any token, although it should have some.
    Empty,
    /// With an error.
    Error(LlmError),
    /// With too many events that are not JSON, or as a whole that is not.
    Unreadable,
}

/// The text of an answer is longer than its limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnswerTooLong;

/// A text is not an object of JSON.
struct NotAnObject;

/// What an answer has had so far.
#[derive(Clone, Copy, Debug, Default)]
struct Came {
    /// Generated text, of any channel.
    text: bool,
    tool: bool,
    refusal: bool,
}

/// An answer that is being read; reused for the next one.
#[derive(Debug)]
pub struct Answer {
    api: LlmApi,
    usage: TokenUsage,
    finish: Option<Finish>,
    /// Whether the end marker has come.
    is_marked: bool,
    error: Option<LlmError>,
    problem: Problem,
    events: u64,
    bad: u64,
    came: Came,
    /// The texts of the last event, or of the whole answer.
    pieces: Pieces,
    /// The texts of all events; `None` until a plan has wanted them.
    kept: Option<Box<Kept>>,
    /// Whether the texts of this answer are kept.
    keeps: bool,
}

impl Default for Answer {
    fn default() -> Self {
        Self {
            api: LlmApi::Chat,
            usage: TokenUsage::default(),
            finish: None,
            is_marked: false,
            error: None,
            problem: Problem::default(),
            events: 0,
            bad: 0,
            came: Came::default(),
            pieces: Pieces::default(),
            kept: None,
            keeps: false,
        }
    }
}

impl Answer {
    /// Begins another answer, of this interface.
    pub fn begin(&mut self, api: LlmApi) {
        self.problem.clear();
        self.pieces.clear();
        *self = Self {
            api,
            problem: std::mem::take(&mut self.problem),
            pieces: std::mem::take(&mut self.pieces),
            kept: self.kept.take(),
            ..Self::default()
        };
        self.pieces.links = None;
    }

    /// Keeps the text of the answer that has begun, up to this many bytes.
    pub fn keep(&mut self, max: usize) {
        self.keeps = true;
        self.pieces.links = Some(Links::default());
        self.kept.get_or_insert_default().begin(self.api, max);
    }

    /// Ends the text of an answer that is kept, which the caller may exchange for another one, so
    /// that its memory is reused. Returns `None` if none is kept.
    ///
    /// # Errors
    /// If the answer is longer than its limit.
    pub fn finish_text(&mut self) -> Option<Result<&mut AnswerText, AnswerTooLong>> {
        let kept = self.kept.as_mut().filter(|_| self.keeps)?;
        if kept.is_too_long() {
            return Some(Err(AnswerTooLong));
        }
        kept.finish();
        Some(Ok(&mut kept.text))
    }

    /// Reads an event of a stream. `name` is the type in its framing, which counts only if its data
    /// have no type. After the end marker, events have no effect.
    pub fn event(&mut self, name: &str, data: &str) -> Seen {
        self.events += 1;
        self.pieces.clear();
        let without_text = |class| Seen {
            class,
            is_visible: false,
            output: None,
        };
        if data.trim_ascii() == "[DONE]" {
            self.is_marked = true;
            return without_text(EventClass::Done);
        }
        if self.is_marked {
            return without_text(EventClass::Control);
        }
        let mut found = Found {
            name: NamedEvent::of(name),
            ..Found::default()
        };
        if self.read(data.as_bytes(), false, &mut found).is_err() {
            self.pieces.clear();
            self.bad += 1;
            return without_text(EventClass::Bad);
        }
        let class = self.note(&found);
        self.keep_event(found.name);
        match class {
            EventClass::Token => Seen {
                class,
                is_visible: self.pieces.any(Channel::is_visible),
                output: found.report.any().then_some(self.usage.output).flatten(),
            },
            class => without_text(class),
        }
    }

    /// Reads an answer that came as one JSON text instead of a stream.
    pub fn whole(&mut self, body: &[u8]) {
        self.pieces.clear();
        let mut found = Found::default();
        if self.read(body, true, &mut found).is_err() {
            self.bad = EVENTS_PER_BAD;
            return;
        }
        self.is_marked = true;
        self.came.text |= found.items > 0;
        self.note(&found);
        if let Some(kept) = self.kept.as_mut().filter(|_| self.keeps) {
            kept.add(&self.pieces);
            kept.add_whole(body);
        }
    }

    /// Keeps the texts of an event with this name, if the answer is kept.
    fn keep_event(&mut self, name: NamedEvent) {
        let Some(kept) = self.kept.as_mut().filter(|_| self.keeps) else {
            return;
        };
        kept.add(&self.pieces);
        // Other events of this interface contain parts of calls, or repeat them.
        let is_final = self.api != LlmApi::Responses || name == NamedEvent::ItemDone;
        if let Some(links) = self.pieces.links.as_ref().filter(|_| is_final) {
            kept.add_links(links);
        }
    }

    /// Reads an object.
    fn read(&mut self, text: &[u8], whole: bool, found: &mut Found) -> Result<(), NotAnObject> {
        if !text.trim_ascii_start().starts_with(b"{") {
            return Err(NotAnObject);
        }
        // The first error is kept.
        let mut other = Problem::default();
        let problem = match self.error {
            None => &mut self.problem,
            Some(_) => &mut other,
        };
        problem.clear();
        let mut part = Part {
            api: self.api,
            whole,
            pieces: &mut self.pieces,
            problem,
            found,
        };
        json::read(text, &mut part).map_err(|_not_json| NotAnObject)
    }

    /// Notes the contents of a text, and returns its class.
    fn note(&mut self, found: &Found) -> EventClass {
        found.report.update(&mut self.usage);
        match (self.api, found.name) {
            (LlmApi::Responses, NamedEvent::Delta(channel)) => self.pieces.turn_into(channel),
            // The text of another event repeats what came before.
            (LlmApi::Responses, _) if found.name != NamedEvent::Unknown => {
                self.pieces.clear_texts()
            }
            _ => {}
        }
        self.came.text |= !self.pieces.is_empty();
        self.came.tool |= self.pieces.any(|channel| channel == Channel::Tool);
        self.came.refusal |= self.pieces.any(|channel| channel == Channel::Refusal);
        if found.error || matches!(found.name, NamedEvent::Error | NamedEvent::Failed) {
            self.error = self.error.or_else(|| Some(self.problem.kind()));
            self.is_marked |= found.name == NamedEvent::Failed;
            return EventClass::Error;
        }
        self.note_end(found);
        if found.name == NamedEvent::Terminal {
            return EventClass::Done;
        }
        if !self.pieces.is_empty() {
            EventClass::Token
        } else if found.finish.is_some() {
            EventClass::Finish
        } else if found.report.any() {
            EventClass::Usage
        } else if found.known || found.name != NamedEvent::Unknown {
            EventClass::Control
        } else {
            EventClass::Unknown
        }
    }

    /// Notes the end, if this is the end, and its reason.
    fn note_end(&mut self, found: &Found) {
        let is_terminal = found.name == NamedEvent::Terminal;
        self.is_marked |= is_terminal;
        let reason = match (self.api, found.finish) {
            // A response contains a reason only if it is incomplete.
            (LlmApi::Responses, None) if self.is_marked => match self.came.tool {
                true => Some(Finish::ToolCalls),
                false => Some(Finish::Stop),
            },
            (_, reason) => reason,
        };
        self.finish = reason.or(self.finish);
        if self.finish == Some(Finish::Stop) && self.came.refusal {
            self.finish = Some(Finish::Refusal);
        }
    }

    /// The generated texts of the last event, or of the whole answer, in order.
    pub fn texts(&self) -> impl Iterator<Item = (Channel, &str)> {
        self.pieces.iter()
    }

    /// The numbers of tokens that the server has reported. Some servers report 0 generated tokens
    /// for every answer: beside a text, the count is unknown.
    #[must_use]
    pub fn usage(&self) -> TokenUsage {
        let output = self.usage.output;
        let is_count = !(self.api.streams() && self.came.text);
        TokenUsage {
            output: output.filter(|count| *count > 0 || is_count),
            ..self.usage
        }
    }

    /// The reason for the end, if the server has sent one.
    #[must_use]
    pub const fn finish(&self) -> Option<Finish> {
        self.finish
    }

    /// The type and the message of the error; empty without an error.
    #[must_use]
    pub fn error_text(&self) -> String {
        match self.error {
            Some(_) => self.problem.text(),
            None => String::new(),
        }
    }

    /// How the answer has ended, if no more of it comes.
    #[must_use]
    pub fn ending(&self) -> Ending {
        if let Some(error) = self.error {
            return Ending::Error(error);
        }
        if self.bad.saturating_mul(EVENTS_PER_BAD) > self.events {
            return Ending::Unreadable;
        }
        match (self.is_marked, self.finish, self.came.text) {
            (true, _, true) => Ending::Complete,
            (true, Some(_), false) => Ending::Complete,
            (true, None, false) if self.usage.output == Some(0) && self.api.streams() => {
                Ending::Complete
            }
            (true, None, false) => Ending::Empty,
            (false, Some(_), _) => Ending::Unmarked,
            (false, None, _) => Ending::Cut,
        }
    }
}
