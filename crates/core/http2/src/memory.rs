//! A cache of recent header blocks and their meaning.
//!
//! The meaning of a block depends on its bytes, the dynamic table, its role and the connection's
//! limits. So equal bytes have equal meaning as long as the table is unchanged, and a block that
//! did not change the table may be skipped when it comes again: this is exact. Blocks that changed
//! the table or were refused are not stored.

use crate::hpack::Effect;
use crate::response::{Role, Verdict};

/// The number of blocks that are remembered: a server mostly answers with one, with two (heads and
/// trailers), or with two alternating ones of each when a date changes.
const BLOCKS: usize = 4;
/// A longer block is not remembered: comparing it would cost as much as reading it.
const BLOCK_BYTES: usize = 1024;
/// A block with longer fields is not remembered either, so that a connection stays small.
const LIST_BYTES: usize = 2048;

/// The last blocks of one connection.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    entries: Vec<RememberedBlock>,
    /// The entry that was used last, for each role: with trailers, the two alternate.
    latest: [usize; 2],
}

/// A block and its meaning.
#[derive(Debug)]
struct RememberedBlock {
    role: Role,
    /// The table's epoch when the block was read; `None` if the block did not use the table.
    epoch: Option<u64>,
    verdict: Verdict,
    block: Vec<u8>,
    list: Vec<u8>,
}

impl Memory {
    /// The place at which the meaning of `block` is remembered, if it is. The last place of its
    /// role is compared first: under load this is one comparison of bytes.
    #[inline]
    pub(crate) fn recall(&mut self, block: &[u8], role: Role, epoch: u64) -> Option<usize> {
        let known = |entry: &RememberedBlock| {
            entry.role == role
                && entry.block == block
                && entry.epoch.is_none_or(|remembered| remembered == epoch)
        };
        let latest = &mut self.latest[role as usize];
        if !self.entries.get(*latest).is_some_and(known) {
            *latest = self.entries.iter().position(known)?;
        }
        Some(*latest)
    }

    #[inline]
    pub(crate) fn verdict(&self, index: usize) -> Verdict {
        self.entries[index].verdict
    }

    /// The fields, for [`crate::Headers`].
    #[inline]
    pub(crate) fn list(&self, index: usize) -> &[u8] {
        &self.entries[index].list
    }

    /// Remembers a block that was read, and drops the oldest one, but never the other role's
    /// latest.
    pub(crate) fn learn(
        &mut self,
        (block, list): (&[u8], &[u8]),
        role: Role,
        (effect, epoch): (Effect, u64),
        verdict: Verdict,
    ) {
        let epoch = match effect {
            Effect::Independent => None,
            Effect::Unchanged => Some(epoch),
            Effect::Changed => return,
        };
        if block.len() > BLOCK_BYTES || list.len() > LIST_BYTES {
            return;
        }
        let (mut block_bytes, mut list_bytes) = (Vec::new(), Vec::new());
        let mut at = self.entries.len();
        if at == BLOCKS {
            let [own, other] = match role {
                Role::Head => self.latest,
                Role::Trailers => [self.latest[1], self.latest[0]],
            };
            at = (own + 1) % BLOCKS;
            if at == other {
                at = (at + 1) % BLOCKS;
            }
            let old = &mut self.entries[at];
            block_bytes = std::mem::take(&mut old.block);
            list_bytes = std::mem::take(&mut old.list);
        }
        block_bytes.clear();
        block_bytes.extend_from_slice(block);
        list_bytes.clear();
        list_bytes.extend_from_slice(list);
        let entry = RememberedBlock {
            role,
            epoch,
            verdict,
            block: block_bytes,
            list: list_bytes,
        };
        self.latest[role as usize] = at;
        match self.entries.get_mut(at) {
            Some(old) => *old = entry,
            None => self.entries.push(entry),
        }
    }
}
