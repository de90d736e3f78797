//! The file of certificate authorities that the environment sets instead of the system's.
//!
//! A file that cannot be read is the user's mistake, and is found before the run. Without this
//! check, each handshake would fail with an unknown issuer if the folders of `SSL_CERT_DIR` exist
//! as well.

use crate::exit::Failure;
use drumfire_document::{Monitoring, Outputs};
use drumfire_net::holds_certificate;
use drumfire_plan::{Plan, Pool, Scheme, Verify};
use std::path::PathBuf;
use std::{env, fs};

/// The environment variable.
const FILE: &str = "SSL_CERT_FILE";

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
    let named = env::var_os(FILE).filter(|named| !named.is_empty());
    let Some(path) = named.map(PathBuf::from) else {
        return Ok(());
    };
    let wrong = |reason: String| {
        let shown = path.display().to_string();
        let shown = shown.escape_default();
        Failure::usage(format!("{FILE}: `{shown}` can't be used: {reason}"))
    };
    let pem = fs::read(&path).map_err(|error| wrong(error.to_string()))?;
    match holds_certificate(&pem) {
        true => Ok(()),
        false => Err(wrong("it contains no PEM certificate".to_owned())),
    }
}
