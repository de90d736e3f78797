//! What keeps a plan from being run.

use crate::nearest::suggestion;
use crate::{
    Affinity, Body, Connections, ExpectContinue, Growth, HttpRequest, HttpVersion, KeepAlive,
    KeepAliveHints, Law, Load, Metric, Plan, Sequence,
};
use drumfire_units::Nanos;
use std::fmt;

/// One thing that is wrong with a plan, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The key, such as `requests[0].headers`; indices count from 0.
    pub place: String,
    /// The mistake, and what would be right.
    pub message: String,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.message)
    }
}

/// Diagnostics, as they are found.
#[derive(Default)]
struct Findings(Vec<Diagnostic>);

impl Findings {
    /// Notes a mistake at `place` if `wrong`.
    fn note_if(&mut self, wrong: bool, place: &str, message: &str) {
        if wrong {
            self.0.push(Diagnostic {
                place: place.to_owned(),
                message: message.to_owned(),
            });
        }
    }
}

impl Plan {
    /// Everything that keeps this plan from being run; a plan without diagnostics can run.
    #[must_use]
    pub fn check(&self) -> Vec<Diagnostic> {
        let mut found = Findings::default();
        found.note_if(
            self.requests.is_empty(),
            "requests",
            "there is nothing to send; give at least one URL",
        );
        for (k, request) in self.requests.iter().enumerate() {
            check_request(request, &format!("requests[{k}]"), &mut found);
        }
        self.check_load(&mut found);
        self.check_stop(&mut found);
        check_connections(&self.connections, &mut found);
        self.check_version(&mut found);
        self.check_times(&mut found);
        self.check_thresholds(&mut found);
        found.0
    }

    fn check_load(&self, found: &mut Findings) {
        match &self.load {
            Load::Open { rate, .. } => {
                found.note_if(
                    rate.0.is_empty(),
                    "load.rate",
                    "the load has no piece; write a rate such as 500/s",
                );
                found.note_if(
                    !rate.0.is_empty() && rate.0.iter().all(is_silent),
                    "load.rate",
                    "a rate of 0 sends nothing; write one above it, such as 500/s",
                );
            }
            Load::Closed { users, .. } => found.note_if(
                *users == 0,
                "load.users",
                "0 users send nothing; write at least 1",
            ),
        }
    }

    fn check_stop(&self, found: &mut Findings) {
        let stop = &self.stop;
        let unset = stop.duration.is_none() && stop.requests.is_none() && stop.iterations.is_none();
        found.note_if(
            unset && !self.load.ends_by_itself(),
            "stop",
            "nothing ends the run; give a duration, a number of requests or of iterations",
        );
        found.note_if(
            stop.duration == Some(Nanos::ZERO),
            "stop.duration",
            "nothing fits into a duration of 0; write one such as 10s",
        );
        for (count, place) in [
            (stop.requests, "stop.requests"),
            (stop.iterations, "stop.iterations"),
        ] {
            found.note_if(
                count == Some(0),
                place,
                "a run of 0 sends nothing; write at least 1",
            );
        }
        found.note_if(
            stop.duration
                .is_some_and(|duration| self.warmup >= duration),
            "warmup",
            "the warm-up lasts as long as the run, so that nothing is measured; shorten it",
        );
    }

    /// Settings that the version of HTTP can't carry out.
    fn check_version(&self, found: &mut Findings) {
        let calls = self.requests.iter().any(|request| request.call.is_some());
        match self.http.version {
            HttpVersion::Http1 => {
                found.note_if(
                    self.connections.streams > 1,
                    "connections.streams",
                    "a connection of HTTP/1.1 carries one request at a time; leave the streams \
                     away, or speak HTTP/2",
                );
                found.note_if(calls, "http.version", "gRPC calls travel over HTTP/2");
                found.note_if(
                    self.connections.ping.is_some(),
                    "connections.ping",
                    "HTTP/1.1 has no pings; leave them away, or speak HTTP/2",
                );
            }
            HttpVersion::Http2 => {
                found.note_if(
                    self.http.expect_continue != ExpectContinue::No,
                    "http.expect_continue",
                    "a body waits for `100 Continue` over HTTP/1.1 only",
                );
                found.note_if(
                    self.connections.hints == KeepAliveHints::Respect,
                    "connections.hints",
                    "HTTP/2 has no Keep-Alive field; its servers say GOAWAY, which is obeyed",
                );
            }
        }
    }

