//! The codes of close frames.

use std::fmt;

/// A code of a close frame (RFC 6455 section 7.4, and IANA's registry of close codes).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CloseCode(pub u16);

impl CloseCode {
    /// The purpose of the connection is fulfilled.
    pub const NORMAL: Self = Self(1000);
    /// The server shuts down, or the user left the page.
    pub const GOING_AWAY: Self = Self(1001);
    /// A violation of the protocol.
    pub const PROTOCOL: Self = Self(1002);
    /// A kind of message that the peer does not accept.
    pub const UNSUPPORTED: Self = Self(1003);
    /// A message that is inconsistent with its kind, such as a text that is not UTF-8.
    pub const INVALID_DATA: Self = Self(1007);
    /// A message that violates the peer's policy.
    pub const POLICY: Self = Self(1008);
    /// A message that is too big to be processed.
    pub const TOO_BIG: Self = Self(1009);
    /// The server did not agree on an extension that the client requires.
    pub const EXTENSION: Self = Self(1010);
    /// The server met an unexpected condition.
    pub const INTERNAL: Self = Self(1011);
    /// The server restarts.
    pub const RESTART: Self = Self(1012);
    /// The server is overloaded.
    pub const TRY_LATER: Self = Self(1013);
    /// A gateway received an invalid answer.
    pub const BAD_GATEWAY: Self = Self(1014);

    /// Whether a close frame may contain the code. The codes 1005, 1006 and 1015 stand for
    /// connections that ended without one (section 7.4.1), 1004 is reserved, and the codes from 1016
    /// to 2999 are not assigned (section 7.4.2).
    #[must_use]
    pub const fn may_be_sent(self) -> bool {
        matches!(self.0, 1000..=1003 | 1007..=1014 | 3000..=4999)
    }

    /// The name in the registry, in lower case; `None` for a code without a name.
    #[must_use]
    pub const fn name(self) -> Option<&'static str> {
        Some(match self {
            Self::NORMAL => "normal closure",
            Self::GOING_AWAY => "going away",
            Self::PROTOCOL => "protocol error",
            Self::UNSUPPORTED => "unsupported data",
            Self::INVALID_DATA => "invalid data",
            Self::POLICY => "policy violation",
            Self::TOO_BIG => "message too big",
            Self::EXTENSION => "mandatory extension",
            Self::INTERNAL => "internal error",
            Self::RESTART => "service restart",
            Self::TRY_LATER => "try again later",
            Self::BAD_GATEWAY => "bad gateway",
            _ => return None,
        })
    }
}

impl fmt::Display for CloseCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)?;
        match self.name() {
            Some(name) => write!(f, " {name}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::CloseCode;

    #[test]
    fn named_codes_may_be_sent_and_reserved_ones_may_not() {
        for code in 0..=u16::MAX {
            let code = CloseCode(code);
            assert!(code.name().is_none() || code.may_be_sent(), "{code}");
        }
        for code in [0, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000] {
            assert!(!CloseCode(code).may_be_sent(), "{code}");
        }
        for code in [1000, 1003, 1007, 1014, 3000, 3999, 4000, 4999] {
            assert!(CloseCode(code).may_be_sent(), "{code}");
        }
        assert_eq!(CloseCode::NORMAL.to_string(), "1000 normal closure");
        assert_eq!(CloseCode(4000).to_string(), "4000");
    }
}
