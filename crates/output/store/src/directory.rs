//! The directory of a run, locked by one program at a time.

use crate::StoreError;
use crate::own_files;
use std::ffi::OsStr;
use std::fs::{self, File, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

/// The plan of the run, without secrets.
pub const PLAN: &str = "plan.yaml";
/// The facts of the run that were known when it began, for people and other programs.
const INFO: &str = "info.json";
/// The log: the facts, the intervals and the end.
pub(crate) const LOG: &str = "intervals.log";
/// The events of the run, one per line.
const EVENTS: &str = "events.jsonl";
/// The summary as printed.
const SUMMARY: &str = "summary.json";
/// The user's labels: the tags on one line, separated by blanks, and the note below.
pub(crate) const LABELS: &str = "labels.txt";
/// The file that the writing program locks.
const LOCK: &str = "lock";

/// The maximum size of a plan that is read: 64 MiB.
const PLAN_BYTES_MAX: u64 = 64 << 20;

/// The directory of a run.
#[derive(Debug)]
pub struct Directory {
    path: PathBuf,
    /// Whether the directory was created for this run.
    is_new: bool,
    /// The lock, which ends with the program in any case.
    _lock: File,
}

impl Directory {
    /// A directory for a new run. It is created if necessary, and must be empty.
    ///
    /// # Errors
    /// If the directory has a run or other files, another program uses it, or it cannot be written.
    pub fn create(path: &Path) -> Result<Self, StoreError> {
        let wrong = StoreError::write(path);
        let is_new = !path.exists();
        make(path).map_err(&wrong)?;
        let directory = Self {
            is_new,
            ..Self::lock(path)?
        };
        if directory.path.join(LOG).exists() {
            return Err(StoreError::Taken(path.to_owned()));
        }
        let names = own_files::names(path).map_err(StoreError::read(path))?;
        if names.iter().any(|name| name != LOCK) {
            let _unused = fs::remove_file(path.join(LOCK));
            return Err(StoreError::NotEmpty(path.to_owned()));
        }
        // Sync the parent, so that the directory itself survives a crash, as its files do.
        if let Some(parent) = path.parent().filter(|parent| *parent != Path::new("")) {
            sync_directory(parent).map_err(StoreError::write(parent))?;
        }
        Ok(directory)
    }

    /// Opens the directory of an existing run, to resume or change the run.
    ///
    /// # Errors
    /// If the directory has no run, or another program uses it.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        if !is_run(path) {
            return Err(StoreError::NoRun(path.to_owned()));
        }
        Self::lock(path)
    }

    fn lock(path: &Path) -> Result<Self, StoreError> {
        let file = path.join(LOCK);
        let wrong = StoreError::write(&file);
        let lock = own_files::append(&file).map_err(&wrong)?;
        match lock.try_lock() {
            Ok(()) => Ok(Self {
                path: path.to_owned(),
                is_new: false,
                _lock: lock,
            }),
            Err(TryLockError::WouldBlock) => Err(StoreError::Busy(path.to_owned())),
            Err(TryLockError::Error(error)) => Err(wrong(error)),
        }
    }

    /// The path of the directory.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn log(&self) -> PathBuf {
        self.path.join(LOG)
    }

    /// Opens the file of events for appending.
    pub(crate) fn events(&self) -> Result<File, StoreError> {
        let path = self.path.join(EVENTS);
        own_files::append(&path).map_err(StoreError::write(&path))
    }

    /// Writes the plan and the facts of the run.
    pub(crate) fn write_plan(&self, plan: &str, info: &[u8]) -> Result<(), StoreError> {
        self.replace(PLAN, plan.as_bytes())?;
        self.write_info(info)
    }

    /// Writes the facts of the run.
    pub(crate) fn write_info(&self, info: &[u8]) -> Result<(), StoreError> {
        self.replace(INFO, info)
    }

    /// Writes the summary as printed.
    ///
    /// # Errors
    /// If the summary cannot be written.
    pub fn write_summary(&self, summary: &[u8]) -> Result<(), StoreError> {
        self.replace(SUMMARY, summary)?;
        self.sync()
    }

    fn replace(&self, name: &str, content: &[u8]) -> Result<(), StoreError> {
        let mut write = |file: &mut File| file.write_all(content);
        self.replace_by(name, &mut write)
    }

    /// Writes a temporary file and renames it, so that readers and crashes see either the old
    /// content or the new.
    pub(crate) fn replace_by(
        &self,
        name: &str,
        write: &mut dyn FnMut(&mut File) -> io::Result<()>,
    ) -> Result<(), StoreError> {
        replace(&self.path, name, write)
    }

    /// Replaces a file in a directory that another program may have locked.
    pub(crate) fn replace_in(path: &Path, name: &str, content: &[u8]) -> Result<(), StoreError> {
        replace(path, name, &mut |file| file.write_all(content))
    }

    /// Puts a link to the directory into the folder of all runs, under the run's id.
    ///
    /// # Errors
    /// If the link cannot be created.
    pub fn list_in(&self, runs: &Path, id: &str) -> Result<(), StoreError> {
        let link = runs.join(id);
        let made = fs::create_dir_all(runs).and_then(|()| {
            let directory = fs::canonicalize(&self.path)?;
            std::os::unix::fs::symlink(directory, &link)
        });
        made.map_err(StoreError::write(&link))
    }

    /// Deletes the run with its directory.
    ///
    /// # Errors
    /// If the directory contains other files, in which case nothing is deleted, or if something
    /// cannot be deleted.
    pub fn remove(self) -> Result<(), StoreError> {
        // Resolve links, so that the directory itself is deleted.
        let directory = fs::canonicalize(&self.path).map_err(StoreError::read(&self.path))?;
        let names = own_files::names(&directory).map_err(StoreError::read(&directory))?;
        if let Some(foreign) = names.iter().find(|name| !is_own(name)) {
            return Err(StoreError::Foreign(directory.join(foreign)));
        }
        for name in names {
            let path = directory.join(name);
            fs::remove_file(&path).map_err(StoreError::write(&path))?;
        }
        fs::remove_dir(&directory).map_err(StoreError::write(&directory))
    }

    /// Deletes the files of a run that could not begin, because a directory without facts would
    /// count as the newest run. A directory that existed before stays, empty.
    pub fn abandon(self) {
        for name in own_files::names(&self.path).unwrap_or_default() {
            if is_own(&name) {
                let _left = fs::remove_file(self.path.join(name));
            }
        }
        if self.is_new {
            let _left = fs::remove_dir(&self.path);
        }
    }

    /// Syncs the directory, so that the names of its files survive a crash.
    pub(crate) fn sync(&self) -> Result<(), StoreError> {
        sync_directory(&self.path).map_err(StoreError::write(&self.path))
    }
}

