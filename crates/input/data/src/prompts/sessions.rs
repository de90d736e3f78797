//! Sessions: tables whose row is a session of several turns.
//!
//! A column with a value for each turn is a list: `{{ llm.message[turn] }}`. An element is computed
//! when it is read, so a row costs nothing until then. Turns have the random streams of prompts: the
//! first turn of a session is the prompt that the same row has in a table of [`Prompts`].

mod read;
mod recorded;
#[cfg(test)]
mod tests;

pub use read::{SESSION_FORMATS, SessionFormat, SessionTraceOptions, read_sessions};
pub use recorded::SessionTrace;

use super::{Lengths, Prompts, Stream, push_words};
use crate::Random;
use crate::escape_json;
use crate::feed::{ComputedRows, Feed};
use crate::integer::push_integer;
use drumfire_plan::{DataError, Pause};
use drumfire_units::Nanos;
use minijinja::Value;
use minijinja::value::{Object, ObjectRepr};
use recorded::Prompt;
use std::ops::Range;
use std::sync::Arc;

/// The maximum number of turns in a session.
pub const TURNS_MAX: u64 = 1_000;
/// Groups of turns with figures of their own, by the numbers of turns from 0.
pub const TURN_GROUPS: [Range<u64>; 5] = [0..1, 1..2, 2..5, 5..10, 10..TURNS_MAX];
/// The bits of a random stream's number below the number of the turn.
const STREAM_BITS: u32 = 8;
/// The maximum number of sessions whose tokens are summed for a budget.
const BUDGET_SESSIONS_MAX: u64 = 1_000_000;

/// The columns of the table.
const COLUMNS: [&str; 9] = [
    "model", "passes", "message", "text", "limit", "delay", "until", "answer", "result",
];

/// How sessions continue.
#[derive(Clone, Copy, Debug)]
pub struct SessionOptions {
    /// The number of turns of made-up sessions.
    pub turns: Lengths,
    /// The time from an answer to the next turn. `None` means no time, or for recorded sessions the
    /// recorded times.
    pub delay: Option<Pause>,
    /// The words of a tool's result.
    pub tool_output: Lengths,
    /// The factor by which recorded times pass faster; `None` if sessions do not start at recorded
    /// times.
    pub speed: Option<f64>,
}

/// A table of sessions.
#[derive(Debug)]
pub struct Sessions {
    prompts: Prompts,
    options: SessionOptions,
    trace: Option<SessionTrace>,
}

impl Sessions {
    /// Sessions whose turns are made as `prompts` are, or recorded ones.
    #[must_use]
    pub const fn new(
        prompts: Prompts,
        options: SessionOptions,
        trace: Option<SessionTrace>,
    ) -> Self {
        Self {
            prompts,
            options,
            trace,
        }
    }

    /// The number of sessions; at least 1.
    fn rows(&self) -> u64 {
        self.trace.as_ref().map_or(u64::MAX, SessionTrace::count)
    }

    /// The number of sessions from the first on whose requests and answers do not exceed a budget of
    /// tokens together. A turn repeats all turns before it, unless a trace has whole prompts.
    #[must_use]
    pub fn rows_within(&self, budget: u64) -> u64 {
        let mut sum = 0_u64;
        let rows = self.rows().min(BUDGET_SESSIONS_MAX);
        for row in 0..rows {
            sum = sum.saturating_add(self.tokens(row));
            if sum > budget {
                return row;
            }
        }
        rows
    }

    /// The tokens of all requests and answers of a session.
    fn tokens(&self, row: u64) -> u64 {
        let is_whole = self.trace.as_ref().is_some_and(SessionTrace::is_whole);
        let (mut sum, mut context) = (0, 0);
        for turn in 0..self.turns(row) {
            let (input, output) = (self.input(row, turn), self.limit(row, turn).unwrap_or(0));
            sum += context + input + output;
            if !is_whole {
                context += input + output;
            }
        }
        sum
    }

    /// The feed of the sessions.
    #[must_use]
    pub fn into_feed(self) -> Feed {
        let note = self.trace.as_ref().and_then(SessionTrace::note);
        Feed::from_computed(&COLUMNS, self.rows(), note, Arc::new(self))
    }

