//! The flaws that make a plan invalid.

use super::PlanParts;
use crate::nearest::suggestion_of;
use crate::users::TOO_MANY;
use crate::{
    Affinity, Body, Connections, ExpectContinue, Growth, HttpRequest, HttpVersion, KeepAlive,
    KeepAliveHints, Law, Load, Metric, Pause, Pool, STEPS_MAX, Sequence, Step, Threads, Threshold,
    UserSteps, Warmup,
};
use drumfire_units::Nanos;
use std::fmt;

/// The minimum interval. A shorter one would cost more than it is worth, because each has
/// histograms for every step.
const INTERVAL_MIN: Nanos = Nanos::from_millis(100);
/// The maximum number of pools of a plan; each has separate figures on every thread.
pub const POOLS_MAX: usize = 256;
/// The maximum number of concurrent streams of a connection.
const STREAMS_MAX: u32 = 100_000;
/// The maximum number of concurrent requests of a pool.
const SEATS_MAX: u64 = 10_000_000;

/// A mistake in a plan, and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flaw {
    /// The number of the pool, from 0; `None` for a mistake in the run as a whole.
    pub pool: Option<usize>,
    /// The key as in a document: `rate`, `connections`.
    pub key: &'static str,
    /// The index in the list that is the key's value, from 0.
    pub item: Option<usize>,
    /// The mistake, and a correction.
    pub message: String,
}

impl fmt::Display for Flaw {
    /// Prints `pools[0].requests[1]: message`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(pool) = self.pool {
            write!(f, "pools[{pool}].")?;
        }
        f.write_str(self.key)?;
        if let Some(item) = self.item {
            write!(f, "[{item}]")?;
        }
        write!(f, ": {}", self.message)
    }
}

/// Collects flaws.
#[derive(Default)]
struct FlawList {
    flaws: Vec<Flaw>,
    /// The pool that is being checked.
    pool: Option<usize>,
}

impl FlawList {
    /// Adds a mistake in a key's value if `wrong`.
    fn note_if(&mut self, wrong: bool, key: &'static str, message: &str) {
        self.note_item_if(wrong, key, None, message);
    }

    /// Adds a mistake in an item of a list if `wrong`.
    fn note_item_if(&mut self, wrong: bool, key: &'static str, item: Option<usize>, message: &str) {
        if wrong {
            self.flaws.push(Flaw {
                pool: self.pool,
                key,
                item,
                message: message.to_owned(),
            });
        }
    }
}

/// All flaws in these parts.
pub(crate) fn check(parts: &PlanParts) -> Vec<Flaw> {
    let mut found = FlawList::default();
    let PlanParts {
        pools, generator, ..
    } = parts;
    found.note_if(
        pools.len() > POOLS_MAX,
        "pools",
        &format!("a plan has at most {POOLS_MAX} pools"),
    );
    found.note_if(
        pools.is_empty(),
        "pools",
        "there is nothing to send; write a pool with requests",
    );
    found.note_if(
        generator.threads == Threads::Exactly(0),
        "threads",
        "0 threads do nothing; write at least 1",
    );
    found.note_if(
        generator.interval < INTERVAL_MIN,
        "interval",
        &format!("the minimum interval is {INTERVAL_MIN}; write one such as 1s"),
    );
    for (k, pool) in pools.iter().enumerate() {
        found.pool = Some(k);
        let twice = pools[..k].iter().any(|other| other.name == pool.name);
        found.note_if(
            twice,
            "name",
            "two pools have this name; give each a different name",
        );
        check_pool(pool, generator.warmup, &mut found);
    }
    found.pool = None;
    check_sums(pools, &mut found);
    for (k, threshold) in parts.thresholds.iter().enumerate() {
        check_threshold(k, threshold, parts, &mut found);
    }
    found.flaws
}

fn check_pool(pool: &Pool, warmup: Warmup, found: &mut FlawList) {
    found.note_if(
        pool.requests.is_empty(),
        "requests",
        "there is nothing to send; give at least one URL",
    );
    for (k, request) in pool.requests.iter().enumerate() {
        check_request(k, request, found);
    }
    check_program(pool, found);
    check_load(pool, found);
    check_users(pool, found);
    check_stop(pool, warmup, found);
    check_connections(&pool.connections, pool.load.users(), found);
    check_version(pool, found);
    check_sockets(pool, found);
    check_times(pool, found);
}

