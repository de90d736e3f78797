//! The machine and its servers, as the compiler sees them.

#[cfg(feature = "cluster")]
mod noting;
#[cfg(feature = "cluster")]
mod permits;
#[cfg(feature = "cluster")]
mod received;

#[cfg(feature = "cluster")]
pub(crate) use noting::Noting;
#[cfg(feature = "cluster")]
pub(crate) use permits::Permits;
#[cfg(feature = "cluster")]
pub(crate) use received::AssignedMachine;

use crate::exit::Failure;
use crate::output::Output;
use crate::reflect;
use crate::{input, names};
use drumfire_compile::{Found, Host, HostError, ReadAt, SchemaQuestion, TlsFault, ZoneTime};
use drumfire_document::Environment;
use drumfire_net::Clock;
use drumfire_plan::{Origin, Plan, Tls};
use drumfire_schema::Schema;
use drumfire_schema::reflection::Wanted;
use drumfire_session::{CertificateFault, check_certificates, this_machine};
use drumfire_units::Nanos;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use std::collections::{BTreeMap, HashMap};
use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

/// The machine that this program runs on.
#[derive(Debug)]
pub(crate) struct Machine {
    /// The folder to which relative paths refer; if empty, the working directory.
    folder: PathBuf,
    /// The zone in `TZ`, or the system's zone; `None` without zone data. Resolved when a template
    /// first shows a time, because the search walks through the folders of all zones.
    local: LazyLock<Option<TimeZone>>,
    answers: Arc<HostCache>,
    /// The values that the setup of a plan produced, by name; empty before it has ended.
    taken: BTreeMap<String, String>,
    /// The output for messages about waiting.
    output: Output,
}

/// Cached results. A document with a setup is compiled twice, and uses each result again.
#[derive(Debug, Default)]
pub(crate) struct HostCache {
    /// The results of server reflection, by request.
    told: Mutex<Vec<ReflectionResult>>,
    /// The contents of pipes, which cannot be read again.
    passed: Mutex<HashMap<PathBuf, Vec<u8>>>,
}

/// One result of server reflection.
#[derive(Debug)]
struct ReflectionResult {
    server: Origin,
    wanted: Wanted,
    schema: Schema,
}

impl Machine {
    /// The machine as seen from the working directory.
    pub(crate) fn here(output: &Output) -> Arc<dyn Host> {
        Self::in_folder(PathBuf::new(), &Arc::default(), output)
    }

    /// The machine as seen from a folder.
    pub(crate) fn in_folder(
        folder: PathBuf,
        answers: &Arc<HostCache>,
        output: &Output,
    ) -> Arc<dyn Host> {
        Self::after_setup(folder, BTreeMap::new(), answers, output)
    }

    /// The machine after the setup of a plan, which produced these values.
    pub(crate) fn after_setup(
        folder: PathBuf,
        taken: BTreeMap<String, String>,
        answers: &Arc<HostCache>,
        output: &Output,
    ) -> Arc<dyn Host> {
        Arc::new(Self {
            folder,
            local: LazyLock::new(|| TimeZone::try_system().ok()),
            answers: Arc::clone(answers),
            taken,
            output: output.clone(),
        })
    }
}

impl Environment for Machine {
    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        let path = self.locate(path);
        if path.is_file() {
            return input::read(&path);
        }
        let passed = &self.answers.passed;
        let mut passed = passed.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bytes) = passed.get(&path) {
            return Ok(bytes.clone());
        }
        let bytes = input::read(&path)?;
        passed.insert(path, bytes.clone());
        Ok(bytes)
    }

    fn variable(&self, name: &str) -> Option<String> {
        Some(std::env::var(name).unwrap_or_default())
    }

    fn setup_value(&self, name: &str) -> Option<String> {
        self.taken.get(name).cloned()
    }
}

impl Host for Machine {
    fn open(&self, path: &str) -> io::Result<Arc<dyn ReadAt>> {
        let located = self.locate(path);
        // Only regular files can be read at any offset, and files such as those in `/proc` report a
        // size of 0.
        let is_file = |found: Metadata| found.is_file() && found.len() > 0;
        match located.metadata().is_ok_and(is_file) {
            true => Ok(Arc::new(input::OpenFile::new(&located)?)),
            false => Ok(Arc::new(self.read(path)?)),
        }
    }

    fn allowed_targets(&self) -> String {
        names::allowed()
    }

    fn look(&self, path: &str) -> Found {
        let path = self.locate(path);
        if path.is_dir() {
            Found::Folder
        } else if path.is_file() {
            Found::File
        } else {
            Found::Nothing
        }
    }

    fn locate(&self, path: &str) -> PathBuf {
        match self.folder.as_os_str().is_empty() {
            true => path.into(),
            false => self.folder.join(path),
        }
    }

    fn schema(&self, question: &SchemaQuestion<'_>) -> Result<Schema, HostError> {
        let server = &question.server.request().url.origin;
        let known =
            |told: &&ReflectionResult| told.server == *server && told.wanted == *question.wanted;
        let told = &self.answers.told;
        let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = told.iter().find(known) {
            return Ok(known.schema.clone());
        }
        let schema = reflect::schema(question, &self.output).map_err(host_error)?;
        told.push(ReflectionResult {
            server: server.clone(),
            wanted: question.wanted.clone(),
            schema: schema.clone(),
        });
        Ok(schema)
    }

    fn chooses_http2(&self, plan: &Plan, limit: Nanos) -> Result<bool, HostError> {
        reflect::chooses_http2(plan, limit).map_err(host_error)
    }

    fn check_tls(&self, tls: &Tls) -> Result<(), TlsFault> {
        check_certificates(tls).map_err(|fault| match fault {
            CertificateFault::Roots(reason) => TlsFault::Roots(reason),
            CertificateFault::Identity(reason) => TlsFault::Identity(reason),
        })
    }

    fn cores(&self) -> u32 {
        this_machine().cores
    }

    fn zone(&self, place: &str, unix_seconds: i64) -> Option<ZoneTime> {
        let zone = match place {
            "Local" => self.local.clone()?,
            name => TimeZone::get(name).ok()?,
        };
        let shown = zone.to_offset_info(Timestamp::from_second(unix_seconds).ok()?);
        Some(ZoneTime {
            offset_seconds: shown.offset().seconds(),
            abbreviation: shown.abbreviation().to_owned(),
        })
    }

    fn unix_seconds(&self) -> i64 {
        i64::try_from(Clock::unix_time() / 1_000_000_000).unwrap_or(i64::MAX)
    }
}

fn host_error(failure: Failure) -> HostError {
    HostError {
        message: failure.message,
        remedy: failure.remedy,
    }
}

/// The folder of a plan's file, to which the plan's paths are relative.
pub(crate) fn folder_of(plan: &Path) -> PathBuf {
    plan.parent().map(Path::to_owned).unwrap_or_default()
}
