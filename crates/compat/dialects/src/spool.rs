//! Storage until the end of a run for data that memory can't hold.

use std::fmt;
use std::io::{Read, Seek, Write};

/// A file without a name, or a substitute in a test.
pub trait Spool: Read + Write + Seek {}

impl<T: Read + Write + Seek> Spool for T {}

impl fmt::Debug for dyn Spool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Spool")
    }
}
