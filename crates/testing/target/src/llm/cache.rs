//! A prefix cache: which blocks of a prompt were in earlier prompts, after the same beginning.

use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::num::NonZeroUsize;

/// The length of a prompt in tokens, and the hashes of its whole blocks. The hash of a block covers
/// all tokens up to the end of the block.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Prompt {
    pub(crate) tokens: u32,
    pub(crate) blocks: Vec<u64>,
}

/// Builds a [`Prompt`] from its tokens.
pub(crate) struct PromptBuilder {
    prompt: Prompt,
    chain: DefaultHasher,
    block: NonZeroUsize,
}

impl PromptBuilder {
    /// An empty prompt with blocks of this size.
    pub(crate) fn new(block: NonZeroUsize) -> Self {
        Self {
            prompt: Prompt::default(),
            // Its keys are fixed, so equal prompts have equal hashes in every worker.
            chain: DefaultHasher::new(),
            block,
        }
    }

    /// Appends a token.
    pub(crate) fn push(&mut self, word: &str) {
        word.hash(&mut self.chain);
        self.prompt.tokens = self.prompt.tokens.saturating_add(1);
        if (self.prompt.tokens as usize).is_multiple_of(self.block.get()) {
            self.prompt.blocks.push(self.chain.finish());
        }
    }

    pub(crate) fn build(self) -> Prompt {
        self.prompt
    }
}

/// The blocks of earlier prompts; the least recently used are evicted.
#[derive(Debug)]
pub(crate) struct PrefixCache {
    capacity: NonZeroUsize,
    block: NonZeroUsize,
    /// The time of the last use of each block.
    uses: HashMap<u64, u64>,
    by_use: BTreeMap<u64, u64>,
    clock: u64,
}

impl PrefixCache {
    pub(crate) fn new(capacity: NonZeroUsize, block: NonZeroUsize) -> Self {
        Self {
            capacity,
            block,
            uses: HashMap::new(),
            by_use: BTreeMap::new(),
            clock: 0,
        }
    }

    /// The number of tokens of the prompt that are cached: its leading blocks. Afterwards, all its
    /// blocks are cached, the first ones being evicted last.
    pub(crate) fn admit(&mut self, prompt: &Prompt) -> u32 {
        let blocks = prompt.blocks.iter();
        let cached = blocks
            .take_while(|hash| self.uses.contains_key(hash))
            .count();
        for hash in prompt.blocks.iter().rev() {
            self.touch(*hash);
        }
        while self.uses.len() > self.capacity.get() {
            if let Some((_, hash)) = self.by_use.pop_first() {
                self.uses.remove(&hash);
            }
        }
        // At most the tokens of the prompt.
        (cached * self.block.get()) as u32
    }

    /// Forgets all blocks.
    pub(crate) fn reset(&mut self) {
        self.uses.clear();
        self.by_use.clear();
    }

    fn touch(&mut self, hash: u64) {
        self.clock += 1;
        if let Some(used) = self.uses.insert(hash, self.clock) {
            self.by_use.remove(&used);
        }
        self.by_use.insert(self.clock, hash);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(n: usize) -> NonZeroUsize {
        NonZeroUsize::new(n).unwrap()
    }

    fn prompt(text: &str) -> Prompt {
        let mut builder = PromptBuilder::new(size(2));
        for word in text.split(' ') {
            builder.push(word);
        }
        builder.build()
    }

    #[test]
    fn whole_blocks_after_the_same_beginning_are_cached() {
        let mut cache = PrefixCache::new(size(100), size(2));
        for (text, cached) in [
            ("a b c d e", 0),
            ("a b c d e", 4),
            ("a b c x", 2),
            ("a", 0),
            // An equal block after another beginning.
            ("x b c d", 0),
            ("a b c d e f g h", 4),
            ("a b c d e f g h", 8),
            // Words are not their concatenation.
            ("ab c d", 0),
        ] {
            assert_eq!(cache.admit(&prompt(text)), cached, "{text}");
        }
        cache.reset();
        assert_eq!(cache.admit(&prompt("a b")), 0);
    }

    #[test]
    fn the_least_recently_used_blocks_are_evicted_and_beginnings_last() {
        let mut cache = PrefixCache::new(size(3), size(2));
        cache.admit(&prompt("a b c d"));
        cache.admit(&prompt("e f g h"));
        assert_eq!(cache.uses.len(), 3);
        assert_eq!(cache.admit(&prompt("a b c d")), 2);
        cache.admit(&prompt("1 2 3 4 5 6 7 8"));
        assert_eq!((cache.uses.len(), cache.by_use.len()), (3, 3));
        assert_eq!(cache.admit(&prompt("1 2 3 4 5 6 7 8")), 6);
    }
}
