//! How much of a trace's prompts an ideal prefix cache has: one that holds every block of the
//! requests before, in the order of their times.

use super::{Content, Trace, block_number, hash};
use drumfire_plan::DataError;
use std::collections::HashSet;

/// The maximum number of distinct blocks that are remembered, some 16 bytes each. A trace with more
/// has no cached share.
const BLOCKS_MAX: usize = 50_000_000;

/// The sums over the requests of a trace that are sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TraceTotals {
    /// Requests.
    pub requests: u64,
    /// Tokens of prompts; 0 if the file has texts instead of lengths.
    pub input: u64,
    /// Tokens of answers.
    pub output: u64,
    /// Tokens of prompts that an ideal prefix cache has; `None` if the file has no blocks.
    pub cached: Option<u64>,
}

impl TraceTotals {
    /// The share of the prompts that an ideal prefix cache has.
    #[must_use]
    pub fn cached_share(&self) -> Option<f64> {
        let cached = self.cached.filter(|_| self.input > 0)?;
        Some(cached as f64 / self.input as f64)
    }
}

impl Trace {
    /// The sums over the requests, in the order in which they are sent. Reads the blocks again.
    ///
    /// # Errors
    /// If the file cannot be read again.
    pub fn totals(&self) -> Result<TraceTotals, DataError> {
        let mut totals = TraceTotals::default();
        let mut cache = Cache::default();
        let mut cached = Some(0_u64);
        for row in &self.rows {
            totals.requests += 1;
            totals.input += u64::from(row.input);
            totals.output += u64::from(row.output);
            if let Content::Blocks {
                feed,
                column,
                words,
            } = &self.content
            {
                let ids = feed.value(row.row.into(), *column)?;
                let ids = ids.try_iter();
                let ids = ids.map_err(|_| DataError::new("`hash_ids` is not a list"))?;
                // A block in part is not cached.
                let whole = u64::from(row.input) / words;
                let numbers = ids.take(whole as usize).map(|id| block_number(&id));
                let found = cache.admit(numbers) * words;
                cached = match cache.blocks.len() <= BLOCKS_MAX {
                    true => cached.map(|sum| sum + found),
                    false => None,
                };
            }
        }
        totals.cached = cached.filter(|_| matches!(self.content, Content::Blocks { .. }));
        Ok(totals)
    }
}

/// The blocks so far, each with all blocks before it in its prompt.
#[derive(Default)]
pub(in crate::prompts) struct Cache {
    blocks: HashSet<u64>,
}

impl Cache {
    /// Adds the blocks of a prompt. Returns the number of leading blocks that were there before.
    pub(in crate::prompts) fn admit(&mut self, numbers: impl Iterator<Item = u64>) -> u64 {
        let (mut chain, mut found, mut is_prefix) = (0_u64, 0, true);
        for number in numbers {
            let mut bytes = [0; 16];
            bytes[..8].copy_from_slice(&chain.to_le_bytes());
            bytes[8..].copy_from_slice(&number.to_le_bytes());
            chain = hash(&bytes);
            let is_new = match self.blocks.len() > BLOCKS_MAX {
                true => true,
                false => self.blocks.insert(chain),
            };
            is_prefix &= !is_new;
            found += u64::from(is_prefix);
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{TraceFormat, TraceOptions};
    use drumfire_units::Nanos;
    use std::sync::Arc;

    fn totals(text: &str) -> TraceTotals {
        let options = TraceOptions {
            format: TraceFormat::Mooncake,
            from: Nanos::ZERO,
            until: Nanos::MAX,
            sample: 1.0,
            seed: 1,
        };
        let source = Arc::new(text.as_bytes().to_vec());
        let trace = Trace::read(source, &options).expect("a trace");
        trace.totals().expect("totals")
    }

    #[test]
    fn whole_blocks_after_the_same_blocks_are_cached() {
        // The rows are not in the order of their times. The last one has the blocks of others, but
        // after another beginning, and its last block is in part.
        let found = totals(
            "{\"timestamp\": 9, \"input_length\": 1300, \"output_length\": 2, \"hash_ids\": [7, 8, 9]}\n\
             {\"timestamp\": 0, \"input_length\": 1300, \"output_length\": 4, \"hash_ids\": [7, 8, 9]}\n\
             {\"timestamp\": 10, \"input_length\": 600, \"output_length\": 3, \"hash_ids\": [7, 8]}\n\
             {\"timestamp\": 11, \"input_length\": 1024, \"output_length\": 1, \"hash_ids\": [8, 9]}\n",
        );
        assert_eq!(
            found,
            TraceTotals {
                requests: 4,
                input: 1300 + 1300 + 600 + 1024,
                output: 10,
                cached: Some(1024 + 512),
            }
        );
    }
}
