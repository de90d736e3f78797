//! The times and numbers of one answer of a language model.

use crate::form;
use drumfire_plan::{Finish, TokenUsage};
use drumfire_units::Nanos;

/// The times and numbers of one answer, so far or at its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AnswerSample {
    /// Whether the interface has tokens in its answers: embeddings have none.
    pub generates: bool,
    /// The time of the first event with a token; `None` before it, and without a stream.
    pub first: Option<Nanos>,
    /// The time of the first event with a visible token.
    pub first_visible: Option<Nanos>,
    /// The time of the last event with a token.
    pub last: Option<Nanos>,
    /// The longest time between two events with tokens.
    pub stall: Option<Nanos>,
    /// The number of events with tokens.
    pub token_events: u64,
    /// The number of tokens of the first event, if the server reports it.
    pub first_tokens: Option<u32>,
    /// The number of tokens that were counted when they arrived.
    pub counted: u64,
    /// The server's last report.
    pub usage: TokenUsage,
    /// The maximum number of tokens that the request asked for, if it did.
    pub asked: Option<u32>,
    /// The reason for the end.
    pub finish: Option<Finish>,
    /// Whether the server has ended the answer.
    pub is_complete: bool,
}

form! {
    struct AnswerSample {
        generates, first, first_visible, last, stall, token_events, first_tokens, counted, usage,
        asked, finish, is_complete,
    }
}

impl AnswerSample {
    /// The time per token after the first event: (last − first) ÷ (N − n₁), where N is the server's
    /// count and n₁ the tokens of the first event, 1 if they are unknown. `None` for an answer that
    /// was cut, without usage, or with a single event.
    #[must_use]
    pub fn tpot(&self) -> Option<Nanos> {
        let (first, last) = (self.first?, self.last?);
        let tokens = self
            .usage
            .output?
            .checked_sub(self.first_tokens.unwrap_or(1))?;
        let is_timed = self.is_complete && self.token_events > 1 && tokens > 0;
        is_timed.then(|| Nanos((last - first).0 / u64::from(tokens)))
    }
}

/// An answer with the times of its events, for outputs with a row for every request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeptAnswer {
    /// The times and numbers of the answer. Its times count from the run's start.
    pub answer: AnswerSample,
    /// The times from each event with tokens to the next one, in their order. The engine limits
    /// their number; if it reached the limit, there are fewer than the answer has events.
    pub gaps: Vec<Nanos>,
}

form! {
    struct KeptAnswer { answer, gaps }
}

impl KeptAnswer {
    /// Whether the gaps are those of all events.
    #[must_use]
    pub fn has_all_gaps(&self) -> bool {
        self.gaps.len() as u64 == self.answer.token_events.saturating_sub(1)
    }
}
