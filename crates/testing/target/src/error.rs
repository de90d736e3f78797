//! The reasons why a server does not start.

use crate::options::Listen;
use std::fmt;
use std::io;

/// The reason why a server does not start; the text includes the remedy.
#[derive(Debug)]
#[non_exhaustive]
pub enum StartError {
    /// Another process uses the address.
    AddressInUse {
        /// The address.
        listen: Listen,
    },
    /// The address can't be bound for another reason.
    Bind {
        /// The address.
        listen: Listen,
        /// The system's error.
        cause: io::Error,
    },
    /// No address was given.
    NoAddress,
    /// Other machines could reach the address, and the options do not allow that.
    NotLoopback {
        /// The address.
        listen: Listen,
    },
    /// Serial handling of requests requires one thread.
    SerialThreads {
        /// The requested number of threads.
        threads: usize,
    },
    /// A mock of a server for language models has its own queue.
    SerialMock,
    /// Streams that depend on each other require one thread.
    BatchThreads {
        /// The requested number of threads.
        threads: usize,
    },
    /// The number of threads is not in 1 to 256.
    Threads {
        /// The requested number of threads.
        threads: usize,
    },
    /// A thread or its event loop could not be created.
    Thread {
        /// The system's error.
        cause: io::Error,
    },
    /// The schema of the gRPC services does not compile.
    Schema {
        /// The reason as text.
        reason: String,
    },
    /// The certificate could not be created.
    Certificate {
        /// The reason as text.
        reason: String,
    },
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AddressInUse {
                listen: listen @ Listen::Unix(_),
            } => write!(
                f,
                "{listen} exists already; remove the file or choose another path"
            ),
            Self::AddressInUse { listen } => write!(
                f,
                "{listen} is in use by another process; stop it, choose another port, or use port \
                 0 to pick a free one"
            ),
            Self::Bind { listen, cause } => write!(f, "can't listen on {listen}: {cause}"),
            Self::NoAddress => f.write_str("no listen address; use one such as 127.0.0.1:0"),
            Self::NotLoopback { listen } => write!(
                f,
                "{listen} can be reached from other machines; listen on 127.0.0.1 or [::1], or add \
                 --expose"
            ),
            Self::SerialThreads { threads } => write!(
                f,
                "--serial needs one thread, not {threads}; remove --serial or --threads"
            ),
            Self::SerialMock => {
                f.write_str("--serial can't be combined with --llm; use --capacity 1 instead")
            }
            Self::BatchThreads { threads } => write!(
                f,
                "--capacity and --batch need one thread, not {threads}; remove them or --threads"
            ),
            Self::Threads { threads } => {
                write!(f, "--threads: {threads} is out of range; use 1 to 256")
            }
            Self::Thread { cause } => write!(f, "can't start a worker thread: {cause}"),
            Self::Schema { reason } => write!(f, "can't start the gRPC services: {reason}"),
            Self::Certificate { reason } => write!(f, "can't create a certificate: {reason}"),
        }
    }
}

impl std::error::Error for StartError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Bind { cause, .. } | Self::Thread { cause } => Some(cause),
            _ => None,
        }
    }
}
