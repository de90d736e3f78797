//! The names of the standard streams in flags and plans that otherwise name a file.

/// Standard output.
pub(crate) const STDOUT: &str = "-";
/// Standard error, for lines of text.
pub(crate) const STDERR: &str = "stderr";
