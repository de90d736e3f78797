//! The end of a call.

use crate::grpc_code::GrpcCode;
use bytes::Bytes;
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};

/// A code with its reason.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Status {
    pub(crate) code: GrpcCode,
    pub(crate) message: String,
    /// A serialized google.rpc.Status, or empty.
    pub(crate) details: Bytes,
}

impl Status {
    pub(crate) fn new(code: GrpcCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            details: Bytes::new(),
        }
    }

    /// The status for an unknown service or method.
    pub(crate) fn unknown(service: &str, method: &str) -> Self {
        let message = format!("unknown method `{method}` of service `{service}`");
        Self::new(GrpcCode::UNIMPLEMENTED, message)
    }
}

/// The characters that `grpc-message` encodes as `%41`: `%`, and bytes that are not printable
/// ASCII.
const ENCODED: &AsciiSet = &CONTROLS.add(b'%');

/// A message in the encoding of `grpc-message`.
pub(crate) fn percent_encoded(message: &str) -> String {
    utf8_percent_encode(message, ENCODED).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_travel_as_ascii() {
        assert_eq!(percent_encoded("a b%\n\u{e4}"), "a b%25%0A%C3%A4");
    }
}
