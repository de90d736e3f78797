//! Header fields, and the keys of metadata.

use crate::Text;

/// One header field or one key of metadata.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// The name of the field.
    pub name: Text,
    /// The value of the field.
    pub value: Text,
}

/// Header fields in order, or the metadata of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Fields {
    /// Individual fields.
    Listed(Vec<Field>),
    /// A file with a JSON object of texts; only for metadata.
    File(Text),
}

impl Default for Fields {
    fn default() -> Self {
        Self::Listed(Vec::new())
    }
}
