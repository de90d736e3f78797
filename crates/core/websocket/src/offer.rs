//! The opening handshake: the fields of the request, and the check of the answer (RFC 6455 section
//! 4.1, RFC 8441 section 5).

use crate::extension::{self, Deflate, DeflateOffer};
use crate::{Key, Refusal};
use std::fmt;

/// The version of the protocol (RFC 6455 section 4.1).
const VERSION: &str = "13";

/// What a request offers: the same for all connections of the request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Offer {
    protocols: Vec<String>,
    deflate: Option<DeflateOffer>,
    /// The values of the fields.
    protocols_value: Option<String>,
    extensions_value: Option<String>,
}

/// Why an offer is refused; it is then not sent at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OfferError {
    /// This subprotocol is not a token (RFC 6455 section 4.1).
    Protocol(String),
    /// This subprotocol is offered twice (RFC 6455 section 4.1).
    ProtocolTwice(String),
}

impl fmt::Display for OfferError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Protocol(name) => write!(
                f,
                "invalid subprotocol {name:?}; use letters, digits and !#$%&'*+-.^_`|~"
            ),
            Self::ProtocolTwice(name) => write!(f, "the subprotocol {name} is offered twice"),
        }
    }
}

impl std::error::Error for OfferError {}

/// What both sides have agreed on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Agreed {
    /// The index of the chosen subprotocol in [`Offer::protocols`]; `None` if the server chose none,
    /// which it may do.
    pub protocol: Option<usize>,
    /// The compression of messages.
    pub deflate: Option<Deflate>,
}

/// Whether the handshake sets or reads a field, so that a request can't contain another one. The
/// case of the name does not matter.
#[must_use]
pub fn is_handshake_field(name: &[u8]) -> bool {
    const NAMES: [&[u8]; 7] = [
        b"connection",
        b"upgrade",
        b"sec-websocket-accept",
        b"sec-websocket-extensions",
        b"sec-websocket-key",
        b"sec-websocket-protocol",
        b"sec-websocket-version",
    ];
    NAMES.iter().any(|it| name.eq_ignore_ascii_case(it))
}

impl Offer {
    /// An offer of subprotocols, in the order of preference, and of compression.
    ///
    /// # Errors
    /// If a subprotocol is not a token, or is offered twice.
    pub fn new(protocols: Vec<String>, deflate: Option<DeflateOffer>) -> Result<Self, OfferError> {
        for (at, protocol) in protocols.iter().enumerate() {
            if protocol.is_empty() || !protocol.bytes().all(is_token_byte) {
                return Err(OfferError::Protocol(protocol.clone()));
            }
            if protocols[..at].contains(protocol) {
                return Err(OfferError::ProtocolTwice(protocol.clone()));
            }
        }
        Ok(Self {
            protocols_value: (!protocols.is_empty()).then(|| protocols.join(", ")),
            extensions_value: deflate.map(|deflate| deflate.value()),
            protocols,
            deflate,
        })
    }

    /// The offered subprotocols.
    #[must_use]
    pub fn protocols(&self) -> &[String] {
        &self.protocols
    }

    /// The offered compression.
    #[must_use]
    pub const fn deflate(&self) -> Option<&DeflateOffer> {
        self.deflate.as_ref()
    }

    /// The fields of a GET request over HTTP/1.1, except `Host` and `Sec-WebSocket-Key`.
    pub fn fields_http1(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let fixed = [
            ("Upgrade", "websocket"),
            ("Connection", "Upgrade"),
            ("Sec-WebSocket-Version", VERSION),
        ];
        let names = ["Sec-WebSocket-Protocol", "Sec-WebSocket-Extensions"];
        fixed.into_iter().chain(self.offered(names))
    }

    /// The fields of a request over HTTP/2, except `:scheme`, `:authority` and `:path`. The
    /// pseudo-fields come first. A request over HTTP/2 has no key (RFC 8441 section 5).
    pub fn fields_http2(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let fixed = [
            (":method", "CONNECT"),
            (":protocol", "websocket"),
            ("sec-websocket-version", VERSION),
        ];
        let names = ["sec-websocket-protocol", "sec-websocket-extensions"];
        fixed.into_iter().chain(self.offered(names))
    }

