//! WebSockets: what a request does on the connection of its user.
//!
//! A request with a [`WebSocket`] has the URL and the header fields of the opening handshake, which
//! are sent only if the request opens the connection, and a body, which is the message to send. So
//! the same templates, checks and values serve handshakes and messages.

use drumfire_units::Nanos;

/// The maximum length of the reason in a close frame, in bytes (RFC 6455 section 5.5).
pub const CLOSE_REASON_MAX: usize = 123;

/// What a request does on a WebSocket (RFC 6455).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebSocket {
    /// What happens on the connection.
    pub act: SocketAct,
    /// Whether the request opens the connection if it is not open. Always, for
    /// [`SocketAct::Connect`].
    pub opens: bool,
    /// The subprotocols to offer, in order of preference; tokens without duplicates.
    pub subprotocols: Vec<String>,
    /// Whether the client offers to compress messages.
    pub deflate: Deflate,
}

/// What happens on a WebSocket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SocketAct {
    /// The opening handshake. A connection that is open is closed first.
    Connect,
    /// Sends the request's body as a message, receives messages, or both.
    Message {
        /// The type of the message to send; `None` sends none.
        send: Option<MessageKind>,
        /// What the exchange waits for; `None` means that it ends when the message is sent.
        receive: Option<Receive>,
    },
    /// Sends a ping with the request's body, of at most 125 bytes. The exchange does not wait for the pong.
    Ping,
    /// The closing handshake.
    Close {
        /// The code to send; `None` sends a close frame without a code.
        code: Option<u16>,
        /// The reason to send, of at most [`CLOSE_REASON_MAX`] bytes; empty without a code.
        reason: String,
    },
}

/// The type of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageKind {
    /// UTF-8 text.
    Text,
    /// Any bytes.
    Binary,
}

/// What an exchange receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Receive {
    /// The end of the exchange.
    pub until: ReceiveUntil,
    /// The maximum time without a message, from the beginning or from the previous message to the
    /// next one; [`Nanos::MAX`] means no limit.
    pub gap: Nanos,
}

/// When an exchange has received enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceiveUntil {
    /// After this number of messages, at least 1. Checks see all of them, joined by LF.
    Count(u64),
    /// With the first message that meets the request's checks.
    Match,
    /// After this time, with any number of messages.
    Time(Nanos),
}

/// Whether a client offers permessage-deflate (RFC 7692).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Deflate {
    /// As browsers offer it.
    #[default]
    Offer,
    /// Messages are sent and received as they are.
    No,
}

impl WebSocket {
    /// What the exchange receives, if it receives messages.
    #[must_use]
    pub const fn receive(&self) -> Option<&Receive> {
        match &self.act {
            SocketAct::Message { receive, .. } => receive.as_ref(),
            SocketAct::Connect | SocketAct::Ping | SocketAct::Close { .. } => None,
        }
    }

    /// The type of the message that is sent, if there is one.
    #[must_use]
    pub const fn sends(&self) -> Option<MessageKind> {
        match &self.act {
            SocketAct::Message { send, .. } => *send,
            SocketAct::Connect | SocketAct::Ping | SocketAct::Close { .. } => None,
        }
    }

    /// Whether the exchange only receives messages.
    #[must_use]
    pub const fn only_receives(&self) -> bool {
        matches!(
            &self.act,
            SocketAct::Message {
                send: None,
                receive: Some(_)
            }
        )
    }
}
