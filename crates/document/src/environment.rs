//! The files, variables and values that references in a document's text name.
//!
//! This is the one way by which reading a document touches the world, so that a document of a
//! stranger is read with [`Bare`], which has nothing, and a document of the user with the process's
//! own. Each call may block.

use std::fmt;
use std::io;

/// The files and variables that references in a document's text name: `${file:PATH}` and
/// `${env:NAME}`.
///
/// The defaults of the methods are those of [`Bare`].
pub trait Environment: Send + Sync + fmt::Debug {
    /// The whole content of the file at `path`, as it was written.
    ///
    /// # Errors
    /// When it can't be opened or read.
    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        let _ = path;
        Err(io::ErrorKind::NotFound.into())
    }

    /// The content of a file with a secret: `${secret:file:PATH}`, or a private key. It is read on
    /// the machine that sends the load, and never travels with a plan.
    ///
    /// # Errors
    /// Those of [`Self::read`].
    fn read_secret(&self, path: &str) -> io::Result<Vec<u8>> {
        self.read(path)
    }

    /// A variable of the environment, empty when it is not set; `None` when the environment may
    /// not be read.
    fn variable(&self, name: &str) -> Option<String> {
        let _ = name;
        None
    }

    /// Why [`Self::variable`] gives nothing for a variable, and the remedy.
    fn unreadable(&self, name: &str) -> String {
        format!("the environment variable `{name}` can't be read here")
    }

    /// The value that the run's setup took under a name; `None` before the setup has ended.
    fn setup_value(&self, name: &str) -> Option<String> {
        let _ = name;
        None
    }
}

/// A machine with one core and any address, without files, zones, an environment or a network.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bare;

impl Environment for Bare {}
