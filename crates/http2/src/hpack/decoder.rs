//! Header blocks to fields, with the dynamic table kept exactly.
//!
//! A field is given to the caller as it is read, before the block is known to be right; a caller
//! that minds waits for the end. Strings without Huffman coding are lent from the block. Expansion
//! is bounded by the code (8 bits to 5) and by the caller's limit on the block; an entry of the
//! table may be named again and again, so that the caller has to bound the sum of the fields, too.

use super::table::Table;
use super::{huffman, integer, static_table};
use std::fmt;

/// Scratch that has grown beyond this is given back to the system.
const SCRATCH_BYTES: usize = 8 * 1024;

/// The reading side of header compression.
#[derive(Debug)]
pub struct Decoder {
    table: Table,
    /// The announced size: the bound of a size update.
    size_limit: usize,
    name: Vec<u8>,
    value: Vec<u8>,
}

/// The relation of a block to the dynamic table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It neither read nor wrote the table: it means the same always.
    Independent,
    /// It left the table as it was: it means the same while [`Decoder::epoch`] is the same.
    Unchanged,
    /// It changed the table.
    Changed,
}

/// The reason for which a block can't be decoded; the connection is lost with it (RFC 9113 section
/// 4.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HpackError(pub &'static str);

impl fmt::Display for HpackError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for HpackError {}

/// The place to which a string of a literal was read.
enum Text<'a> {
    /// It stands in the block.
    Plain(&'a [u8]),
    /// It was decoded into scratch.
    Decoded,
}

impl Decoder {
    /// A decoder whose table may hold `size_limit` bytes, as announced to the peer.
    #[must_use]
    pub const fn new(size_limit: usize) -> Self {
        Self {
            table: Table::new(size_limit),
            size_limit,
            name: Vec::new(),
            value: Vec::new(),
        }
    }

    /// A number that differs whenever the dynamic table does.
    #[inline]
    #[must_use]
    pub const fn epoch(&self) -> u64 {
        self.table.epoch()
    }

    /// The size of the dynamic table (RFC 7541 section 4.1).
    #[must_use]
    pub const fn table_size(&self) -> usize {
        self.table.size()
    }

    /// The dynamic table, the newest entry first.
    pub fn table(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        (0..).map_while(|age| self.table.entry(age))
    }

    /// Gives every field of a whole block to `field`, in order.
    ///
    /// # Errors
    /// When the block breaks RFC 7541. Fields before the error have been given.
    pub fn decode(
        &mut self,
        block: &[u8],
        mut field: impl FnMut(&[u8], &[u8]),
    ) -> Result<Effect, HpackError> {
        let epoch = self.table.epoch();
        let mut rest = self.size_updates(block)?;
        let mut touched = rest.len() != block.len();
        while let Some(&first) = rest.first() {
            if first & 0x80 != 0 {
                // Section 6.1: indexed field.
                let (index, length) = integer::read(rest, 7).ok_or(MALFORMED_INTEGER)?;
                rest = &rest[length..];
                touched |= index > static_table::LENGTH;
                let (name, value) = lookup(&self.table, index)?;
                field(name, value);
            } else if first & 0xe0 == 0x20 {
                return Err(HpackError("table size update within a header block"));
            } else {
                let indexed = first & 0x40 != 0;
                touched |= indexed;
                rest = self.literal(rest, if indexed { 6 } else { 4 }, &mut touched, &mut field)?;
            }
        }
        self.name.shrink_to(SCRATCH_BYTES);
        self.value.shrink_to(SCRATCH_BYTES);
        Ok(match (touched, self.table.epoch() == epoch) {
            (false, _) => Effect::Independent,
            (true, true) => Effect::Unchanged,
            (true, false) => Effect::Changed,
        })
    }

    /// Obeys the size updates that a block may begin with (section 4.2); gives the rest.
    fn size_updates<'b>(&mut self, mut block: &'b [u8]) -> Result<&'b [u8], HpackError> {
        while block.first().is_some_and(|first| first & 0xe0 == 0x20) {
            let (size, length) = integer::read(block, 5).ok_or(MALFORMED_INTEGER)?;
            if size > self.size_limit {
                return Err(HpackError("table size update above the limit"));
            }
            self.table.resize(size);
            block = &block[length..];
        }
        Ok(block)
    }

    /// Reads a literal field (section 6.2), whose index has `prefix` bits: 6 when it is to be
    /// remembered. Gives the rest.
    fn literal<'b>(
        &mut self,
        block: &'b [u8],
        prefix: u32,
        touched: &mut bool,
        field: &mut impl FnMut(&[u8], &[u8]),
    ) -> Result<&'b [u8], HpackError> {
        let (index, length) = integer::read(block, prefix).ok_or(MALFORMED_INTEGER)?;
        let mut rest = &block[length..];
        let indexed = prefix == 6;
        let name = if index == 0 {
            let name;
            (name, rest) = string(rest, &mut self.name)?;
            name
        } else if index > static_table::LENGTH {
            *touched = true;
            let (name, _) = lookup(&self.table, index)?;
            // Copied: the insertion may evict the entry that has the name (section 4.4).
            self.name.clear();
            self.name.extend_from_slice(name);
            Text::Decoded
        } else {
            Text::Plain(static_table::entry(index).ok_or(INDEX_PAST)?.0)
        };
        let value;
        (value, rest) = string(rest, &mut self.value)?;
        let name = name.bytes(&self.name);
        let value = value.bytes(&self.value);
        field(name, value);
        if indexed {
            self.table.insert(name, value);
        }
        Ok(rest)
    }
}

impl<'a> Text<'a> {
    const fn bytes(&self, scratch: &'a [u8]) -> &'a [u8] {
        match self {
            Self::Plain(text) => text,
            Self::Decoded => scratch,
        }
    }
}

const INDEX_PAST: HpackError = HpackError("index past the dynamic table");
const MALFORMED_INTEGER: HpackError = HpackError("malformed integer in a header block");

/// The entry with this index (section 2.3.3).
#[inline]
fn lookup(table: &Table, index: usize) -> Result<(&[u8], &[u8]), HpackError> {
    if index <= static_table::LENGTH {
        static_table::entry(index).ok_or(HpackError("index 0 in a header block"))
    } else {
        table
            .entry(index - static_table::LENGTH - 1)
            .ok_or(INDEX_PAST)
    }
}

/// Reads a string (section 5.2); gives the rest.
fn string<'b>(block: &'b [u8], scratch: &mut Vec<u8>) -> Result<(Text<'b>, &'b [u8]), HpackError> {
    let (length, prefix) = integer::read(block, 7).ok_or(MALFORMED_INTEGER)?;
    let coded = block[0] & 0x80 != 0;
    let (text, rest) = block[prefix..]
        .split_at_checked(length)
        .ok_or(HpackError("string past the end of a header block"))?;
    if !coded {
        return Ok((Text::Plain(text), rest));
    }
    scratch.clear();
    huffman::decode(text, scratch).ok_or(HpackError("malformed Huffman code"))?;
    Ok((Text::Decoded, rest))
}
