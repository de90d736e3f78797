//! Places that are written to while a run goes on.

use std::fmt;
use std::io::Write;

/// Where lines go while a run goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamPlace<'a> {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
    /// A file, which is emptied before the run.
    File(&'a str),
}

/// A place as it is written to, or a substitute in a test.
pub trait Stream: Write {}

impl<T: Write> Stream for T {}

impl fmt::Debug for dyn Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Stream")
    }
}
