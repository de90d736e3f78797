//! The rows of settings: a key, its flag, the type of its value, and its description.
//!
//! A setting is one row of [`fields::table!`]. The row is the field of a struct of the document,
//! and all forms of the key: how it is read, printed, filled from defaults, named in messages,
//! described in a JSON Schema and in the manual, and set by a flag of the command line.

pub(crate) mod fields;
mod flag;
mod key;
pub(crate) mod node;
pub(crate) mod schema;
pub(crate) mod tree;
mod unquoted;

pub use flag::{Flag, Group, Number, On};
pub use key::{DocumentKey, KeyTable, KeyValue};
