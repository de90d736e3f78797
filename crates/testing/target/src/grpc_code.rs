//! The status codes of gRPC calls.

use std::fmt;

/// The canonical codes, in numerical order.
const NAMES: [&str; 17] = [
    "OK",
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
];

/// A value of `grpc-status`, which may be a number without a name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct GrpcCode(pub(crate) u32);

impl GrpcCode {
    pub(crate) const OK: Self = Self(0);
    pub(crate) const INVALID_ARGUMENT: Self = Self(3);
    pub(crate) const DEADLINE_EXCEEDED: Self = Self(4);
    pub(crate) const NOT_FOUND: Self = Self(5);
    pub(crate) const PERMISSION_DENIED: Self = Self(7);
    pub(crate) const RESOURCE_EXHAUSTED: Self = Self(8);
    pub(crate) const FAILED_PRECONDITION: Self = Self(9);
    pub(crate) const UNIMPLEMENTED: Self = Self(12);
    pub(crate) const INTERNAL: Self = Self(13);
    pub(crate) const UNAUTHENTICATED: Self = Self(16);

    /// Parses a code from its name or number.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let named = NAMES
            .iter()
            .position(|name| name.eq_ignore_ascii_case(text));
        // The list has 17 names.
        let named = named.map(|number| number as u32);
        let number = || text.parse().ok().filter(|number| *number < 17);
        named.or_else(number).map(Self)
    }
}

impl fmt::Display for GrpcCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match NAMES.get(self.0 as usize) {
            Some(name) => f.write_str(name),
            None => self.0.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_have_names_and_numbers() {
        for (number, name) in NAMES.iter().enumerate() {
            let code = GrpcCode(number as u32);
            assert_eq!(GrpcCode::parse(name), Some(code));
            assert_eq!(GrpcCode::parse(&number.to_string()), Some(code));
            assert_eq!(code.to_string(), *name);
        }
        for text in ["", "17", "-1", "UNAVAILABEL"] {
            assert_eq!(GrpcCode::parse(text), None, "{text}");
        }
        assert_eq!(GrpcCode::parse("unavailable"), Some(GrpcCode(14)));
        assert_eq!(GrpcCode(99).to_string(), "99");
    }
}
