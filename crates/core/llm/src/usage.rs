//! The numbers of tokens that a server reports.

use crate::json::{Reader, skip, value};
use drumfire_plan::TokenUsage;
use serde::de::MapAccess;

/// A report. Interfaces have different names for the same number.
#[derive(Debug, Default)]
pub(crate) struct Report {
    input: Option<u32>,
    output: Option<u32>,
    total: Option<u32>,
    cached: Option<u32>,
    reasoning: Option<u32>,
    /// Anthropic counts tokens that it reads from or writes to the cache apart from the input.
    cache_read: Option<u32>,
    cache_written: Option<u32>,
}

fn sum(parts: [Option<u32>; 3]) -> u32 {
    let parts = parts.into_iter().flatten();
    parts.fold(0, u32::saturating_add)
}

impl Report {
    /// Replaces the numbers of `usage` that the report contains.
    pub(crate) fn update(&self, usage: &mut TokenUsage) {
        let parts = [self.input, self.cache_read, self.cache_written];
        let input = match self.input {
            Some(_) => Some(sum(parts)),
            // Rerankers report a total.
            None => self
                .total
                .map(|total| total.saturating_sub(self.output.unwrap_or(0))),
        };
        usage.input = input.or(usage.input);
        usage.cached = self.cached.or(self.cache_read).or(usage.cached);
        usage.output = self.output.or(usage.output);
        usage.reasoning = self.reasoning.or(usage.reasoning);
    }

    /// Whether any number was found.
    pub(crate) const fn any(&self) -> bool {
        self.input.is_some() || self.output.is_some() || self.total.is_some()
    }
}

impl Reader for Report {
    fn field<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        let number = match key {
            "prompt_tokens" | "input_tokens" => &mut self.input,
            "completion_tokens" | "output_tokens" => &mut self.output,
            "total_tokens" => &mut self.total,
            "cache_read_input_tokens" => &mut self.cache_read,
            "cache_creation_input_tokens" => &mut self.cache_written,
            "cached_tokens" => &mut self.cached,
            "reasoning_tokens" => &mut self.reasoning,
            // The details of prompt and completion have names of their own.
            "prompt_tokens_details"
            | "input_tokens_details"
            | "completion_tokens_details"
            | "output_tokens_details" => return value(map, self),
            _ => return skip(map),
        };
        value(map, &mut Number(number))
    }
}

/// Reads a number. An answer with more tokens than the type counts does not exist.
struct Number<'a>(&'a mut Option<u32>);

impl Reader for Number<'_> {
    fn number(&mut self, number: u64) {
        *self.0 = Some(u32::try_from(number).unwrap_or(u32::MAX));
    }
}
