//! The query of `/ws`.

use crate::law::Law;
use crate::parameter::{BadParameter, parse};
use crate::request::RequestHead;
use drumfire_units::Nanos;
use std::str::FromStr;

/// The maximum number of messages that are sent unasked.
const MESSAGES_MAX: u32 = 1_000_000;
/// The maximum size of the filler in a message.
const SIZE_MAX: u64 = 16 << 20;

/// The conversation that a request selects.
#[derive(Clone, Debug)]
pub(crate) struct UpgradeRequest {
    /// `n=N`: the number of messages that the server sends unasked.
    pub(crate) count: u32,
    /// `first=LAW`: the time from the handshake to the first of them.
    pub(crate) first: Law,
    /// `gap=LAW`: the time from one of them to the next.
    pub(crate) gap: Law,
    /// `after=N`: the number of messages to receive before the end.
    pub(crate) after: u32,
    /// `code=N`: the code with which the server closes at the end.
    pub(crate) code: Option<u16>,
    /// `ping=LAW`: the time from one ping to the next.
    pub(crate) ping: Option<Law>,
    /// `echo=no`: messages are not sent back.
    pub(crate) echo: Switch,
    /// `deflate=no`: messages are not compressed.
    pub(crate) deflate: Switch,
    /// `fault=NAME`: a violation.
    pub(crate) fault: Option<SocketFault>,
}

/// A parameter with the values `yes` and `no`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Switch {
    On,
    Off,
}

impl FromStr for Switch {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "yes" => Ok(Self::On),
            "no" => Ok(Self::Off),
            _ => Err("use yes or no"),
        }
    }
}

/// A violation on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SocketFault {
    /// The handshake has a `Sec-WebSocket-Accept` for another key.
    Accept,
    /// At the end, the connection is closed without a close frame.
    Cut,
    /// At the end, half a frame is sent, and the connection is closed.
    Half,
    /// At the end, a masked frame is sent.
    Masked,
    /// At the end, a frame with a reserved opcode is sent.
    Opcode,
    /// At the end, a frame with a reserved bit is sent.
    Reserved,
    /// At the end, the connection is reset.
    Reset,
    /// A client's close frame is not answered.
    Silent,
    /// At the end, a text is sent that is not UTF-8.
    Utf8,
}

/// The names of all faults.
const FAULTS: [(&str, SocketFault); 9] = [
    ("accept", SocketFault::Accept),
    ("cut", SocketFault::Cut),
    ("half", SocketFault::Half),
    ("masked", SocketFault::Masked),
    ("opcode", SocketFault::Opcode),
    ("reserved", SocketFault::Reserved),
    ("reset", SocketFault::Reset),
    ("silent", SocketFault::Silent),
    ("utf8", SocketFault::Utf8),
];

impl FromStr for SocketFault {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let found = FAULTS.iter().find(|(name, _)| *name == text);
        found
            .map(|(_, fault)| *fault)
            .ok_or("use accept, cut, half, masked, opcode, reserved, reset, silent or utf8")
    }
}

impl UpgradeRequest {
    /// The conversation of a request. `size` is the length of the filler in each message that is
    /// sent unasked.
    ///
    /// # Errors
    /// If a parameter is invalid.
    pub(crate) fn read(head: &RequestHead<'_>, size: u64) -> Result<Self, BadParameter> {
        let mut request = Self {
            count: 0,
            first: Law::Constant(Nanos::ZERO),
            gap: Law::Constant(Nanos::from_millis(10)),
            after: 0,
            code: None,
            ping: None,
            echo: Switch::On,
            deflate: Switch::On,
            fault: None,
        };
        for (name, value) in head.parameters() {
            match &*name {
                "n" => request.count = parse(&name, &value)?,
                "first" => request.first = parse(&name, &value)?,
                "gap" => request.gap = parse(&name, &value)?,
                "after" => request.after = parse(&name, &value)?,
                "code" => request.code = Some(parse(&name, &value)?),
                "ping" => request.ping = Some(parse(&name, &value)?),
                "echo" => request.echo = parse(&name, &value)?,
                "deflate" => request.deflate = parse(&name, &value)?,
                "fault" => request.fault = Some(parse(&name, &value)?),
                _ => {}
            }
        }
        if request.count > MESSAGES_MAX {
            return Err(BadParameter(format!("n: at most {MESSAGES_MAX} messages")));
        }
        if request.count > 0 && size > SIZE_MAX {
            return Err(BadParameter(format!(
                "size: a message can have at most {SIZE_MAX} bytes of filler"
            )));
        }
        Ok(request)
    }

    /// The fault at the end of the conversation.
    pub(crate) fn last_fault(&self) -> Option<SocketFault> {
        self.fault
            .filter(|fault| !matches!(fault, SocketFault::Accept | SocketFault::Silent))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(query: &str) -> Result<UpgradeRequest, BadParameter> {
        let head = RequestHead {
            method: "GET",
            target: &format!("/ws?{query}"),
            protocol: "HTTP/1.1",
            fields: Vec::new(),
        };
        UpgradeRequest::read(&head, 4)
    }

    #[test]
    fn a_query_selects_the_conversation() {
        let request = read("n=3&first=5ms&gap=1ms&after=2&code=4000&echo=no&fault=silent").unwrap();
        assert_eq!(
            (request.count, request.after, request.code),
            (3, 2, Some(4000))
        );
        assert_eq!(request.echo, Switch::Off);
        assert_eq!(request.fault, Some(SocketFault::Silent));
        assert_eq!(request.last_fault(), None);
        assert_eq!(read("").unwrap().count, 0);
        for (name, fault) in FAULTS {
            assert_eq!(read(&format!("fault={name}")).unwrap().fault, Some(fault));
        }
    }

    #[test]
    fn what_is_invalid_is_refused() {
        for query in [
            "n=x",
            "n=1000001",
            "fault=x",
            "echo=1",
            "code=65536",
            "ping=-1s",
        ] {
            assert!(read(query).is_err(), "{query}");
        }
    }
}
