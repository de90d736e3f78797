//! A file without a name, for data that does not fit in memory.

use crate::exit::Failure;
use drumfire_net::Clock;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;

/// The maximum number of names that are tried.
const TRIES: u64 = 16;

/// Creates an empty file without a name in the folder for temporary files. The system removes it
/// when the program ends.
pub(crate) fn unlinked() -> Result<File, Failure> {
    let folder = std::env::temp_dir();
    let mut last = io::Error::other("no free file name");
    for n in 0..TRIES {
        let stamp = Clock::unix_time().wrapping_add(n);
        let path = folder.join(format!("drumfire-{}-{stamp:x}", std::process::id()));
        let mut options = OpenOptions::new();
        match options
            .read(true)
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)
        {
            Ok(file) => match fs::remove_file(&path) {
                Ok(()) => return Ok(file),
                Err(error) => last = error,
            },
            Err(error) => last = error,
        }
    }
    Err(Failure::failed(format!(
        "can't keep results in {}: {last}; set TMPDIR to another directory",
        folder.display()
    )))
}
