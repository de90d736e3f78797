//! The keys of a request on a WebSocket: `connect: /chat`, `send: hello`, `receive: 1`, `close: 1000`.

use super::payload::SEND;
use crate::diagnostic::Findings;
use crate::keys::fields::{Fields, Known, table};
use crate::keys::node::Node;
use crate::keys::schema::{Definitions, Properties};
use crate::keys::tree::Tree;
use crate::keys::{DocumentKey, Flag, Group, On};
use crate::{Layer, Payload, Place, Placed, Socket, Text};

table! {
    /// The keys of a request on a WebSocket.
    pub(crate) struct SocketKeys [] {
        connect: Option<Text> =
            "URL, or path on the target, of a WebSocket to open. Alone, it opens the WebSocket of the user; with `send` or `receive`, it opens one only if none is open";
        receive: Option<Text> =
            "What to wait for on the WebSocket, after the message of `send` if there is one: a number of messages, a time such as `10s` in which any number may come, or `match`: the first message that meets `expect`",
            Flag::new(Group::Request, "--listen <TIME>",
                "Send nothing: hold each WebSocket open for this time, and count the messages that come").on(On::WS).excludes(&["message"]).first();
        close: Option<Text> =
            "Close the WebSocket with this code and reason, such as `1000` or `4000 done`";
    } [
        send: SendPayload,
    ]
}

/// The message that a request sends.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct SendPayload(pub(crate) Option<Payload>);

impl SocketKeys {
    /// The names of all keys.
    pub(super) const NAMES: [&'static str; 6] = [
        "connect",
        "receive",
        "close",
        "send",
        "send_file",
        "send_base64",
    ];

    /// Takes the request on a WebSocket, if there is one. Notes actions that exclude each other.
    pub(super) fn take_socket(&mut self, found: &mut Findings) -> Option<Socket> {
        let socket = Socket {
            connect: self.connect.take(),
            send: self.send.0.take(),
            receive: self.receive.take(),
            close: self.close.take(),
        };
        if socket == Socket::default() {
            return None;
        }
        let others = socket.connect.is_some() || socket.send.is_some() || socket.receive.is_some();
        if let Some(close) = socket.close.as_ref().filter(|_| others) {
            let message = "`close` is a separate step; write it after another `-`";
            found.add(&close.place, message);
        }
        Some(socket)
    }

    /// The keys of a request.
    pub(super) fn from_socket(socket: &Socket) -> Self {
        Self {
            connect: socket.connect.clone(),
            receive: socket.receive.clone(),
            close: socket.close.clone(),
            send: SendPayload(socket.send.clone()),
        }
    }
}

impl Fields for SendPayload {
    const KEYS: &'static [DocumentKey] = SEND.keys;

    fn set(&mut self, key: &str, node: &Placed<Node>, found: &mut Findings) -> Known {
        SEND.set(&mut self.0, key, node, found)
    }

    fn show(&self, out: &mut Vec<(String, Tree)>) {
        SEND.show(self.0.as_ref(), out);
    }

    fn properties(out: &mut Properties, definitions: &mut Definitions) {
        SEND.properties(out, definitions);
    }
}

impl Layer for SendPayload {
    fn fill(&mut self, below: &Self) {
        if self.0.is_none() {
            self.0.clone_from(&below.0);
        }
    }

    fn place(&self, _: &str) -> Option<&Place> {
        None
    }
}
