//! Renews certificates whose files change during a run.
//!
//! A thread checks the files every second. At first it checks all of them, because they may have
//! changed between the plan's reading and the run's start. A file whose stamp changed is read. If
//! its text differs, the text is checked as before the run, and new connections use it. Programs
//! write certificate and key one after the other, so files that do not match are tried again, and a
//! message lists them if they still do not match after several checks.
//!
//! The former certificates stay in use until the new ones have passed, so that a mistake of the
//! tool that writes them fails no request. The thread never delays the run: connections share the
//! texts through [`TlsMaterial`], which is replaced at once for all workers. The thread ends within
//! one check after the observer.

use crate::{Console, Observer, RunContext, SessionError};
use drumfire_engine::{Control, Prepared, certificates};
use drumfire_net::{
    TlsConfig, TlsIdentity, TlsMaterial, TlsOptions, TlsSetupError, TlsTexts, TlsVerify,
};
use drumfire_plan::{Change, Command, Pem, Tls};
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

/// The time between two checks of the files.
const LOOK: Duration = Duration::from_secs(1);

/// The number of failed checks after which a message lists the files.
const LOOKS: u32 = 10;

/// Certificates that cannot secure a connection, with the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CertificateFault {
    /// The certificates of the trusted authorities.
    Roots(String),
    /// The client's own certificate, or its key.
    Identity(String),
}

/// Watches the certificate files of a run, and ends with the run.
pub struct Certificates {
    watched: Vec<Watched>,
    console: Arc<dyn Console>,
    end: Option<Sender<()>>,
}

impl Certificates {
    /// The files of a prepared plan's pools.
    #[must_use]
    pub fn new(prepared: &Prepared, console: Arc<dyn Console>) -> Self {
        let pools = prepared.pools.iter();
        let watched = pools.map(|pool| Watched::new(&pool.pool().reach.tls, &pool.material));
        Self {
            watched: watched.filter(|one| !one.stamps.is_empty()).collect(),
            console,
            end: None,
        }
    }
}

impl Observer for Certificates {
    fn run_started(&mut self, run: &RunContext) -> Result<(), SessionError> {
        let mut watched = std::mem::take(&mut self.watched);
        if watched.is_empty() {
            return Ok(());
        }
        let (end, ended) = mpsc::channel::<()>();
        let (control, console) = (run.control.clone(), Arc::clone(&self.console));
        let body = move || {
            while ended.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
                let mut renewed: Vec<PathBuf> = Vec::new();
                for one in &mut watched {
                    renewed.extend(one.look(&*console));
                }
                renewed.sort();
                renewed.dedup();
                if !renewed.is_empty() {
                    mark(&renewed, &control);
                }
            }
        };
        let thread = thread::Builder::new().name("certificates".to_owned());
        thread.spawn(body).map_err(SessionError::Certificates)?;
        // Dropping this value ends the thread.
        self.end = Some(end);
        Ok(())
    }
}

/// Notes in the results, as a mark of the run, that files were read again.
fn mark(files: &[PathBuf], control: &Control) {
    let names: Vec<String> = files.iter().map(|file| shown(file)).collect();
    let change = Change::Mark {
        text: format!("reloaded: {}", names.join(", ")),
    };
    // A run that is over, or has too many marks, refuses the mark.
    let _unmarked = control.send(Command::soon(change));
}

fn shown(file: &Path) -> String {
    file.to_string_lossy().escape_debug().to_string()
}

/// The certificates of one pool.
///
/// `tls` has the texts that passed last. `tls` and `material` change together, only in `take`.
struct Watched {
    tls: Tls,
    material: TlsMaterial,
    /// The files, with their stamps when they were read last. A stamp is `None` before the first
    /// check and for a missing file.
    stamps: Vec<(PathBuf, Option<Stamp>)>,
    /// The number of consecutive failed checks.
    failed: u32,
}

/// The properties of a file that change when the file is written or replaced by a rename. If a file
/// is overwritten in place with the same length within a clock tick, the change is missed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    inode: u64,
    length: u64,
    modified: (i64, i64),
}

