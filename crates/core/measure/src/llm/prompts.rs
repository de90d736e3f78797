//! Times by the length of the prompt.

use crate::Histogram;
use crate::form::{self, Form, FormError, Input, push_number};
use drumfire_units::Nanos;
use std::ops::Range;

/// The number of lengths: a count of tokens has 0 to 32 binary digits.
const LENGTHS: usize = 33;

/// Times by the number of binary digits of the tokens of a prompt. Lengths without a time at the end
/// are no difference between two values.
#[derive(Clone, Debug, Default)]
pub(crate) struct ByPrompt(Vec<Histogram>);

impl ByPrompt {
    /// The number of lengths up to the last one with a time.
    fn used(&self) -> &[Histogram] {
        let last = self.0.iter().rposition(|times| !times.is_empty());
        &self.0[..last.map_or(0, |last| last + 1)]
    }

    /// Makes room for this number of lengths.
    fn reserve(&mut self, lengths: usize) {
        if self.0.len() < lengths {
            self.0.resize_with(lengths, Histogram::small);
        }
    }

    /// Records the time of an answer to a prompt of this many tokens.
    pub(crate) fn record(&mut self, tokens: u32, time: Nanos) {
        let digits = (u32::BITS - tokens.leading_zeros()) as usize;
        self.reserve(digits + 1);
        self.0[digits].record(time);
    }

    /// Adds `other`.
    pub(crate) fn merge(&mut self, other: &Self) {
        let theirs = other.used();
        self.reserve(theirs.len());
        for (mine, theirs) in self.0.iter_mut().zip(theirs) {
            mine.merge(theirs);
        }
    }

    /// Removes all times and keeps the memory.
    pub(crate) fn reset(&mut self) {
        self.0.iter_mut().for_each(Histogram::reset);
    }

    /// The lengths that have a time: from the first number of tokens to below the second.
    pub(crate) fn lengths(&self) -> impl Iterator<Item = (Range<u64>, &Histogram)> {
        let tokens = |digits: usize| match digits {
            0 => 0..1,
            digits => (1 << (digits - 1))..(1 << digits),
        };
        let all = self.0.iter().enumerate();
        let known = all.filter(|(_, times)| !times.is_empty());
        known.map(move |(digits, times)| (tokens(digits), times))
    }
}

impl PartialEq for ByPrompt {
    fn eq(&self, other: &Self) -> bool {
        self.used() == other.used()
    }
}

/// The lengths up to the last one with a time.
impl Form for ByPrompt {
    fn write(value: &Self, out: &mut Vec<u8>) {
        let used = value.used();
        push_number(out, used.len() as u64);
        used.iter().for_each(|times| form::write(times, out));
    }

    fn read(input: &mut Input<'_>) -> Result<Self, FormError> {
        let all: Vec<Histogram> = form::read(input)?;
        let ends_with_a_time = all.last().is_none_or(|times| !times.is_empty());
        match all.len() <= LENGTHS && ends_with_a_time {
            true => Ok(Self(all)),
            false => Err(FormError::Malformed("lengths of prompts without a time")),
        }
    }
}
