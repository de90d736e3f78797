//! The files of a run's directory, which may come from another machine: only regular files are
//! opened, opening waits for nothing, and nothing is written through a link. New ones are readable
//! by their user alone.

use rustix::fs::OFlags;
use std::ffi::{OsStr, OsString};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

/// What others may do with a new file: nothing.
const OWN: u32 = 0o600;
/// The end of the name of a file that takes another's place once it is complete.
const BESIDE: &str = ".tmp";
/// Names that are tried for such a file: each crash in the middle of a replacement leaves one.
const NAMES_MAX: u32 = 1_000;

/// Opens a file to be read. A link to a regular file is followed.
///
/// # Errors
/// When it can't be opened, or is a pipe, a device or a directory.
pub(crate) fn read(path: &Path) -> io::Result<File> {
    open(OpenOptions::new().read(true), OFlags::NONBLOCK, path)
}

/// Opens a file to be written, which exists.
///
/// # Errors
/// As [`read`], and for a link.
pub(crate) fn write(path: &Path) -> io::Result<File> {
    let flags = OFlags::NONBLOCK | OFlags::NOFOLLOW;
    open(OpenOptions::new().write(true), flags, path)
}

/// Opens a file to be appended to, which is made where there is none.
///
/// # Errors
/// As [`write()`].
pub(crate) fn append(path: &Path) -> io::Result<File> {
    let flags = OFlags::NONBLOCK | OFlags::NOFOLLOW;
    let mut options = OpenOptions::new();
    open(options.append(true).create(true).mode(OWN), flags, path)
}

/// Makes a new file to be written.
///
/// # Errors
/// When there is one of this name, also a link, or it can't be made.
pub(crate) fn create_new(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(OWN).open(path)
}

/// Makes a new file beside `path`, with a name that no file had; [`is_beside`] knows it.
///
/// # Errors
/// When it can't be made.
pub(crate) fn create_beside(path: &Path) -> io::Result<(PathBuf, File)> {
    let mut number = 0;
    loop {
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".{}-{number}{BESIDE}", std::process::id()));
        // O_EXCL follows no link.
        match create_new(Path::new(&name)) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < NAMES_MAX => {
                number += 1;
            }
            made => return Ok((PathBuf::from(name), made?)),
        }
    }
}

/// Whether this is the name of a file beside the one of the name `own`, left by a crash.
pub(crate) fn is_beside(name: &OsStr, own: &str) -> bool {
    let name = name.to_string_lossy();
    let rest = name.strip_prefix(own);
    rest.is_some_and(|rest| rest.starts_with('.') && rest.ends_with(BESIDE))
}

fn open(options: &mut OpenOptions, flags: OFlags, path: &Path) -> io::Result<File> {
    let flags = flags.bits().cast_signed();
    let file = options.custom_flags(flags).open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::other("it is not a regular file")),
    }
}

/// The names in a directory.
///
/// # Errors
/// When it can't be read.
pub(crate) fn names(directory: &Path) -> io::Result<Vec<OsString>> {
    let entries = std::fs::read_dir(directory)?;
    entries.map(|entry| Ok(entry?.file_name())).collect()
}
