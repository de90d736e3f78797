//! Drives the state machines over NATS: the only part of this crate with sockets, threads and a
//! clock.
//!
//! Effects are here and in the files of this folder. Each driver has a thread with a tokio runtime,
//! and only this thread uses the state machine. The other threads send messages through one queue
//! and receive through another, so that no lock is held during a wait.
//!
//! ```text
//!   drumfire.GROUP.beat          requests of agents, answered by the coordinator
//!   drumfire.GROUP.nudge         agents are to beat at once
//!   drumfire.GROUP.status        a question that each coordinator answers
//!   drumfire.GROUP.RUN.share.N   reports, in the stream drumfire-RUN
//!   $O.drumfire-GROUP.>          files of plans, in the object store drumfire-GROUP
//! ```

mod access;
mod ask;
mod files;
mod of_agent;
mod of_coordinator;

pub use access::{NatsCredentials, NatsTls, NatsUser, Refusal};
pub use ask::runs_under_way;
pub use files::Content as FileContent;
pub use of_agent::{AgentDriver, AgentTask};
pub use of_coordinator::{CoordinatorDriver, Journal, Origin, PastRun};

use std::fmt;
use std::io;
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// The maximum time between two checks for due work.
const LOOK: Duration = Duration::from_millis(20);

/// Why a driver could not start or continue.
#[derive(Debug)]
pub enum DriverError {
    /// The server is unreachable, or rejects the credentials.
    Connect(String),
    /// The server is too old, or has no JetStream.
    Server(String),
    /// The user lacks a permission.
    Forbidden(Refusal),
    /// A stream or a subscription could not be created.
    Stream(String),
    /// The journal could not be written.
    Journal(io::Error),
    /// The journal of the run to take over could not be read.
    Past(String),
    /// Another coordinator has taken over the run.
    Fenced,
    /// A thread could not be started.
    Thread(io::Error),
}

impl fmt::Display for DriverError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Connect(reason) => write!(f, "can't connect to NATS: {reason}"),
            Self::Server(reason) => f.write_str(reason),
            Self::Forbidden(refusal) => write!(f, "{refusal}"),
            Self::Stream(reason) => write!(f, "NATS error: {reason}"),
            Self::Journal(error) => write!(f, "can't write the journal: {error}"),
            Self::Past(reason) => write!(f, "cannot resume from the journal: {reason}"),
            Self::Fenced => f.write_str("another coordinator has taken over the run"),
            Self::Thread(error) => write!(f, "could not start a thread: {error}"),
        }
    }
}

impl std::error::Error for DriverError {}

/// Starts a driver's thread.
fn spawn<F>(
    name: &str,
    body: impl FnOnce() -> F + Send + 'static,
) -> Result<JoinHandle<Result<(), DriverError>>, DriverError>
where
    F: Future<Output = Result<(), DriverError>>,
{
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(DriverError::Thread)?;
    let thread = thread::Builder::new().name(name.to_owned());
    let thread = thread.spawn(move || runtime.block_on(body()));
    thread.map_err(DriverError::Thread)
}
