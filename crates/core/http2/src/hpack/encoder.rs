//! Encodes the fields of requests to header blocks.
//!
//! Fields are put into the peer's dynamic table while it has room, and never evict others. After
//! the first few requests the table therefore does not change, and neither does the block of each
//! head: it is stored and copied.
//!
//! A block begins with one call of [`Encoder::start_block`], followed by the heads and extra fields
//! in any order. All bytes must be sent, in the order in which they were encoded: the peer's table
//! depends on them.

use super::prepared::{Field, Indexing, PreparedFields, Representation};
use super::table::ENTRY_BYTES;
use super::{integer, static_table};

/// We use no larger table than the protocol's default, even if the peer offers one.
const TABLE_BYTES: usize = 4096;
/// The number of heads whose blocks are stored.
const BLOCKS: usize = 16;
/// A longer block is not stored.
const BLOCK_BYTES: usize = 8 * 1024;

/// The writing side of header compression.
#[derive(Debug)]
pub struct Encoder {
    /// The entries of the peer's table, the oldest first.
    entries: Vec<Entry>,
    size: usize,
    size_max: usize,
    /// The smallest and the last size that the peer has requested since the last block.
    resize: Option<(usize, usize)>,
    /// Grows with every change of the table.
    epoch: u64,
    blocks: Vec<Block>,
    latest: usize,
}

/// A field in the peer's table.
#[derive(Debug)]
struct Entry {
    hash: u32,
    field: usize,
    /// The list that contains the field.
    prepared: PreparedFields,
}

/// The encoding of a head while the table was at `epoch`.
#[derive(Debug)]
struct Block {
    prepared: PreparedFields,
    epoch: u64,
    bytes: Vec<u8>,
}

impl Default for Encoder {
    fn default() -> Self {
        Self::new()
    }
}

