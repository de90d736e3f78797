//! Errors of decoding a body.

use crate::Coding;
use std::fmt;

/// The reason why a body can't be decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The body is not valid in this coding, or is incomplete, or continues after its end.
    Decode(Coding),
    /// The decoded body is larger than the limit.
    Limit,
    /// The body has more codings than the limit.
    Layers,
    /// An unknown coding, with its name, truncated and escaped for a terminal.
    Unknown(Box<str>),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Decode(coding) => {
                write!(f, "the body is incomplete or invalid {}", coding.name())
            }
            Self::Limit => f.write_str("the decoded body is larger than the limit"),
            Self::Layers => f.write_str("the body has more than 5 content codings"),
            Self::Unknown(name) => write!(f, "unknown content coding {name}"),
        }
    }
}

impl std::error::Error for Error {}
