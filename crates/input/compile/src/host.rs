//! The information from the outside world that a plan needs.
//!
//! Compiling accesses the world outside this crate only through [`Host`]. A test is therefore a
//! table of files and answers, and a front end decides what a path is relative to, which network
//! may be used and which messages a user sees. Methods that most tests do not use have a default.
//!
//! Templates also access files and zones during the run. Worker threads call those methods, per
//! request if a template needs it, so the methods must not block for long.

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

/// The machine that a document is compiled on, and the servers that it can reach. The command line
/// implements it with the real ones, a test with tables.
///
/// The threads of a run share one host. A default method does the same as [`Bare`]: no files, no
/// servers, no zones.
pub trait Host: Environment {
    /// The file at `path`. Any part of it can be read during the run.
    ///
    /// # Errors
    /// If the file can't be opened or read.
    fn open(&self, path: &str) -> io::Result<Arc<dyn ReadAt>> {
        Ok(Arc::new(self.read(path)?))
    }

    /// The kind of thing at a path (as written), for hints in messages.
    fn look(&self, path: &str) -> Found {
        let _ = path;
        Found::Nothing
    }

    /// An environment variable that sets this machine's proxy, or the hosts without one.
    fn proxy_variable(&self, name: &str) -> Option<String> {
        self.variable(name)
    }

    /// The user's list of public hosts that may be loaded, in the form that
    /// [`drumfire_plan::Guard`] reads.
    fn allowed_targets(&self) -> String {
        String::new()
    }

    /// The time, in seconds since 1970.
    fn unix_seconds(&self) -> i64 {
        0
    }

    /// The location of a path that was written relative to the document.
    fn locate(&self, path: &str) -> PathBuf {
        path.into()
    }

    /// Fetches the schema of a server by reflection. May take up to the time limit of `question`.
    fn schema(&self, question: &SchemaQuestion<'_>) -> Result<Schema, HostError> {
        let _ = question;
        Err(HostError {
            message: "the network is not available".to_owned(),
            remedy: String::new(),
        })
    }

    /// Whether the target of a plan's first request chooses HTTP/2 if TLS offers it.
    ///
    /// # Errors
    /// If no connection can be attempted at all. For an unreachable target the result is `false`.
    fn chooses_http2(&self, plan: &Plan, limit: Nanos) -> Result<bool, HostError> {
        let _ = (plan, limit);
        Ok(false)
    }

    /// Whether certificates can be used.
    ///
    /// # Errors
    /// The mistake, and which of the files has it.
    fn check_tls(&self, tls: &Tls) -> Result<(), TlsFault> {
        let _ = tls;
        Ok(())
    }

    /// The number of cores; at least 1. A dialect uses it if its tool prints the number; no
    /// document depends on it.
    fn cores(&self) -> u32 {
        1
    }

    /// The local time of a zone (`Local`, or a name of the zone database) at a time, in seconds
    /// since the Unix epoch; `None` if the zone is unknown, and then UTC is used.
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
    /// No file or folder exists at the path.
    Nothing,
}

/// A request to a server for its schema, before a run.
#[derive(Debug)]
pub struct SchemaQuestion<'a> {
    /// The server, and the way to it.
    pub server: &'a Inquiry,
    /// The symbols to look for.
    pub wanted: &'a Wanted,
    /// The metadata to send with the request.
    pub metadata: &'a [Header],
    /// The maximum time for the answer.
    pub limit: Nanos,
}

/// The reason why the host could not answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostError {
    /// The mistake.
    pub message: String,
    /// The remedy, in terms of the program's command line; printed after the message.
    pub remedy: String,
}

/// The reason why certificates can't be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TlsFault {
    /// The trusted roots.
    Roots(String),
    /// The client's certificate or key.
    Identity(String),
}
