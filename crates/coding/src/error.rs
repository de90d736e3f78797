//! Why a body does not decode.

use crate::Coding;
use std::fmt;

/// Why a body does not decode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The body is not what this coding makes, or not whole, or goes on behind its end.
    Decode(Coding),
    /// The decoded body is larger than the limit.
    Limit,
    /// More codings one over the other than the limit.
    Layers,
    /// A coding that is not known; its name, escaped for a terminal and cut short.
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
