//! Answers of language-model services: their tokens, events and times.
//!
//! An event belongs to the span in which it arrives, and everything that only the end of an answer
//! shows belongs to the span in which its exchange ends. Tokens are counted when they arrive: an
//! event has as many as the server's cumulative count shows, or one. If the server reports the
//! number only at the end, the difference is counted then.

mod prompts;

use crate::form;
use crate::form::{ByName, Named};
use crate::quantile::{rank, supports};
use crate::{AnswerSample, Counts, Histogram, Model, Outcome, Sample, Spread};
use drumfire_plan::{EventClass, Finish, Slo, SloTime};
use drumfire_units::Nanos;
use prompts::ByPrompt;
use std::ops::Range;

/// The figures of answers: tokens, events, and times. They exist only in runs that read answers.
#[derive(Clone, Debug, PartialEq)]
pub struct LlmFigures {
    /// Answers that ended, with any outcome.
    pub answers: u64,
    /// Answers that were running at the end of the run.
    pub open: u64,
    /// Answers with at least one event that has a token.
    pub streamed: u64,
    /// Answers with the server's count of generated tokens.
    pub counted: u64,
    /// Answers whose first event has a known number of tokens.
    pub first_counted: u64,
    /// Tokens of prompts.
    pub input: u64,
    /// Tokens of prompts that servers had in their caches.
    pub cached: u64,
    /// Answers with a report of cached tokens.
    pub cache_reports: u64,
    /// Generated tokens; negative in a span with corrections only. See [`Self::tokens`].
    output: i64,
    /// Generated tokens that are reasoning.
    pub reasoning: u64,
    /// The maximum number of tokens that requests asked for.
    pub asked: u64,
    /// Answers that ended for another reason than their own end with fewer tokens than asked for.
    pub short: u64,
    /// Events by class, in the order of [`EventClass::ALL`].
    pub events: [u64; EventClass::ALL.len()],
    /// Events with tokens that arrived in one read with the previous one, so that their gap is 0.
    pub joined: u64,
    /// Answers by the reason for their end, in the order of [`Finish::ALL`].
    pub finish: [u64; Finish::ALL.len()],
    /// From the intended start to the first token.
    pub ttft: Histogram,
    /// From the first write to the first token.
    pub ttft_service: Histogram,
    /// From the intended start to the first visible token.
    pub ttfv: Histogram,
    /// The time per token after the first event, one for each answer.
    pub tpot: Histogram,
    /// The gaps between two events with tokens, of all answers.
    pub gap: Histogram,
    /// The time per token of each gap, once for each of its tokens, if the server reports a
    /// cumulative count with each event.
    pub itl: Histogram,
    /// The longest gap of each answer.
    pub stall: Histogram,
    /// The time to the first token that is *the* one of the model, of answers whose prompts the
    /// server counted, by that count.
    by_prompt: ByPrompt,
    /// Good answers by the limits of the run's rules, in their order.
    pub good: Vec<u64>,
}

form! {
    struct LlmFigures {
        answers, open, streamed, counted, first_counted, input, cached, cache_reports, output, reasoning,
        asked, short, events as ByName<EventClass>, joined, finish as ByName<Finish>, ttft,
        ttft_service, ttfv, tpot, gap, itl, stall, by_prompt, good,
    }
}

impl Named for EventClass {
    const KINDS: &'static [Self] = &Self::ALL;

    fn stable_name(self) -> &'static str {
        self.name()
    }
}

impl Named for Finish {
    const KINDS: &'static [Self] = &Self::ALL;

    fn stable_name(self) -> &'static str {
        self.name()
    }
}

impl LlmFigures {
    /// No answers yet, with histograms that grow as needed.
    pub(crate) fn small() -> Self {
        Self {
            answers: 0,
            open: 0,
            streamed: 0,
            counted: 0,
            first_counted: 0,
            input: 0,
            cached: 0,
            cache_reports: 0,
            output: 0,
            reasoning: 0,
            asked: 0,
            short: 0,
            events: [0; EventClass::ALL.len()],
            joined: 0,
            finish: [0; Finish::ALL.len()],
            ttft: Histogram::small(),
            ttft_service: Histogram::small(),
            ttfv: Histogram::small(),
            tpot: Histogram::small(),
            gap: Histogram::small(),
            itl: Histogram::small(),
            stall: Histogram::small(),
            by_prompt: ByPrompt::default(),
            good: Vec::new(),
        }
    }

