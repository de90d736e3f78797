//! The results of `vllm bench serve`: its figures, its console table and its JSON.
//!
//! The definitions are those of vLLM's Python client since September 2026 and differ from drumfire's
//! own: an answer is timed from when its connection took it or began to be opened, only answers
//! that succeeded have times, the end of an answer is its last event with tokens, and percentiles
//! are interpolated. `docs/dialects/vllm.md` lists them.
//!
//! [`VllmTally`] keeps a record of each answer, because interpolated percentiles and the lists of
//! `--save-detailed` need every time. Its memory is limited by [`REQUESTS_MAX`] and [`GAPS_MAX`].

mod console;
mod figures;
mod json;

pub use console::table;
pub use figures::{VllmFigures, VllmMetric, percentile_word};
pub use json::{VllmFacts, VllmRamp, date, json};

use drumfire_measure::{Kept, KeptAnswer, Outcome};
use drumfire_units::Nanos;

/// The maximum number of answers of a result.
pub const REQUESTS_MAX: usize = 1 << 22;

/// The maximum number of gaps of all answers together. Further answers have none.
pub const GAPS_MAX: usize = 1 << 26;

/// One answer. Its times count from the start of the run.
#[derive(Clone, Debug, PartialEq)]
struct Answered {
    /// The number of the request, in order of issue.
    arrival: u64,
    intended: Nanos,
    /// When its connection took the request, or began to be opened.
    began: Nanos,
    first: Option<Nanos>,
    /// The last event with tokens; for an answer without a stream, the end of the exchange.
    last: Nanos,
    gaps: Box<[Nanos]>,
    input: u32,
    output: u32,
    /// Why it failed.
    error: Option<Box<str>>,
}

impl Answered {
    fn is_ok(&self) -> bool {
        self.error.is_none()
    }

    /// The time to the first token; `None` without a stream.
    fn ttft(&self) -> Option<Nanos> {
        self.first.map(|first| first - self.began)
    }

    fn end_to_end(&self) -> Nanos {
        self.last - self.began
    }

    fn queued(&self) -> Nanos {
        self.began - self.intended
    }

    /// The time per token after the first in nanoseconds; `None` for an answer of one token.
    fn tpot(&self) -> Option<f64> {
        let tokens = self.output.checked_sub(1).filter(|tokens| *tokens > 0)?;
        let first = self.first?;
        Some((self.last - first).0 as f64 / f64::from(tokens))
    }
}

/// The answers of a run so far.
#[derive(Clone, Debug, Default)]
pub struct VllmTally {
    /// Whether all requests count as due at the start of the run, as without a rate.
    is_burst: bool,
    answers: Vec<Answered>,
    gaps: usize,
    /// Answers whose gaps are not all known.
    incomplete: u64,
    /// Answers beyond [`REQUESTS_MAX`].
    beyond: u64,
}

impl VllmTally {
    /// An empty tally of requests that all count as due at the start of the run, because vLLM's
    /// client without a rate issues them at once and lets them wait.
    #[must_use]
    pub fn of_burst() -> Self {
        Self {
            is_burst: true,
            ..Self::default()
        }
    }

    /// Adds a sample. Samples that are not answers of language models are ignored. `error` is the
    /// text of a failure without secrets.
    pub fn record(&mut self, kept: &Kept, error: Option<&str>) {
        let Some(answer) = &kept.answer else {
            return;
        };
        if self.answers.len() >= REQUESTS_MAX {
            self.beyond += 1;
            return;
        }
        let gaps = match self.gaps.saturating_add(answer.gaps.len()) <= GAPS_MAX {
            true => answer.gaps.as_slice(),
            false => &[],
        };
        self.gaps += gaps.len();
        let has_all = gaps.len() as u64 == answer.answer.token_events.saturating_sub(1);
        self.incomplete += u64::from(!has_all);
        let mut answered = answered(kept, answer, gaps, error);
        if self.is_burst {
            answered.intended = Nanos::ZERO;
        }
        self.answers.push(answered);
    }

    /// Sorts the answers in order of issue, after the last one.
    pub fn close(&mut self) {
        self.answers.sort_by_key(|answer| {
            let Answered {
                intended, arrival, ..
            } = *answer;
            (intended, arrival)
        });
    }

    /// The number of answers, also of those that failed.
    #[must_use]
    pub fn count(&self) -> usize {
        self.answers.len()
    }

    /// What the result lacks because of its limits: a line for the user.
    #[must_use]
    pub fn lack(&self) -> Option<String> {
        if self.beyond > 0 {
            let beyond = self.beyond;
            return Some(format!(
                "vLLM's result lists at most {REQUESTS_MAX} answers, and lacks {beyond}"
            ));
        }
        let incomplete = self.incomplete;
        (incomplete > 0).then(|| {
            format!(
                "vLLM's result lacks times between tokens of {incomplete} answers, which had too \
                 many"
            )
        })
    }

    /// The texts of the first failures, at most `count`.
    #[must_use]
    pub fn errors(&self, count: usize) -> Vec<&str> {
        let errors = self.answers.iter().filter_map(|a| a.error.as_deref());
        errors.take(count).collect()
    }
}

fn answered(kept: &Kept, of: &KeptAnswer, gaps: &[Nanos], error: Option<&str>) -> Answered {
    let (sample, answer) = (&kept.sample, &of.answer);
    let is_ok = sample.outcome == Outcome::Ok;
    let events = u32::try_from(answer.token_events).unwrap_or(u32::MAX);
    let output = match (answer.generates, is_ok) {
        (true, true) => answer.usage.output.unwrap_or(events).max(1),
        _ => 0,
    };
    // A sample's own times never precede each other, but the start of a connection may follow an
    // end that came before it.
    let began = kept
        .particulars
        .began
        .clamp(sample.intended, sample.end.max(sample.intended));
    Answered {
        arrival: kept.particulars.arrival,
        intended: sample.intended,
        began,
        first: answer.first.map(|at| at.max(began)),
        last: answer.last.unwrap_or(sample.end).max(began),
        gaps: gaps.into(),
        input: match is_ok {
            true => answer.usage.input.unwrap_or(0),
            false => 0,
        },
        output,
        error: (!is_ok).then(|| match error {
            Some(text) => format!("{}: {text}", sample.outcome.name()).into(),
            None => sample.outcome.name().into(),
        }),
    }
}

#[cfg(test)]
mod tests;
