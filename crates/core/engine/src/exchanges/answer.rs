//! The answer of a language model: its events are classified and timed, and its end is judged.
//!
//! [`EventState`](super::event_stream::EventState) passes each event to [`AnswerState::receive`]
//! while it reads a piece of the stream, and then calls [`AnswerState::record`] once, because the
//! figures are not at hand while a piece is read. The texts are untrusted: `drumfire_llm` bounds
//! their memory, and a whole answer has at most [`ANSWER_BYTES`].

use super::context::KindContext;
use super::look::Look;
use crate::blame::Failure;
use crate::limits::{ANSWER_BYTES, KEPT_GAPS, SHOWN_BYTES};
use crate::prepare::Request;
use drumfire_llm::{Answer, AnswerTooLong, Ending};
use drumfire_measure::{AnswerSample, Detail, FAILED_BODY_BYTES, Leniencies, Leniency, Outcome};
use drumfire_plan::{EventClass, LlmApi};
use drumfire_units::Nanos;

/// The memory for a whole answer that is kept for the next one.
const KEPT_BYTES: usize = 64 * 1024;

/// An answer that is being read; reused by the next exchange with the same entry.
#[derive(Debug, Default)]
pub(super) struct AnswerState {
    answer: Answer,
    /// The times and numbers so far.
    sample: AnswerSample,
    /// The server's count of tokens with the last event, if each event so far had one.
    output: Option<u32>,
    /// The events of the current piece.
    came: Vec<CameEvent>,
    /// The gaps between events, if the plan keeps its samples; at most [`KEPT_GAPS`].
    gaps: Vec<Nanos>,
    /// A whole answer.
    body: Vec<u8>,
}

/// An event that has come and is not recorded yet.
#[derive(Debug)]
struct CameEvent {
    class: EventClass,
    /// The tokens to count.
    tokens: u64,
    /// The time since the previous event with tokens.
    gap: Option<Nanos>,
    /// The number of tokens since that event, if the server reports it.
    since: Option<u64>,
}

impl AnswerState {
    /// Begins an answer of this interface to a request.
    pub(super) fn begin(&mut self, api: LlmApi, request: &Request) {
        self.answer.begin(api);
        let inspection = request.inspection();
        if let Some(max) = inspection.and_then(|inspection| inspection.answer_max()) {
            self.answer
                .keep(usize::try_from(max.0).unwrap_or(usize::MAX));
        }
        self.forget();
    }

    /// Forgets the numbers of the previous answer.
    pub(super) fn forget(&mut self) {
        self.sample = AnswerSample::default();
        self.output = None;
        self.came.clear();
        self.gaps.clear();
        match self.body.capacity() > KEPT_BYTES {
            true => self.body = Vec::new(),
            false => self.body.clear(),
        }
    }

    /// Receives an event, whose data were complete at `at`.
    pub(super) fn receive(&mut self, name: &str, data: &str, at: Nanos) {
        let seen = self.answer.event(name, data);
        let mut came = CameEvent {
            class: seen.class,
            tokens: 0,
            gap: None,
            since: None,
        };
        if seen.class == EventClass::Token {
            let sample = &mut self.sample;
            let before = match sample.first {
                None => Some(0),
                Some(_) => self.output,
            };
            came.since = seen
                .output
                .zip(before)
                .map(|(now, before)| u64::from(now.saturating_sub(before)));
            came.tokens = came.since.unwrap_or(1);
            if sample.first.is_none() {
                sample.first = Some(at);
                sample.first_tokens = seen.output.filter(|count| *count > 0);
            }
            if seen.is_visible && sample.first_visible.is_none() {
                sample.first_visible = Some(at);
            }
            came.gap = sample.last.map(|last| at - last);
            sample.stall = sample.stall.max(came.gap);
            sample.last = Some(at);
            sample.token_events += 1;
            sample.counted = sample.counted.saturating_add(came.tokens);
            self.output = came.since.and(seen.output);
        }
        self.came.push(came);
    }

    /// Records the events that have come since the last call, if the exchange is measured.
    pub(super) fn record(&mut self, cx: &mut KindContext<'_>) {
        if !self.came.is_empty() && cx.is_measured() {
            let figures = cx.figures.llm_mut(cx.request.step);
            for came in &self.came {
                figures.record_event(came.class);
                figures.record_tokens(came.tokens);
                if let Some(gap) = came.gap {
                    figures.record_gap(gap, came.since);
                }
            }
            if cx.rules.keeps_samples() {
                let room = KEPT_GAPS - self.gaps.len();
                let gaps = self.came.iter().filter_map(|came| came.gap);
                self.gaps.extend(gaps.take(room));
            }
        }
        self.came.clear();
    }