impl Encoder {
    /// Creates an encoder for a peer that has announced nothing yet.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            entries: Vec::new(),
            size: 0,
            size_max: TABLE_BYTES,
            resize: None,
            epoch: 0,
            blocks: Vec::new(),
            latest: 0,
        }
    }

    /// Applies the peer's limit on the table (SETTINGS_HEADER_TABLE_SIZE); the next block announces
    /// it if necessary (RFC 7541 section 4.2).
    pub fn resize(&mut self, size: u32) {
        let size = (size as usize).min(TABLE_BYTES);
        let smallest = self.resize.map_or(self.size_max, |(smallest, _)| smallest);
        self.resize = Some((smallest.min(size), size));
    }

    /// The size of the peer's table (RFC 7541 section 4.1).
    #[must_use]
    pub const fn table_size(&self) -> usize {
        self.size
    }

    /// The entries that must be in the peer's table, the newest first.
    pub fn table(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        self.entries.iter().rev().map(|entry| {
            let field = &entry.prepared.fields()[entry.field];
            (&*field.name, &*field.value)
        })
    }

    /// Appends the size update with which a block begins after the table's size has changed.
    #[inline]
    pub fn start_block(&mut self, out: &mut Vec<u8>) {
        if self.resize.is_some() {
            self.write_size_updates(out);
        }
    }

    /// Appends a head's fields.
    #[inline]
    pub fn encode(&mut self, head: &PreparedFields, out: &mut Vec<u8>) {
        debug_assert!(self.resize.is_none(), "a block begins with `begin`");
        if let Some(block) = self.blocks.get(self.latest)
            && block.epoch == self.epoch
            && block.prepared.is(head)
        {
            out.extend_from_slice(&block.bytes);
        } else {
            self.encode_other(head, out);
        }
    }

    /// Appends the fields of a head that is not the latest.
    fn encode_other(&mut self, head: &PreparedFields, out: &mut Vec<u8>) {
        let same = |block: &Block| block.prepared.is(head);
        let known = self.blocks.iter().position(same);
        if let Some(at) = known {
            self.latest = at;
            if self.blocks[at].epoch == self.epoch {
                out.extend_from_slice(&self.blocks[at].bytes);
                return;
            }
        }
        let (start, epoch) = (out.len(), self.epoch);
        for (index, field) in head.fields().iter().enumerate() {
            self.field(head, index, field, out);
        }
        if self.epoch == epoch && out.len() - start <= BLOCK_BYTES {
            self.keep(known, head, &out[start..]);
        }
    }

    /// Stores a block that changed nothing, so that it would be the same again.
    fn keep(&mut self, known: Option<usize>, prepared: &PreparedFields, bytes: &[u8]) {
        let at = known.unwrap_or(if self.blocks.len() < BLOCKS {
            self.blocks.len()
        } else {
            (self.latest + 1) % BLOCKS
        });
        if at == self.blocks.len() {
            self.blocks.push(Block {
                prepared: prepared.clone(),
                epoch: 0,
                bytes: Vec::new(),
            });
        }
        let block = &mut self.blocks[at];
        if !block.prepared.is(prepared) {
            block.prepared = prepared.clone();
        }
        block.epoch = self.epoch;
        block.bytes.clear();
        block.bytes.extend_from_slice(bytes);
        self.latest = at;
    }

    /// Appends one field, and puts it into the peer's table if it is allowed there and fits.
    fn field(&mut self, prepared: &PreparedFields, index: usize, field: &Field, out: &mut Vec<u8>) {
        let (name_index, strings, hash) = match &field.representation {
            Representation::Static(index) => {
                integer::write(out, 0x80, 7, usize::from(*index));
                return;
            }
            Representation::Literal {
                name_index,
                strings,
                hash,
            } => (usize::from(*name_index), strings, *hash),
        };
        let (pattern, prefix) = match field.indexing {
            Indexing::Never => (0x10, 4),
            Indexing::Without => (0, 4),
            Indexing::Allowed => {
                if let Some(at) = self.find(field, hash) {
                    integer::write(out, 0x80, 7, static_table::LENGTH + self.entries.len() - at);
                    return;
                }
                if self.insert(prepared, index, field, hash) {
                    (0x40, 6)
                } else {
                    (0, 4)
                }
            }
        };
        integer::write(out, pattern, prefix, name_index);
        out.extend_from_slice(strings);
    }

    /// The place of a field in the peer's table.
    fn find(&self, field: &Field, hash: u32) -> Option<usize> {
        self.entries.iter().position(|entry| {
            let other = &entry.prepared.fields()[entry.field];
            entry.hash == hash && other.name == field.name && other.value == field.value
        })
    }

    /// Puts a field into the peer's table; returns false if the table has no room for it.
    fn insert(
        &mut self,
        prepared: &PreparedFields,
        index: usize,
        field: &Field,
        hash: u32,
    ) -> bool {
        let size = entry_size(field);
        let fits = self.size + size <= self.size_max;
        if fits {
            self.size += size;
            self.epoch += 1;
            self.entries.push(Entry {
                hash,
                field: index,
                prepared: prepared.clone(),
            });
        }
        fits
    }

    /// Announces the table's size to the peer, and evicts entries that no longer fit.
    #[cold]
    fn write_size_updates(&mut self, out: &mut Vec<u8>) {
        let Some((smallest, last)) = self.resize.take() else {
            return;
        };
        if smallest < self.size_max.min(last) {
            self.set_size_max(smallest, out);
        }
        if last != self.size_max {
            self.set_size_max(last, out);
        }
    }

    fn set_size_max(&mut self, size_max: usize, out: &mut Vec<u8>) {
        integer::write(out, 0x20, 5, size_max);
        self.size_max = size_max;
        let mut gone = 0;
        while self.size > size_max {
            let oldest = &self.entries[gone];
            self.size -= entry_size(&oldest.prepared.fields()[oldest.field]);
            gone += 1;
        }
        self.entries.drain(..gone);
        self.epoch += 1;
    }
}

fn entry_size(field: &Field) -> usize {
    field.name.len() + field.value.len() + ENTRY_BYTES
}

/// Appends a field that only one request has, without indexing, which is the cheapest form to
/// write.
#[inline]
pub fn write_extra(out: &mut Vec<u8>, name: &[u8], value: &[u8]) {
    match static_table::find_name(name) {
        Some(index) => integer::write(out, 0, 4, index),
        None => {
            out.push(0);
            integer::write(out, 0, 7, name.len());
            out.extend_from_slice(name);
        }
    }
    integer::write(out, 0, 7, value.len());
    out.extend_from_slice(value);
}
