//! Folders that belong to one user alone, also where others may write beside them.

use rustix::process::geteuid;
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{
    DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _,
};
use std::path::Path;

/// What others may do in such a folder: nothing.
const OWN: u32 = 0o700;

/// Makes a folder that only this user may enter, with those above it, or checks the one that is there.
///
/// # Errors
/// If it can't be made, is a link, belongs to another user, or if others may write in it.
pub fn own_folder(path: &Path) -> io::Result<()> {
    if let Err(error) = DirBuilder::new().recursive(true).mode(OWN).create(path)
        && error.kind() != io::ErrorKind::AlreadyExists
    {
        return Err(error);
    }
    // Those of the entry itself, and not of what a link leads to.
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
        _ => fs::set_permissions(path, Permissions::from_mode(OWN)),
    }
}

/// Opens a file of this user to be read, which is not a link.
///
/// # Errors
/// If it can't be opened, or belongs to another user.
pub fn own_file(path: &Path) -> io::Result<File> {
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    let mut options = OpenOptions::new();
    let options = options.read(true).custom_flags(flags.bits().cast_signed());
    let file = options.open(path)?;
    let facts = file.metadata()?;
    match facts.is_file() && facts.uid() == geteuid().as_raw() {
        true => Ok(file),
        false => Err(io::Error::other("it is not a file of this user")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::env;
    use std::os::unix::fs::symlink;

    #[test]
    #[expect(
        clippy::disallowed_methods,
        reason = "the place of a test's own folder"
    )]
    fn a_folder_is_ones_own_or_refused() {
        let within = env::temp_dir().join(format!("drumfire-own-{}", std::process::id()));
        let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o777;
        let new = within.join("a/b");
        own_folder(&new).unwrap();
        assert_eq!((mode(&within), mode(&new)), (OWN, OWN));
        fs::set_permissions(&new, Permissions::from_mode(0o755)).unwrap();
        own_folder(&new).unwrap();
        assert_eq!(mode(&new), OWN);
        fs::set_permissions(&new, Permissions::from_mode(0o777)).unwrap();
        assert!(own_folder(&new).is_err());
        let link = within.join("link");
        symlink(within.join("a"), &link).unwrap();
        assert!(own_folder(&link).is_err());
        let file = within.join("file");
        fs::write(&file, "x").unwrap();
        assert!(own_folder(&file).is_err());
        assert!(own_file(&file).is_ok());
        let link = within.join("link-to-file");
        symlink(&file, &link).unwrap();
        assert!(own_file(&link).is_err());
        assert!(own_file(&within).is_err());
        fs::remove_dir_all(within).unwrap();
    }
}
