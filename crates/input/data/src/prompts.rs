//! Prompts for language models: made-up ones by laws of lengths, and those of traces.
//!
//! [`Prompts`] is the table of a feed, whose row is a prompt with its limits. A row is a function of
//! its number, the plan's seed, and the nonce of a run. Lengths, texts, prefixes and models have
//! random streams of their own, so that a change of one law leaves the others as they were. Only
//! texts depend on the nonce: two runs of a plan send the same lengths, and no text twice.
//!
//! A word counts as a token, because drumfire has no tokenizer. The words of [`words`] are short and
//! common.

mod lengths;
mod prefix;
mod sessions;
#[cfg(test)]
mod tests;
mod trace;
mod words;

pub use lengths::{LENGTH_MAX, Lengths, LengthsError};
pub use prefix::{PrefixOrder, PrefixPool, PrefixPoolError};
pub use sessions::{
    SESSION_FORMATS, SessionFormat, SessionOptions, SessionTrace, SessionTraceOptions, Sessions,
    TURN_GROUPS, TURNS_MAX, read_sessions,
};
pub use trace::{TRACE_FORMATS, Trace, TraceFormat, TraceOptions, TraceTotals};

use crate::Random;
use crate::feed::{ComputedRows, Feed};
use crate::integer::push_integer;
use drumfire_plan::DataError;
use minijinja::Value;
use prefix::Chooser;
use std::sync::Arc;
use words::{BITS, WORDS};

/// Keeps the random numbers of prompts different from those of feeds and templates.
const LANE: u64 = 0x7072_6f6d_7074;
/// The number of documents of a made-up request to rank them.
const DOCUMENTS: u64 = 10;
/// The maximum number of rows whose tokens are summed for a budget.
const BUDGET_ROWS_MAX: u64 = 20_000_000;

/// The random streams of a prompt.
#[derive(Clone, Copy)]
enum Stream {
    Input = 1,
    Output,
    Text,
    Prefix,
    PrefixText,
    Model,
    Block,
    Documents,
    DocumentTexts,
    Turns,
    Delay,
    Session,
    Answer,
    Result,
    ResultText,
}

/// The columns of the table, by their numbers.
const COLUMNS: [&str; 5] = ["prompt", "max_tokens", "model", "messages", "documents"];

/// What prompts are made of.
#[derive(Clone, Debug)]
pub struct PromptOptions {
    /// The seed of the plan, and the number of the pool, so that pools send different prompts.
    pub seed: u64,
    /// The number of the pool in its plan, from 0.
    pub pool: u64,
    /// The nonce of the run; `None` for the same texts in every run.
    pub nonce: Option<u64>,
    /// The words of a prompt.
    pub input: Lengths,
    /// The maximum number of tokens of an answer. `None` leaves it to the server, or for a trace, to
    /// the trace.
    pub output: Option<Lengths>,
    /// The shared beginnings.
    pub prefix: Option<PrefixPool>,
    /// The models with their weights; at least one, with weights above 0.
    pub models: Vec<(String, u64)>,
}

/// A table of prompts.
#[derive(Debug)]
pub struct Prompts {
    options: PromptOptions,
    /// The seed of lengths and choices.
    seed: u64,
    /// The seed of texts.
    text_seed: u64,
    prefixes: Option<Chooser>,
    /// The sum of the models' weights.
    weights: u64,
    trace: Option<Trace>,
}

impl Prompts {
    /// Prompts with these options, of a trace if one is given.
    #[must_use]
    pub fn new(options: PromptOptions, trace: Option<Trace>) -> Self {
        let seed = Random::new(options.seed, options.pool, LANE, 0).bits();
        let text_seed = match options.nonce {
            Some(nonce) => Random::new(seed, nonce, LANE, 1).bits(),
            None => seed,
        };
        Self {
            seed,
            text_seed,
            prefixes: options.prefix.as_ref().map(PrefixPool::chooser),
            weights: options.models.iter().map(|(_, weight)| weight).sum(),
            options,
            trace,
        }
    }

    /// The number of prompts; at least 1.
    #[must_use]
    pub fn rows(&self) -> u64 {
        let trace = self.trace.as_ref();
        trace.map_or(u64::MAX, |trace| trace.rows().len() as u64)
    }

    /// A remark for the report: how to send the same prompts again, and what was left out of a trace.
    #[must_use]
    pub fn note(&self) -> Option<String> {
        self.trace.as_ref().and_then(|trace| trace.note())
    }

    /// The number of rows from the first on whose words and requested tokens do not exceed a budget
    /// together. Answers without a limit count as nothing.
    #[must_use]
    pub fn rows_within(&self, budget: u64) -> u64 {
        let mut sum = 0_u64;
        let rows = self.rows().min(BUDGET_ROWS_MAX);
        for row in 0..rows {
            let prefix = self.options.prefix.map_or(0, |prefix| prefix.words);
            let tokens = self.input(row) + prefix + self.max_tokens(row).unwrap_or(0);
            sum = sum.saturating_add(tokens);
            if sum > budget {
                return row;
            }
        }
        rows
    }

    /// The feed of the prompts, with the columns [`COLUMNS`].
    #[must_use]
    pub fn into_feed(self) -> Feed {
        Feed::from_computed(&COLUMNS, self.rows(), self.note(), Arc::new(self))
    }

