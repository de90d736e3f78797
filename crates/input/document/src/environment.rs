//! The files, variables and values that references in a document's text refer to.
//!
//! Reading a document accesses the outside world only through this trait. A document from a
//! stranger is therefore read with [`Bare`], which has nothing, and a user's document with the
//! process's environment. Each call may block.

use std::fmt;
use std::io;

/// The files and variables that references in a document's text refer to: `${file:PATH}` and
/// `${env:NAME}`.
///
/// The default methods do the same as [`Bare`].
pub trait Environment: Send + Sync + fmt::Debug {
    /// The whole content of the file at `path`.
    ///
    /// # Errors
    /// If it can't be opened or read.
    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        let _ = path;
        Err(io::ErrorKind::NotFound.into())
    }

    /// The content of a file with a secret: `${secret:file:PATH}`, or a private key. It is read on
    /// the machine that sends the load, and never travels with a plan.
    ///
    /// # Errors
    /// See [`Self::read`].
    fn read_secret(&self, path: &str) -> io::Result<Vec<u8>> {
        self.read(path)
    }

    /// An environment variable; empty if it is not set. `None` if the environment may not be read.
    fn variable(&self, name: &str) -> Option<String> {
        let _ = name;
        None
    }

    /// The reason why [`Self::variable`] returns `None` for a variable, and the remedy.
    fn unreadable(&self, name: &str) -> String {
        format!("the environment variable `{name}` can't be read here")
    }

    /// The value that the run's setup took under a name; `None` before the setup has ended.
    fn setup_value(&self, name: &str) -> Option<String> {
        let _ = name;
        None
    }
}

/// A machine with one core and any local address, without files, time zones, an environment or a
/// network.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bare;

impl Environment for Bare {}
