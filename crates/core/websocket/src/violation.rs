//! How a server breaks the protocol after the handshake.

use crate::CloseCode;
use std::fmt;

/// The violation that ends a connection. Send a close frame with [`Violation::close_code`], then end
/// the connection (RFC 6455 section 7.1.7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Violation {
    /// A reserved bit without an extension that defines it (RFC 6455 section 5.2).
    ReservedBit,
    /// A reserved opcode (RFC 6455 section 5.2).
    Opcode(u8),
    /// A masked frame, which only clients send (RFC 6455 section 5.1).
    Masked,
    /// A control frame in fragments (RFC 6455 section 5.5).
    ControlFragmented,
    /// A control frame with more than 125 bytes (RFC 6455 section 5.5).
    ControlTooLong,
    /// A length of 2⁶³ bytes or more (RFC 6455 section 5.2).
    Length,
    /// A continuation frame without a message (RFC 6455 section 5.4).
    Continuation,
    /// Another message within a message in fragments (RFC 6455 section 5.4).
    Interrupted,
    /// A text that is not UTF-8 (RFC 6455 section 8.1).
    Text,
    /// A close frame with one byte (RFC 6455 section 5.5.1).
    CloseLength,
    /// A close frame with a code that may not be sent (RFC 6455 section 7.4).
    CloseCode(u16),
    /// A close frame whose reason is not UTF-8 (RFC 6455 section 5.5.1).
    CloseReason,
    /// A bit for compression on a control frame or a continuation frame (RFC 7692 section 6.1).
    CompressedBit,
    /// A message that can't be decompressed (RFC 7692 section 7.2.2).
    Decompress,
    /// A message that is longer than [`crate::Limits::message_bytes`].
    MessageTooLong,
}

impl Violation {
    /// The stable name of the class, as it appears in the results.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::ReservedBit => "ws:reserved_bit",
            Self::Opcode(_) => "ws:opcode",
            Self::Masked => "ws:masked",
            Self::ControlFragmented | Self::ControlTooLong => "ws:control",
            Self::Length => "ws:length",
            Self::Continuation | Self::Interrupted => "ws:fragments",
            Self::Text => "ws:utf8",
            Self::CloseLength | Self::CloseCode(_) | Self::CloseReason => "ws:close",
            Self::CompressedBit | Self::Decompress => "ws:deflate",
            Self::MessageTooLong => "limit:message",
        }
    }

    /// The code of the close frame that answers the violation (RFC 6455 section 7.4.1).
    #[must_use]
    pub const fn close_code(&self) -> CloseCode {
        match self {
            Self::Text | Self::CloseReason | Self::Decompress => CloseCode::INVALID_DATA,
            Self::MessageTooLong => CloseCode::TOO_BIG,
            _ => CloseCode::PROTOCOL,
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ReservedBit => "a frame has a reserved bit",
            Self::Opcode(opcode) => return write!(f, "a frame has the reserved opcode {opcode}"),
            Self::Masked => "the server masks its frames",
            Self::ControlFragmented => "a control frame is fragmented",
            Self::ControlTooLong => "a control frame has more than 125 bytes",
            Self::Length => "a frame has 2⁶³ bytes or more",
            Self::Continuation => "a continuation frame belongs to no message",
            Self::Interrupted => "a message begins before the previous one ends",
            Self::Text => "a text is not UTF-8",
            Self::CloseLength => "a close frame has a single byte",
            Self::CloseCode(code) => {
                return write!(f, "a close frame has the invalid code {code}");
            }
            Self::CloseReason => "the reason of a close frame is not UTF-8",
            Self::CompressedBit => "a control or continuation frame claims to be compressed",
            Self::Decompress => "a message could not be decompressed",
            Self::MessageTooLong => "a message is longer than the limit",
        })
    }
}

impl std::error::Error for Violation {}
