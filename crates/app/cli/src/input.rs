//! Input: arguments, files, standard input.

use crate::exit::Failure;
use drumfire_compile::ReadAt;
use std::ffi::OsString;
use std::fs;
use std::io::{self, Read as _};
use std::os::unix::fs::FileExt as _;
use std::path::Path;

/// The maximum size of a file that is read into memory: 1 GiB.
const FILE_BYTES_MAX: u64 = 1 << 30;

/// Reads a whole file.
pub(crate) fn read(path: &Path) -> io::Result<Vec<u8>> {
    check_name(path)?;
    read_bounded(fs::File::open(path)?)
}

/// The system says of an empty name that no such file exists, in a message that then names no file.
pub(crate) fn check_name(path: &Path) -> io::Result<()> {
    match path.as_os_str().is_empty() {
        true => Err(io::Error::new(
            io::ErrorKind::NotFound,
            "the file name is empty",
        )),
        false => Ok(()),
    }
}

/// A file that can be read at any offset during a run.
#[derive(Debug)]
pub(crate) struct OpenFile {
    file: fs::File,
    size: u64,
}

impl OpenFile {
    /// Opens a file.
    pub(crate) fn new(path: &Path) -> io::Result<Self> {
        check_name(path)?;
        let file = fs::File::open(path)?;
        let size = file.metadata()?.len();
        Ok(Self { file, size })
    }
}

impl ReadAt for OpenFile {
    fn size(&self) -> u64 {
        self.size
    }

    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<usize> {
        self.file.read_at(into, offset)
    }
}

/// Reads standard input to its end; `wanted` describes the content in errors.
pub(crate) fn stdin(wanted: &str) -> Result<Vec<u8>, Failure> {
    read_bounded(io::stdin().lock())
        .map_err(|error| Failure::usage(format!("{wanted}: can't read stdin: {error}")))
}

/// Reads to the end, within the limit.
fn read_bounded(from: impl io::Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(io::Error::other("it is larger than 1 GiB"));
    }
    Ok(bytes)
}

/// Converts arguments to text.
pub(crate) fn texts(args: impl IntoIterator<Item = OsString>) -> Result<Vec<String>, Failure> {
    args.into_iter()
        .map(|arg| {
            arg.into_string()
                .map_err(|arg| Failure::usage(format!("the argument {arg:?} is not valid UTF-8")))
        })
        .collect()
}
