//! A simulated server, as a script.

use crate::{Answer, Http2Behaviour, Law, Request};
use drumfire_units::{Nanos, Random};
use std::fmt;
use std::sync::Arc;

/// A server's answer to a request.
pub(crate) type Answering = dyn Fn(&Request<'_>) -> Answer + Send + Sync;

/// A model of a server. Times count from the start of the run.
#[derive(Clone)]
pub struct Server {
    pub(crate) accepts: Accepts,
    pub(crate) service: Law,
    /// The number of requests served concurrently; 0 means unlimited.
    pub(crate) places: usize,
    pub(crate) stall: Option<ServerStall>,
    pub(crate) outages: Vec<Outage>,
    pub(crate) answering: Arc<Answering>,
    pub(crate) greeting: Option<Answer>,
    pub(crate) closes_after: u64,
    pub(crate) idle: Nanos,
    pub(crate) reset_share: f64,
    pub(crate) window: usize,
    pub(crate) expecting: Expecting,
    /// The protocol that the server agrees to over TLS; `None` without TLS.
    pub(crate) tls: Option<AgreedProtocol>,
    /// Whether its handshake requests a client certificate, which no simulated client has.
    pub(crate) asks_certificate: bool,
    /// The HTTP/2 script; HTTP/1 if `None`.
    pub(crate) http2: Option<Arc<Http2Behaviour>>,
}

/// What happens to attempts to connect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Accepts {
    Yes,
    Refuses,
    Swallows,
    Unreachable,
}

/// The protocol that a server agrees to in a TLS handshake; empty means none.
pub(crate) type AgreedProtocol = &'static [u8];

/// The server does not work in the last `length` of each `period`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ServerStall {
    length: Nanos,
    period: Nanos,
}

/// The server is down from one time to another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outage {
    pub(crate) from: Nanos,
    pub(crate) until: Nanos,
}

/// A server's reaction to `Expect: 100-continue`.
#[derive(Clone, Debug)]
pub enum Expecting {
    /// The server requests the body after this time.
    Continues(Nanos),
    /// The server waits for the body and sends nothing.
    Silent,
    /// The server answers immediately, without the body.
    Answers(Answer),
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("service", &self.service)
            .field("places", &self.places)
            .finish_non_exhaustive()
    }
}

impl Default for Server {
    fn default() -> Self {
        Self::new()
    }
}

impl Server {
    /// A server that answers 200 immediately, to any number of concurrent requests.
    #[must_use]
    pub fn new() -> Self {
        let answer = Answer::ok();
        Self {
            accepts: Accepts::Yes,
            service: Law::NONE,
            places: 0,
            stall: None,
            outages: Vec::new(),
            answering: Arc::new(move |_| answer.clone()),
            greeting: None,
            closes_after: u64::MAX,
            idle: Nanos::MAX,
            reset_share: 0.0,
            window: usize::MAX,
            expecting: Expecting::Continues(Nanos::ZERO),
            tls: None,
            asks_certificate: false,
            http2: None,
        }
    }

    /// A server that uses HTTP/2 with prior knowledge. `script` has its replies.
    #[must_use]
    pub fn http2(script: Http2Behaviour) -> Self {
        Self {
            http2: Some(Arc::new(script)),
            ..Self::new()
        }
    }

    /// Uses TLS, with a handshake that takes no time and without records, and agrees to this
    /// protocol; an empty text means no protocol.
    #[must_use]
    pub fn agrees_to(mut self, protocol: &'static [u8]) -> Self {
        self.tls = Some(protocol);
        self
    }

    /// Requests a client certificate in the handshake.
    #[must_use]
    pub fn asks_for_certificate(mut self) -> Self {
        self.asks_certificate = true;
        self
    }

    /// An address that refuses every connection.
    #[must_use]
    pub fn refusing() -> Self {
        Self::accepting(Accepts::Refuses)
    }

    /// An address that answers no attempt to connect.
    #[must_use]
    pub fn swallowing() -> Self {
        Self::accepting(Accepts::Swallows)
    }

    /// An unreachable address.
    #[must_use]
    pub fn unreachable() -> Self {
        Self::accepting(Accepts::Unreachable)
    }

    fn accepting(accepts: Accepts) -> Self {
        Self {
            accepts,
            ..Self::new()
        }
    }

    /// Sets the law of the service time.
    #[must_use]
    pub fn takes(mut self, law: Law) -> Self {
        self.service = law;
        self
    }

    /// Serves at most this many requests concurrently; the others wait in the order of arrival.
    /// With 1 and exponential times, the server is an M/M/1 queue.
    #[must_use]
    pub fn serves_at_a_time(mut self, count: usize) -> Self {
        self.places = count;
        self
    }

    /// Stops serving in the last `length` of each `period`.
    #[must_use]
    pub fn stalls(mut self, length: Nanos, period: Nanos) -> Self {
        assert!(length < period, "it must serve at some time");
        self.stall = Some(ServerStall { length, period });
        self
    }

