//! A file without a name, for data that memory can't hold.

use crate::exit::Failure;
use drumfire_net::Clock;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;

/// Names that are tried before it is given up.
const TRIES: u64 = 16;

/// An empty file in the folder for temporary files; it is gone when the program is.
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
