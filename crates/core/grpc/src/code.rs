//! The seventeen codes, their names, and the codes for other protocols' numbers.

use std::fmt;

/// A status code, 0 to 16.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Code(u8);

/// Names as in the protocol's documents, and as Go's implementation prints them.
const NAMES: [(&str, &str); 17] = [
    ("OK", "OK"),
    ("CANCELLED", "Canceled"),
    ("UNKNOWN", "Unknown"),
    ("INVALID_ARGUMENT", "InvalidArgument"),
    ("DEADLINE_EXCEEDED", "DeadlineExceeded"),
    ("NOT_FOUND", "NotFound"),
    ("ALREADY_EXISTS", "AlreadyExists"),
    ("PERMISSION_DENIED", "PermissionDenied"),
    ("RESOURCE_EXHAUSTED", "ResourceExhausted"),
    ("FAILED_PRECONDITION", "FailedPrecondition"),
    ("ABORTED", "Aborted"),
    ("OUT_OF_RANGE", "OutOfRange"),
    ("UNIMPLEMENTED", "Unimplemented"),
    ("INTERNAL", "Internal"),
    ("UNAVAILABLE", "Unavailable"),
    ("DATA_LOSS", "DataLoss"),
    ("UNAUTHENTICATED", "Unauthenticated"),
];

/// The code of each HTTP/2 error, by its number (gRPC over HTTP/2, "Errors"). For numbers that
/// HTTP/2 defines but that table does not contain, most implementations' choice.
const OF_HTTP2: [Code; 14] = [
    Code::INTERNAL,           // NO_ERROR
    Code::INTERNAL,           // PROTOCOL_ERROR
    Code::INTERNAL,           // INTERNAL_ERROR
    Code::INTERNAL,           // FLOW_CONTROL_ERROR
    Code::INTERNAL,           // SETTINGS_TIMEOUT
    Code::INTERNAL,           // STREAM_CLOSED
    Code::INTERNAL,           // FRAME_SIZE_ERROR
    Code::UNAVAILABLE,        // REFUSED_STREAM
    Code::CANCELLED,          // CANCEL
    Code::INTERNAL,           // COMPRESSION_ERROR
    Code::INTERNAL,           // CONNECT_ERROR
    Code::RESOURCE_EXHAUSTED, // ENHANCE_YOUR_CALM
    Code::PERMISSION_DENIED,  // INADEQUATE_SECURITY
    Code::INTERNAL,           // HTTP_1_1_REQUIRED
];

impl Code {
    /// The call succeeded.
    pub const OK: Self = Self(0);
    /// The caller cancelled the call.
    pub const CANCELLED: Self = Self(1);
    /// An error without a better code.
    pub const UNKNOWN: Self = Self(2);
    /// The request is invalid in any state of the server.
    pub const INVALID_ARGUMENT: Self = Self(3);
    /// The deadline passed.
    pub const DEADLINE_EXCEEDED: Self = Self(4);
    /// The requested entity does not exist.
    pub const NOT_FOUND: Self = Self(5);
    /// The entity to be created already exists.
    pub const ALREADY_EXISTS: Self = Self(6);
    /// The caller is not allowed to do this.
    pub const PERMISSION_DENIED: Self = Self(7);
    /// A resource is exhausted, or something is larger than allowed.
    pub const RESOURCE_EXHAUSTED: Self = Self(8);
    /// The server's state does not permit the call.
    pub const FAILED_PRECONDITION: Self = Self(9);
    /// The call lost against a concurrent request.
    pub const ABORTED: Self = Self(10);
    /// A value is outside the valid range.
    pub const OUT_OF_RANGE: Self = Self(11);
    /// The server does not know the method; also a wrong number of messages.
    pub const UNIMPLEMENTED: Self = Self(12);
    /// An invariant is violated.
    pub const INTERNAL: Self = Self(13);
    /// The service can't be reached now.
    pub const UNAVAILABLE: Self = Self(14);
    /// Data is lost or broken.
    pub const DATA_LOSS: Self = Self(15);
    /// The caller has no valid credentials.
    pub const UNAUTHENTICATED: Self = Self(16);

    /// The number of codes.
    pub const COUNT: usize = NAMES.len();

