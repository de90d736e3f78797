//! Recorded sessions, in memory.

use crate::prompts::trace::{Cache, TraceTotals};
use drumfire_units::Nanos;
use std::ops::Range;

/// Recorded sessions.
#[derive(Debug, Default)]
pub struct SessionTrace {
    pub(super) sessions: Vec<Session>,
    /// The turns of all sessions, one after the other.
    pub(super) turns: Vec<Turn>,
    /// All texts.
    pub(super) texts: String,
    /// The numbers of all blocks.
    pub(super) ids: Vec<u64>,
    /// The tokens of a whole block.
    pub(super) block: u64,
    /// Whether each turn has the whole prompt, with all turns before it.
    pub(super) whole: bool,
    /// What was left out.
    pub(super) note: Option<String>,
}

/// A session.
#[derive(Debug, Default)]
pub(super) struct Session {
    /// The end of its turns; they begin at the end of the session before.
    pub(super) end: usize,
    /// The start on the trace's clock, if it was recorded.
    pub(super) at: Option<Nanos>,
    /// The system's message.
    pub(super) system: Option<Range<usize>>,
}

/// A turn of a session.
#[derive(Clone, Debug)]
pub(super) struct Turn {
    pub(super) prompt: Content,
    /// The tokens of the answer.
    pub(super) output: u64,
    /// From the end of the answer before.
    pub(super) delay: Nanos,
    /// From the start of the session, if it was recorded.
    pub(super) at: Option<Nanos>,
    /// The recorded text of the answer.
    pub(super) answer: Option<Range<usize>>,
}

/// How a turn's prompt is kept.
#[derive(Clone, Debug)]
pub(super) enum Content {
    /// A number of words.
    Words(u64),
    /// The first words of the session's text.
    Beginning(u64),
    /// A part of the texts.
    Text(Range<usize>),
    /// A part of the numbers of blocks, and the words of all of them.
    Blocks(Range<usize>, u64),
}

/// The prompt of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Prompt<'a> {
    /// This number of new words.
    Words(u64),
    /// This number of words from the beginning of the session's text.
    Beginning(u64),
    /// A text.
    Text(&'a str),
    /// Blocks by their numbers, each of `size` words, and `words` in all.
    Blocks {
        ids: &'a [u64],
        words: u64,
        size: u64,
    },
}

impl SessionTrace {
    /// The number of sessions.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.sessions.len() as u64
    }

    /// The maximum number of turns in a session.
    #[must_use]
    pub fn turns_max(&self) -> u64 {
        let turns = (0..self.count()).map(|row| self.turns(row).len() as u64);
        turns.max().unwrap_or_default()
    }

    /// Whether each turn has the whole prompt, with all turns before it.
    #[must_use]
    pub const fn is_whole(&self) -> bool {
        self.whole
    }

    /// The times at which the sessions start at this speed, from the first one on; `None` if a
    /// session has no time.
    #[must_use]
    pub fn times(&self, speed: f64) -> Option<Vec<Nanos>> {
        let starts: Option<Vec<Nanos>> = self.sessions.iter().map(|session| session.at).collect();
        let starts = starts?;
        let first = starts.first().copied().unwrap_or_default();
        let scaled = |at: &Nanos| Nanos(((*at - first).0 as f64 / speed) as u64);
        Some(starts.iter().map(scaled).collect())
    }

    /// The sums over all turns, one session after the other. Prompts that are texts have no tokens
    /// here, and only whole prompts have a cached share.
    #[must_use]
    pub fn totals(&self) -> TraceTotals {
        let mut totals = TraceTotals::default();
        let (mut cache, mut cached) = (Cache::default(), 0);
        for row in 0..self.count() {
            // The beginning of the session's text that a turn before has sent.
            let mut sent = 0;
            for turn in self.turns(row) {
                totals.requests += 1;
                totals.output += turn.output;
                totals.input += match &turn.prompt {
                    Content::Text(_) => 0,
                    Content::Words(words) => *words,
                    Content::Beginning(words) => {
                        cached += sent.min(*words);
                        sent = sent.max(*words);
                        *words
                    }
                    Content::Blocks(ids, words) => {
                        // A block in part is not cached.
                        let whole = usize::try_from(words / self.block).unwrap_or(usize::MAX);
                        let ids = self.ids[ids.clone()].iter().take(whole);
                        cached += cache.admit(ids.copied()) * self.block;
                        *words
                    }
                };
            }
        }
        totals.cached = self.whole.then_some(cached);
        totals
    }

    /// The remark on what was left out.
    pub(super) fn note(&self) -> Option<String> {
        self.note.clone()
    }

    fn session(&self, row: u64) -> Option<(Range<usize>, &Session)> {
        let row = usize::try_from(row).ok()?;
        let session = self.sessions.get(row)?;
        let start = row
            .checked_sub(1)
            .map_or(0, |before| self.sessions[before].end);
        Some((start..session.end, session))
    }

    /// The turns of a session.
    pub(super) fn turns(&self, row: u64) -> &[Turn] {
        self.session(row)
            .map_or(&[], |(turns, _)| &self.turns[turns])
    }

    fn turn(&self, row: u64, turn: u64) -> Option<&Turn> {
        self.turns(row).get(usize::try_from(turn).ok()?)
    }

    pub(super) fn prompt(&self, row: u64, turn: u64) -> Prompt<'_> {
        let turn = self.turn(row, turn);
        match turn.map(|turn| &turn.prompt) {
            None => Prompt::Words(0),
            Some(Content::Words(words)) => Prompt::Words(*words),
            Some(Content::Beginning(words)) => Prompt::Beginning(*words),
            Some(Content::Text(text)) => Prompt::Text(&self.texts[text.clone()]),
            Some(Content::Blocks(ids, words)) => Prompt::Blocks {
                ids: &self.ids[ids.clone()],
                words: *words,
                size: self.block,
            },
        }
    }

    pub(super) fn system(&self, row: u64) -> Option<&str> {
        let (_, session) = self.session(row)?;
        session.system.clone().map(|system| &self.texts[system])
    }

    pub(super) fn answer(&self, row: u64, turn: u64) -> Option<&str> {
        let answer = self.turn(row, turn)?.answer.clone();
        answer.map(|answer| &self.texts[answer])
    }

    pub(super) fn output(&self, row: u64, turn: u64) -> u64 {
        self.turn(row, turn).map_or(1, |turn| turn.output.max(1))
    }

    pub(super) fn delay(&self, row: u64, turn: u64) -> Nanos {
        self.turn(row, turn).map_or(Nanos::ZERO, |turn| turn.delay)
    }

    pub(super) fn at(&self, row: u64, turn: u64) -> Option<Nanos> {
        self.turn(row, turn)?.at
    }
}
