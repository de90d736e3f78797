//! Names to addresses, by the system's resolver.

use drumfire_units::Nanos;
use std::fmt;
use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::mpsc;
use std::thread;

/// At most this many addresses of a name are used.
const ADDRESSES_MAX: usize = 64;

/// Why a name has no address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResolveError {
    /// The name does not exist.
    NotFound,
    /// The resolver failed; it may work later.
    Failed(String),
    /// The resolver did not answer in time.
    TimedOut,
    /// The name exists and has no address.
    Empty,
}

impl fmt::Display for ResolveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound => f.write_str("the name does not exist"),
            Self::Failed(text) => write!(f, "the resolver failed: {text}"),
            Self::TimedOut => f.write_str("the resolver did not answer in time"),
            Self::Empty => f.write_str("the name has no address"),
        }
    }
}

impl std::error::Error for ResolveError {}

/// All addresses of a name, in the system's order, each once and at most 64.
///
/// Blocks for at most `timeout`; the system's resolver can't be interrupted, so a thread that it
/// still holds is left behind.
///
/// # Errors
/// When there is no address.
pub fn resolve(host: &str, port: u16, timeout: Nanos) -> Result<Vec<SocketAddr>, ResolveError> {
    let (answer, waiting) = mpsc::channel();
    let name = host.to_owned();
    thread::Builder::new()
        .name("resolver".to_owned())
        .spawn(move || {
            let found = (name.as_str(), port)
                .to_socket_addrs()
                .map(Iterator::collect);
            // The receiver is gone once the look-up has timed out.
            let _late = answer.send(found);
        })
        .map_err(|error| ResolveError::Failed(error.to_string()))?;
    let found: io::Result<Vec<SocketAddr>> = waiting
        .recv_timeout(timeout.as_duration())
        .map_err(|_| ResolveError::TimedOut)?;
    let mut addresses: Vec<SocketAddr> = Vec::new();
    for address in found.map_err(|error| classify(&error))? {
        if !addresses.contains(&address) && addresses.len() < ADDRESSES_MAX {
            addresses.push(address);
        }
    }
    if addresses.is_empty() {
        Err(ResolveError::Empty)
    } else {
        Ok(addresses)
    }
}

/// The standard library keeps the resolver's code only within the text, which is the C library's:
/// of glibc, of musl, of macOS and the BSDs.
fn classify(error: &io::Error) -> ResolveError {
    let text = error.to_string();
    let is_any = |phrases: &[&str]| phrases.iter().any(|phrase| text.contains(phrase));
    if is_any(&[
        "not known",
        "Name does not resolve",
        "nodename nor servname",
    ]) {
        ResolveError::NotFound
    } else if is_any(&["No address associated", "Name has no usable address"]) {
        ResolveError::Empty
    } else {
        ResolveError::Failed(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn localhost_has_addresses_and_an_invalid_name_has_none() {
        let timeout = Nanos::from_secs(30);
        let found = resolve("localhost", 80, timeout).unwrap();
        assert!(
            found.iter().all(|a| a.ip().is_loopback() && a.port() == 80),
            "{found:?}"
        );
        // RFC 6761 keeps `.invalid` from ever existing; a machine without a resolver fails instead.
        let refused = resolve("name.invalid", 80, timeout).unwrap_err();
        assert!(
            matches!(refused, ResolveError::NotFound | ResolveError::Failed(_)),
            "{refused}"
        );
    }

    #[test]
    fn every_c_library_is_understood() {
        let classified = |text: &str| {
            let text = format!("failed to lookup address information: {text}");
            classify(&io::Error::other(text))
        };
        for text in [
            "Name or service not known",
            "Name does not resolve",
            "nodename nor servname provided, or not known",
            "hostname nor servname provided, or not known",
        ] {
            assert_eq!(classified(text), ResolveError::NotFound, "{text}");
        }
        for text in [
            "No address associated with hostname",
            "Name has no usable address",
        ] {
            assert_eq!(classified(text), ResolveError::Empty, "{text}");
        }
        for text in [
            "Temporary failure in name resolution",
            "Try again",
            "Non-recoverable error",
        ] {
            let failed = classified(text);
            assert!(matches!(&failed, ResolveError::Failed(said) if said.ends_with(text)));
        }
    }
}
