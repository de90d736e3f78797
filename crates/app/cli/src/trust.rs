//! The certificate authorities that the environment sets instead of the system's, as a file and as
//! folders.
//!
//! A file that cannot be read and folders that do not exist are the user's mistake, and are found
//! before the run. Without this check, each handshake would fail with an unknown issuer.

use crate::exit::Failure;
use drumfire_document::{Monitoring, Outputs};
use drumfire_net::holds_certificate;
use drumfire_plan::{Plan, Pool, Scheme, Verify};
use std::path::PathBuf;
use std::{env, fs};

/// The environment variable of the file, and that of the folders, separated by colons.
const FILE: &str = "SSL_CERT_FILE";
const FOLDERS: &str = "SSL_CERT_DIR";

/// Checks the file if a plan verifies the certificates of its targets.
pub(crate) fn check_for_targets(plan: &Plan) -> Result<(), Failure> {
    let is_secure = |pool: &Pool| {
        let mut requests = pool.requests.iter();
        requests.any(|request| request.url.origin.scheme == Scheme::Https)
    };
    let relies = |pool: &Pool| {
        let tls = &pool.reach.tls;
        tls.verify == Verify::Yes && tls.ca_pem.is_none() && is_secure(pool)
    };
    match plan.pools().iter().any(relies) {
        true => check(),
        false => Ok(()),
    }
}

/// Checks the file if the certificates of metrics receivers are verified.
pub(crate) fn check_for_receivers(outputs: &Outputs) -> Result<(), Failure> {
    let Monitoring {
        remote_write,
        influx,
        otlp,
        ..
    } = &outputs.monitoring;
    let receivers = [remote_write, influx, otlp];
    let mut urls = receivers.into_iter().flatten();
    let is_secure = |url: &str| {
        let scheme = url.get(..8);
        scheme.is_some_and(|scheme| scheme.eq_ignore_ascii_case("https://"))
    };
    match urls.any(|url| is_secure(url.value.trim())) {
        true => check(),
        false => Ok(()),
    }
}

fn check() -> Result<(), Failure> {
    let given = |name| env::var_os(name).filter(|value| !value.is_empty());
    let Some(path) = given(FILE).map(PathBuf::from) else {
        return match given(FOLDERS) {
            Some(folders) if !env::split_paths(&folders).any(|folder| folder.is_dir()) => {
                let shown = folders.to_string_lossy();
                let shown = shown.escape_debug();
                Err(Failure::usage(format!(
                    "{FOLDERS}: `{shown}` is not a directory"
                )))
            }
            _ => Ok(()),
        };
    };
    let wrong = |reason: String| {
        let shown = path.display().to_string();
        let shown = shown.escape_debug();
        Failure::usage(format!("{FILE}: `{shown}` can't be used: {reason}"))
    };
    let pem = fs::read(&path).map_err(|error| wrong(error.to_string()))?;
    match holds_certificate(&pem) {
        true => Ok(()),
        false => Err(wrong("it contains no PEM certificate".to_owned())),
    }
}
