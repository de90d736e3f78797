//! What happens on a WebSocket of a client.

use super::reply::Reply;
use drumfire_measure::Outcome;
use drumfire_plan::MessageKind;

/// The code of a close frame without a code (RFC 6455 section 7.1.5).
pub(super) const NO_CODE: u16 = 1005;

/// What happened on a WebSocket.
#[derive(Debug)]
pub enum SocketEvent {
    /// The handshake is over; the reply has its fields and times. Nothing follows a failure.
    Opened(Box<Reply>),
    /// A message of the server.
    Message(MessageKind, Vec<u8>),
    /// A ping of the server, which was answered.
    Ping,
    /// A pong of the server.
    Pong,
    /// The socket is closed: the code and the reason of the server, or of the client if it closed
    /// first. Nothing follows.
    Closed(u16, String),
    /// The connection failed; nothing follows.
    Failed(Outcome, String),
}

impl SocketEvent {
    /// The event of a close frame.
    pub(super) fn closed(code: Option<u16>, reason: &str) -> Self {
        Self::Closed(code.unwrap_or(NO_CODE), reason.to_owned())
    }
}