    /// The code with this number, which must be at most 16.
    #[must_use]
    pub const fn of_number(number: u8) -> Option<Self> {
        if (number as usize) < Self::COUNT {
            Some(Self(number))
        } else {
            None
        }
    }

    /// The code with this name, in either spelling.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        (0..Self::COUNT as u8)
            .map(Self)
            .find(|code| code.name() == name || code.go_name() == name)
    }

    /// The status of a reply without a grpc-status, by its HTTP status ("HTTP to gRPC Status Code
    /// Mapping"); never OK.
    #[must_use]
    pub const fn of_http(status: u16) -> Self {
        match status {
            400 => Self::INTERNAL,
            401 => Self::UNAUTHENTICATED,
            403 => Self::PERMISSION_DENIED,
            404 => Self::UNIMPLEMENTED,
            429 | 502 | 503 | 504 => Self::UNAVAILABLE,
            _ => Self::UNKNOWN,
        }
    }

    /// The status for a stream's or connection's HTTP/2 error code; never OK.
    #[must_use]
    pub const fn of_http2(error: u32) -> Self {
        if (error as usize) < OF_HTTP2.len() {
            OF_HTTP2[error as usize]
        } else {
            Self::UNKNOWN
        }
    }

    /// The status of a reset stream once the call's deadline has passed. A server cancels the call
    /// when its own timer expires, and its reset may arrive before our timer expires.
    #[must_use]
    pub const fn after_deadline(self) -> Self {
        match self {
            Self::CANCELLED => Self::DEADLINE_EXCEEDED,
            other => other,
        }
    }

    /// The number on the wire.
    #[must_use]
    pub const fn number(self) -> u8 {
        self.0
    }

    /// The name in the protocol's documents: `DEADLINE_EXCEEDED`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        NAMES[self.0 as usize].0
    }

    /// The name as programs in Go print it: `DeadlineExceeded`.
    #[must_use]
    pub const fn go_name(self) -> &'static str {
        NAMES[self.0 as usize].1
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::Code;

    #[test]
    fn names_and_numbers_lead_back() {
        for number in 0..=u8::MAX {
            let code = Code::of_number(number);
            assert_eq!(code.is_some(), number <= 16, "{number}");
            if let Some(code) = code {
                assert_eq!(code.number(), number);
                assert_eq!(Code::of_name(code.name()), Some(code));
                assert_eq!(Code::of_name(code.go_name()), Some(code));
            }
        }
        assert_eq!(Code::of_name("Cancelled"), None);
    }

    #[test]
    fn http_statuses_map_as_the_table_says() {
        for (status, code) in [
            (200, Code::UNKNOWN),
            (301, Code::UNKNOWN),
            (400, Code::INTERNAL),
            (401, Code::UNAUTHENTICATED),
            (403, Code::PERMISSION_DENIED),
            (404, Code::UNIMPLEMENTED),
            (409, Code::UNKNOWN),
            (412, Code::UNKNOWN),
            (413, Code::UNKNOWN),
            (415, Code::UNKNOWN),
            (418, Code::UNKNOWN),
            (429, Code::UNAVAILABLE),
            (431, Code::UNKNOWN),
            (500, Code::UNKNOWN),
            (502, Code::UNAVAILABLE),
            (503, Code::UNAVAILABLE),
            (504, Code::UNAVAILABLE),
            (505, Code::UNKNOWN),
            (800, Code::UNKNOWN),
        ] {
            assert_eq!(Code::of_http(status), code, "{status}");
        }
    }

    #[test]
    fn http2_errors_map_as_the_table_says() {
        for (error, code) in [
            (0, Code::INTERNAL),
            (7, Code::UNAVAILABLE),
            (8, Code::CANCELLED),
            (11, Code::RESOURCE_EXHAUSTED),
            (12, Code::PERMISSION_DENIED),
            (13, Code::INTERNAL),
            (14, Code::UNKNOWN),
            (u32::MAX, Code::UNKNOWN),
        ] {
            assert_eq!(Code::of_http2(error), code, "{error}");
            let late = Code::of_http2(error).after_deadline();
            assert_eq!(late == Code::DEADLINE_EXCEEDED, error == 8, "{error}");
        }
    }
}