/// Creates the directory of a run, which only its user may enter, because it contains bodies and
/// messages of a server. Parent directories get the default mode.
fn make(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    if let Some(parent) = path.parent().filter(|parent| *parent != Path::new("")) {
        fs::create_dir_all(parent)?;
    }
    fs::DirBuilder::new().mode(0o700).create(path)
}

/// Whether a run's directory may contain a file with this name.
fn is_own(name: &OsStr) -> bool {
    let own = [PLAN, INFO, EVENTS, SUMMARY, LABELS, LOG, LOCK];
    own.iter()
        .any(|own| name == *own || own_files::is_beside(name, own))
}

fn replace(
    directory: &Path,
    name: &str,
    write: &mut dyn FnMut(&mut File) -> io::Result<()>,
) -> Result<(), StoreError> {
    let path = directory.join(name);
    let wrong = StoreError::write(&path);
    let (beside, mut file) = own_files::create_beside(&path).map_err(&wrong)?;
    let written = write(&mut file).and_then(|()| file.sync_all());
    let placed = written.and_then(|()| fs::rename(&beside, &path));
    placed.map_err(|error| {
        // An unfinished file is never read.
        let _left = fs::remove_file(&beside);
        wrong(error)
    })
}

/// The text of the plan in a run's directory.
///
/// # Errors
/// If the plan is not a regular file, is too large, or cannot be read.
pub fn read_plan(run: &Path) -> Result<Vec<u8>, StoreError> {
    let path = run.join(PLAN);
    let mut bytes = Vec::new();
    let read = own_files::read(&path)
        .and_then(|file| file.take(PLAN_BYTES_MAX + 1).read_to_end(&mut bytes))
        .and_then(|_| match bytes.len() as u64 > PLAN_BYTES_MAX {
            true => Err(io::Error::other("it is larger than 64 MiB")),
            false => Ok(bytes),
        });
    read.map_err(StoreError::read(&path))
}

/// Whether a program has locked the directory. If the lock cannot be checked, it counts as free.
pub(crate) fn is_held(path: &Path) -> bool {
    let lock = own_files::read(&path.join(LOCK));
    lock.is_ok_and(|lock| matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

/// Whether a directory contains a run.
pub(crate) fn is_run(path: &Path) -> bool {
    path.join(LOG).is_file()
}

fn sync_directory(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}
