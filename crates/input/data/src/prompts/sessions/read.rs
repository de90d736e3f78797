//! Reads recorded sessions from files.
//!
//! A file is read once before the run, and the turns stay in memory: some 100 bytes each, their
//! texts, and eight bytes for each block that the turn before does not have.

mod copilot;
mod own;
mod sharegpt;
mod weka;

use super::TURNS_MAX;
use super::recorded::{Session, SessionTrace, Turn};
use crate::feed::{Feed, FeedFormat, counted};
use crate::prompts::LENGTH_MAX;
use crate::prompts::trace::json_of;
use crate::{FeedError, Random, ReadAt};
use drumfire_units::Nanos;
use serde_json::Value as Json;
use std::ops::Range;
use std::sync::Arc;

/// The maximum number of turns of a file.
const ALL_TURNS_MAX: usize = 20_000_000;
/// The share of a trace in full.
const WHOLE: f64 = 1.0;
/// The characters of an answer that count as one token, where a file has texts without counts.
const TOKEN_CHARS: u64 = 4;

/// The formats of sessions, by name.
pub const SESSION_FORMATS: [(&str, SessionFormat); 4] = [
    ("sessions", SessionFormat::Own),
    ("weka", SessionFormat::Weka),
    ("copilot", SessionFormat::Copilot),
    ("sharegpt", SessionFormat::ShareGpt),
];

/// The format of a file of sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionFormat {
    /// drumfire's own: a session in each JSON value, with `turns`.
    Own,
    /// kv-cache-tester: a session in each JSON value, with `requests` and the numbers of blocks.
    Weka,
    /// GitHub Copilot's coding agent: a session in each line, with numbers of tokens only.
    Copilot,
    /// ShareGPT: an array of conversations, of which all turns are sent.
    ShareGpt,
}

/// How recorded sessions are read.
#[derive(Clone, Copy, Debug)]
pub struct SessionTraceOptions {
    /// The format of the file.
    pub format: SessionFormat,
    /// Leave out sessions that start before this time of the trace.
    pub from: Nanos,
    /// Leave out sessions that start from this time of the trace on.
    pub until: Nanos,
    /// The share of the sessions to send, from 0 to 1.
    pub sample: f64,
    /// The seed of the sample.
    pub seed: u64,
}

impl SessionFormat {
    /// The format of a file that begins with these bytes; `None` if no format of sessions begins so.
    /// ShareGPT is not recognised, because its first prompts alone are the usual load.
    #[must_use]
    pub fn recognise(start: &[u8]) -> Option<Self> {
        let text = String::from_utf8_lossy(start);
        let has = |name: &str| text.contains(&format!("\"{name}\""));
        let is_object = text
            .trim_start_matches('\u{feff}')
            .trim_start()
            .starts_with(['{', '[']);
        match () {
            () if !is_object => None,
            () if has("llm_calls") => Some(Self::Copilot),
            () if has("requests") && has("hash_ids") => Some(Self::Weka),
            () if has("turns") => Some(Self::Own),
            () => None,
        }
    }

    fn read(self, row: &Json, into: &mut SessionReader) -> Result<(), String> {
        match self {
            Self::Own => own::read(row, into),
            Self::Weka => weka::read(row, into),
            Self::Copilot => copilot::read(row, into),
            Self::ShareGpt => sharegpt::read(row, into),
        }
    }
}

/// Reads recorded sessions.
///
/// # Errors
/// The first mistake, with the number of its entry.
pub fn read_sessions(
    source: Arc<dyn ReadAt>,
    options: &SessionTraceOptions,
) -> Result<SessionTrace, FeedError> {
    let feed = Feed::read(source, &FeedFormat::Json)?;
    let names: Vec<String> = feed.columns().map(str::to_owned).collect();
    let mut reader = SessionReader::default();
    let wrong =
        |row: u64, message: &str| FeedError::at_line(0, format!("entry {}: {message}", row + 1));
    for row in 0..feed.rows() {
        let drawn = Random::new(options.seed, row, crate::prompts::LANE, 3).unit();
        if options.sample < WHOLE && drawn >= options.sample {
            continue;
        }
        let mut entry = serde_json::Map::new();
        for (column, name) in names.iter().enumerate() {
            let value = feed.value(row, column);
            let value = value.map_err(|error| wrong(row, &error.words))?;
            if !value.is_undefined() {
                let value = json_of(&value).map_err(|error| wrong(row, &error.words))?;
                entry.insert(name.clone(), value);
            }
        }
        let read = options.format.read(&Json::Object(entry), &mut reader);
        read.map_err(|message| wrong(row, &message))?;
        let ended = reader.end_session();
        ended.map_err(|message| wrong(row, &message))?;
    }
    reader.finish(options)
}

/// The sessions that were read so far, and the one that is being read.
#[derive(Default)]
pub(super) struct SessionReader {
    trace: SessionTrace,
    /// The session that is being read, without its end.
    session: Session,
    /// The blocks of the last turn.
    last: Range<usize>,
    /// The requests that were left out, and why.
    left_out: u64,
    why: &'static str,
}

impl SessionReader {
    /// Adds a text, and returns its place.
    fn text(&mut self, text: &str) -> Range<usize> {
        let start = self.trace.texts.len();
        self.trace.texts.push_str(text);
        start..self.trace.texts.len()
    }

    /// Adds the numbers of blocks, and returns their place. Blocks that continue those of the turn
    /// before share its place.
    fn blocks(&mut self, ids: &[u64]) -> Range<usize> {
        let all = &mut self.trace.ids;
        let last = &all[self.last.clone()];
        let common = last.iter().zip(ids).take_while(|(a, b)| a == b).count();
        let place = if common == ids.len() {
            self.last.start..self.last.start + common
        } else if common == last.len() && self.last.end == all.len() {
            all.extend_from_slice(&ids[common..]);
            self.last.start..all.len()
        } else {
            let start = all.len();
            all.extend_from_slice(ids);
            start..all.len()
        };
        self.last = place.clone();
        place
    }

