//! Why a schema, or something in it, can't be had.

use std::fmt;

/// Why a schema, or something in it, can't be had: in words, with the file and the line where there
/// is one, and with the remedy where it is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaError(pub String);

/// On one line, whatever names there are in it.
impl fmt::Display for SchemaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.replace('\r', "\\r").replace('\n', "\\n"))
    }
}

impl std::error::Error for SchemaError {}
