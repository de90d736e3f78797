//! The messages of a share's session to the driver of its agent.

use crate::message::Content;
use crate::redacted::Redacted;
use drumfire_engine::{Appointment, Control};
use tokio::sync::mpsc::Sender;

/// A message of an agent's holder to its driver.
#[derive(Debug)]
pub(crate) enum FromAgent {
    /// The share is prepared: the encoded facts of its run, and the appointment of its workers.
    Prepared(Redacted<Vec<u8>>, Appointment),
    /// The holder waits for this file of its run.
    Fetch(Wanted),
    /// The run has started; this controls it.
    Control(Control),
    /// An event of the run.
    Content(Redacted<Content>),
    /// The share cannot be run, or its run has failed.
    Failed(Redacted<String>),
}

/// A file that an agent's holder waits for.
#[derive(Debug)]
pub(crate) struct Wanted {
    /// The run.
    pub(crate) run: String,
    /// The file's number.
    pub(crate) number: usize,
    /// The queue for its chunks.
    pub(crate) chunks: Sender<Result<Vec<u8>, String>>,
}
