//! Keys as the reference lists them: name, flag, kind of value, and description.

use super::Flag;

/// Keys that the reference explains together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyTable {
    /// The name by which [`KeyValue`] refers to the table.
    pub name: &'static str,
    /// The keys, in the order of printing.
    pub keys: Vec<DocumentKey>,
}

/// One key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DocumentKey {
    /// The name of the key.
    pub name: &'static str,
    /// The flag that sets the key, if any.
    pub flag: Option<Flag>,
    /// The kind of the value.
    pub value: KeyValue,
    /// The meaning, for the manual and for editors.
    pub words: &'static str,
}

/// The kind of a key's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyValue {
    /// A text or a number.
    Scalar,
    /// A whole number.
    Count,
    /// `true` or `false`.
    Switch,
    /// A list of scalars; a single scalar counts as a list.
    List,
    /// A mapping from names to scalars.
    Mapping,
    /// Any tree.
    Tree,
    /// A mapping with the keys of a table.
    Keys(&'static str),
    /// A list of mappings with the keys of a table.
    ListOf(&'static str),
    /// A mapping from names to mappings with the keys of a table.
    NamedOf(&'static str),
}

impl KeyValue {
    /// The table with the keys of the value, if any.
    #[must_use]
    pub const fn table(self) -> Option<&'static str> {
        match self {
            Self::Keys(name) | Self::ListOf(name) | Self::NamedOf(name) => Some(name),
            _ => None,
        }
    }
}
