//! The machine of an agent. A plan has the files that came with it, the agent's own secrets, and
//! the servers that the agent may load.
//!
//! A path in a plan selects one of the received files, never a file of the agent: the path is a
//! key, not a place. Only secrets belong to the agent, and come from its one folder of secrets.

use super::permits::Permits;
use crate::flags::NATS_VARIABLES;
use crate::input;
use drumfire_cluster::Attachments;
use drumfire_compile::{Found, Host, HostError, ReadAt, SchemaQuestion, TlsFault, ZoneTime};
use drumfire_document::Environment;
use drumfire_plan::{Plan, Tls};
use drumfire_schema::Schema;
use drumfire_units::Nanos;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// An agent's machine for one plan.
pub(crate) struct AssignedMachine {
    host: Arc<dyn Host>,
    files: BTreeMap<String, PathBuf>,
    folders: BTreeSet<String>,
    taken: BTreeMap<String, String>,
    secrets: Option<PathBuf>,
    permits: Permits,
}

impl fmt::Debug for AssignedMachine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Received").finish_non_exhaustive()
    }
}

impl AssignedMachine {
    /// The machine with these attachments; `places` are the paths of their files, in the same
    /// order.
    pub(crate) fn new(
        host: Arc<dyn Host>,
        attachments: &Attachments,
        places: &[PathBuf],
        secrets: Option<&Path>,
        permits: Permits,
    ) -> Self {
        let paths = attachments.files.iter().map(|file| file.path.clone());
        Self {
            host,
            files: paths.zip(places.iter().cloned()).collect(),
            folders: attachments.folders.iter().cloned().collect(),
            taken: attachments.taken.iter().cloned().collect(),
            secrets: secrets.map(Path::to_owned),
            permits,
        }
    }

    fn place(&self, path: &str) -> io::Result<&PathBuf> {
        self.files
            .get(path)
            .ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "not sent with the plan"))
    }
}

/// Why a server must not be contacted before the run.
fn forbidden(message: String) -> HostError {
    HostError {
        message,
        remedy: String::new(),
    }
}

/// The path of a secret, which must be in the folder of secrets even after all links are resolved.
fn secret(folder: Option<&Path>, path: &str) -> io::Result<PathBuf> {
    let Some(folder) = folder else {
        let reason = "this agent has no directory of secrets (--secrets DIR)";
        return Err(io::Error::other(reason));
    };
    let folder = fs::canonicalize(folder)?;
    let place = fs::canonicalize(folder.join(path))?;
    match place.starts_with(&folder) {
        true => Ok(place),
        false => Err(io::Error::other(
            "the path leads out of the agent's directory of secrets",
        )),
    }
}

impl Environment for AssignedMachine {
    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        input::read(self.place(path)?)
    }

    fn read_secret(&self, path: &str) -> io::Result<Vec<u8>> {
        input::read(&secret(self.secrets.as_deref(), path)?)
    }

    fn variable(&self, name: &str) -> Option<String> {
        let is_permitted = self.permits.variable(name);
        is_permitted.then(|| self.host.variable(name)).flatten()
    }

    fn unreadable(&self, name: &str) -> String {
        match name.starts_with(NATS_VARIABLES) {
            true => format!("plans may not read `{name}`, a variable of the way to NATS"),
            false => format!(
                "this agent lets no plan read the environment variable `{name}`; to permit this, \
                 start it with --env {name}"
            ),
        }
    }

    fn setup_value(&self, name: &str) -> Option<String> {
        self.taken.get(name).cloned()
    }
}

impl Host for AssignedMachine {
    fn open(&self, path: &str) -> io::Result<Arc<dyn ReadAt>> {
        Ok(Arc::new(input::OpenFile::new(self.place(path)?)?))
    }

    fn look(&self, path: &str) -> Found {
        match (self.files.contains_key(path), self.folders.contains(path)) {
            (true, _) => Found::File,
            (_, true) => Found::Folder,
            _ => Found::Nothing,
        }
    }

    fn proxy_variable(&self, name: &str) -> Option<String> {
        // The proxy of the agent's machine, which no plan chooses.
        self.host.proxy_variable(name)
    }

    fn allowed_targets(&self) -> String {
        self.host.allowed_targets()
    }

    fn unix_seconds(&self) -> i64 {
        self.host.unix_seconds()
    }

    fn locate(&self, path: &str) -> PathBuf {
        match self.files.get(path) {
            Some(place) => place.clone(),
            None => path.into(),
        }
    }

    fn schema(&self, question: &SchemaQuestion<'_>) -> Result<Schema, HostError> {
        let permitted = self.permits.inquiry(question.server);
        permitted.map_err(forbidden)?;
        self.host.schema(question)
    }

    fn chooses_http2(&self, plan: &Plan, limit: Nanos) -> Result<bool, HostError> {
        self.permits.plan(plan).map_err(forbidden)?;
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

#[cfg(test)]
mod tests {
    use super::secret;
    use std::os::unix::fs::symlink;
    use std::{env, fs};

    #[test]
    fn a_secret_lies_within_its_folder() {
        let folder = env::temp_dir().join(format!("drumfire-secrets-{}", std::process::id()));
        let own = folder.join("own");
        fs::create_dir_all(&own).unwrap();
        fs::write(folder.join("outside"), "x").unwrap();
        fs::write(own.join("inside"), "x").unwrap();
        symlink("inside", own.join("link")).unwrap();
        symlink("../outside", own.join("leak")).unwrap();
        let absolute = own.join("inside");
        for (path, is_taken) in [
            ("inside", true),
            ("link", true),
            ("../own/inside", true),
            (absolute.to_str().unwrap(), true),
            ("leak", false),
            ("../outside", false),
            ("/etc/passwd", false),
            ("missing", false),
        ] {
            assert_eq!(secret(Some(&own), path).is_ok(), is_taken, "{path}");
            assert!(secret(None, path).is_err());
        }
        fs::remove_dir_all(folder).unwrap();
    }
}