    fn offered(&self, names: [&'static str; 2]) -> impl Iterator<Item = (&'static str, &str)> {
        let values = [&self.protocols_value, &self.extensions_value];
        let fields = names.into_iter().zip(values);
        fields.filter_map(|(name, value)| Some((name, value.as_deref()?)))
    }

    /// Checks the head of the answer to a request over HTTP/1.1 with this key.
    ///
    /// # Errors
    /// If the answer opens no WebSocket.
    pub fn check_http1<'h, N: AsRef<[u8]>>(
        &self,
        key: &Key,
        status: u16,
        fields: impl IntoIterator<Item = (N, &'h [u8])>,
    ) -> Result<Agreed, Refusal> {
        if status != 101 {
            return Err(Refusal::Status(status));
        }
        let mut answer = Answer::default();
        for (name, value) in fields {
            answer.read(name.as_ref(), value.trim_ascii(), self)?;
        }
        match answer {
            Answer { upgrades: 0, .. } => Err(Refusal::Upgrade),
            Answer {
                is_upgraded: false, ..
            } => Err(Refusal::Connection),
            Answer { accept: None, .. } => Err(Refusal::AcceptMissing),
            Answer { accept, .. } if accept != Some(&key.accept()) => Err(Refusal::Accept),
            answer => Ok(answer.agreed),
        }
    }

    /// Checks the head of the answer to a request over HTTP/2.
    ///
    /// # Errors
    /// If the answer opens no WebSocket.
    pub fn check_http2<'h, N: AsRef<[u8]>>(
        &self,
        status: u16,
        fields: impl IntoIterator<Item = (N, &'h [u8])>,
    ) -> Result<Agreed, Refusal> {
        if !(200..300).contains(&status) {
            return Err(Refusal::Status(status));
        }
        let mut answer = Answer::default();
        for (name, value) in fields {
            answer.read(name.as_ref(), value.trim_ascii(), self)?;
        }
        Ok(answer.agreed)
    }
}

/// The fields of an answer that matter.
#[derive(Default)]
struct Answer<'h> {
    /// The number of `Upgrade` fields, all of them with the value `websocket`.
    upgrades: u32,
    is_upgraded: bool,
    accept: Option<&'h [u8]>,
    agreed: Agreed,
}

impl<'h> Answer<'h> {
    /// Reads a field (RFC 6455 section 4.1, the list of checks at its end).
    fn read(&mut self, name: &[u8], value: &'h [u8], offer: &Offer) -> Result<(), Refusal> {
        let is = |field: &str| name.eq_ignore_ascii_case(field.as_bytes());
        if is("upgrade") {
            if !value.eq_ignore_ascii_case(b"websocket") {
                return Err(Refusal::Upgrade);
            }
            self.upgrades += 1;
        } else if is("connection") {
            let mut options = value.split(|&byte| byte == b',').map(<[u8]>::trim_ascii);
            self.is_upgraded |= options.any(|it| it.eq_ignore_ascii_case(b"upgrade"));
        } else if is("sec-websocket-accept") {
            match self.accept.replace(value) {
                Some(earlier) if earlier != value => return Err(Refusal::Accept),
                _ => {}
            }
        } else if is("sec-websocket-protocol") {
            let chosen = offer.protocols.iter().position(|it| it.as_bytes() == value);
            let chosen = chosen.ok_or_else(|| Refusal::protocol(value))?;
            if self.agreed.protocol.replace(chosen).is_some() {
                return Err(Refusal::ProtocolTwice);
            }
        } else if is("sec-websocket-extensions") {
            let deflate = &mut self.agreed.deflate;
            extension::read_answer(value, offer.deflate.as_ref(), deflate)?;
        }
        Ok(())
    }
}

/// Whether a byte may occur in a token (RFC 9110 section 5.6.2).
const fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(byte, b'!' | b'#'..=b'\'' | b'*' | b'+' | b'-' | b'.')
        || matches!(byte, b'^' | b'_' | b'`' | b'|' | b'~')
}
