//! The options of the mock at its start.

use super::behaviour::LlmBehaviour;
use super::timing::BatchLaw;
use std::fmt;
use std::num::{NonZeroU32, NonZeroUsize};
use std::str::FromStr;

/// The options of the mock. The comment of a field has the flag of `drumfire serve` that sets it.
#[derive(Clone, Debug, Default)]
pub struct LlmOptions {
    /// The answer to a request without a query.
    pub behaviour: LlmBehaviour,
    /// `--capacity N`: the maximum number of requests that decode at a time. Others wait.
    pub capacity: Option<NonZeroU32>,
    /// `--queue N`: the maximum number of waiting requests. Others get 503.
    pub queue: Option<u32>,
    /// `--batch LAW`: the time between tokens by the streams in progress, instead of `--itl`.
    pub batch: Option<BatchLaw>,
    /// `--prefix-cache BLOCKS[,BLOCK]`: the cache of prompts.
    pub prefix_cache: Option<PrefixCacheSize>,
}

impl LlmOptions {
    /// Whether the streams of all threads depend on each other.
    pub(crate) fn is_shared(&self) -> bool {
        self.capacity.is_some() || self.batch.is_some()
    }

    /// The number of tokens in a block of a prompt.
    pub(crate) fn block(&self) -> NonZeroUsize {
        self.prefix_cache.unwrap_or_default().block
    }
}

/// The size of a prefix cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PrefixCacheSize {
    pub(crate) blocks: NonZeroUsize,
    pub(crate) block: NonZeroUsize,
}

/// The maximum number of blocks, each of which takes about 100 bytes.
const BLOCKS_MAX: usize = 10_000_000;
/// The number of tokens in a block, as in vLLM.
const BLOCK: NonZeroUsize = NonZeroUsize::MIN.saturating_add(15);

impl Default for PrefixCacheSize {
    fn default() -> Self {
        Self {
            blocks: NonZeroUsize::MIN,
            block: BLOCK,
        }
    }
}

/// The reason why a text is not the size of a prefix cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParsePrefixCacheError(String);

impl fmt::Display for ParsePrefixCacheError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}` is not a prefix cache; use the number of blocks, up to {BLOCKS_MAX}, and the \
             number of tokens in a block: 100000,16",
            self.0.escape_default()
        )
    }
}

impl std::error::Error for ParsePrefixCacheError {}

impl FromStr for PrefixCacheSize {
    type Err = ParsePrefixCacheError;

    /// Parses `100000` or `100000,16`.
    ///
    /// # Errors
    /// If a number is malformed, zero or too large.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let fail = || ParsePrefixCacheError(text.chars().take(64).collect());
        let number = |text: &str| {
            let number = text.parse::<NonZeroUsize>().ok();
            number.filter(|n| n.get() <= BLOCKS_MAX).ok_or_else(fail)
        };
        let (blocks, block) = match text.split_once(',') {
            Some((blocks, block)) => (number(blocks)?, number(block)?),
            None => (number(text)?, BLOCK),
        };
        Ok(Self { blocks, block })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cache_has_blocks_of_sixteen_tokens_unless_it_says_otherwise() {
        let size = |text: &str| {
            let size = text.parse::<PrefixCacheSize>().ok();
            size.map(|size| (size.blocks.get(), size.block.get()))
        };
        assert_eq!(size("1000"), Some((1_000, 16)));
        assert_eq!(size("1000,512"), Some((1_000, 512)));
        for text in ["", "0", "10,0", "10,x", "10000001"] {
            assert_eq!(size(text), None, "{text}");
        }
    }
}
