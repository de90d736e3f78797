//! A machine whose files a plan may not read: it runs on others, which do not have them.

use drumfire_compile::{Found, Host, HostError, ReadAt, SchemaQuestion, TlsFault, ZoneTime};
use drumfire_document::Environment;
use drumfire_plan::{Plan, Tls};
use drumfire_schema::Schema;
use drumfire_units::Nanos;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

/// A host without files.
#[derive(Debug)]
pub(crate) struct Fileless(pub(crate) Arc<dyn Host>);

fn refused() -> io::Error {
    io::Error::other("a plan for several machines can't read files yet")
}

impl Environment for Fileless {
    fn read(&self, _path: &str) -> io::Result<Vec<u8>> {
        Err(refused())
    }

    fn variable(&self, name: &str) -> Option<String> {
        self.0.variable(name)
    }

    fn setup_value(&self, name: &str) -> Option<String> {
        self.0.setup_value(name)
    }
}

impl Host for Fileless {
    fn open(&self, _path: &str) -> io::Result<Arc<dyn ReadAt>> {
        Err(refused())
    }

    fn look(&self, path: &str) -> Found {
        self.0.look(path)
    }

    fn allowed_targets(&self) -> String {
        self.0.allowed_targets()
    }

    fn unix_seconds(&self) -> i64 {
        self.0.unix_seconds()
    }

    fn locate(&self, path: &str) -> PathBuf {
        self.0.locate(path)
    }

    fn schema(&self, question: &SchemaQuestion<'_>) -> Result<Schema, HostError> {
        self.0.schema(question)
    }

    fn chooses_http2(&self, plan: &Plan, limit: Nanos) -> Result<bool, HostError> {
        self.0.chooses_http2(plan, limit)
    }

    fn check_tls(&self, tls: &Tls) -> Result<(), TlsFault> {
        self.0.check_tls(tls)
    }

    fn cores(&self) -> u32 {
        self.0.cores()
    }

    fn zone(&self, place: &str, unix_seconds: i64) -> Option<ZoneTime> {
        self.0.zone(place, unix_seconds)
    }
}
