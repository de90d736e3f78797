//! A machine that records what the compiler requests, so that an agent can provide the same
//! results.
//!
//! Compiling sends the same requests on every machine, so an agent will need exactly what is
//! recorded here. Secrets are read but not recorded, because each agent has its own.

use drumfire_cluster::{Attachments, FileContent, SentFile};
use drumfire_compile::{Found, Host, HostError, ReadAt, SchemaQuestion, TlsFault, ZoneTime};
use drumfire_document::Environment;
use drumfire_plan::{Plan, Tls};
use drumfire_schema::Schema;
use drumfire_units::Nanos;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A host, and the requests to it.
#[derive(Debug)]
pub(crate) struct Noting {
    host: Arc<dyn Host>,
    notes: Mutex<Notes>,
}

#[derive(Debug, Default)]
struct Notes {
    files: BTreeSet<String>,
    folders: BTreeSet<String>,
    taken: BTreeMap<String, String>,
}

impl Noting {
    /// Records the requests to a host.
    pub(crate) fn new(host: &Arc<dyn Host>) -> Arc<Self> {
        Arc::new(Self {
            host: Arc::clone(host),
            notes: Mutex::default(),
        })
    }

    fn notes(&self) -> MutexGuard<'_, Notes> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note_file(&self, path: &str) {
        self.notes().files.insert(path.to_owned());
    }

    /// The names and values of the setup that the compiler requested.
    pub(crate) fn taken(&self) -> Vec<(String, String)> {
        self.notes().taken.clone().into_iter().collect()
    }

    /// What a plan needs on another machine, and the contents of the files in their order. Each
    /// file is read once to compute its digest.
    ///
    /// # Errors
    /// The path of a file that cannot be read any more, and the reason.
    pub(crate) fn attachments(
        &self,
    ) -> Result<(Attachments, Vec<FileContent>), (String, io::Error)> {
        let notes = self.notes();
        let mut attachments = Attachments {
            folders: notes.folders.iter().cloned().collect(),
            taken: notes.taken.clone().into_iter().collect(),
            ..Attachments::default()
        };
        let mut contents: Vec<FileContent> = Vec::new();
        for path in &notes.files {
            let named = |error| (path.clone(), error);
            let content = self.host.open(path).map_err(named)?;
            let mut whole = Whole::new(Arc::clone(&content));
            let file = SentFile::describe(path, &mut whole).map_err(named)?;
            attachments.files.push(file);
            contents.push(Box::new(Whole::new(content)));
        }
        Ok((attachments, contents))
    }
}

/// Reads a file from its beginning to its end.
struct Whole {
    content: Arc<dyn ReadAt>,
    offset: u64,
}

impl Whole {
    fn new(content: Arc<dyn ReadAt>) -> Self {
        Self { content, offset: 0 }
    }
}

impl Read for Whole {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.content.read_at(self.offset, into)?;
        self.offset += count as u64;
        Ok(count)
    }
}

impl Environment for Noting {
    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        let read = self.host.read(path)?;
        self.note_file(path);
        Ok(read)
    }

    fn read_secret(&self, path: &str) -> io::Result<Vec<u8>> {
        self.host.read_secret(path)
    }

    fn variable(&self, name: &str) -> Option<String> {
        self.host.variable(name)
    }

    fn unreadable(&self, name: &str) -> String {
        self.host.unreadable(name)
    }

    fn setup_value(&self, name: &str) -> Option<String> {
        let value = self.host.setup_value(name)?;
        self.notes().taken.insert(name.to_owned(), value.clone());
        Some(value)
    }
}

impl Host for Noting {
    fn open(&self, path: &str) -> io::Result<Arc<dyn ReadAt>> {
        let opened = self.host.open(path)?;
        self.note_file(path);
        Ok(opened)
    }

    fn look(&self, path: &str) -> Found {
        let found = self.host.look(path);
        if found == Found::Folder {
            self.notes().folders.insert(path.to_owned());
        }
        found
    }

    fn proxy_variable(&self, name: &str) -> Option<String> {
        self.host.proxy_variable(name)
    }

    fn allowed_targets(&self) -> String {
        self.host.allowed_targets()
    }

    fn unix_seconds(&self) -> i64 {
        self.host.unix_seconds()
    }

    fn locate(&self, path: &str) -> PathBuf {
        self.host.locate(path)
    }

    fn schema(&self, question: &SchemaQuestion<'_>) -> Result<Schema, HostError> {
        self.host.schema(question)
    }

    fn chooses_http2(&self, plan: &Plan, limit: Nanos) -> Result<bool, HostError> {
        self.host.chooses_http2(plan, limit)
    }

    fn check_tls(&self, tls: &Tls) -> Result<(), TlsFault> {
        self.host.check_tls(tls)
    }

    fn cores(&self) -> u32 {
        self.host.cores()
    }

    fn zone(&self, place: &str, unix_seconds: i64) -> Option<ZoneTime> {
        self.host.zone(place, unix_seconds)
    }
}