    /// Whether there were any answers, or parts of them.
    #[must_use]
    pub fn any(&self) -> bool {
        self.answers > 0
            || self.open > 0
            || self.output != 0
            || self.events.iter().any(|count| *count > 0)
    }

    /// The answers that became due, of requests with these counts: those that began, and, if all
    /// requests are answers, those that were never sent. Arrivals that were not sent have no step
    /// yet, so they are not known to be answers if other requests are not.
    #[must_use]
    pub const fn due(&self, counts: &Counts) -> u64 {
        let begun = self.answers.saturating_add(self.open);
        match begun >= counts.sent {
            true => begun
                .saturating_add(counts.dropped)
                .saturating_add(counts.pending),
            false => begun,
        }
    }

    /// The generated tokens: by the server's count, or else one for each event.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        u64::try_from(self.output).unwrap_or(0)
    }

    /// The number of events of a class.
    #[must_use]
    pub fn events_of(&self, class: EventClass) -> u64 {
        self.events[class as usize]
    }

    /// The number of answers that ended for this reason.
    #[must_use]
    pub fn finished(&self, finish: Finish) -> u64 {
        self.finish[finish as usize]
    }

    /// The time to the first token that is *the* one of this model: from the intended start in the
    /// open model, from the first write in the closed model.
    #[must_use]
    pub const fn ttft_of(&self, model: Model) -> &Histogram {
        match model {
            Model::Open => &self.ttft,
            Model::Closed => &self.ttft_service,
        }
    }

    /// The time to the first token that is *the* one of the model, by the tokens of the prompt: from
    /// the first number to below the second, which is its double. Lengths without an answer are left
    /// out, and so are answers whose prompts the server did not count.
    pub fn ttft_by_prompt(&self) -> impl Iterator<Item = (Range<u64>, &Histogram)> {
        self.by_prompt.lengths()
    }

    /// The speed of answers in tokens per second: the quantile `q`, by nearest rank. `None` without
    /// enough answers, and if the answer of this rank came in one read.
    #[must_use]
    pub fn speed(&self, q: f64) -> Option<f64> {
        speed(&self.tpot, q)
    }

    /// Counts an event.
    #[inline]
    pub fn record_event(&mut self, class: EventClass) {
        self.events[class as usize] += 1;
    }

    /// Counts tokens that have arrived.
    #[inline]
    pub fn record_tokens(&mut self, count: u64) {
        self.output = self.output.saturating_add_unsigned(count);
    }

    /// Records the time from an event with tokens to the next one, which has `tokens` tokens if
    /// that is known.
    #[inline]
    pub fn record_gap(&mut self, gap: Nanos, tokens: Option<u64>) {
        self.gap.record(gap);
        self.joined += u64::from(gap == Nanos::ZERO);
        if let Some(tokens) = tokens.filter(|tokens| *tokens > 0) {
            self.itl.record_many(Nanos(gap.0 / tokens), tokens);
        }
    }

    /// Records an answer whose exchange has ended, and the limits that it meets.
    pub fn record(&mut self, answer: &AnswerSample, sample: &Sample, model: Model, slos: &[Slo]) {
        self.answers += 1;
        self.streamed += u64::from(answer.first.is_some());
        self.record_times(answer, sample, sample.outcome.is_cut_off());
        self.record_usage(answer);
        self.record_prompt(answer, sample, model);
        if let Some(tpot) = answer.tpot() {
            self.tpot.record(tpot);
            self.first_counted += u64::from(answer.first_tokens.is_some());
        }
        if let Some(finish) = answer.finish {
            self.finish[finish as usize] += 1;
        }
        if self.good.len() < slos.len() {
            self.good.resize(slos.len(), 0);
        }
        if sample.outcome == Outcome::Ok {
            for (count, slo) in self.good.iter_mut().zip(slos) {
                *count += u64::from(meets(answer, slo, sample, model));
            }
        }
    }

    /// Records an answer that was running at the end of the drain.
    pub fn record_in_flight(&mut self, answer: &AnswerSample, sample: &Sample) {
        self.open += 1;
        self.record_times(answer, sample, true);
    }

    /// Records the times to the first tokens, and the longest gap. If the end of the answer was not
    /// seen, those that had not come are lower bounds.
    fn record_times(&mut self, answer: &AnswerSample, sample: &Sample, is_cut_off: bool) {
        let is_cut_off = is_cut_off && answer.generates;
        let put = |to: &mut Histogram, at: Option<Nanos>, start: Nanos| match at {
            Some(at) => to.record(at - start),
            None if is_cut_off && sample.end > start => to.record_at_least(sample.end - start),
            None => {}
        };
        put(&mut self.ttft, answer.first, sample.intended);
        put(&mut self.ttft_service, answer.first, sample.sent);
        put(&mut self.ttfv, answer.first_visible, sample.intended);
        match (answer.stall, answer.last) {
            (stall, Some(last)) if is_cut_off => {
                let open = sample.end - last;
                match stall.filter(|stall| *stall > open) {
                    Some(stall) => self.stall.record(stall),
                    None => self.stall.record_at_least(open),
                }
            }
            (Some(stall), _) => self.stall.record(stall),
            (None, _) => {}
        }
    }

    /// Records the time to the first token by the length of the prompt.
    fn record_prompt(&mut self, answer: &AnswerSample, sample: &Sample, model: Model) {
        let (Some(first), Some(tokens)) = (answer.first, answer.usage.input) else {
            return;
        };
        let start = match model {
            Model::Open => sample.intended,
            Model::Closed => sample.sent,
        };
        self.by_prompt.record(tokens, first - start);
    }

    fn record_usage(&mut self, answer: &AnswerSample) {
        let usage = &answer.usage;
        let add = |to: &mut u64, count: Option<u32>| {
            *to = to.saturating_add(u64::from(count.unwrap_or(0)));
        };
        add(&mut self.input, usage.input);
        add(&mut self.cached, usage.cached);
        self.cache_reports += u64::from(usage.cached.is_some());
        add(&mut self.reasoning, usage.reasoning);
        add(&mut self.asked, answer.asked);
        if let Some(output) = usage.output {
            self.counted += 1;
            let more = i64::from(output).saturating_sub_unsigned(answer.counted);
            self.output = self.output.saturating_add(more);
            let is_less = answer.asked.is_some_and(|asked| output < asked);
            self.short += u64::from(is_less && answer.finish == Some(Finish::Length));
        }
    }

    /// Adds `other`.
    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.counts_mut().into_iter().zip(other.counts()) {
            *mine = mine.saturating_add(theirs);
        }
        self.output = self.output.saturating_add(other.output);
        add_all(&mut self.events, &other.events);
        add_all(&mut self.finish, &other.finish);
        if self.good.len() < other.good.len() {
            self.good.resize(other.good.len(), 0);
        }
        add_all(&mut self.good, &other.good);
        for (mine, theirs) in self.times_mut().into_iter().zip(other.times()) {
            mine.merge(theirs);
        }
        self.by_prompt.merge(&other.by_prompt);
    }

    /// Resets all values and keeps the memory.
    pub fn reset(&mut self) {
        self.counts_mut().into_iter().for_each(|count| *count = 0);
        self.output = 0;
        self.events.fill(0);
        self.finish.fill(0);
        self.good.clear();
        self.times_mut().into_iter().for_each(Histogram::reset);
        self.by_prompt.reset();
    }

    const fn counts(&self) -> [u64; 12] {
        [
            self.answers,
            self.open,
            self.streamed,
            self.counted,
            self.first_counted,
            self.input,
            self.cached,
            self.cache_reports,
            self.reasoning,
            self.asked,
            self.short,
            self.joined,
        ]
    }

    const fn counts_mut(&mut self) -> [&mut u64; 12] {
        [
            &mut self.answers,
            &mut self.open,
            &mut self.streamed,
            &mut self.counted,
            &mut self.first_counted,
            &mut self.input,
            &mut self.cached,
            &mut self.cache_reports,
            &mut self.reasoning,
            &mut self.asked,
            &mut self.short,
            &mut self.joined,
        ]
    }

    const fn times(&self) -> [&Histogram; 7] {
        [
            &self.ttft,
            &self.ttft_service,
            &self.ttfv,
            &self.tpot,
            &self.gap,
            &self.itl,
            &self.stall,
        ]
    }

    const fn times_mut(&mut self) -> [&mut Histogram; 7] {
        [
            &mut self.ttft,
            &mut self.ttft_service,
            &mut self.ttfv,
            &mut self.tpot,
            &mut self.gap,
            &mut self.itl,
            &mut self.stall,
        ]
    }
}