/// Checks that the steps exist, and that every program sends requests, because others would loop
/// without effect.
fn check_program(pool: &Pool, found: &mut FlawList) {
    let Some(scenarios) = pool.program.scenarios() else {
        return;
    };
    let silent = |start: &u32| scenarios.first_request(*start).is_none();
    found.note_if(
        scenarios.starts().iter().any(silent),
        "scenario",
        "there is nothing to send; give at least one request",
    );
    found.note_if(
        !scenarios.are_sound(),
        "scenario",
        "a jump leads out of the steps, or into an endless loop",
    );
    found.note_if(
        scenarios.extent().steps > STEPS_MAX,
        "scenario",
        "an iteration would run more than 1,000,000 steps; reduce the repetitions",
    );
    found.note_if(
        pool.stop.requests.is_some(),
        "stop.requests",
        "a scenario is counted in iterations; use `iterations` instead of `requests`",
    );
    for (k, step) in scenarios.steps().iter().enumerate() {
        match step {
            Step::Request { request, .. } => found.note_item_if(
                *request as usize >= pool.requests.len(),
                "scenario",
                Some(k),
                "the step sends a request that the pool does not have",
            ),
            Step::Pause(pause) => check_pause(pause, "scenario", Some(k), found),
            _ => {}
        }
    }
}

fn check_pause(pause: &Pause, key: &'static str, item: Option<usize>, found: &mut FlawList) {
    found.note_item_if(
        matches!(pause, Pause::Even { from, to } if from > to),
        key,
        item,
        "the maximum pause is below the minimum; write a range such as 200ms..1s",
    );
}

fn check_load(pool: &Pool, found: &mut FlawList) {
    match &pool.load {
        Load::Open { rate, .. } => check_rate(rate, found),
        Load::Closed { users, think, .. } => {
            found.note_if(
                *users == 0,
                "users",
                "0 users send nothing; write at least 1",
            );
            check_pause(think, "think", None, found);
        }
        Load::PerUser { users, rate, .. } => {
            found.note_if(
                *users == 0,
                "users",
                "0 users send nothing; write at least 1",
            );
            check_rate(rate, found);
            let unlimited = |law: &Law| matches!(law, Law::Unlimited { .. });
            found.note_if(
                rate.0.iter().any(unlimited),
                "rate",
                "a user can't have an unlimited rate; use `users` without a rate, so that each \
                 sends as soon as it has a response",
            );
        }
    }
}

fn check_rate(rate: &Sequence, found: &mut FlawList) {
    found.note_if(
        rate.0.is_empty(),
        "rate",
        "the load is empty; write a rate such as 500/s",
    );
    found.note_if(
        !rate.0.is_empty() && rate.0.iter().all(is_silent),
        "rate",
        "a rate of 0 sends nothing; write a higher one, such as 500/s",
    );
}

/// Checks the number of users, because each user needs memory.
fn check_users(pool: &Pool, found: &mut FlawList) {
    found.note_if(users_of(pool) > UserSteps::MOST, "users", TOO_MANY);
}

fn users_of(pool: &Pool) -> u32 {
    let changing = pool.users.as_ref().map_or(0, UserSteps::most);
    changing.max(pool.load.users().unwrap_or(0))
}

/// Checks that all pools together keep the limits of a single pool, because they share the memory.
fn check_sums(pools: &[Pool], found: &mut FlawList) {
    let several = |sum: u64, most: u64| pools.len() > 1 && sum > most;
    let users = pools.iter().map(|pool| u64::from(users_of(pool))).sum();
    found.note_if(
        several(users, UserSteps::MOST.into()),
        "pools",
        "all pools together have at most 10,000,000 users; write fewer",
    );
    let seats = pools.iter().map(|pool| {
        let connections = &pool.connections;
        u64::from(connections.count) * u64::from(connections.streams)
    });
    let seats = seats.fold(0, u64::saturating_add);
    found.note_if(
        several(seats, SEATS_MAX),
        "pools",
        "all connections of all pools together carry at most 10,000,000 requests at a time; write \
         fewer connections or streams",
    );
}

