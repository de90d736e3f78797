//! The protocols of a pool, and their consequences: how its exchanges can end, and which statuses
//! their responses can have.
//!
//! Metrics use them to create every series that can count anything at the run's start, with the
//! value 0. A monitoring system computes rates from differences, and loses the first count of a
//! series that begins at 1.

use crate::status::GRPC_STATUSES;
use crate::{GRPC_STATUS, Outcome, PoolInfo};
use drumfire_plan::HttpVersion;
use std::ops::RangeInclusive;

/// The statuses of final HTTP responses: those in IANA's registry, and some that servers and
/// content networks use in addition.
const OF_HTTP: [RangeInclusive<u16>; 13] = [
    200..=208,
    226..=226,
    300..=305,
    307..=308,
    400..=418,
    421..=426,
    428..=429,
    431..=431,
    451..=451,
    499..=499,
    500..=511,
    520..=530,
    599..=599,
];

/// Outcomes of HTTP/2 only, in addition to those whose names begin with `h2:`.
const OF_HTTP2: [Outcome; 3] = [
    Outcome::ProtoNotHttp2,
    Outcome::TlsAlpn,
    Outcome::LimitFrames,
];

/// The protocols of a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Protocols {
    has_http2: bool,
    calls: Calls,
}

/// Which of a pool's requests are gRPC calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Calls {
    None,
    /// Some, or unknown.
    Some,
    All,
}

impl Protocols {
    /// The protocols of a pool; all of them if its facts are unknown.
    #[must_use]
    pub fn for_pool(pool: &PoolInfo) -> Self {
        let Some(asked) = &pool.asked else {
            return Self {
                has_http2: true,
                calls: Calls::Some,
            };
        };
        let has_http2 = asked.transport.version == HttpVersion::Http2;
        let listed = &asked.requests.first;
        let calls = listed.iter().filter(|request| request.call.is_some());
        let calls = match calls.count() {
            _ if !has_http2 => Calls::None,
            _ if asked.requests.count > listed.len() as u64 => Calls::Some,
            0 => Calls::None,
            count if count == listed.len() => Calls::All,
            _ => Calls::Some,
        };
        Self { has_http2, calls }
    }

    /// Whether an exchange can have this outcome: HTTP/2 and gRPC outcomes need their protocol,
    /// others are always possible.
    #[must_use]
    pub fn may_end_by(self, outcome: Outcome) -> bool {
        let name = outcome.name();
        let is_http2 = name.starts_with("h2:") || OF_HTTP2.contains(&outcome);
        (self.has_http2 || !is_http2) && (self.calls != Calls::None || !name.starts_with("grpc:"))
    }

    /// The usual statuses of final responses, ascending. A server may use others, which are counted
    /// as well.
    pub fn statuses(self) -> impl Iterator<Item = u16> {
        let http = OF_HTTP.into_iter().flatten();
        let http = http.filter(move |_| self.calls != Calls::All);
        let of_calls = (GRPC_STATUS..).take(GRPC_STATUSES);
        http.chain(of_calls.filter(move |_| self.calls != Calls::None))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status_name;

    fn with(has_http2: bool, calls: Calls) -> Protocols {
        Protocols { has_http2, calls }
    }

    #[test]
    fn statuses_are_those_of_the_protocol_in_order() {
        for (protocols, count) in [
            (with(false, Calls::None), 72),
            (with(true, Calls::Some), 89),
            (with(true, Calls::All), 17),
        ] {
            let all: Vec<u16> = protocols.statuses().collect();
            assert!(all.is_sorted());
            assert_eq!(all.len(), count, "{protocols:?}");
        }
        let last = with(true, Calls::All).statuses().last();
        assert_eq!(last.map(status_name).as_deref(), Some("UNAUTHENTICATED"));
    }

    #[test]
    fn outcomes_are_those_of_the_protocol() {
        for (outcome, http1, http2, calls) in [
            (Outcome::Ok, true, true, true),
            (Outcome::ConnectRefused, true, true, true),
            (Outcome::H2GoAway, false, true, true),
            (Outcome::LimitFrames, false, true, true),
            (Outcome::GrpcInternal, false, false, true),
        ] {
            let name = outcome.name();
            assert_eq!(
                with(false, Calls::None).may_end_by(outcome),
                http1,
                "{name}"
            );
            assert_eq!(with(true, Calls::None).may_end_by(outcome), http2, "{name}");
            assert_eq!(with(true, Calls::All).may_end_by(outcome), calls, "{name}");
        }
    }
}