/// The quantile `q` of the speeds of answers with these times per token, by nearest rank, in tokens
/// per second. `None` without enough answers, and if the answer of this rank came in one read: its
/// tokens have no time between them.
pub(crate) fn speed(tpot: &Histogram, q: f64) -> Option<f64> {
    let count = tpot.count();
    if !supports(count, q) {
        return None;
    }
    // A higher speed is a shorter time, so ranks count from the other end.
    let from_above = match q <= 0.0 {
        true => count,
        false => count - rank(count, q) + 1,
    };
    let time = tpot.quantile_unchecked(from_above as f64 / count as f64);
    (time > Nanos::ZERO).then(|| 1e9 / time.0 as f64)
}

/// Whether an answer meets these limits. A time that does not exist meets no limit, except that an
/// answer of a single token has no time per token and no gaps.
fn meets(answer: &AnswerSample, slo: &Slo, sample: &Sample, model: Model) -> bool {
    let start = match model {
        Model::Open => sample.intended,
        Model::Closed => sample.sent,
    };
    let is_short = answer.is_complete && answer.usage.output.is_some_and(|count| count <= 1);
    slo.0.iter().all(|limit| {
        let time = match limit.time {
            SloTime::Ttft => answer.first.map(|at| at - start),
            SloTime::Ttfv => answer.first_visible.map(|at| at - start),
            SloTime::Tpot if is_short => Some(Nanos::ZERO),
            SloTime::Tpot => answer.tpot(),
            SloTime::Stall => answer.stall.or_else(|| answer.first.map(|_| Nanos::ZERO)),
            SloTime::Response => Some(sample.end - sample.intended),
            SloTime::Service => Some(sample.end - sample.sent),
        };
        time.is_some_and(|time| limit.allows(time))
    })
}

