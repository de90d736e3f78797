//! Why a session has no outcome.

use crate::{MeteringError, OutputError};
use drumfire_engine::{PrepareError, RunError};
use drumfire_placement::Unfit;
use drumfire_store::StoreError;
use drumfire_units::rounded::count;
use drumfire_units::{ByteSize, system_words};
use std::fmt;
use std::io;

/// Why a plan was not run, or why its run has no result. The texts contain no flags: a caller with
/// flags adds a remedy to the variants for which it knows one.
///
/// All variants except [`Self::Run`] occur before the first request. A target that refuses
/// everything is not an error, but a run with failures.
#[derive(Debug)]
pub enum SessionError {
    /// The plan cannot be run on this machine.
    Prepare(PrepareError),
    /// The machine cannot run the plan, for at least one reason.
    Unfit(Vec<Unfit>),
    /// There are too few file descriptors for the connections that are opened in advance.
    Descriptors {
        /// The number of connections.
        connections: u64,
        /// The number of descriptors in use.
        open: u64,
        /// The maximum number of descriptors of this process.
        limit: u64,
    },
    /// The process has too little address space (`ulimit -v`).
    AddressSpace {
        /// The limit.
        limit: ByteSize,
        /// The minimum that the plan needs.
        needed: ByteSize,
    },
    /// The run cannot be stored in the directory that the user named.
    Store(StoreError),
    /// Metrics cannot be served or pushed as configured.
    Metering(MeteringError),
    /// A result that is written during the run cannot be written.
    Stream(OutputError),
    /// An observer's thread could not be started.
    Thread(io::Error),
    /// Certificate files cannot be watched.
    Certificates(io::Error),
    /// An observer refuses the run, for this reason.
    Refused(String),
    /// The run could not start, or was aborted.
    Run(RunError),
}

impl fmt::Display for SessionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Prepare(error) => error.fmt(f),
            Self::Unfit(refused) => {
                let reasons: Vec<String> = refused.iter().map(ToString::to_string).collect();
                f.write_str(&reasons.join("; "))
            }
            Self::Descriptors {
                connections,
                open,
                limit,
            } => {
                let needed = open.saturating_add(*connections);
                write!(
                    f,
                    "{} connections need {} file descriptors, including the {} already open, but \
                     this process may open only {}; raise the limit (ulimit -n {needed})",
                    count(*connections),
                    count(needed),
                    count(*open),
                    count(*limit)
                )
            }
            Self::AddressSpace { limit, needed } => write!(
                f,
                "the run needs at least {needed} of address space, but this process may use only \
                 {limit}; raise `ulimit -v`"
            ),
            Self::Store(error) => error.fmt(f),
            Self::Metering(error) => error.fmt(f),
            Self::Stream(error) => error.fmt(f),
            Self::Thread(error) => write!(f, "can't start a thread: {}", system_words(error)),
            Self::Certificates(error) => {
                write!(f, "can't watch certificates: {}", system_words(error))
            }
            Self::Refused(why) => f.write_str(why),
            Self::Run(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for SessionError {}

impl From<MeteringError> for SessionError {
    fn from(error: MeteringError) -> Self {
        Self::Metering(error)
    }
}

impl From<OutputError> for SessionError {
    fn from(error: OutputError) -> Self {
        Self::Stream(error)
    }
}