    fn check_times(&self, found: &mut Findings) {
        found.note_if(
            self.interval == Nanos::ZERO,
            "interval",
            "an interval of 0 holds nothing; write one such as 1s",
        );
        let timeouts = &self.timeouts;
        if let Some(ping) = self.connections.ping {
            found.note_if(
                ping.after == Nanos::ZERO || ping.timeout == Nanos::ZERO,
                "connections.ping",
                "a ping without any time floods the server; write times such as 30s and 20s",
            );
        }
        for (timeout, place) in [
            (timeouts.total, "timeouts.total"),
            (timeouts.connect, "timeouts.connect"),
            (timeouts.tls, "timeouts.tls"),
            (timeouts.head, "timeouts.head"),
        ] {
            found.note_if(
                timeout == Nanos::ZERO,
                place,
                "a timeout of 0 lets nothing finish; write one such as 30s",
            );
        }
    }

    fn check_thresholds(&self, found: &mut Findings) {
        for (k, threshold) in self.thresholds.iter().enumerate() {
            let place = format!("thresholds[{k}]");
            found.note_if(
                threshold
                    .window
                    .is_some_and(|window| window < self.interval),
                &place,
                "the window is shorter than the interval; write a longer one",
            );
            let Metric::Step(name, _) = &threshold.metric else {
                continue;
            };
            let steps = || self.requests.iter().map(|request| request.step.as_str());
            found.note_if(
                !steps().any(|step| step == name),
                &place,
                &format!(
                    "no step is named `{}`{}",
                    name.escape_debug(),
                    suggestion(name, steps())
                ),
            );
        }
    }
}

impl Load {
    /// Whether it ends without a stop condition.
    #[must_use]
    pub fn ends_by_itself(&self) -> bool {
        match self {
            Self::Open {
                rate: Sequence(laws),
                ..
            } => !laws.iter().any(Law::runs_on),
            Self::Closed { .. } => false,
        }
    }
}

/// Whether a law has no arrivals at all.
fn is_silent(law: &Law) -> bool {
    match law {
        Law::Const { rate, .. } => rate.events == 0,
        Law::Line { from, to, .. } | Law::Step { from, to, .. } => {
            from.events == 0 && to.events == 0
        }
        Law::Once { count } => *count == 0,
        Law::Unlimited { .. } => false,
        Law::Sine { mean, .. } => mean.events == 0,
        Law::Trace { times } => times.is_empty(),
        Law::Stairs { steps } => steps.iter().all(|(rate, _)| rate.events == 0),
    }
}

fn check_connections(connections: &Connections, found: &mut Findings) {
    found.note_if(
        connections.count == 0,
        "connections.count",
        "0 connections send nothing; write at least 1",
    );
    found.note_if(
        connections.growth == Growth::AsNeeded && connections.affinity == Affinity::User,
        "connections.session",
        "users keep to connections that are there; write a number of connections",
    );
    found.note_if(
        connections.streams == 0,
        "connections.streams",
        "0 streams carry nothing; write at least 1",
    );
    found.note_if(
        connections.threads == 0,
        "connections.threads",
        "0 threads do nothing; write at least 1",
    );
    found.note_if(
        connections.keep_alive == KeepAlive::AtMost(0),
        "connections.keep_alive",
        "a connection carries at least 1 request",
    );
}

/// Fields that frame a message or name its host must agree with the request itself (RFC 9112
/// sections 3.2 and 6).
fn check_request(request: &HttpRequest, place: &str, found: &mut Findings) {
    let place = format!("{place}.headers");
    let values = |name| {
        let fields = request.headers.iter().filter(move |field| field.is(name));
        fields.map(crate::Header::value)
    };
    found.note_if(
        values("host").count() > 1,
        &place,
        "Host is given more than once; leave one",
    );
    let lengths: Vec<_> = values("content-length").collect();
    found.note_if(
        lengths.len() > 1,
        &place,
        "Content-Length is given more than once; leave it away: it is made from the body",
    );
    let Body(body) = &request.body;
    let length = body.as_ref().map_or(0, |body| body.len()).to_string();
    found.note_if(
        lengths.iter().any(|given| *given != length.as_bytes()),
        &place,
        &format!(
            "Content-Length differs from the body's {length} bytes; leave it away: it is made \
             from the body"
        ),
    );
    found.note_if(
        values("transfer-encoding").next().is_some(),
        &place,
        "Transfer-Encoding conflicts with the Content-Length that is made from the body; \
         leave it away",
    );
}
