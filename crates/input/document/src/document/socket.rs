//! Requests on WebSockets, as written.

use crate::{Payload, Text};

/// A request on a WebSocket. At least one of the fields is set.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Socket {
    /// The URL of the handshake, or its path at the target; `None` if the WebSocket must be open.
    pub connect: Option<Text>,
    /// The message to send: a text, JSON, a file or base64.
    pub send: Option<Payload>,
    /// What to wait for: a number of messages, a time, or `match`.
    pub receive: Option<Text>,
    /// The code and the reason with which to close.
    pub close: Option<Text>,
}

impl Socket {
    /// The text that identifies the request: the first that is written.
    pub(crate) fn text(&self) -> Option<&Text> {
        let sent = self.send.as_ref().and_then(|send| match send {
            Payload::Text(text)
            | Payload::File(text)
            | Payload::Base64(text)
            | Payload::Json(text) => Some(text),
            Payload::Form(fields) => fields.first().map(|field| &field.name),
            Payload::Multipart(parts) => parts.first().map(|part| &part.name),
        });
        let all = [
            self.connect.as_ref(),
            sent,
            self.receive.as_ref(),
            self.close.as_ref(),
        ];
        all.into_iter().flatten().next()
    }
}
