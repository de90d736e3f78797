//! The machines over NATS: the one place of this crate with sockets, threads and a clock.
//!
//! Effects are here and in the two files beneath. Each driver has a thread with a runtime of tokio,
//! on which its machine alone decides. The other threads give it messages through a queue and take
//! what it has for them from another, so that no lock is held over a wait.
//!
//! ```text
//!   drumfire.GROUP.beat          requests of agents, answered by the coordinator
//!   drumfire.GROUP.nudge         agents are to beat at once
//!   drumfire.GROUP.RUN.share.N   reports, in the stream drumfire-RUN
//!   $O.drumfire-GROUP.>          files of plans, in the object store drumfire-GROUP
//! ```

mod files;
mod of_agent;
mod of_coordinator;

pub use files::Content as FileContent;
pub use of_agent::{AgentDriver, AgentTask};
pub use of_coordinator::{CoordinatorDriver, Journal, Origin, PastRun};

use async_nats::{Client, ConnectOptions, Subscriber};
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// The oldest server that loses no stream when it is killed (nats-server issue 6888).
const SERVER_MIN: [u64; 3] = [2, 10, 23];
/// The longest time between two looks at what is due.
const LOOK: Duration = Duration::from_millis(20);

/// Why a driver could not begin or go on.
#[derive(Debug)]
pub enum DriverError {
    /// The server can't be reached, or lets nobody in with these credentials.
    Connect(String),
    /// The server is too old, or has no JetStream.
    Server(String),
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
            Self::Stream(reason) => write!(f, "NATS refuses: {reason}"),
            Self::Journal(error) => write!(f, "can't write the journal: {error}"),
            Self::Past(reason) => write!(f, "can't go on by the journal: {reason}"),
            Self::Fenced => f.write_str("another coordinator goes on with the run"),
            Self::Thread(error) => write!(f, "a thread can't be started: {error}"),
        }
    }
}

impl std::error::Error for DriverError {}

/// The way to a server of NATS.
#[derive(Clone, Debug)]
pub struct Credentials {
    /// Its URL.
    pub url: String,
    /// The file with a user's token and key.
    pub file: Option<PathBuf>,
    /// The group of agents, a part of each subject.
    pub group: String,
}

impl Credentials {
    async fn connect(&self) -> Result<Client, DriverError> {
        let wrong = |error: &dyn fmt::Display| DriverError::Connect(error.to_string());
        let mut options = ConnectOptions::new().name("drumfire");
        if let Some(file) = &self.file {
            let with_file = options.credentials_file(file).await;
            options = with_file.map_err(|error| wrong(&error))?;
        }
        let client = options.connect(&self.url).await;
        let client = client.map_err(|error| wrong(&error))?;
        let info = client.server_info();
        check_version(&info.version)?;
        Ok(client)
    }

    fn subject(&self, of: &str) -> String {
        format!("drumfire.{}.{of}", self.group)
    }

    /// The group's bucket in the object store.
    fn bucket(&self) -> String {
        format!("drumfire-{}", self.group)
    }

    async fn subscribe(&self, client: &Client, of: &str) -> Result<Subscriber, DriverError> {
        let subscriber = client.subscribe(self.subject(of)).await;
        subscriber.map_err(|error| DriverError::Stream(error.to_string()))
    }
}

/// Refuses servers that lose what they have acknowledged in ways that were fixed since.
fn check_version(version: &str) -> Result<(), DriverError> {
    let numbers = version.split(['.', '-']).map(str::parse::<u64>);
    let numbers: Vec<u64> = numbers.map_while(Result::ok).take(3).collect();
    if numbers.as_slice() >= SERVER_MIN.as_slice() {
        return Ok(());
    }
    let [major, minor, patch] = SERVER_MIN;
    Err(DriverError::Server(format!(
        "nats-server {version} is too old: before {major}.{minor}.{patch} it could lose whole \
         streams when it was killed"
    )))
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_that_are_too_old_are_refused() {
        for (version, is_taken) in [
            ("2.9.10", false),
            ("2.10.22", false),
            ("2.10.23", true),
            ("2.12.2", true),
            ("2.15.0-beta.1", true),
            ("3.0.0", true),
        ] {
            assert_eq!(check_version(version).is_ok(), is_taken, "{version}");
        }
    }
}
