//! The names by which flags and plans name the standard streams, where they may have a file's.

/// Standard output.
pub(crate) const STDOUT: &str = "-";
/// Standard error, where lines of text may go.
pub(crate) const STDERR: &str = "stderr";
