//! The exchange on a WebSocket, and what it is for.

use crate::id::ExchangeId;
use drumfire_plan::{MessageKind, ReceiveUntil, SocketAct};
use drumfire_websocket as ws;

/// The exchange on the connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct SocketExchange {
    pub(super) id: ExchangeId,
    pub(super) goal: Goal,
    /// Whether its message is not written completely.
    pub(super) is_writing: bool,
    /// Whether a byte has arrived since it was sent.
    pub(super) is_answered: bool,
}

/// What an exchange does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Goal {
    /// The handshake.
    Connect,
    /// Messages.
    Message {
        send: Option<ws::Kind>,
        receives: bool,
        /// Whether a message that comes after the exchange was given up could be taken for the
        /// answer to a later one.
        is_asked: bool,
    },
    /// A ping.
    Ping,
    /// The closing handshake.
    Close,
}

impl Goal {
    pub(super) fn from_act(act: &SocketAct) -> Self {
        match act {
            SocketAct::Connect => Self::Connect,
            SocketAct::Ping => Self::Ping,
            SocketAct::Close { .. } => Self::Close,
            SocketAct::Message { send, receive } => Self::Message {
                send: send.map(|kind| match kind {
                    MessageKind::Text => ws::Kind::Text,
                    MessageKind::Binary => ws::Kind::Binary,
                }),
                receives: receive.is_some(),
                is_asked: send.is_some()
                    && receive
                        .is_some_and(|receive| !matches!(receive.until, ReceiveUntil::Time(_))),
            },
        }
    }
}