fn check_stop(pool: &Pool, warmup: Warmup, found: &mut FlawList) {
    let stop = &pool.stop;
    let unset = stop.duration.is_none() && stop.requests.is_none() && stop.iterations.is_none();
    found.note_if(
        unset && !pool.load.ends_by_itself(),
        "stop",
        "nothing ends the run; set a duration, or a number of requests or iterations",
    );
    found.note_if(
        stop.duration == Some(Nanos::ZERO),
        "stop.after",
        "a duration can't be 0; write one such as 10s",
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
            .is_some_and(|duration| duration > Nanos::ZERO && warmup.span() >= duration),
        "warmup",
        "the warm-up lasts as long as the run, so nothing is measured; shorten it",
    );
    found.note_if(
        warmup == Warmup::Auto && pool.load_changes(),
        "warmup",
        "`auto` can't be used with a load that changes; write a duration for the warm-up, such as \
         10s",
    );
}

/// Rejects settings that the version of HTTP does not support.
fn check_version(pool: &Pool, found: &mut FlawList) {
    let calls = pool.requests.iter().any(|request| request.call.is_some());
    match pool.http.version {
        HttpVersion::Http1 => {
            found.note_if(
                pool.connections.streams > 1,
                "streams",
                "an HTTP/1.1 connection carries one request at a time; leave out the streams, or \
                 use HTTP/2",
            );
            found.note_if(calls, "http", "gRPC calls need HTTP/2");
            found.note_if(
                pool.connections.ping.is_some(),
                "ping",
                "HTTP/1.1 has no pings; leave them out, or use HTTP/2",
            );
        }
        HttpVersion::Http2 => {
            found.note_if(
                pool.http.expect_continue != ExpectContinue::No,
                "expect_continue",
                "`100 Continue` works only over HTTP/1.1",
            );
            found.note_if(
                pool.connections.hints == KeepAliveHints::Respect,
                "respect_keepalive",
                "HTTP/2 has no Keep-Alive field; its servers send GOAWAY, which drumfire always \
                 obeys",
            );
        }
    }
}

/// Checks the requests on WebSockets. A socket that a step opens belongs to its user, so users need
/// their own connections.
fn check_sockets(pool: &Pool, found: &mut FlawList) {
    let mut sockets = pool
        .requests
        .iter()
        .filter_map(|request| request.socket.as_deref());
    let Some(first) = sockets.next() else {
        return;
    };
    let has_steps = pool.program.scenarios().is_some();
    found.note_if(
        has_steps && pool.connections.affinity != Affinity::User,
        "session",
        "the WebSockets of a scenario belong to its users; use `session: user`",
    );
    found.note_if(
        has_steps && users_of(pool) > pool.connections.count,
        "connections",
        "each user of a scenario with WebSockets needs its own connection; write at least as many \
         connections as users",
    );
    let mut all = std::iter::once(first).chain(sockets);
    found.note_if(
        !has_steps && all.any(|socket| !socket.opens),
        "requests",
        "a request of a list needs `connect`, because no earlier step opens its WebSocket",
    );
}

fn check_times(pool: &Pool, found: &mut FlawList) {
    let timeouts = &pool.timeouts;
    if let Some(ping) = pool.connections.ping {
        found.note_if(
            ping.after == Nanos::ZERO || ping.timeout == Nanos::ZERO,
            "ping",
            "a ping time of 0 floods the server; write times such as 30s and 20s",
        );
    }
    for (timeout, place) in [
        (timeouts.total, "timeout"),
        (timeouts.connect, "connect_timeout"),
        (timeouts.tls, "tls_timeout"),
        (timeouts.head, "head_timeout"),
    ] {
        found.note_if(
            timeout == Nanos::ZERO,
            place,
            "with a timeout of 0, no request can finish; write one such as 30s",
        );
    }
}

