//! Why a run could not be stored or read.

use drumfire_measure::form::FormError;
use drumfire_units::system_words;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Why a run could not be stored or read.
#[derive(Debug)]
pub enum StoreError {
    /// A file could not be written.
    Write {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        error: io::Error,
    },
    /// A file could not be read.
    Read {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        error: io::Error,
    },
    /// Another program writes into the directory.
    Busy(PathBuf),
    /// The directory has a run already.
    Taken(PathBuf),
    /// The directory contains files that do not belong to a run.
    NotEmpty(PathBuf),
    /// A run's directory contains a file that does not belong to a run, so it is not deleted.
    Foreign(PathBuf),
    /// The directory contains no run.
    NoRun(PathBuf),
    /// The log in the directory cannot be decoded.
    Unreadable {
        /// The log.
        path: PathBuf,
        /// The error of its first entry.
        error: FormError,
    },
    /// The facts belong to a run with other pools or steps.
    OtherRun(PathBuf),
    /// The log ends before the run's own facts.
    Empty(PathBuf),
}

impl StoreError {
    pub(crate) fn write(path: &Path) -> impl Fn(io::Error) -> Self {
        move |error| Self::Write {
            path: path.to_owned(),
            error,
        }
    }

    pub(crate) fn read(path: &Path) -> impl Fn(io::Error) -> Self {
        move |error| Self::Read {
            path: path.to_owned(),
            error,
        }
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Write { path, error } => {
                write!(f, "can't write {}: {}", path.display(), system_words(error))
            }
            Self::Read { path, error } => {
                write!(f, "can't read {}: {}", path.display(), system_words(error))
            }
            Self::Busy(path) => write!(f, "another run is being written to {}", path.display()),
            Self::Taken(path) => write!(
                f,
                "{} already contains a run; choose another directory",
                path.display()
            ),
            Self::NotEmpty(path) => write!(
                f,
                "{} contains other files; choose a new directory",
                path.display()
            ),
            Self::Foreign(path) => write!(
                f,
                "{} is not a file of a run; nothing was deleted",
                path.display()
            ),
            Self::NoRun(path) => write!(f, "{} is not a run directory", path.display()),
            Self::Unreadable { path, error } => {
                write!(f, "can't read {}: {error}", path.display())
            }
            Self::OtherRun(path) => {
                write!(
                    f,
                    "{} contains a run with other pools or steps",
                    path.display()
                )
            }
            Self::Empty(path) => write!(
                f,
                "{} ends before its first entry; nothing of the run was stored",
                path.display()
            ),
        }
    }
}

impl std::error::Error for StoreError {}
