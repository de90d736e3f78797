//! The plan of a reaction to a request, before a protocol encodes it.

use crate::answer::{Answer, Constancy, Counting, RawBytes};
use crate::llm::LlmJob;
use crate::upgrade::SocketPlan;
use drumfire_units::Nanos;

/// What the server does with a request, and when.
pub(crate) struct AnswerPlan {
    /// The delay drawn from a law; shown in the answer.
    pub(crate) delay: Option<Nanos>,
    pub(crate) act: Reaction,
    /// Whether an equal request gets an equal plan.
    pub(crate) constancy: Constancy,
    /// Whether the request is counted and logged.
    pub(crate) counting: Counting,
}

/// The server's reaction: an answer, or bytes that violate the protocol.
pub(crate) enum Reaction {
    /// A valid answer.
    Answer(Answer),
    /// Raw bytes.
    Raw(RawBytes),
    /// A WebSocket.
    Socket(Box<SocketPlan>),
    /// Tokens, each at its time.
    Tokens(Box<LlmJob>),
}
