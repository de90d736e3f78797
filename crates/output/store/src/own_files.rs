//! Files and folders of this user, also if others can write next to them.
//!
//! One rule applies to all files: only regular files are opened, never through a link, and opening
//! never blocks. New files are readable only by their user. A run's directory may come from another
//! machine or user; files that are trusted without a check are opened with [`own_file`].

use rustix::fs::OFlags;
use rustix::process::geteuid;
use std::ffi::{OsStr, OsString};
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{
    DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _,
};
use std::path::{Path, PathBuf};

/// The mode of a new folder: others may not enter it.
const FOLDER: u32 = 0o700;
/// The mode of a new file: others may not read it.
const OWN: u32 = 0o600;
/// The suffix of a file that will replace another one.
const BESIDE: &str = ".tmp";
/// The maximum number of names that are tried for such a file: each crash during a replacement
/// leaves one.
const NAMES_MAX: u32 = 1_000;

/// Creates a folder that only this user may enter, with its parents, or checks the existing one.
///
/// # Errors
/// If the folder cannot be created, is a link, or belongs to another user, or if others may write
/// in it.
pub fn own_folder(path: &Path) -> io::Result<()> {
    if let Err(error) = DirBuilder::new().recursive(true).mode(FOLDER).create(path)
        && error.kind() != io::ErrorKind::AlreadyExists
    {
        return Err(error);
    }
    // The metadata of the entry itself, not of the target of a link.
    let facts = fs::symlink_metadata(path)?;
    let is_own = facts.is_dir() && facts.uid() == geteuid().as_raw() && facts.mode() & 0o022 == 0;
    if !is_own {
        return Err(io::Error::other(format!(
            "{} must be a directory of this user that others can't write to (mode 700), and not a \
             link; remove it",
            path.display()
        )));
    }
    match facts.mode() & 0o077 {
        0 => Ok(()),
        _ => fs::set_permissions(path, Permissions::from_mode(FOLDER)),
    }
}

/// Opens a file of this user for reading.
///
/// # Errors
/// As [`read`], or if the file belongs to another user.
pub fn own_file(path: &Path) -> io::Result<File> {
    let file = read(path)?;
    match file.metadata()?.uid() == geteuid().as_raw() {
        true => Ok(file),
        false => Err(io::Error::other("it is not a file of this user")),
    }
}

/// Opens a file for reading.
///
/// # Errors
/// If the file cannot be opened, is a link, or is not a regular file.
pub(crate) fn read(path: &Path) -> io::Result<File> {
    open(OpenOptions::new().read(true), path)
}

/// Opens an existing file for writing.
///
/// # Errors
/// As [`read`].
pub(crate) fn write(path: &Path) -> io::Result<File> {
    open(OpenOptions::new().write(true), path)
}

/// Opens a file for appending, and creates it if it does not exist.
///
/// # Errors
/// As [`read`].
pub(crate) fn append(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    open(options.append(true).create(true).mode(OWN), path)
}

/// Creates a new file for writing.
///
/// # Errors
/// If an entry with this name exists, even a link, or the file cannot be created.
pub(crate) fn create_new(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(OWN).open(path)
}

/// Creates a new file next to `path`, with an unused name that [`is_beside`] recognises.
///
/// # Errors
/// If the file cannot be created.
pub(crate) fn create_beside(path: &Path) -> io::Result<(PathBuf, File)> {
    let mut number = 0;
    loop {
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".{}-{number}{BESIDE}", std::process::id()));
        // O_EXCL does not follow links.
        match create_new(Path::new(&name)) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < NAMES_MAX => {
                number += 1;
            }
            made => return Ok((PathBuf::from(name), made?)),
        }
    }
}

/// Whether this is the name of a temporary file for the file `own`, which a crash left.
pub(crate) fn is_beside(name: &OsStr, own: &str) -> bool {
    let name = name.to_string_lossy();
    let rest = name.strip_prefix(own);
    rest.is_some_and(|rest| rest.starts_with('.') && rest.ends_with(BESIDE))
}

fn open(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = options
        .custom_flags(flags.bits().cast_signed())
        .open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::other("it is not a regular file")),
    }
}

/// The names in a directory.
///
/// # Errors
/// If the directory cannot be read.
pub(crate) fn names(directory: &Path) -> io::Result<Vec<OsString>> {
    let entries = fs::read_dir(directory)?;
    entries.map(|entry| Ok(entry?.file_name())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::env;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_folder_is_ones_own_or_refused() {
        let within = env::temp_dir().join(format!("drumfire-own-{}", std::process::id()));
        let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o777;
        let new = within.join("a/b");
        own_folder(&new).unwrap();
        assert_eq!((mode(&within), mode(&new)), (FOLDER, FOLDER));
        fs::set_permissions(&new, Permissions::from_mode(0o755)).unwrap();
        own_folder(&new).unwrap();
        assert_eq!(mode(&new), FOLDER);
        fs::set_permissions(&new, Permissions::from_mode(0o777)).unwrap();
        assert!(own_folder(&new).is_err());
        let link = within.join("link");
        symlink(within.join("a"), &link).unwrap();
        assert!(own_folder(&link).is_err());
        let file = within.join("file");
        fs::write(&file, "x").unwrap();
        assert!(own_folder(&file).is_err());
        assert!(own_file(&file).is_ok());
        assert!(read(&file).is_ok() && write(&file).is_ok() && append(&file).is_ok());
        let link = within.join("link-to-file");
        symlink(&file, &link).unwrap();
        for path in [&link, &within] {
            assert!(own_file(path).is_err(), "{path:?}");
            assert!(read(path).is_err() && write(path).is_err() && append(path).is_err());
        }
        fs::remove_dir_all(within).unwrap();
    }
}
