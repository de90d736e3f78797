//! The messages of a share's session to the driver of its agent.

use crate::message::Content;
use drumfire_engine::{Appointment, Control};

/// What an agent's holder has for its driver.
#[derive(Debug)]
pub enum FromAgent {
    /// The share is prepared: the facts of its run, encoded, and the appointment that its workers
    /// will keep.
    Prepared(Vec<u8>, Appointment),
    /// The run has started, and is commanded by this.
    Control(Control),
    /// What the run has to say.
    Content(Content),
    /// The share can't be run, or its run has failed.
    Failed(String),
}