    /// Keeps a piece of a whole answer.
    ///
    /// # Errors
    /// If the answer is too long.
    pub(super) fn keep(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        if self.body.len() + bytes.len() > ANSWER_BYTES {
            let reason = format!("the answer has more than {ANSWER_BYTES} bytes");
            return Err(Failure::with(Outcome::LimitBody, reason));
        }
        self.body.extend_from_slice(bytes);
        Ok(())
    }

    /// Ends a whole answer, and judges it. If it is good, its inspection sees the whole body.
    pub(super) fn end_whole(&mut self, cx: &mut KindContext<'_>) -> Failure {
        self.answer.whole(&self.body);
        let ending = self.end(cx);
        if let Err(failure) = ending {
            let look = cx.exchange.look.get_or_insert_default();
            look.sample(&self.body, FAILED_BODY_BYTES);
            return failure;
        }
        if let Err(failure) = self.show_whole(cx) {
            return failure;
        }
        cx.inspect()
    }

    /// Passes the body to the look at the response, if there is one.
    fn show_whole(&self, cx: &mut KindContext<'_>) -> Result<(), Failure> {
        let inspection = cx.request.inspection();
        let max = inspection.and_then(|inspection| inspection.body_max());
        let shows = cx.rules.shows();
        let looks = cx.rules.looks();
        let look: Option<&mut Look> = cx.exchange.look.as_deref_mut().filter(|_| looks);
        match (look, max) {
            (Some(look), Some(max)) => look.keep(&self.body, max.0),
            (Some(look), None) if shows => {
                look.sample(&self.body, SHOWN_BYTES);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Ends an answer whose response is complete, and judges it.
    ///
    /// # Errors
    /// If the answer failed.
    pub(super) fn end(&mut self, cx: &mut KindContext<'_>) -> Result<(), Failure> {
        let ending = self.answer.ending();
        self.sample.is_complete = matches!(ending, Ending::Complete | Ending::Unmarked);
        match ending {
            Ending::Complete => self.show_text(cx),
            Ending::Unmarked => {
                let mut leniencies = Leniencies::default();
                leniencies.insert(Leniency::UnmarkedEnd);
                cx.exchange.account.note_leniencies(leniencies);
                self.show_text(cx)
            }
            Ending::Cut => Err(Failure::from_outcome(Outcome::LlmCut)),
            Ending::Empty => Err(Failure::from_outcome(Outcome::LlmEmpty)),
            Ending::Unreadable => Err(Failure::from_outcome(Outcome::LlmUnreadable)),
            Ending::Error(_) => Err(self.error().unwrap_or_else(|| {
                // The ending is an error only if there is one.
                Failure::from_outcome(Outcome::LlmError)
            })),
        }
    }

    /// Passes the text to the look at the response, if the plan uses it.
    fn show_text(&mut self, cx: &mut KindContext<'_>) -> Result<(), Failure> {
        match self.answer.finish_text() {
            None => Ok(()),
            Some(Ok(text)) => {
                cx.exchange.look.get_or_insert_default().set_answer(text);
                Ok(())
            }
            Some(Err(AnswerTooLong)) => {
                let reason = "the answer has more bytes than the plan may inspect";
                Err(Failure::with(Outcome::LimitBody, reason))
            }
        }
    }

    /// The failure of an answer with an error, also if its response was cut off afterwards.
    pub(super) fn error(&self) -> Option<Failure> {
        let Ending::Error(kind) = self.answer.ending() else {
            return None;
        };
        let outcome = Outcome::of_llm_error(kind);
        let text = self.answer.error_text();
        Some(match text.is_empty() {
            true => Failure::from_outcome(outcome),
            false => Failure::with(outcome, Detail::new(text, None)),
        })
    }

    /// The gaps so far, if the plan keeps its samples.
    pub(super) fn gaps(&self) -> &[Nanos] {
        &self.gaps
    }

    /// The times and numbers so far. `asked` is the maximum number of tokens in the request.
    pub(super) fn sample(&self, api: LlmApi, asked: Option<u32>) -> AnswerSample {
        AnswerSample {
            generates: api.streams(),
            usage: self.answer.usage(),
            finish: self.answer.finish(),
            asked,
            ..self.sample
        }
    }
}
