//! The reasons for which a session has no outcome.

use crate::{MeteringError, StreamError};
use drumfire_engine::{PrepareError, RunError};
use drumfire_placement::Unfit;
use drumfire_store::StoreError;
use drumfire_units::ByteSize;
use drumfire_units::rounded::count;
use std::fmt;
use std::io;

/// The reason for which a plan was not run, or there is no account of its run. Texts name no flags:
/// a caller that has some adds its remedy to the variant that it knows one for.
///
/// All but [`Self::Run`] come before the first request. A target that refuses everything is no
/// error, but a run with failures.
#[derive(Debug)]
pub enum SessionError {
    /// The plan can't be run here and now.
    Prepare(PrepareError),
    /// The machine can't run the plan, for at least one reason.
    Unfit(Vec<Unfit>),
    /// Connections that are opened ahead can't all have a descriptor beside those that are open.
    Descriptors {
        /// The number of connections.
        connections: u64,
        /// The descriptors that are open.
        open: u64,
        /// The descriptors that this process may open.
        limit: u64,
    },
    /// The process may use too few addresses (`ulimit -v`).
    AddressSpace {
        /// Its limit.
        limit: ByteSize,
        /// The least that the plan needs.
        needed: ByteSize,
    },
    /// The directory that the user named can't take the run.
    Store(StoreError),
    /// Metrics can't be served or pushed as the plan has it.
    Metering(MeteringError),
    /// A result can't be written while the run goes on.
    Stream(StreamError),
    /// An observer's thread can't be started.
    Thread(io::Error),
    /// Files of certificates can't be watched.
    Certificates(io::Error),
    /// An observer refuses the run, for this reason.
    Refused(String),
    /// The run could not take place, or broke off.
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
            Self::Thread(error) => write!(f, "can't start a thread: {error}"),
            Self::Certificates(error) => write!(f, "can't watch certificates: {error}"),
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

impl From<StreamError> for SessionError {
    fn from(error: StreamError) -> Self {
        Self::Stream(error)
    }
}
