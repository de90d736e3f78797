//! The extension permessage-deflate: its offer, and the answer to it (RFC 7692 section 7.1).

use crate::Refusal;
use std::fmt::Write as _;

/// The extension's name.
const NAME: &[u8] = b"permessage-deflate";
/// The parameters (section 7.1).
const SERVER_NO_TAKEOVER: &str = "server_no_context_takeover";
const CLIENT_NO_TAKEOVER: &str = "client_no_context_takeover";
const SERVER_BITS: &str = "server_max_window_bits";
const CLIENT_BITS: &str = "client_max_window_bits";

/// Whether a side keeps the context of its compressor from message to message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takeover {
    /// A message may refer to the bytes of earlier messages.
    Yes,
    /// Each message is compressed by itself.
    No,
}

/// The size of a window, as the exponent of 2: from 8 (256 bytes) to 15 (32 KiB).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct WindowBits(u8);

impl WindowBits {
    /// 32 KiB.
    pub const MAX: Self = Self(15);

    /// A window of 2 to the power of `bits` bytes; `None` unless `bits` is from 8 to 15.
    #[must_use]
    pub const fn new(bits: u8) -> Option<Self> {
        match bits {
            8..=15 => Some(Self(bits)),
            _ => None,
        }
    }

    /// The exponent.
    #[must_use]
    pub const fn get(self) -> u8 {
        self.0
    }

    /// Reads the value of a parameter: a decimal number without leading zeros (sections 7.1.2.1 and
    /// 7.1.2.2).
    fn parse(value: &[u8]) -> Option<Self> {
        match value {
            [digit @ b'8'..=b'9'] => Self::new(digit - b'0'),
            [b'1', digit @ b'0'..=b'5'] => Self::new(10 + digit - b'0'),
            _ => None,
        }
    }
}

/// An offer of permessage-deflate. By default, the server may keep its context, and our side keeps
/// none, so that all connections of a worker share a compressor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeflateOffer {
    /// `No` requires the server to keep no context.
    pub server_takeover: Takeover,
    /// `No` announces that our side keeps no context. With `Yes`, each connection has a compressor
    /// of 380 kB from its first message on.
    pub client_takeover: Takeover,
    /// The maximum window of the server; `None` leaves it to the server.
    pub server_window_bits: Option<WindowBits>,
    /// The maximum window of our compressor; the server may answer with a smaller one. With a window
    /// of 8 bits, which no common compressor has, our messages are not compressed.
    pub client_window_bits: WindowBits,
}

impl Default for DeflateOffer {
    fn default() -> Self {
        Self {
            server_takeover: Takeover::Yes,
            client_takeover: Takeover::No,
            server_window_bits: None,
            client_window_bits: WindowBits::MAX,
        }
    }
}

impl DeflateOffer {
    /// The value of `Sec-WebSocket-Extensions`.
    pub(crate) fn value(&self) -> String {
        let mut value = String::from_utf8_lossy(NAME).into_owned();
        let mut parameter = |text: &str| value.extend(["; ", text]);
        if self.server_takeover == Takeover::No {
            parameter(SERVER_NO_TAKEOVER);
        }
        if self.client_takeover == Takeover::No {
            parameter(CLIENT_NO_TAKEOVER);
        }
        if let Some(bits) = self.server_window_bits {
            parameter(&format!("{SERVER_BITS}={}", bits.get()));
        }
        parameter(CLIENT_BITS);
        if self.client_window_bits < WindowBits::MAX {
            // Writing to memory does not fail.
            let _ = write!(value, "={}", self.client_window_bits.get());
        }
        value
    }
}

/// The permessage-deflate that both sides have agreed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deflate {
    /// Whether the server keeps its context.
    pub server_takeover: Takeover,
    /// Whether our side keeps its context.
    pub client_takeover: Takeover,
    /// The maximum window of the server.
    pub server_window_bits: WindowBits,
    /// The maximum window of our compressor.
    pub client_window_bits: WindowBits,
}

/// The parameters of an answer.
#[derive(Default)]
struct Parameters {
    server_no_takeover: bool,
    client_no_takeover: bool,
    server_bits: Option<WindowBits>,
    client_bits: Option<WindowBits>,
}

