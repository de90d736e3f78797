//! The machines over NATS: the one place of this crate with sockets, threads and a clock.
//!
//! Effects are here and in the two files beneath. Each driver has a thread with a runtime of tokio,
//! on which its machine alone decides. The other threads give it messages through a queue and take
//! what it has for them from another, so that no lock is held over a wait.
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

pub use access::{Credentials, NatsTls, Refusal, User};
pub use ask::runs_under_way;
pub use files::Content as FileContent;
pub use of_agent::{AgentDriver, AgentTask};
pub use of_coordinator::{CoordinatorDriver, Journal, Origin, PastRun};

use std::fmt;
use std::io;
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// The longest time between two looks at what is due.
const LOOK: Duration = Duration::from_millis(20);

/// Why a driver could not begin or go on.
#[derive(Debug)]
pub enum DriverError {
    /// The server can't be reached, or lets nobody in with these credentials.
    Connect(String),
    /// The server is too old, or has no JetStream.
    Server(String),
    /// The user lacks a right.
    Forbidden(Refusal),
    /// A stream or a subscription can't be made.
    Stream(String),
    /// The journal can't be written.
    Journal(io::Error),
    /// The journal of the run that is to be gone on with can't be read.
    Past(String),
    /// Another coordinator goes on with the run.
    Fenced,
    /// A thread can't be started.
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

/// A driver's thread.
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
