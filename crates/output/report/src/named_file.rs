//! A file of a result that has several, in a folder of their own.

/// A file by its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedFile {
    /// Its name in the folder: small letters, hyphens and an ending.
    pub name: String,
    /// Its content.
    pub bytes: Vec<u8>,
}