    /// The random numbers of one purpose in a row, which do not depend on the nonce.
    fn random(&self, row: u64, stream: Stream) -> Random {
        Random::new(self.seed, row, LANE, stream as u64)
    }

    /// The random numbers of a text.
    fn text_random(&self, number: u64, stream: Stream) -> Random {
        Random::new(self.text_seed, number, LANE, stream as u64)
    }

    /// The words of a prompt without its prefix.
    fn input(&self, row: u64) -> u64 {
        match &self.trace {
            Some(trace) => trace.row(row).map_or(0, |row| u64::from(row.input)),
            None => self.options.input.drawn(self.random(row, Stream::Input)),
        }
    }

    /// The maximum number of tokens of an answer. A law overrides the trace.
    fn max_tokens(&self, row: u64) -> Option<u64> {
        let drawn = |law: &Lengths| law.drawn(self.random(row, Stream::Output));
        let own = self.options.output.as_ref().map(drawn);
        own.or_else(|| {
            let row = self.trace.as_ref()?.row(row)?;
            Some(u64::from(row.output).max(1))
        })
    }

    fn model(&self, row: u64) -> &str {
        let mut drawn = self.random(row, Stream::Model).below(self.weights);
        for (model, weight) in &self.options.models {
            match drawn.checked_sub(*weight) {
                Some(rest) => drawn = rest,
                None => return model,
            }
        }
        ""
    }

    /// Appends the shared beginning of a row's prompt, if there is one.
    fn push_prefix(&self, row: u64, out: &mut String) {
        if let (Some(prefix), Some(chooser)) = (&self.options.prefix, &self.prefixes) {
            let number = chooser.choose(row, self.random(row, Stream::Prefix));
            push_words(
                self.text_random(number, Stream::PrefixText),
                prefix.words,
                out,
            );
            out.push(' ');
        }
    }

    fn push_prompt(&self, row: u64, out: &mut String) -> Result<(), DataError> {
        self.push_prefix(row, out);
        match &self.trace {
            Some(trace) => trace.push_prompt(row, self, out),
            None => {
                push_words(self.text_random(row, Stream::Text), self.input(row), out);
                Ok(())
            }
        }
    }

    /// Appends the messages of a chat as JSON: those of a trace, or the prompt as a user's message.
    fn push_messages(&self, row: u64, out: &mut String) -> Result<(), DataError> {
        if let Some(trace) = &self.trace
            && trace.push_messages(row, self, out)?
        {
            return Ok(());
        }
        let mut prompt = String::new();
        self.push_prompt(row, &mut prompt)?;
        out.push_str("[{\"role\":\"user\",\"content\":\"");
        crate::escape_json(&prompt, out);
        out.push_str("\"}]");
        Ok(())
    }

    /// Appends a query's documents as a JSON list. The lengths of the documents have the law of
    /// prompts.
    fn push_documents(&self, row: u64, out: &mut String) {
        for n in 0..DOCUMENTS {
            let number = row.wrapping_mul(DOCUMENTS).wrapping_add(n);
            let length = self
                .options
                .input
                .drawn(self.random(number, Stream::Documents));
            out.push_str(if n == 0 { "[\"" } else { "\",\"" });
            push_words(self.text_random(number, Stream::DocumentTexts), length, out);
        }
        out.push_str("\"]");
    }

    /// Appends the text of a block of a trace: the first `words` of the text that its number stands
    /// for.
    fn push_block(&self, number: u64, words: u64, out: &mut String) {
        push_words(self.text_random(number, Stream::Block), words, out);
    }

    /// Appends what makes a text of a file new in this run, if anything.
    fn push_mark(&self, out: &mut String) {
        if self.options.nonce.is_some() {
            push_words(Random::new(self.text_seed, 0, LANE, 2), 4, out);
            out.push_str(": ");
        }
    }
}

/// Appends words, separated by spaces.
fn push_words(mut random: Random, count: u64, out: &mut String) {
    const PER_DRAW: u64 = (u64::BITS / BITS) as u64;
    let mut bits = 0;
    for n in 0..count {
        if n % PER_DRAW == 0 {
            bits = random.bits();
        }
        if n > 0 {
            out.push(' ');
        }
        out.push_str(WORDS[(bits & ((1 << BITS) - 1)) as usize]);
        bits >>= BITS;
    }
}

impl ComputedRows for Prompts {
    fn value(self: Arc<Self>, row: u64, column: usize) -> Result<Value, DataError> {
        if column == 1 {
            return Ok(self.max_tokens(row).map_or(Value::UNDEFINED, Value::from));
        }
        let mut text = String::new();
        self.push(row, column, &mut text)?;
        Ok(Value::from(text))
    }

    fn push(&self, row: u64, column: usize, out: &mut String) -> Result<(), DataError> {
        match column {
            0 => self.push_prompt(row, out)?,
            1 => push_integer(self.max_tokens(row).unwrap_or(0), out),
            2 => out.push_str(self.model(row)),
            3 => self.push_messages(row, out)?,
            _ => self.push_documents(row, out),
        }
        Ok(())
    }
}
