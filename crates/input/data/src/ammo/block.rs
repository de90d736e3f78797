//! The index of a file that is larger than memory.

use super::batch::{Batch, Entry};
use super::decoder::Decoder;
use super::step::Step;
use super::{Ammo, Entries};
use crate::read_at::read_full;
use drumfire_plan::DataError;
use std::cell::RefCell;
use std::sync::Arc;

/// How many decoded blocks a thread keeps, of all files together.
const BLOCKS_KEPT: usize = 8;

thread_local! {
    /// The blocks that were used last on this thread, the latest first.
    static KEPT: RefCell<Vec<Kept>> = const { RefCell::new(Vec::new()) };
}

/// Where some entries lie in the file.
#[derive(Clone, Debug)]
pub(super) struct Block {
    offset: u64,
    /// The number of its first entry.
    row: u64,
    /// What is known there of the file before.
    decoder: Decoder,
}

/// A decoded block.
struct Kept {
    ammo: Arc<Ammo>,
    block: usize,
    batch: Batch,
    bytes: Vec<u8>,
}

/// Blocks as they are found. When there are too many, every second goes, and from then on they are
/// twice as far apart: the index of any file has a bounded size.
#[derive(Debug)]
pub(super) struct Index {
    blocks: Vec<Block>,
    stride: u64,
    most: usize,
    state_bytes_most: usize,
    state_bytes: usize,
}

impl Index {
    pub(super) const fn new(stride: u64, most: usize, state_bytes_most: usize) -> Self {
        Self {
            blocks: Vec::new(),
            stride,
            most,
            state_bytes_most,
            state_bytes: 0,
        }
    }

    /// An entry begins here, or what stands before it.
    pub(super) fn note(&mut self, offset: u64, row: u64, decoder: &Decoder) {
        if let Some(last) = self.blocks.last()
            && (offset - last.offset < self.stride || row == last.row)
        {
            return;
        }
        let last = self.blocks.last().map(|block| &block.decoder);
        self.state_bytes += decoder.state_bytes_beside(last);
        self.blocks.push(Block {
            offset,
            row,
            decoder: decoder.clone(),
        });
        while self.blocks.len() > self.most
            || self.state_bytes > self.state_bytes_most && self.blocks.len() > 1
        {
            self.thin();
        }
    }

    /// Leaves out every second block.
    fn thin(&mut self) {
        self.stride *= 2;
        let mut keep = false;
        self.blocks.retain(|_| {
            keep = !keep;
            keep
        });
        let mut last = None;
        self.state_bytes = 0;
        for block in &self.blocks {
            self.state_bytes += block.decoder.state_bytes_beside(last);
            last = Some(&block.decoder);
        }
    }

    /// The blocks, with one at the end that says where that is.
    pub(super) fn finish(mut self, offset: u64, row: u64) -> Vec<Block> {
        let decoder = self.blocks.last().map(|block| block.decoder.clone());
        self.blocks.extend(decoder.map(|decoder| Block {
            offset,
            row,
            decoder,
        }));
        self.blocks
    }
}

impl Ammo {
    /// Calls `use_it` with the n-th entry.
    ///
    /// # Errors
    /// When the file can't be read any more, or is another than before.
    pub(super) fn with_entry<T>(
        self: &Arc<Self>,
        n: u64,
        use_it: impl FnOnce(Entry<'_>) -> T,
    ) -> Result<T, DataError> {
        match &self.entries {
            Entries::Memory(batch) => Ok(use_it(batch.entry(n as usize))),
            Entries::Blocks(blocks) => {
                let block = blocks.partition_point(|block| block.row <= n) - 1;
                KEPT.with_borrow_mut(|kept| {
                    self.load(kept, block)?;
                    let at = (n - blocks[block].row) as usize;
                    Ok(use_it(kept[0].batch.entry(at)))
                })
            }
        }
    }

    /// Makes a block the first of those that are kept.
    fn load(self: &Arc<Self>, kept: &mut Vec<Kept>, block: usize) -> Result<(), DataError> {
        let is_it = |kept: &Kept| kept.block == block && Arc::ptr_eq(&kept.ammo, self);
        if kept.first().is_some_and(is_it) {
            return Ok(());
        }
        if let Some(at) = kept.iter().position(is_it) {
            kept[..=at].rotate_right(1);
            return Ok(());
        }
        let mut used = match kept.len() < BLOCKS_KEPT {
            true => None,
            false => kept.pop(),
        };
        let (mut batch, mut bytes) = match &mut used {
            None => (Batch::default(), Vec::new()),
            Some(used) => (
                std::mem::take(&mut used.batch),
                std::mem::take(&mut used.bytes),
            ),
        };
        self.decode(block, &mut bytes, &mut batch)?;
        kept.insert(
            0,
            Kept {
                ammo: Arc::clone(self),
                block,
                batch,
                bytes,
            },
        );
        Ok(())
    }

    /// Decodes a block.
    fn decode(&self, n: usize, bytes: &mut Vec<u8>, batch: &mut Batch) -> Result<(), DataError> {
        let changed = || DataError::new("the file of requests has changed since the run began");
        let Entries::Blocks(blocks) = &self.entries else {
            return Err(changed());
        };
        let (Some(block), Some(next)) = (blocks.get(n), blocks.get(n + 1)) else {
            return Err(changed());
        };
        batch.clear();
        bytes.resize((next.offset - block.offset) as usize, 0);
        let read = read_full(&*self.source, block.offset, bytes);
        let read = read
            .map_err(|error| DataError::new(format!("can't read the file of requests: {error}")))?;
        let mut rest = &bytes[..read];
        let mut decoder = block.decoder.clone();
        while (batch.len() as u64) < next.row - block.row {
            match decoder.step(rest, true, batch) {
                Step::Took { bytes, rows } => {
                    rest = &rest[bytes..];
                    if rows > 0 {
                        match self.classes.find(batch.last()) {
                            Some(class) => {
                                batch.set_class(class);
                                self.make_message(batch).map_err(|_| changed())?;
                            }
                            None if self.classes.is_chosen(batch.last()) => return Err(changed()),
                            None => batch.pop(),
                        }
                    }
                }
                Step::More | Step::End | Step::Broken { .. } => return Err(changed()),
            }
        }
        Ok(())
    }
}
