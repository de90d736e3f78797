//! Resolves names by the system's resolver.

use crate::Clock;
use drumfire_units::{Nanos, system_words};
use std::fmt;
use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::{Condvar, Mutex, PoisonError, mpsc};
use std::thread;

/// The maximum number of addresses of a name.
const ADDRESSES_MAX: usize = 64;
/// The maximum number of names that the system's resolver looks up at a time.
const NAMES_MAX: usize = 64;

/// The threads that the resolver blocks: a server that redirects to more and more new names could
/// otherwise add a thread for each name while the resolver does not answer.
static HELD: Held = Held::new();

/// The number of blocked threads, with a signal for each that is released.
struct Held {
    count: Mutex<usize>,
    released: Condvar,
}

/// Why a name has no address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResolveError {
    /// The name does not exist.
    NotFound,
    /// The resolver failed; it may work later.
    Failed(String),
    /// The resolver did not answer in time.
    TimedOut,
    /// The name exists but has no address.
    Empty,
}

/// The addresses of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolved {
    /// The addresses: each once, and at least one.
    pub addresses: Vec<SocketAddr>,
    /// How long the addresses are valid, if the resolver reports it.
    pub ttl: Option<Nanos>,
}

impl Resolved {
    /// Collects each of these addresses once and at most 64, in their order.
    ///
    /// # Errors
    /// If there are no addresses.
    pub fn from_addresses(
        all: impl IntoIterator<Item = SocketAddr>,
        ttl: Option<Nanos>,
    ) -> Result<Self, ResolveError> {
        let mut addresses: Vec<SocketAddr> = Vec::new();
        for address in all {
            if !addresses.contains(&address) && addresses.len() < ADDRESSES_MAX {
                addresses.push(address);
            }
        }
        match addresses.is_empty() {
            true => Err(ResolveError::Empty),
            false => Ok(Self { addresses, ttl }),
        }
    }
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

impl Held {
    const fn new() -> Self {
        Self {
            count: Mutex::new(0),
            released: Condvar::new(),
        }
    }

    /// Takes one of [`NAMES_MAX`] places, and waits for one up to `timeout`.
    fn acquire(&'static self, timeout: Nanos) -> Result<HeldPlace, ResolveError> {
        let count = self.count.lock().unwrap_or_else(PoisonError::into_inner);
        let is_full = |count: &mut usize| *count >= NAMES_MAX;
        let waited = self
            .released
            .wait_timeout_while(count, timeout.as_duration(), is_full);
        let (mut count, _) = waited.unwrap_or_else(PoisonError::into_inner);
        if *count >= NAMES_MAX {
            return Err(ResolveError::TimedOut);
        }
        *count += 1;
        Ok(HeldPlace(self))
    }
}

/// A place among the blocked threads; dropping it releases it.
struct HeldPlace(&'static Held);

impl Drop for HeldPlace {
    fn drop(&mut self) {
        let mut count = self.0.count.lock().unwrap_or_else(PoisonError::into_inner);
        *count -= 1;
        self.0.released.notify_one();
    }
}

/// Resolves all addresses of a name, in the system's order, each once and at most 64.
///
/// Blocks for at most `timeout`. The system's resolver can't be interrupted, so a thread that it
/// still blocks is left running. At most 64 such threads exist: a further name waits for one of
/// them.
///
/// # Errors
/// If the name has no address.
pub fn resolve(host: &str, port: u16, timeout: Nanos) -> Result<Resolved, ResolveError> {
    let name = host.to_owned();
    let ask = move || {
        (name.as_str(), port)
            .to_socket_addrs()
            .map(Iterator::collect)
    };
    let found = ask_within(&HELD, timeout, ask)?;
    Resolved::from_addresses(found.map_err(|error| classify(&error))?, None)
}

/// The resolver's answer, from a new thread.
fn ask_within(
    held: &'static Held,
    timeout: Nanos,
    ask: impl FnOnce() -> io::Result<Vec<SocketAddr>> + Send + 'static,
) -> Result<io::Result<Vec<SocketAddr>>, ResolveError> {
    let clock = Clock::start();
    let place = held.acquire(timeout)?;
    let (answer, waiting) = mpsc::channel();
    thread::Builder::new()
        .name("resolver".to_owned())
        .spawn(move || {
            let found = ask();
            drop(place);
            // The receiver no longer exists if the look-up has timed out.
            let _late = answer.send(found);
        })
        .map_err(|error| ResolveError::Failed(system_words(&error)))?;
    let left = timeout - clock.now();
    waiting
        .recv_timeout(left.as_duration())
        .map_err(|_| ResolveError::TimedOut)
}

/// Classifies an error by its text, because the standard library keeps the resolver's code only
/// there. The text comes from the C library: glibc, musl, macOS or the BSDs.
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
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn localhost_has_addresses_and_an_invalid_name_has_none() {
        let timeout = Nanos::from_secs(30);
        let found = resolve("localhost", 80, timeout).unwrap();
        assert!(
            found
                .addresses
                .iter()
                .all(|a| a.ip().is_loopback() && a.port() == 80),
            "{found:?}"
        );
        // RFC 6761 guarantees that `.invalid` never exists; a machine without a resolver fails
        // differently.
        let refused = resolve("name.invalid", 80, timeout).unwrap_err();
        assert!(
            matches!(refused, ResolveError::NotFound | ResolveError::Failed(_)),
            "{refused}"
        );
    }

    #[test]
    fn a_resolver_that_does_not_answer_holds_a_bounded_number_of_threads() {
        static HELD: Held = Held::new();
        let asked: Arc<AtomicUsize> = Arc::default();
        let (release, silence) = mpsc::channel::<()>();
        let silence = Arc::new(Mutex::new(silence));
        let ask = |timeout| {
            let (asked, silence) = (Arc::clone(&asked), Arc::clone(&silence));
            ask_within(&HELD, timeout, move || {
                asked.fetch_add(1, Ordering::SeqCst);
                // The sender is dropped when the resolver should answer.
                let _closed = silence.lock().map(|silence| silence.recv());
                Ok(Vec::new())
            })
        };
        for _ in 0..NAMES_MAX + 10 {
            let answer = ask(Nanos::from_millis(1));
            assert!(matches!(answer, Err(ResolveError::TimedOut)), "{answer:?}");
        }
        drop(release);
        let answer = ask(Nanos::from_secs(60));
        assert!(matches!(answer, Ok(Ok(_))), "{answer:?}");
        assert!(asked.load(Ordering::SeqCst) <= NAMES_MAX + 1);
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