    /// The number of turns of a session.
    fn turns(&self, row: u64) -> u64 {
        match &self.trace {
            Some(trace) => trace.turns(row).len() as u64,
            None => {
                let random = self.random(row, 0, Stream::Turns);
                self.options.turns.drawn(random).min(TURNS_MAX)
            }
        }
    }

    /// The number of turns of a session in a group.
    fn passes(&self, row: u64, group: &Range<u64>) -> u64 {
        let turns = self.turns(row);
        turns.min(group.end).saturating_sub(group.start)
    }

    /// The random numbers of one purpose in a turn, which do not depend on the nonce.
    fn random(&self, row: u64, turn: u64, stream: Stream) -> Random {
        let place = stream as u64 | (turn << STREAM_BITS);
        Random::new(self.prompts.seed, row, super::LANE, place)
    }

    /// The random numbers of a text in a turn.
    fn text_random(&self, row: u64, turn: u64, stream: Stream) -> Random {
        let place = stream as u64 | (turn << STREAM_BITS);
        Random::new(self.prompts.text_seed, row, super::LANE, place)
    }

    /// The words of a turn's prompt, as far as they are known; a text has about as many as it has
    /// blanks.
    fn input(&self, row: u64, turn: u64) -> u64 {
        let recorded = self.trace.as_ref().map(|trace| trace.prompt(row, turn));
        let own = match recorded {
            None => {
                let random = self.random(row, turn, Stream::Input);
                self.prompts.options.input.drawn(random)
            }
            Some(
                Prompt::Words(words) | Prompt::Beginning(words) | Prompt::Blocks { words, .. },
            ) => words,
            Some(Prompt::Text(text)) => text.split_whitespace().count() as u64,
        };
        let prefix = self.prompts.options.prefix;
        let prefix = prefix.filter(|_| self.has_prefix(turn));
        own + prefix.map_or(0, |prefix| prefix.words)
    }

    /// Whether a turn's prompt begins with the prefix, which other turns repeat from the first one.
    fn has_prefix(&self, turn: u64) -> bool {
        turn == 0 || self.trace.as_ref().is_some_and(SessionTrace::is_whole)
    }

    /// The maximum number of tokens of a turn's answer. A law overrides the trace.
    fn limit(&self, row: u64, turn: u64) -> Option<u64> {
        let law = self.prompts.options.output.as_ref();
        let drawn = law.map(|law| law.drawn(self.random(row, turn, Stream::Output)));
        drawn.or_else(|| Some(self.trace.as_ref()?.output(row, turn)))
    }

    /// The time from the end of the answer before a turn to the turn.
    fn delay(&self, row: u64, turn: u64) -> Nanos {
        let recorded = || {
            let delay = self.trace.as_ref()?.delay(row, turn);
            Some(self.scaled(delay))
        };
        match self.options.delay {
            Some(delay) => delay.drawn(self.random(row, turn, Stream::Delay)),
            None => recorded().unwrap_or(Nanos::ZERO),
        }
    }

    /// The earliest time of a turn, from the start of its session.
    fn until(&self, row: u64, turn: u64) -> Nanos {
        let at = || {
            self.options.speed?;
            self.trace.as_ref()?.at(row, turn)
        };
        at().map_or(Nanos::ZERO, |at| self.scaled(at))
    }

    fn scaled(&self, time: Nanos) -> Nanos {
        match self.options.speed {
            None => time,
            Some(speed) => Nanos((time.0 as f64 / speed) as u64),
        }
    }

    /// Appends the text of a turn's prompt.
    fn push_text(&self, row: u64, turn: u64, out: &mut String) {
        if self.has_prefix(turn) {
            self.prompts.push_prefix(row, out);
        }
        let Some(trace) = &self.trace else {
            let words = self.prompts.options.input;
            let words = words.drawn(self.random(row, turn, Stream::Input));
            return push_words(self.text_random(row, turn, Stream::Text), words, out);
        };
        match trace.prompt(row, turn) {
            Prompt::Words(words) => {
                push_words(self.text_random(row, turn, Stream::Text), words, out);
            }
            Prompt::Beginning(words) => {
                push_words(self.text_random(row, 0, Stream::Session), words, out);
            }
            Prompt::Text(text) => {
                if turn == 0 {
                    self.prompts.push_mark(out);
                }
                out.push_str(text);
            }
            Prompt::Blocks { ids, words, size } => {
                let mut rest = words;
                for id in ids {
                    let count = rest.min(size);
                    if rest < words {
                        out.push(' ');
                    }
                    self.prompts.push_block(*id, count, out);
                    rest -= count;
                }
            }
        }
    }

