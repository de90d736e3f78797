//! The share of a trace's prompts that a cache without limits has.

use std::collections::HashSet;

/// The prompts so far.
#[derive(Debug, Default)]
pub(in crate::prompts) struct Ideal {
    tokens: u64,
    cached: u64,
    known: HashSet<u64>,
}

impl Ideal {
    /// Adds a prompt of this many tokens, in blocks of `size` tokens. The number of a block stands
    /// for the block and all before it. A block in part is not cached.
    pub(in crate::prompts) fn add(
        &mut self,
        tokens: u64,
        size: u64,
        blocks: impl Iterator<Item = u64>,
    ) {
        let whole = usize::try_from(tokens / size.max(1)).unwrap_or(usize::MAX);
        let (mut hits, mut is_hit) = (0, true);
        for block in blocks.take(whole) {
            is_hit &= !self.known.insert(block);
            hits += u64::from(is_hit);
        }
        self.tokens += tokens;
        self.cached += hits * size;
    }

    /// Adds a prompt of which a part was cached before.
    pub(in crate::prompts) const fn add_counted(&mut self, tokens: u64, cached: u64) {
        self.tokens += tokens;
        self.cached += cached;
    }

    /// The remark on the share; `None` without prompts.
    pub(in crate::prompts) fn note(&self) -> Option<String> {
        let share = 100.0 * self.cached as f64 / self.tokens as f64;
        (self.tokens > 0).then(|| {
            let (cached, tokens) = (self.cached, self.tokens);
            format!(
                "a cache without limits has {share:.1} % of the prompt tokens ({cached} of {tokens})"
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Ideal;

    #[test]
    fn whole_blocks_are_cached_up_to_the_first_new_one() {
        let mut ideal = Ideal::default();
        ideal.add(1_100, 512, [7, 8, 9].into_iter());
        ideal.add(1_300, 512, [7, 8, 21].into_iter());
        ideal.add(600, 512, [7, 30].into_iter());
        // A known block after a new one is no hit.
        ideal.add(1_024, 512, [31, 8].into_iter());
        let note = ideal.note().expect("prompts");
        assert!(
            note.contains("38.2 % of the prompt tokens (1536 of 4024)"),
            "{note}"
        );
        assert_eq!(Ideal::default().note(), None);
    }
}
