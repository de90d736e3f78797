//! The questions to the outside world that a plan needs.
//!
//! Everything that compiling does outside of this crate goes through [`Host`], so that a test is a
//! table of files and answers, and a front end decides what a path is relative to, which network
//! may be used and which messages a user reads. A method with a default is one that most tests have
//! no use for.
//!
//! Files and zones are asked for by templates while the run lasts, too. Those methods are called by
//! worker threads, per request where a template needs it, and must not wait for long.

use drumfire_data::ReadAt;
use drumfire_document::{Bare, Environment};
use drumfire_gotemplate::ZoneTime;
use drumfire_plan::{Header, Inquiry, Plan, Tls};
use drumfire_schema::Schema;
use drumfire_schema::reflection::Wanted;
use drumfire_units::Nanos;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

/// The machine that a document is compiled on, and the servers that it reaches. The command line
/// implements it on the real ones, a test on tables.
///
/// A host is shared by the threads of a run. Methods with a default have that of [`Bare`]: no file,
/// no server, no zone.
pub trait Host: Environment {
    /// The file at `path`, to be read from any place while the run lasts.
    ///
    /// # Errors
    /// When it can't be opened or read.
    fn open(&self, path: &str) -> io::Result<Arc<dyn ReadAt>> {
        Ok(Arc::new(self.read(path)?))
    }

    /// The kind of thing at a path, as it was written, for hints in messages.
    fn look(&self, path: &str) -> Found {
        let _ = path;
        Found::Nothing
    }

    /// A variable of the environment with a proxy of this machine, or the hosts without one.
    fn proxy_variable(&self, name: &str) -> Option<String> {
        self.variable(name)
    }

    /// The user's list of public hosts that may be loaded, as [`drumfire_plan::Guard`] reads it.
    fn allowed_targets(&self) -> String {
        String::new()
    }

    /// The time, in seconds since 1970.
    fn unix_seconds(&self) -> i64 {
        0
    }

    /// The place of a path that was written relative to the document.
    fn locate(&self, path: &str) -> PathBuf {
        path.into()
    }

    /// The schema of a server, as reflection gives it. May take as long as the question's limit.
    fn schema(&self, question: &SchemaQuestion<'_>) -> Result<Schema, HostError> {
        let _ = question;
        Err(HostError {
            message: "the network is not available".to_owned(),
            remedy: String::new(),
        })
    }

    /// Whether the target of a plan's first request chooses HTTP/2 when it is offered in TLS.
    ///
    /// # Errors
    /// When nothing can be asked at all; a target that can't be reached chooses nothing.
    fn chooses_http2(&self, plan: &Plan, limit: Nanos) -> Result<bool, HostError> {
        let _ = (plan, limit);
        Ok(false)
    }

    /// Whether certificates can be used.
    ///
    /// # Errors
    /// The mistake, and the file that has it.
    fn check_tls(&self, tls: &Tls) -> Result<(), TlsFault> {
        let _ = tls;
        Ok(())
    }

    /// The number of cores; at least 1. A dialect asks for it where its tool's output has the
    /// number; no document depends on it.
    fn cores(&self) -> u32 {
        1
    }

    /// The local time in a place (`Local`, or a name of the zone database) at a time, in seconds
    /// since the Unix epoch; `None` when it is not known, and then it is UTC.
    fn zone(&self, place: &str, unix_seconds: i64) -> Option<ZoneTime> {
        let _ = (place, unix_seconds);
        None
    }
}

impl Host for Bare {}

/// The kind of thing at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// A file.
    File,
    /// A folder.
    Folder,
    /// Nothing is there, or something that is neither a file nor a folder.
    Nothing,
}

/// A question to a server before a run.
#[derive(Debug)]
pub struct SchemaQuestion<'a> {
    /// The server, and the way to it.
    pub server: &'a Inquiry,
    /// The question.
    pub wanted: &'a Wanted,
    /// The metadata of the question.
    pub metadata: &'a [Header],
    /// The time that the answer may take.
    pub limit: Nanos,
}

/// The reason for which the world gave no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostError {
    /// The mistake.
    pub message: String,
    /// The remedy, in words of this program's own command line; it follows the message.
    pub remedy: String,
}

/// The reason for which certificates can't be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TlsFault {
    /// The trusted roots.
    Roots(String),
    /// The client's certificate or key.
    Identity(String),
}
