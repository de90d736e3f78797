//! WebSockets of a script, from the call to what happens on them.

use crate::errand::{Errand, Outcome};
use drumfire_engine::SocketSend;
use drumfire_plan::Deflate;

/// Which module of k6 a WebSocket belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SocketModule {
    /// `k6/ws`, which counts messages.
    Ws,
    /// `k6/websockets`, which counts pings and closes as messages, and names its sockets.
    Websockets,
}

/// A WebSocket that a script opens.
#[derive(Debug)]
pub(crate) struct SocketErrand {
    /// The handshake, whose URL has the scheme http or https.
    pub(crate) errand: Errand,
    /// The URL as the script wrote it.
    pub(crate) address: String,
    pub(crate) subprotocols: Vec<String>,
    pub(crate) deflate: Deflate,
    pub(crate) module: SocketModule,
}

/// The answer to the handshake of a WebSocket.
#[derive(Debug)]
pub(crate) struct Handshake {
    /// The URL; empty without a socket.
    pub(crate) url: String,
    pub(crate) status: u16,
    pub(crate) fields: Vec<(String, Vec<u8>)>,
    pub(crate) error: String,
}

/// What happened on a WebSocket, or to requests in the background.
#[derive(Debug)]
pub(crate) enum Happening {
    /// The socket is open.
    Opened(Handshake),
    /// The socket could not be opened.
    Refused(Handshake),
    /// A message.
    Text(Vec<u8>),
    /// A message.
    Binary(Vec<u8>),
    /// A ping.
    Ping,
    /// A pong.
    Pong,
    /// The socket is closed, with a code and a reason.
    Closed(u16, String),
    /// The connection failed.
    Failed(String),
    /// The results of requests.
    Replied(Vec<Outcome>),
}

/// Something that happened to a user, with the number of its socket or of its requests.
#[derive(Debug)]
pub(crate) struct Event {
    pub(crate) number: u32,
    pub(crate) what: Happening,
}

/// An act on a socket of a user.
#[derive(Debug)]
pub(crate) enum SocketAct {
    /// Send something.
    Send(SocketSend),
    /// End the socket without a farewell.
    Drop,
}
