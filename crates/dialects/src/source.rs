//! Where the files that a command line names come from.

use std::io;

/// Opens the files that flags name. The command line implements it on the file system, a test on
/// a table.
pub trait Source {
    /// The whole content of the file at `path`.
    ///
    /// # Errors
    /// When it can't be opened or read; the dialect words the reason as its tool does.
    fn read(&self, path: &str) -> io::Result<Vec<u8>>;
}
