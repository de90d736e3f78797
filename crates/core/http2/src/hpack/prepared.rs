//! Fields prepared for header blocks: their compression is decided, and they are written as far as
//! that depends on no table.

use super::{huffman, integer, static_table};
use std::sync::Arc;

/// How header compression treats a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Indexing {
    /// The peer may be asked to store the field: right for fields that many requests have in
    /// common.
    Allowed,
    /// The field is sent without being stored: right for fields that differ from request to
    /// request.
    Without,
    /// A secret: sent literally, and marked so that no intermediary compresses it (RFC 7541 section
    /// 7.1.3). `authorization`, `proxy-authorization` and `cookie` are always sent this way.
    Never,
}

/// Fields that a header block contains together, in their order. Cheap to clone; an encoder
/// recognises them by their identity.
#[derive(Clone, Debug)]
pub struct PreparedFields(Arc<Fields>);

#[derive(Debug)]
struct Fields(Box<[Field]>);

impl PreparedFields {
    pub(crate) fn new(fields: Vec<Field>) -> Self {
        Self(Arc::new(Fields(fields.into())))
    }

    #[inline]
    pub(crate) fn fields(&self) -> &[Field] {
        &self.0.0
    }

    /// Whether both are clones of one list.
    #[inline]
    pub(super) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// One field.
#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) name: Box<[u8]>,
    pub(crate) value: Box<[u8]>,
    pub(crate) indexing: Indexing,
    pub(super) representation: Representation,
}

impl Field {
    pub(crate) fn new(name: &[u8], value: &[u8], indexing: Indexing) -> Self {
        Self {
            name: name.into(),
            value: value.into(),
            indexing,
            representation: Representation::new(name, value, indexing),
        }
    }
}

/// The form of a field in a block, as far as it depends on nothing else.
#[derive(Debug)]
pub(super) enum Representation {
    /// The field is in the static table.
    Static(u8),
    /// Name and value as strings; if `name_index` is not 0, it is the name's index in the static
    /// table and replaces the name.
    Literal {
        name_index: u8,
        strings: Box<[u8]>,
        hash: u32,
    },
}

impl Representation {
    fn new(name: &[u8], value: &[u8], indexing: Indexing) -> Self {
        if let Some(index) = static_table::find(name, value)
            && indexing != Indexing::Never
        {
            return Self::Static(index as u8);
        }
        let name_index = static_table::find_name(name).unwrap_or_default() as u8;
        let mut strings = Vec::new();
        if name_index == 0 {
            write_string(&mut strings, name);
        }
        write_string(&mut strings, value);
        // FNV-1a: it only has to distinguish most fields, because their bytes are compared as well.
        let byte = |hash: u32, &byte: &u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
        let hash = name.iter().chain(&[0]).chain(value).fold(0x811c_9dc5, byte);
        Self::Literal {
            name_index,
            strings: strings.into(),
            hash,
        }
    }
}

/// Appends a string in its shorter form.
fn write_string(out: &mut Vec<u8>, text: &[u8]) {
    let coded = huffman::coded_len(text);
    if coded < text.len() {
        integer::write(out, 0x80, 7, coded);
        huffman::encode(text, out);
    } else {
        integer::write(out, 0, 7, text.len());
        out.extend_from_slice(text);
    }
}