    /// Appends the message of a turn's prompt as JSON; that of the first turn with the system's
    /// message before it, if the session has one.
    fn push_message(&self, row: u64, turn: u64, out: &mut String) {
        let system = self.trace.as_ref().and_then(|trace| trace.system(row));
        if let Some(system) = system.filter(|_| turn == 0) {
            out.push_str("{\"role\":\"system\",\"content\":\"");
            escape_json(system, out);
            out.push_str("\"},");
        }
        self.push_as("user", out, |out| self.push_text(row, turn, out));
    }

    /// Appends a message that was recorded, or made with the length of the answer.
    fn push_answer(&self, row: u64, turn: u64, out: &mut String) {
        let recorded = self
            .trace
            .as_ref()
            .and_then(|trace| trace.answer(row, turn));
        self.push_as("assistant", out, |out| match recorded {
            Some(text) => out.push_str(text),
            None => {
                let words = self.limit(row, turn).unwrap_or(1);
                push_words(self.text_random(row, turn, Stream::Answer), words, out);
            }
        });
    }

    /// Appends a message as JSON.
    fn push_as(&self, role: &str, out: &mut String, text: impl FnOnce(&mut String)) {
        let mut content = String::new();
        text(&mut content);
        out.extend(["{\"role\":\"", role, "\",\"content\":\""]);
        escape_json(&content, out);
        out.push_str("\"}");
    }

    /// Appends an element of a column's list.
    fn push_element(&self, row: u64, column: usize, at: u64, out: &mut String) {
        match COLUMNS[column] {
            "passes" => {
                let group = usize::try_from(at).ok().and_then(|at| TURN_GROUPS.get(at));
                push_integer(group.map_or(0, |group| self.passes(row, group)), out);
            }
            "message" => self.push_message(row, at, out),
            "text" => self.push_text(row, at, out),
            "limit" => push_integer(self.limit(row, at).unwrap_or(0), out),
            "delay" => out.push_str(&self.delay(row, at).to_string()),
            "until" => out.push_str(&format!("until {}", self.until(row, at))),
            "answer" => self.push_answer(row, at, out),
            _ => {
                let words = self.options.tool_output;
                let words = words.drawn(self.random(row, at, Stream::Result));
                push_words(self.text_random(row, at, Stream::ResultText), words, out);
            }
        }
    }

    /// Whether the elements of a column are numbers.
    fn is_number(column: usize) -> bool {
        ["passes", "limit"].contains(&COLUMNS[column])
    }
}

impl ComputedRows for Sessions {
    fn value(self: Arc<Self>, row: u64, column: usize) -> Result<Value, DataError> {
        Ok(match column {
            0 => Value::from(self.prompts.model(row)),
            _ => Value::from_object(Elements {
                sessions: self,
                row,
                column,
            }),
        })
    }

    fn push(&self, row: u64, column: usize, out: &mut String) -> Result<(), DataError> {
        match column {
            0 => out.push_str(self.prompts.model(row)),
            _ => self.push_element(row, column, 0, out),
        }
        Ok(())
    }
}

/// The values of a column in a row, one for each turn.
#[derive(Debug)]
struct Elements {
    sessions: Arc<Sessions>,
    row: u64,
    column: usize,
}

impl Object for Elements {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Plain
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        let at = u64::try_from(key.clone()).ok();
        // A recorded session has no value for a turn that it does not have.
        let is_recorded = |at: &u64| {
            let trace = self.sessions.trace.as_ref();
            let is_turn = !["passes", "result"].contains(&COLUMNS[self.column]);
            !is_turn || trace.is_none_or(|trace| *at < trace.turns(self.row).len() as u64)
        };
        let at = at.filter(is_recorded)?;
        let mut text = String::new();
        self.sessions
            .push_element(self.row, self.column, at, &mut text);
        match Sessions::is_number(self.column) {
            true => text.parse::<u64>().ok().map(Value::from),
            false => Some(Value::from(text)),
        }
    }
}
