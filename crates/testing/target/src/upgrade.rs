//! The request for a WebSocket and the answer to it, without the conversation that follows (RFC 6455,
//! RFC 8441).
//!
//! `request` is the query of `/ws`, `handshake` the answer, and `terms` the compression on which both
//! sides agree.

mod handshake;
mod request;
mod terms;

use crate::law::Law;
use drumfire_units::Xoshiro256;

pub(crate) use handshake::UpgradeAnswer;
pub(crate) use request::{SocketFault, Switch, UpgradeRequest};
pub(crate) use terms::DeflateTerms;

/// A conversation, before its handshake is sent.
#[derive(Debug)]
pub(crate) struct SocketPlan {
    pub(crate) handshake: UpgradeAnswer,
    pub(crate) request: UpgradeRequest,
    /// The time from a message to its echo.
    pub(crate) delay: Option<Law>,
    /// The filler in a message that is sent unasked.
    pub(crate) filler: String,
    pub(crate) random: Xoshiro256,
}