    fn turn(&mut self, turn: Turn) -> Result<(), String> {
        if self.trace.turns.len() >= ALL_TURNS_MAX {
            return Err(format!(
                "the file has more than {ALL_TURNS_MAX} turns; split it"
            ));
        }
        self.trace.turns.push(turn);
        Ok(())
    }

    fn leave_out(&mut self, why: &'static str) {
        self.left_out += 1;
        self.why = why;
    }

    /// The number of turns of the session that is being read.
    fn turns(&self) -> usize {
        let before = self.trace.sessions.last().map_or(0, |session| session.end);
        self.trace.turns.len() - before
    }

    /// Ends a session; a session without turns is left out.
    fn end_session(&mut self) -> Result<(), String> {
        let turns = self.turns() as u64;
        if turns > TURNS_MAX {
            return Err(format!(
                "the session has {turns} turns; the maximum is {TURNS_MAX}"
            ));
        }
        let mut session = std::mem::take(&mut self.session);
        self.last = 0..0;
        if turns > 0 {
            session.end = self.trace.turns.len();
            self.trace.sessions.push(session);
        }
        Ok(())
    }

    /// The sessions within the options' times, in the order of their times.
    fn finish(mut self, options: &SessionTraceOptions) -> Result<SessionTrace, FeedError> {
        let has_times = self
            .trace
            .sessions
            .iter()
            .all(|session| session.at.is_some());
        let selects = options.from > Nanos::ZERO || options.until < Nanos::MAX;
        if selects && !has_times {
            let message = "the sessions have no times, so a part of the time can't be selected";
            return Err(FeedError::at_line(0, message));
        }
        if has_times {
            self.trace = sorted(self.trace, options);
        }
        self.trace.note = (self.left_out > 0).then(|| {
            let requests = counted(self.left_out, "request");
            format!("left out: {requests} {}", self.why)
        });
        match self.trace.sessions.is_empty() {
            true => Err(FeedError::at_line(0, "the file has no session to send")),
            false => Ok(self.trace),
        }
    }
}

/// The sessions within the options' times, in the order of their times, which begin at 0.
fn sorted(mut trace: SessionTrace, options: &SessionTraceOptions) -> SessionTrace {
    let at = |session: &Session| session.at.unwrap_or_default();
    let first = trace.sessions.iter().map(at).min().unwrap_or_default();
    let mut order: Vec<usize> = (0..trace.sessions.len()).collect();
    order.sort_by_key(|row| at(&trace.sessions[*row]));
    let sessions = std::mem::take(&mut trace.sessions);
    let turns = std::mem::take(&mut trace.turns);
    for row in order {
        let begin = row.checked_sub(1).map_or(0, |before| sessions[before].end);
        let session = &sessions[row];
        let start = at(session) - first;
        if start < options.from || start >= options.until {
            continue;
        }
        trace.turns.extend_from_slice(&turns[begin..session.end]);
        trace.sessions.push(Session {
            end: trace.turns.len(),
            at: Some(start),
            system: session.system.clone(),
        });
    }
    trace
}

/// Refuses members of an object that the format does not have.
fn check_members(object: &Json, known: &[&str], noun: &str) -> Result<(), String> {
    let Some(object) = object.as_object() else {
        return Err(format!("{noun} is not an object"));
    };
    let unknown = object.keys().find(|key| !known.contains(&key.as_str()));
    match unknown {
        None => Ok(()),
        Some(key) => {
            let key = key.escape_debug();
            let known = known.join(", ");
            Err(format!(
                "drumfire does not know the member `{key}` of {noun}; it has {known}"
            ))
        }
    }
}

/// The list in a member of an object.
fn list<'j>(object: &'j Json, name: &str) -> Result<&'j [Json], String> {
    let list = object[name].as_array();
    list.map(Vec::as_slice)
        .ok_or_else(|| format!("`{name}` is not a list"))
}

/// A number of tokens in a member of an object; `None` if it is missing.
fn tokens(object: &Json, name: &str) -> Result<Option<u64>, String> {
    match &object[name] {
        Json::Null => Ok(None),
        value => {
            let number = value.as_u64().filter(|number| *number <= LENGTH_MAX);
            let wrong = || format!("`{name}` is not a number of tokens from 0 to {LENGTH_MAX}");
            number.map(Some).ok_or_else(wrong)
        }
    }
}

/// A time in a member of an object, in units of this many nanoseconds; `None` if it is missing.
fn time(object: &Json, name: &str, unit: f64) -> Result<Option<Nanos>, String> {
    match &object[name] {
        Json::Null => Ok(None),
        value => {
            let nanos = value.as_f64().map(|number| number * unit);
            let nanos = nanos.filter(|nanos| (0.0..9e18).contains(nanos));
            let wrong = || format!("`{name}` is not a time: {value}");
            nanos
                .map(|nanos| Some(Nanos(nanos.round() as u64)))
                .ok_or_else(wrong)
        }
    }
}

/// A text in a member of an object; `None` if it is missing.
fn text<'j>(object: &'j Json, name: &str) -> Result<Option<&'j str>, String> {
    match &object[name] {
        Json::Null => Ok(None),
        Json::String(text) => Ok(Some(text)),
        _ => Err(format!("`{name}` is not a text")),
    }
}

/// The number of tokens that a text has, if nothing better is known.
fn tokens_of(text: &str) -> u64 {
    (text.chars().count() as u64)
        .div_ceil(TOKEN_CHARS)
        .clamp(1, LENGTH_MAX)
}
