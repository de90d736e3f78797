//! The way of an answer to its client, over any protocol.

use super::log::LlmRecording;
use crate::stream::Gone;
use std::rc::Rc;
use std::task::{Context, Poll};

/// The head of an answer.
#[derive(Debug)]
pub(crate) struct LlmHead {
    pub(crate) status: u16,
    pub(crate) fields: Vec<(&'static str, String)>,
    /// The length of the body, if it is known.
    pub(crate) length: Option<usize>,
}

/// Whether more follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rest {
    More,
    /// The body is complete.
    None,
}

/// Sends one answer: `open` once, then `write` until the body is complete.
pub(crate) trait Outlet {
    /// Sends the head with the next write.
    fn open(&mut self, head: &LlmHead) -> Result<(), Gone>;

    /// Sends a part of the body, which may be empty. The recording receives the time at which the
    /// kernel has all of it.
    async fn write(
        &mut self,
        bytes: &[u8],
        rest: Rest,
        recording: &Rc<LlmRecording>,
    ) -> Result<(), Gone>;

    /// Ready when the client has disconnected.
    fn poll_gone(&mut self, cx: &mut Context<'_>) -> Poll<()>;
}
