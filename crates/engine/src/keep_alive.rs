//! The `Keep-Alive` header field: the number of requests and the time for which a server keeps a
//! connection open.
//!
//! It is a hint and no promise: a connection that the server closes earlier fails a request as any
//! other does. A client that heeds it avoids the race in which both act at once, for the price of a
//! new connection. A value that does not parse counts as none, so that a wrong field never closes a
//! connection.

use drumfire_units::Nanos;

/// A connection is given up this long before the server would: its close takes time to arrive.
const MARGIN: Nanos = Nanos::from_millis(100);

/// The server's word on one connection (RFC 2068 section 19.7.1.1, which servers still follow).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hint {
    /// Requests that it still takes; `u32::MAX` when the field has no limit.
    more: u32,
    /// Seconds that it waits for the next one; `u32::MAX` when the field has no limit.
    idle_s: u32,
}

impl Hint {
    /// The hint of a server that sends no such field: it has no limits.
    pub(crate) const NONE: Self = Self {
        more: u32::MAX,
        idle_s: u32::MAX,
    };

    /// Reads a field such as `timeout=5, max=100`; unknown parameters are ignored.
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

    /// Whether the server takes no further request on the connection.
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
