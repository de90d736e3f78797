//! The error for an unusable schema or symbol.

use std::fmt;

/// The reason why a schema or a part of it can't be used, as text: with the file and the line if
/// there is one, and with the remedy if it is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaError(pub String);

/// Prints on one line, with any names.
impl fmt::Display for SchemaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.replace('\r', "\\r").replace('\n', "\\n"))
    }
}

impl std::error::Error for SchemaError {}
