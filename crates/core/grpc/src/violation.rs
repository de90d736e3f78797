//! How a reply violates the protocol or a limit, one variant for each class.

use crate::Code;
use std::fmt;

/// Why a reply can't be trusted. The stream, if it is still open, must be reset with CANCEL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Violation {
    /// The HTTP status is not 200, and no grpc-status explains it.
    HttpStatus(u16),
    /// The Content-Type is not `application/grpc`: no gRPC server answered.
    ContentType,
    /// The Content-Type names a message format other than `proto`.
    Subformat,
    /// A `-bin` field does not contain base64.
    Metadata,
    /// The stream ended without trailers.
    TrailersMissing,
    /// The trailers contain no grpc-status.
    StatusMissing,
    /// A grpc-status is not a code.
    StatusMalformed,
    /// The status is OK, but the call's required message is missing.
    MessageMissing,
    /// A second message came although only one is allowed.
    MessageSurplus,
    /// The stream ended within a message.
    MessageIncomplete,
    /// A message is longer than [`crate::ReplySettings::receive_limit`], as sent or decompressed.
    MessageTooLong,
    /// A message's first byte is neither 0 nor 1.
    Flag,
    /// A message is compressed, although the head names none of the offered encodings.
    Compression,
    /// A compressed message can't be decompressed.
    Decompress,
}

impl Violation {
    /// The code of the status that the call ends with.
    #[must_use]
    pub const fn code(self) -> Code {
        match self {
            Self::HttpStatus(status) => Code::of_http(status),
            Self::ContentType | Self::StatusMissing | Self::StatusMalformed => Code::UNKNOWN,
            // "Cardinality violations" in the list of codes.
            Self::MessageMissing | Self::MessageSurplus => Code::UNIMPLEMENTED,
            Self::MessageTooLong => Code::RESOURCE_EXHAUSTED,
            Self::Subformat
            | Self::Metadata
            | Self::TrailersMissing
            | Self::MessageIncomplete
            | Self::Flag
            | Self::Compression
            | Self::Decompress => Code::INTERNAL,
        }
    }

    /// A description of the mistake; without the number of [`Violation::HttpStatus`].
    const fn what(self) -> &'static str {
        match self {
            Self::HttpStatus(_) => "not a gRPC reply",
            Self::ContentType => "the content-type is not application/grpc",
            Self::Subformat => "the content-type is not application/grpc+proto",
            Self::Metadata => "the value of a -bin metadata key is not base64",
            Self::TrailersMissing => "the reply ended without trailers",
            Self::StatusMissing => "the trailers have no grpc-status",
            Self::StatusMalformed => "the grpc-status is not a valid code",
            Self::MessageMissing => "no message in the reply to a unary call",
            Self::MessageSurplus => "more than one message in the reply to a unary call",
            Self::MessageIncomplete => "the reply ended in the middle of a message",
            Self::MessageTooLong => "a message is longer than the limit",
            Self::Flag => "a message starts with neither 0 nor 1",
            Self::Compression => "a message uses a compression that was not offered",
            Self::Decompress => "a message could not be decompressed",
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Self::HttpStatus(status) = self {
            write!(f, "HTTP status {status}, ")?;
        }
        f.write_str(self.what())
    }
}

impl std::error::Error for Violation {}
