//! The folder of a local NATS server: its configuration, its ports and its store.
//!
//! If a command is killed, the kernel ends the server, and the folder stays. The next command of
//! the same user removes the folder if the process in its name has ended. Process numbers of
//! another container are not comparable, so a running process is also recognised by its lock on the
//! configuration.

use rustix::io::Errno;
use rustix::process::{Pid, geteuid, test_kill_process};
use std::fs::{self, DirBuilder, DirEntry, File, TryLockError};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

/// The prefix of the names of such folders. The process number and a counter follow.
const PREFIX: &str = "drumfire-nats-";
/// The name of the configuration file.
const CONFIGURATION: &str = "nats.conf";
/// The maximum number of names that are tried.
const NAMES_MAX: u32 = 100;

/// A folder that only this user may enter. Dropping the value removes the folder.
#[derive(Debug)]
pub(super) struct ServerFolder {
    path: PathBuf,
    /// The open file, which holds the lock.
    _configuration: Option<File>,
}

impl ServerFolder {
    /// Creates a new folder with this configuration, and removes folders that earlier commands left
    /// behind.
    pub(super) fn make(within: &Path, configuration: &str) -> io::Result<Self> {
        remove_left_behind(within);
        let mut folder = Self {
            path: make_own(within)?,
            _configuration: None,
        };
        let mut file = File::create_new(folder.configuration())?;
        // On a file system without locks, only the process number shows that the folder is in use.
        let _unlocked = file.try_lock();
        file.write_all(configuration.as_bytes())?;
        folder._configuration = Some(file);
        Ok(folder)
    }

    /// The path of the folder.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The path of the configuration file.
    pub(super) fn configuration(&self) -> PathBuf {
        self.path.join(CONFIGURATION)
    }
}

impl Drop for ServerFolder {
    fn drop(&mut self) {
        let _left_behind = fs::remove_dir_all(&self.path);
    }
}

fn make_own(within: &Path) -> io::Result<PathBuf> {
    let id = std::process::id();
    let mut number = 0;
    loop {
        let path = within.join(format!("{PREFIX}{id}-{number}"));
        match DirBuilder::new().mode(0o700).create(&path) {
            Ok(()) => return Ok(path),
            // Another user, or a process with the same number in another container, has created the
            // folder.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < NAMES_MAX => {
                number += 1;
            }
            Err(error) => return Err(error),
        }
    }
}

/// Removes the folders of this user whose processes have ended.
fn remove_left_behind(within: &Path) {
    let entries = fs::read_dir(within).into_iter().flatten().flatten();
    for entry in entries.filter(is_left_behind) {
        // Another command may remove the same folder.
        let _gone = fs::remove_dir_all(entry.path());
    }
}

fn is_left_behind(entry: &DirEntry) -> bool {
    let name = entry.file_name();
    let is_gone = |id| test_kill_process(id) == Err(Errno::SRCH);
    if !name.to_str().and_then(maker).is_some_and(is_gone) {
        return false;
    }
    // The metadata of the entry itself, not of the target of a link.
    let facts = entry.metadata();
    let is_own = facts.is_ok_and(|it| it.is_dir() && it.uid() == geteuid().as_raw());
    is_own && !is_locked(&entry.path().join(CONFIGURATION))
}

fn is_locked(file: &Path) -> bool {
    let file = File::open(file);
    file.is_ok_and(|file| matches!(file.try_lock(), Err(TryLockError::WouldBlock)))
}

/// The number of the process that created a folder with this name.
fn maker(name: &str) -> Option<Pid> {
    let (id, number) = name.strip_prefix(PREFIX)?.split_once('-')?;
    let (id, number): (i32, u32) = (id.parse().ok()?, number.parse().ok()?);
    // Reject other spellings of a number, such as `+1` and `01`.
    let is_ours = format!("{PREFIX}{id}-{number}") == name && id > 0;
    Pid::from_raw(id).filter(|_| is_ours)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::os::unix::fs::symlink;
    use std::process::Command;

    /// The number of a process that has ended.
    fn gone() -> u32 {
        let mut child = Command::new("true").spawn().unwrap();
        let id = child.id();
        child.wait().unwrap();
        id
    }

    #[test]
    fn folders_whose_processes_are_gone_are_removed() {
        let (own, gone) = (std::process::id(), gone());
        let within = std::env::temp_dir().join(format!("drumfire-folders-{own}"));
        fs::create_dir(&within).unwrap();
        let folder = |name: String| {
            let path = within.join(name);
            fs::create_dir(&path).unwrap();
            fs::write(path.join(CONFIGURATION), "authorization {}").unwrap();
            path
        };
        let removed = folder(format!("{PREFIX}{gone}-0"));
        let others = [
            format!("{PREFIX}{own}-0"),
            format!("{PREFIX}{gone}"),
            format!("{PREFIX}{gone}-0x"),
            format!("{PREFIX}+{gone}-0"),
            format!("{PREFIX}0{gone}-0"),
            format!("{PREFIX}0-0"),
            format!("{PREFIX}-1-0"),
            format!("x{PREFIX}{gone}-0"),
        ];
        let stay = others.map(folder);
        let locked = folder(format!("{PREFIX}{gone}-1"));
        let lock = File::open(locked.join(CONFIGURATION)).unwrap();
        lock.try_lock().unwrap();
        let link = within.join(format!("{PREFIX}{gone}-2"));
        symlink(&stay[1], &link).unwrap();
        let file = within.join(format!("{PREFIX}{gone}-3"));
        fs::write(&file, "").unwrap();

        let made = ServerFolder::make(&within, "port: 1").unwrap();
        assert_eq!(fs::read_to_string(made.configuration()).unwrap(), "port: 1");
        let mode = fs::metadata(made.path()).unwrap().mode();
        assert_eq!(mode & 0o777, 0o700);
        assert_eq!(made.path(), within.join(format!("{PREFIX}{own}-1")));
        drop(made);
        let left = fs::read_dir(&within).unwrap();
        let left: BTreeSet<PathBuf> = left.map(|it| it.unwrap().path()).collect();
        assert!(!left.contains(&removed));
        let expected: BTreeSet<PathBuf> = stay.into_iter().chain([locked, link, file]).collect();
        assert_eq!(left, expected);
        for path in left.iter().filter(|path| path.is_dir()) {
            assert!(path.join(CONFIGURATION).exists(), "{}", path.display());
        }
        fs::remove_dir_all(within).unwrap();
    }
}