/// Checks that the subject of a threshold exists: its pool, its step, and iterations that consist
/// of more than a request.
fn check_threshold(k: usize, threshold: &Threshold, parts: &PlanParts, found: &mut FlawList) {
    let mut note_if =
        |wrong, message: &str| found.note_item_if(wrong, "thresholds", Some(k), message);
    let interval = parts.generator.interval;
    let short = threshold.window.is_some_and(|window| window < interval);
    note_if(
        short,
        "the window is shorter than the interval; write a longer one",
    );
    let (pool, metric) = match &threshold.metric {
        Metric::Pool(pool, metric) => (Some(pool), &**metric),
        metric => (None, metric),
    };
    let is_meant = |candidate: &&Pool| pool.is_none_or(|name| *name == candidate.name);
    let meant: Vec<&Pool> = parts.pools.iter().filter(is_meant).collect();
    if let (Some(pool), []) = (pool, &*meant) {
        let names = parts.pools.iter().map(|pool| pool.name.as_str());
        let near = suggestion_of(pool, names, "pools");
        note_if(
            true,
            &format!("no pool is named `{}`{near}", pool.escape_debug()),
        );
        return;
    }
    match metric {
        Metric::Iteration(_) => note_if(
            !meant.is_empty() && !meant.iter().any(|pool| pool.program.has_steps()),
            "an iteration is a single request here; leave out `iteration.`",
        ),
        Metric::Step(name, _) => {
            let of = pool.map_or_else(String::new, |pool| format!(" of `{pool}`"));
            let requests = meant.iter().flat_map(|pool| &pool.requests);
            let steps = requests.map(|request| request.step.as_str());
            let unknown = !steps.clone().any(|step| step == name);
            let near = suggestion_of(name, steps, "steps");
            let message = format!("no step{of} is named `{}`{near}", name.escape_debug());
            note_if(unknown, &message);
        }
        _ => {}
    }
}

/// Whether a law has no arrivals.
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

fn check_connections(connections: &Connections, users: Option<u32>, found: &mut FlawList) {
    found.note_if(
        connections.streams > STREAMS_MAX,
        "streams",
        "a connection carries at most 100,000 streams; write fewer",
    );
    found.note_if(
        (2..=STREAMS_MAX).contains(&connections.streams)
            && u64::from(connections.count) * u64::from(connections.streams) > SEATS_MAX,
        "streams",
        "all connections together carry at most 10,000,000 streams; write fewer",
    );
    // If one number sets both, the message is about the users.
    found.note_if(
        connections.count == 0 && users != Some(0),
        "connections",
        "0 connections send nothing; write at least 1",
    );
    found.note_if(
        connections.growth == Growth::AsNeeded && connections.affinity == Affinity::User,
        "session",
        "if each user keeps a connection, their number is fixed; write a number of connections",
    );
    found.note_if(
        connections.streams == 0,
        "streams",
        "0 streams carry nothing; write at least 1",
    );
    found.note_if(
        connections.keep_alive == KeepAlive::AtMost(0),
        "requests_per_connection",
        "a connection carries at least 1 request",
    );
}

/// Checks that fields that frame a message or contain its host agree with the request itself (see
/// RFC 9112 sections 3.2 and 6).
fn check_request(k: usize, request: &HttpRequest, found: &mut FlawList) {
    let mut note_if =
        |wrong: bool, message: &str| found.note_item_if(wrong, "headers", Some(k), message);
    let values = |name| {
        let fields = request.headers.iter().filter(move |field| field.is(name));
        fields.map(crate::Header::value)
    };
    note_if(
        values("host").count() > 1,
        "Host is given more than once; keep one",
    );
    let lengths: Vec<_> = values("content-length").collect();
    note_if(
        lengths.len() > 1,
        "Content-Length is given more than once; leave it out: it is computed from the body",
    );
    let Body(body) = &request.body;
    let length = body.as_ref().map_or(0, |body| body.len()).to_string();
    note_if(
        lengths.iter().any(|given| *given != length.as_bytes()),
        &format!(
            "Content-Length differs from the body's {length} bytes; leave it out: it is computed \
             from the body"
        ),
    );
    note_if(
        values("transfer-encoding").next().is_some(),
        "Transfer-Encoding conflicts with the Content-Length that is computed from the body; leave \
         it out",
    );
}
