//! WebSockets.

use crate::keys::fields::table;
use crate::keys::{Flag, Group, On};
use crate::{Switch, Text};

table! {
    /// How WebSockets are opened.
    pub struct SocketSettings [] {
        subprotocols: Vec<Text> =
            "Subprotocols to offer when a WebSocket is opened, in order of preference",
            Flag::new(Group::Request, "--subprotocol <NAME>",
                "Subprotocol to offer; repeatable, in order of preference").on(On::WS);
        message_compression: Option<Switch> =
            "Offer to compress the messages of a WebSocket (permessage-deflate), as browsers do; by default `true`",
            Flag::new(Group::Request, "--no-compression",
                "Do not offer to compress messages (permessage-deflate)").on(On::WS);
    } []
}
