//! Why a session has no outcome.

use crate::{MeteringError, StreamError};
use drumfire_engine::{PrepareError, RunError};
use drumfire_store::StoreError;
use drumfire_units::rounded;
use std::fmt;
use std::io;

/// Why a plan was not run, or there is no account of its run. Texts name no flags: a caller that
/// has some adds its remedy to the variant that it knows one for.
#[derive(Debug)]
pub enum SessionError {
    /// The plan can't be run on this machine.
    Prepare(PrepareError),
    /// The process may not open as many files as the run begins with.
    Descriptors(DescriptorShortage),
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
    /// The run could not take place, or broke off.
    Run(RunError),
}

/// Connections that can't all be open at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DescriptorShortage {
    /// How many the run begins with.
    pub connections: u64,
    /// The descriptors that they and the program need.
    pub needed: u64,
    /// The descriptors that the process may have.
    pub limit: u64,
}

impl fmt::Display for DescriptorShortage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} connections need {} file descriptors, and this process may open {}",
            rounded::count(self.connections),
            rounded::count(self.needed),
            rounded::count(self.limit)
        )
    }
}

impl fmt::Display for SessionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Prepare(error) => error.fmt(f),
            Self::Descriptors(shortage) => shortage.fmt(f),
            Self::Store(error) => error.fmt(f),
            Self::Metering(error) => error.fmt(f),
            Self::Stream(error) => error.fmt(f),
            Self::Thread(error) => write!(f, "a thread can't be started: {error}"),
            Self::Certificates(error) => write!(f, "can't watch certificates: {error}"),
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