impl Watched {
    fn new(tls: &Tls, material: &TlsMaterial) -> Self {
        let stamps = pems(tls).into_iter().filter_map(|pem| {
            // A pipe cannot be read again.
            stamp(&pem.file)?;
            Some((pem.file.clone(), None))
        });
        Self {
            stamps: stamps.collect(),
            tls: tls.clone(),
            material: material.clone(),
            failed: 0,
        }
    }

    /// Reads changed files, and uses them if they are valid. Returns the files that are now in use.
    ///
    /// A stamp is recorded only with valid texts, so that invalid files are read again at each
    /// check, whether or not they change further. The message about them appears once. The next
    /// valid files reset the count of failures.
    fn look(&mut self, console: &dyn Console) -> Vec<PathBuf> {
        let now: Vec<Option<Stamp>> = self.stamps.iter().map(|(file, _)| stamp(file)).collect();
        let files = self.stamps.iter().zip(&now);
        let changed = files.filter(|((_, before), now)| before != *now);
        let changed: Vec<PathBuf> = changed.map(|((file, _), _)| file.clone()).collect();
        if changed.is_empty() {
            return changed;
        }
        match self.read() {
            Ok(tls) => {
                self.failed = 0;
                for ((_, stamp), now) in self.stamps.iter_mut().zip(now) {
                    *stamp = now;
                }
                self.apply(tls)
            }
            Err(reason) => {
                self.failed += 1;
                if self.failed == LOOKS {
                    let names: Vec<String> = changed.iter().map(|file| shown(file)).collect();
                    let names = names.join(", ");
                    console.note(&format!(
                        "{names} changed but can't be used; the previous certificates stay in use: {reason}"
                    ));
                }
                Vec::new()
            }
        }
    }

    /// Uses these settings for new connections. Returns the files whose texts differ.
    fn apply(&mut self, tls: Tls) -> Vec<PathBuf> {
        let both = pems(&self.tls).into_iter().zip(pems(&tls));
        let differing = both.filter(|(before, now)| before.text != now.text);
        let renewed: Vec<PathBuf> = differing.map(|(_, now)| now.file.clone()).collect();
        if !renewed.is_empty() {
            self.tls = tls;
            self.material.renew(certificates(&self.tls));
        }
        renewed
    }

    /// The settings with the current content of the files.
    ///
    /// A file without a stamp, for instance a pipe, keeps the text that the plan has read.
    fn read(&self) -> Result<Tls, String> {
        let again = |pem: &Pem| match self.stamps.iter().any(|(file, _)| *file == pem.file) {
            false => Ok(pem.clone()),
            true => fs::read(&pem.file)
                .map(|text| Pem {
                    text: text.into(),
                    file: pem.file.clone(),
                })
                .map_err(|error| error.to_string()),
        };
        let pair = self.tls.identity_pem.as_ref();
        let pair = pair.map(|(chain, key)| Ok::<_, String>((again(chain)?, again(key)?)));
        let tls = Tls {
            ca_pem: self.tls.ca_pem.as_ref().map(again).transpose()?,
            identity_pem: pair.transpose()?,
            ..self.tls.clone()
        };
        match check_certificates(&tls) {
            Ok(()) => Ok(tls),
            Err(CertificateFault::Roots(reason) | CertificateFault::Identity(reason)) => {
                Err(reason)
            }
        }
    }
}

/// The certificates and keys in the settings.
fn pems(tls: &Tls) -> Vec<&Pem> {
    let pair = tls.identity_pem.iter();
    let pair = pair.flat_map(|(chain, key)| [chain, key]);
    tls.ca_pem.iter().chain(pair).collect()
}

/// The stamp of a regular file.
fn stamp(file: &Path) -> Option<Stamp> {
    let found = fs::metadata(file).ok().filter(|found| found.is_file())?;
    Some(Stamp {
        inode: found.ino(),
        length: found.len(),
        modified: (found.mtime(), found.mtime_nsec()),
    })
}

