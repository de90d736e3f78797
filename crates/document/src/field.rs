//! Header fields, and the keys of metadata.

use crate::Text;

/// One header field or one key of metadata.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Its name.
    pub name: Text,
    /// Its value.
    pub value: Text,
}

/// Header fields in their order, or the metadata of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Fields {
    /// One by one.
    Listed(Vec<Field>),
    /// A file with a JSON object of texts; metadata only.
    File(Text),
}

impl Default for Fields {
    fn default() -> Self {
        Self::Listed(Vec::new())
    }
}