fn add_all(mine: &mut [u64], theirs: &[u64]) {
    for (mine, theirs) in mine.iter_mut().zip(theirs) {
        *mine = mine.saturating_add(*theirs);
    }
}

/// The figures of answers that rows and pictures over time need.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LlmOverview {
    /// Generated tokens; negative in a span with corrections only.
    output: i64,
    /// The time to the first token that is *the* one of the model.
    ttft: Histogram,
    /// The time per token after the first event.
    tpot: Histogram,
    /// The gaps between two events with tokens.
    gap: Histogram,
}

form! { struct LlmOverview { output, ttft, tpot, gap } }

impl LlmOverview {
    /// No answers yet.
    pub(crate) fn small() -> Self {
        Self {
            output: 0,
            ttft: Histogram::small(),
            tpot: Histogram::small(),
            gap: Histogram::small(),
        }
    }

    /// Adds answers.
    pub(crate) fn add(&mut self, llm: &LlmFigures, model: Model) {
        self.output = self.output.saturating_add(llm.output);
        self.ttft.merge(llm.ttft_of(model));
        self.tpot.merge(&llm.tpot);
        self.gap.merge(&llm.gap);
    }

    /// Adds `other`.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.output = self.output.saturating_add(other.output);
        self.ttft.merge(&other.ttft);
        self.tpot.merge(&other.tpot);
        self.gap.merge(&other.gap);
    }

    /// The gaps between two events with tokens.
    pub(crate) const fn gaps(&self) -> &Histogram {
        &self.gap
    }

    /// Its figures for a row.
    pub(crate) fn row(&self) -> LlmRow {
        LlmRow {
            tokens: u64::try_from(self.output).unwrap_or(0),
            ttft: Spread::from_histogram(&self.ttft),
            tpot: Spread::from_histogram(&self.tpot),
        }
    }
}

/// The figures of answers in a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LlmRow {
    /// Generated tokens that arrived in the row's span.
    pub tokens: u64,
    /// The time to the first token that is *the* one of the model.
    pub ttft: Spread,
    /// The time per token after the first event.
    pub tpot: Spread,
}

/// The answers of a pool or a step. They take memory only if there are any.
#[derive(Clone, Debug, Default)]
pub(crate) struct Llm(Option<Box<LlmFigures>>);

impl Llm {
    /// The figures, if there are any.
    pub(crate) fn get(&self) -> Option<&LlmFigures> {
        self.0.as_deref().filter(|figures| figures.any())
    }

    /// The figures, for recording.
    #[inline]
    pub(crate) fn get_mut(&mut self) -> &mut LlmFigures {
        self.0.get_or_insert_with(|| Box::new(LlmFigures::small()))
    }

    /// Adds `other`.
    pub(crate) fn merge(&mut self, other: &Self) {
        if let Some(other) = other.get() {
            self.get_mut().merge(other);
        }
    }

    /// Removes all figures and keeps the memory.
    pub(crate) fn reset(&mut self) {
        if let Some(figures) = &mut self.0 {
            figures.reset();
        }
    }
}

impl PartialEq for Llm {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}
