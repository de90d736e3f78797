//! Output streams that are written during the run.

use std::fmt;
use std::io::Write;

/// A destination of lines during the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineDestination<'a> {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
    /// A file, which is emptied before the run.
    File(&'a str),
}

/// An open output stream, or a substitute in a test.
pub trait Stream: Write {}

impl<T: Write> Stream for T {}

impl fmt::Debug for dyn Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Stream")
    }
}
