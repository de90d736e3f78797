//! The messages of a share's session to the driver of its agent.

use crate::message::Content;
use crate::redacted::Redacted;
use drumfire_engine::{Appointment, Control};
use tokio::sync::mpsc::Sender;

/// What an agent's holder has for its driver.
#[derive(Debug)]
pub(crate) enum FromAgent {
    /// The share is prepared: the facts of its run, encoded, and the appointment that its workers
    /// will keep.
    Prepared(Redacted<Vec<u8>>, Appointment),
    /// The holder waits for this file of its run.
    Fetch(Wanted),
    /// The run has started, and is commanded by this.
    Control(Control),
    /// What the run has to say.
    Content(Redacted<Content>),
    /// The share can't be run, or its run has failed.
    Failed(Redacted<String>),
}

/// A file that an agent's holder waits for.
#[derive(Debug)]
pub(crate) struct Wanted {
    /// The run.
    pub(crate) run: String,
    /// The file's number.
    pub(crate) number: usize,
    /// The way for its chunks.
    pub(crate) chunks: Sender<Result<Vec<u8>, String>>,
}
