//! Why a handshake failed.

use std::fmt;

/// How much of a server's text is shown, in bytes before escaping.
const SHOWN_BYTES: usize = 40;

/// Why an answer opens no WebSocket. After any of these except [`Refusal::Status`], the connection,
/// or the stream of HTTP/2, must be closed (RFC 6455 section 4.1). The texts are escaped for a
/// terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Another status than 101, or than 2xx over HTTP/2: the answer is an ordinary response.
    Status(u16),
    /// No `Upgrade` field with the value `websocket`.
    Upgrade,
    /// No `Connection` field with the option `Upgrade`.
    Connection,
    /// No `Sec-WebSocket-Accept`.
    AcceptMissing,
    /// A `Sec-WebSocket-Accept` that does not belong to the key.
    Accept,
    /// A subprotocol that was not offered.
    Protocol(Box<str>),
    /// More than one subprotocol.
    ProtocolTwice,
    /// An extension that was not offered.
    Extension(Box<str>),
    /// An extension twice.
    ExtensionTwice,
    /// A parameter of an extension that is invalid, or missing, or contradicts the offer.
    Parameter(Box<str>),
}

impl Refusal {
    /// The stable name of the class, as it appears in the results.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Status(_) => "ws:status",
            Self::Upgrade | Self::Connection => "ws:upgrade",
            Self::AcceptMissing | Self::Accept => "ws:accept",
            Self::Protocol(_) | Self::ProtocolTwice => "ws:protocol",
            Self::Extension(_) | Self::ExtensionTwice | Self::Parameter(_) => "ws:extension",
        }
    }

    pub(crate) fn protocol(name: &[u8]) -> Self {
        Self::Protocol(shown(name))
    }

    pub(crate) fn extension(name: &[u8]) -> Self {
        Self::Extension(shown(name))
    }

    pub(crate) fn parameter(text: &[u8]) -> Self {
        Self::Parameter(shown(text))
    }
}

fn shown(text: &[u8]) -> Box<str> {
    let text = &text[..text.len().min(SHOWN_BYTES)];
    text.escape_ascii().to_string().into_boxed_str()
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Status(status) => write!(f, "the server answered with status {status}"),
            Self::Upgrade => f.write_str("the answer has no `Upgrade: websocket`"),
            Self::Connection => f.write_str("the answer has no `Connection: Upgrade`"),
            Self::AcceptMissing => f.write_str("the answer has no Sec-WebSocket-Accept"),
            Self::Accept => f.write_str("Sec-WebSocket-Accept does not belong to the key"),
            Self::Protocol(name) => {
                write!(
                    f,
                    "the server chose the subprotocol `{name}`, which was not offered"
                )
            }
            Self::ProtocolTwice => f.write_str("the server chose more than one subprotocol"),
            Self::Extension(name) => {
                write!(
                    f,
                    "the server uses the extension `{name}`, which was not offered"
                )
            }
            Self::ExtensionTwice => f.write_str("the server uses an extension twice"),
            Self::Parameter(text) => {
                write!(f, "the parameter `{text}` of permessage-deflate is invalid")
            }
        }
    }
}

impl std::error::Error for Refusal {}
