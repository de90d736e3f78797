//! Decodes header blocks to fields, and tracks the dynamic table exactly.
//!
//! A field is passed to the caller when it is read, before the block is known to be valid; a caller
//! for which this matters waits for the end. Strings without Huffman coding are borrowed from the
//! block. Expansion is limited by the code (8 bits to 5) and by the caller's limit on the block; a
//! block may refer to an entry of the table repeatedly, so the caller has to limit the sum of the
//! fields, too.

use super::table::Table;
use super::{huffman, integer, static_table};
use std::fmt;

/// A scratch buffer that has grown beyond this is returned to the system.
const SCRATCH_BYTES: usize = 8 * 1024;

/// The reading side of header compression.
#[derive(Debug)]
pub struct Decoder {
    table: Table,
    /// The announced size: the limit of a size update.
    size_limit: usize,
    name: Vec<u8>,
    value: Vec<u8>,
}

/// How a block relates to the dynamic table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// The block neither read nor wrote the table: its meaning never changes.
    Independent,
    /// The block did not change the table: its meaning is constant as long as [`Decoder::epoch`]
    /// is.
    Unchanged,
    /// The block changed the table.
    Changed,
}

/// Why a block can't be decoded; this ends the connection (RFC 9113 section 4.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HpackError(pub &'static str);

impl fmt::Display for HpackError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for HpackError {}

/// Where a literal's string was read to.
enum Text<'a> {
    /// The block contains the string.
    Plain(&'a [u8]),
    /// The string was decoded into a scratch buffer.
    Decoded,
}

impl Decoder {
    /// Creates a decoder whose table may contain `size_limit` bytes, as announced to the peer.
    #[must_use]
    pub const fn new(size_limit: usize) -> Self {
        Self {
            table: Table::new(size_limit),
            size_limit,
            name: Vec::new(),
            value: Vec::new(),
        }
    }

    /// A number that changes with every change of the dynamic table.
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

    /// Passes every field of a complete block to `field`, in order.
    ///
    /// # Errors
    /// If the block violates RFC 7541. Fields before the error have been passed on.
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

    /// Applies the size updates that a block may begin with (section 4.2); returns the rest.
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

    /// Reads a literal field (section 6.2), whose index has `prefix` bits: 6 if the field is to be
    /// added to the table. Returns the rest.
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
            // Copied, because the insertion may evict the entry that contains the name (section
            // 4.4).
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

/// Reads a string (section 5.2); returns the rest.
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
