//! The `Keep-Alive` header field: the number of further requests and the time for which a server
//! keeps a connection open.
//!
//! The field is a hint, not a promise: if the server closes the connection earlier, the request
//! fails like any other. A client that respects the field avoids the race in which both sides act
//! at once, at the price of a new connection. An invalid value counts as absent, so that a wrong
//! field never closes a connection.

use drumfire_units::Nanos;

/// The connection is given up this long before the server would close it, because the close takes
/// time to arrive.
const MARGIN: Nanos = Nanos::from_millis(100);

/// A server's limits for one connection (RFC 2068 section 19.7.1.1, which servers still follow).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hint {
    /// The number of further requests; `u32::MAX` if the field has no limit.
    more: u32,
    /// The number of seconds that the server waits for the next request; `u32::MAX` if the field
    /// has no limit.
    idle_s: u32,
}

impl Hint {
    /// No limits: the server sends no such field.
    pub(crate) const NONE: Self = Self {
        more: u32::MAX,
        idle_s: u32::MAX,
    };

    /// Parses a field such as `timeout=5, max=100`; unknown parameters are ignored.
    pub(crate) fn read(value: &[u8]) -> Self {
        let mut hint = Self::NONE;
        for part in value.split(|byte| matches!(byte, b',' | b';')) {
            let Ok(part) = std::str::from_utf8(part.trim_ascii()) else {
                continue;
            };
            match part.split_once('=') {
                Some((name, n)) if name.eq_ignore_ascii_case("max") => {
                    hint.more = n.parse().unwrap_or(u32::MAX);
                }
                Some((name, n)) if name.eq_ignore_ascii_case("timeout") => {
                    hint.idle_s = n.parse().unwrap_or(u32::MAX);
                }
                _ => {}
            }
        }
        hint
    }

    /// Whether the server accepts no further request on the connection.
    pub(crate) fn is_used_up(self) -> bool {
        self.more == 0
    }

    /// Whether the server may already have closed a connection that was idle for this long.
    #[inline]
    pub(crate) fn is_stale(self, idle: Nanos) -> bool {
        self.idle_s != u32::MAX && idle + MARGIN >= Nanos::from_secs(u64::from(self.idle_s))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_servers_write() {
        let hint = Hint::read(b"timeout=5, max=100");
        assert!(!hint.is_used_up());
        assert!(!hint.is_stale(Nanos::from_millis(4_899)));
        assert!(hint.is_stale(Nanos::from_millis(4_900)));
        assert!(Hint::read(b"Max=0").is_used_up());
        for nothing in [&b""[..], b"300", b"timeout=soon", b"max=-1", b"\xff=1"] {
            assert_eq!(Hint::read(nothing), Hint::NONE);
        }
        assert!(!Hint::NONE.is_stale(Nanos::MAX));
    }
}