/// Checks that these certificates can secure connections: the authorities first, then the client's
/// own certificate, so that the fault distinguishes them.
///
/// # Errors
/// If the certificates are invalid.
pub fn check_certificates(tls: &Tls) -> Result<(), CertificateFault> {
    let fault = |texts: TlsTexts| {
        let verify = match texts.roots {
            Some(_) => TlsVerify::Yes,
            None => TlsVerify::No,
        };
        let options = TlsOptions {
            name: "localhost",
            material: &TlsMaterial::new(texts),
            identity: TlsIdentity::Shown,
            verify,
            alpn: &[],
            resumed_per_million: 0,
        };
        TlsConfig::new(&options).err().map(|error| match error {
            TlsSetupError::Roots(text) | TlsSetupError::Identity(text) => text,
            other => other.to_string(),
        })
    };
    let TlsTexts { roots, identity } = certificates(tls);
    let alone = |roots, identity| fault(TlsTexts { roots, identity });
    if let Some(reason) = roots.and_then(|roots| alone(Some(roots), None)) {
        return Err(CertificateFault::Roots(reason));
    }
    match identity.and_then(|identity| alone(None, Some(identity))) {
        Some(reason) => Err(CertificateFault::Identity(reason)),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::console::Silent;
    use drumfire_target::{Listen, Server, ServerOptions, ServerTlsOptions};
    use std::net::SocketAddr;
    use std::slice;
    use std::sync::atomic::{AtomicU32, Ordering};

    /// The authorities of two servers that ran briefly.
    fn authorities() -> [String; 2] {
        [(); 2].map(|()| {
            let any = Listen::Tcp(SocketAddr::from(([127, 0, 0, 1], 0)));
            let options = ServerOptions {
                listen: vec![any],
                tls: Some(ServerTlsOptions::default()),
                ..ServerOptions::default()
            };
            let server = Server::start(options).unwrap();
            server.tls().unwrap().authority.clone()
        })
    }

    /// A temporary file of a test. Dropping the value removes the file.
    struct File(PathBuf);

    impl File {
        #[expect(clippy::disallowed_methods, reason = "the place of a test's own file")]
        fn create(text: &str) -> Self {
            static NUMBER: AtomicU32 = AtomicU32::new(0);
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let name = format!("drumfire-certificates-{}-{number}", std::process::id());
            let file = Self(std::env::temp_dir().join(name));
            file.write(text);
            file
        }

        fn write(&self, text: &str) {
            fs::write(&self.0, text).unwrap();
        }
    }

    impl Drop for File {
        fn drop(&mut self) {
            let _gone = fs::remove_file(&self.0);
        }
    }

    /// The watch over a file of roots from which the plan has read this text.
    fn watched(file: &File, read: &str) -> Watched {
        let tls = Tls {
            ca_pem: Some(Pem {
                text: read.as_bytes().into(),
                file: file.0.clone(),
            }),
            ..Tls::default()
        };
        Watched::new(&tls, &TlsMaterial::new(certificates(&tls)))
    }

    #[test]
    fn a_file_that_changed_before_the_first_look_is_taken() {
        let [former, later] = authorities();
        let file = File::create(&later);
        let mut watched = watched(&file, &former);
        assert_eq!(watched.look(&Silent), slice::from_ref(&file.0));
        assert_eq!(
            watched.tls.ca_pem.as_ref().unwrap().text[..],
            *later.as_bytes()
        );
        assert!(watched.look(&Silent).is_empty(), "it was taken");
    }

    #[test]
    fn a_file_that_was_written_again_as_it_was_is_nothing_new() {
        let [former, later] = authorities();
        let file = File::create(&former);
        let mut watched = watched(&file, &former);
        assert!(watched.look(&Silent).is_empty());
        file.write(&former);
        assert!(watched.look(&Silent).is_empty());
        file.write("-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n");
        assert!(watched.look(&Silent).is_empty(), "it can't be used");
        file.write(&later);
        assert_eq!(watched.look(&Silent), slice::from_ref(&file.0));
    }
}