impl Parameters {
    /// Adds a parameter; `None` if it is unknown, occurs twice, or has an invalid value (section
    /// 7.1).
    fn add(&mut self, name: &[u8], value: Option<&[u8]>) -> Option<()> {
        let is = |parameter: &str| name.eq_ignore_ascii_case(parameter.as_bytes());
        match value {
            None if is(SERVER_NO_TAKEOVER) => set_once(&mut self.server_no_takeover),
            None if is(CLIENT_NO_TAKEOVER) => set_once(&mut self.client_no_takeover),
            Some(value) if is(SERVER_BITS) && self.server_bits.is_none() => {
                self.server_bits = Some(WindowBits::parse(value)?);
                Some(())
            }
            Some(value) if is(CLIENT_BITS) && self.client_bits.is_none() => {
                self.client_bits = Some(WindowBits::parse(value)?);
                Some(())
            }
            _ => None,
        }
    }
}

fn set_once(flag: &mut bool) -> Option<()> {
    let is_first = !std::mem::replace(flag, true);
    is_first.then_some(())
}

/// Adds the extensions of one field of an answer to those of earlier fields.
pub(crate) fn read_answer(
    value: &[u8],
    offer: Option<&DeflateOffer>,
    agreed: &mut Option<Deflate>,
) -> Result<(), Refusal> {
    for element in split_unquoted(value, b',') {
        let mut parts = split_unquoted(element, b';');
        let name = parts.next().unwrap_or_default();
        if name.is_empty() {
            continue;
        }
        let offer = offer.filter(|_| name.eq_ignore_ascii_case(NAME));
        let Some(offer) = offer else {
            return Err(Refusal::extension(name));
        };
        if agreed.is_some() {
            return Err(Refusal::ExtensionTwice);
        }
        let mut parameters = Parameters::default();
        for part in parts {
            let (name, value) = parameter(part);
            let added = parameters.add(name, value);
            added.ok_or_else(|| Refusal::parameter(part))?;
        }
        *agreed = Some(agree(offer, &parameters)?);
    }
    Ok(())
}

/// Checks the parameters of an answer against the offer.
fn agree(offer: &DeflateOffer, answer: &Parameters) -> Result<Deflate, Refusal> {
    // Sections 7.1.1.1 and 7.1.2.1: an answer must contain what the offer requires.
    if offer.server_takeover == Takeover::No && !answer.server_no_takeover {
        return Err(Refusal::parameter(SERVER_NO_TAKEOVER.as_bytes()));
    }
    let server_window_bits = match (offer.server_window_bits, answer.server_bits) {
        (None, bits) => bits.unwrap_or(WindowBits::MAX),
        (Some(max), Some(bits)) if bits <= max => bits,
        (Some(_), _) => return Err(Refusal::parameter(SERVER_BITS.as_bytes())),
    };
    let takeover = |is_off: bool| match is_off {
        true => Takeover::No,
        false => Takeover::Yes,
    };
    let client_off = answer.client_no_takeover || offer.client_takeover == Takeover::No;
    // Section 7.1.2.2: a larger window than the offered one only permits what is not done.
    let client_bits = answer.client_bits.unwrap_or(WindowBits::MAX);
    Ok(Deflate {
        server_takeover: takeover(answer.server_no_takeover),
        client_takeover: takeover(client_off),
        server_window_bits,
        client_window_bits: client_bits.min(offer.client_window_bits),
    })
}

/// The name and the value of a parameter, without the quotes around the value (RFC 6455 section
/// 9.1).
fn parameter(part: &[u8]) -> (&[u8], Option<&[u8]>) {
    let Some(at) = part.iter().position(|&byte| byte == b'=') else {
        return (part, None);
    };
    let value = part[at + 1..].trim_ascii();
    let quoted = value
        .strip_prefix(b"\"")
        .and_then(|it| it.strip_suffix(b"\""));
    (part[..at].trim_ascii_end(), Some(quoted.unwrap_or(value)))
}

/// The parts of a value between separators outside quotes, without the blanks around them.
fn split_unquoted(value: &[u8], separator: u8) -> impl Iterator<Item = &[u8]> {
    let mut is_quoted = false;
    let parts = value.split(move |&byte| {
        is_quoted ^= byte == b'"';
        byte == separator && !is_quoted
    });
    parts.map(<[u8]>::trim_ascii)
}
