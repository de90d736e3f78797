//! Random bits of the system, for values that must differ from run to run.

use std::fs;
use std::io::{self, Read as _};

/// 128 random bits.
pub(crate) fn random() -> io::Result<[u8; 16]> {
    let mut bytes = [0; 16];
    fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes)
}