    /// Kills the server at one time and restarts it at another: open connections are reset, and new
    /// ones are refused. With `from` 0, the server is also down before the run.
    #[must_use]
    pub fn is_dead(mut self, from: Nanos, until: Nanos) -> Self {
        self.outages.push(Outage { from, until });
        self
    }

    /// Sends the same answer to every request.
    #[must_use]
    pub fn says(self, answer: Answer) -> Self {
        self.answers(move |_| answer.clone())
    }

    /// Sends an answer that depends on the request.
    #[must_use]
    pub fn answers(
        mut self,
        answering: impl Fn(&Request<'_>) -> Answer + Send + Sync + 'static,
    ) -> Self {
        self.answering = Arc::new(answering);
        self
    }

    /// Sends a greeting on every connection, before any request.
    #[must_use]
    pub fn greets(mut self, greeting: Answer) -> Self {
        self.greeting = Some(greeting);
        self
    }

    /// Closes a connection without notice after this many answers.
    #[must_use]
    pub fn closes_after(mut self, answers: u64) -> Self {
        self.closes_after = answers;
        self
    }

    /// Closes a connection that has been idle for this time.
    #[must_use]
    pub fn closes_idle(mut self, after: Nanos) -> Self {
        self.idle = after;
        self
    }

    /// Resets the connection instead of answering, with this probability.
    #[must_use]
    pub fn resets(mut self, share: f64) -> Self {
        self.reset_share = share;
        self
    }

    /// Accepts at most this many unread bytes.
    #[must_use]
    pub fn window(mut self, bytes: usize) -> Self {
        self.window = bytes;
        self
    }

    /// Sets the reaction to `Expect: 100-continue`.
    #[must_use]
    pub fn on_expect(mut self, expecting: Expecting) -> Self {
        self.expecting = expecting;
        self
    }
}

/// The state of a server during a run.
#[derive(Debug)]
pub(crate) struct Host {
    pub(crate) server: Server,
    pub(crate) alive: bool,
    pub(crate) requests: u64,
    /// The time at which each place becomes free.
    free: Vec<Nanos>,
}

impl Host {
    pub(crate) fn new(server: Server) -> Self {
        let free = vec![Nanos::ZERO; server.places];
        let alive = server
            .outages
            .iter()
            .all(|outage| outage.from > Nanos::ZERO);
        Self {
            server,
            alive,
            requests: 0,
            free,
        }
    }

    /// The completion time of work that arrived at `at`; the run starts at `epoch`.
    pub(crate) fn done(&mut self, at: Nanos, work: Nanos, epoch: Nanos) -> Nanos {
        let stall = self.server.stall;
        let finish = |start: Nanos| match stall {
            Some(stall) if start >= epoch => epoch + stall.finish(start - epoch, work),
            _ => start + work,
        };
        match self.free.iter_mut().min() {
            None => finish(at),
            Some(free) => {
                *free = finish(at.max(*free));
                *free
            }
        }
    }

    /// Discards the state of a killed server.
    pub(crate) fn forget(&mut self) {
        self.free.fill(Nanos::ZERO);
    }

    pub(crate) fn is_reset(&self, random: &mut Random) -> bool {
        self.server.reset_share > 0.0 && random.unit() < self.server.reset_share
    }
}

impl ServerStall {
    /// The completion time of work that begins at `start`. During a stall, no work is done.
    fn finish(self, start: Nanos, work: Nanos) -> Nanos {
        let serving = self.period.0 - self.length.0;
        let (mut period, within) = (start.0 / self.period.0, start.0 % self.period.0);
        let mut done = within.min(serving);
        if within >= serving {
            (period, done) = (period + 1, 0);
        }
        let total = done + work.0;
        // Work that ends exactly at the start of a stall ends before the stall.
        let (full, rest) = (total / serving, total % serving);
        if rest == 0 && full > 0 && work.0 > 0 {
            return Nanos((period + full - 1) * self.period.0 + serving);
        }
        Nanos((period + full) * self.period.0 + rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_work_is_done_while_stalled() {
        let stall = ServerStall {
            length: Nanos(2),
            period: Nanos(10),
        };
        for (start, work, end) in [
            (0, 0, 0),
            (0, 3, 3),
            (7, 1, 8),
            (7, 2, 11),
            (8, 0, 10),
            (9, 1, 11),
            (8, 8, 18),
            (8, 9, 21),
            (5, 20, 31),
        ] {
            assert_eq!(
                stall.finish(Nanos(start), Nanos(work)),
                Nanos(end),
                "{work} at {start}"
            );
        }
    }

    #[test]
    fn one_place_serves_one_after_the_other() {
        let mut host = Host::new(Server::new().serves_at_a_time(1));
        let done = |host: &mut Host, at| host.done(Nanos(at), Nanos(10), Nanos::ZERO).0;
        assert_eq!(done(&mut host, 0), 10);
        assert_eq!(done(&mut host, 5), 20);
        assert_eq!(done(&mut host, 40), 50);
    }
}
