//! The start of requests: the open and the closed model, and the end of the run.
//!
//! A document often sets only one of rate, users and connections. [`StartRule::compile`] decides
//! from the written keys which model is meant: a rate makes it open; users, connections or only a
//! number of requests make it closed; with `rate_per: user`, each user follows the rate
//! independently. The number of connections is the written one, or what the model needs:
//!
//! | written | open | closed |
//! |---|---|---|
//! | nothing | as needed, at most [`CONNECTIONS_NEEDED_MAX`] | one for each user, opened ahead |
//! | a number | that many, opened ahead | that many, opened ahead |
//! | `as_needed` | as needed | as needed, at most one for each user |
//!
//! With an unlimited rate, or with separate sessions for users, all connections are opened at the
//! start ([`takes_all`], [`keeps_users_apart`]).
//!
//! [`load`] is called once per pool, before its connections and its stop, because their defaults
//! depend on the result; [`stop`] is then called with that result. `load` reads the users first,
//! then the written number of connections, then the rule, which needs both. The rule chooses the
//! load and the default number of connections.

use crate::crew::{self, Crew};
use crate::scope::{Scope, is_on};
use drumfire_document::names;
use drumfire_document::{Count, Load as Written, Pool, Stop as WrittenStop, Text};
use drumfire_plan::{
    Arrivals, Drain, Growth, LatePolicy, Law, Load, Pause, Sequence, Stop, UserSteps,
};
use drumfire_units::{Nanos, utf8};
use std::sync::Arc;

/// The default load: low, so that a first try does no harm.
const RATE_DEFAULT: &str = "10/s";
/// The length of a run that nothing else ends.
///
/// Long enough for a first figure, and short enough that a forgotten run is over.
const DURATION_DEFAULT: Nanos = Nanos::from_secs(10);
/// The maximum number of connections to a target that are opened as needed. A public service sees
/// about as many from one client network, and the number bounds the harm of a mistyped rate.
const CONNECTIONS_NEEDED_MAX: u32 = 1_000;
/// The connections of an open load with an unlimited rate. Their number is the load, so an ordinary
/// server must be able to bear it.
const CONNECTIONS_UNLIMITED: u32 = 64;
/// The connections of an unlimited load over HTTP/2, where each carries many requests.
const CONNECTIONS_UNLIMITED_HTTP2: u32 = 8;
/// The word for connections that are opened as needed, instead of a number.
const AS_NEEDED: &str = "as_needed";
/// The default number of concurrent requests on an HTTP/2 connection in the open model: the minimum
/// that a server should allow (RFC 9113 section 6.5.2).
const STREAMS_DEFAULT: u32 = 100;

/// The load of a pool, its users if their number changes, and the connections that carry it.
pub(crate) struct Loaded {
    pub(crate) load: Load,
    /// The users over time; `None` if their number never changes, in which case `load` contains it.
    pub(crate) users: Option<UserSteps>,
    /// The maximum number of connections to each target.
    pub(crate) connections: u32,
    /// When the connections are opened: before the load, or as needed.
    pub(crate) growth: Growth,
    /// The maximum number of concurrent requests on each connection.
    pub(crate) streams: u32,
    /// The end of the users' law, if it has one. It ends the load.
    users_end: Option<Nanos>,
}

/// The recorded times at which the requests of a file are sent again. They replace the pool's rate.
pub(crate) struct Replay {
    times: Arc<[Nanos]>,
}

impl Replay {
    /// Creates a replay at these times, which ascend from the start of the run.
    pub(crate) fn new(times: Vec<Nanos>) -> Self {
        Self {
            times: times.into(),
        }
    }
}

/// The number of concurrent requests on a connection, as a property of its protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Multiplexing {
    /// One, as in HTTP/1.1.
    None,
    /// Several, as in HTTP/2.
    Streams,
}

/// The connections that a pool sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asked {
    /// The pool sets no connections.
    Nothing,
    /// The pool opens connections as needed.
    AsNeeded,
    /// The pool sets this number.
    Number(u32),
}

/// The rule by which a pool's requests start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StartRule {
    /// Arrivals by a law, for all users together.
    Open,
    /// Users that start again after they have finished.
    Closed,
    /// Arrivals by a law for each user.
    PerUser,
}

impl StartRule {
    /// The rule that a pool's settings mean.
    fn compile(
        pool: &Pool,
        replay: Option<&Replay>,
        users: Option<&UserSteps>,
        asked: Asked,
        scope: &mut Scope<'_>,
    ) -> Self {
        let written = &pool.load;
        let has_rate = written.rate.is_some() || replay.is_some();
        let words = [("all", false), ("user", true)];
        let per_user = scope.word(written.rate_per.as_ref(), &words, "value");
        if let (Some(true), Some(text)) = (per_user, &written.rate_per) {
            let message = "a rate per user needs a `rate` and a number of `users`";
            let is_whole = has_rate && users.is_some();
            scope.found.add_if(!is_whole, &text.place, message);
            return Self::PerUser;
        }
        let of_users = matches!(asked, Asked::Number(_)) || users.is_some() || is_counted(pool);
        match !has_rate && of_users {
            true => Self::Closed,
            false => Self::Open,
        }
    }
}

/// The connections to each target, and when they are opened.
#[derive(Clone, Copy, Debug)]
struct Carriers {
    /// The maximum number of connections.
    count: u32,
    /// When the connections are opened.
    growth: Growth,
}

impl Carriers {
    /// Returns `count` connections, opened before the load begins.
    const fn ahead(count: u32) -> Self {
        Self {
            count,
            growth: Growth::Ahead,
        }
    }

    /// Returns as many connections as an open load needs at a time. A written number of users
    /// bounds them.
    fn as_needed(users: Option<u32>, streams: u32) -> Self {
        let of_users = users.map(|users| users.div_ceil(streams.max(1)));
        Self {
            count: of_users.map_or(CONNECTIONS_NEEDED_MAX, |count| count.max(1)),
            growth: Growth::AsNeeded,
        }
    }
}

/// The load of a pool and the connections that carry it. A replay is an open load that replaces a
/// written rate.
pub(crate) fn load(
    pool: &Pool,
    http: Multiplexing,
    replay: Option<Replay>,
    scope: &mut Scope<'_>,
) -> Loaded {
    let written = &pool.load;
    let counts = &pool.settings.connections;
    let Crew {
        users,
        end: users_end,
    } = crew::compile_crew(written, scope);
    let asked = asked(counts.connections.as_ref(), scope);
    let rule = StartRule::compile(pool, replay.as_ref(), users.as_ref(), asked, scope);
    let streams = streams(
        counts.streams.as_ref(),
        http,
        rule != StartRule::Open,
        scope,
    );
    let most = users.as_ref().map(UserSteps::most);
    let carried = match asked {
        Asked::Number(count) => Some(count.saturating_mul(streams)),
        Asked::Nothing | Asked::AsNeeded => None,
    };
    let present = most.or(carried).unwrap_or(1);
    let ahead = Carriers::ahead(present.div_ceil(streams.max(1)));
    let (load, usual) = match rule {
        StartRule::Closed => (closed(written, present, scope), ahead),
        StartRule::PerUser => (per_user(written, present, scope), ahead),
        StartRule::Open => {
            let load = open(written, replay, scope);
            let unbounded = takes_all(&load) || keeps_users_apart(pool);
            let usual = match (asked, most) {
                // Each user needs a separate connection.
                (Asked::Nothing, Some(_)) if keeps_users_apart(pool) => ahead,
                (Asked::Nothing, _) if unbounded => Carriers::ahead(unlimited(http)),
                _ => Carriers::as_needed(most, streams),
            };
            (load, usual)
        }
    };
    let carriers = match asked {
        Asked::Nothing => usual,
        Asked::Number(count) => Carriers::ahead(count),
        Asked::AsNeeded => Carriers {
            growth: Growth::AsNeeded,
            ..usual
        },
    };
    let is_first = is_on(&counts.connect_first);
    let carriers = match is_first {
        true => Carriers::ahead(carriers.count),
        false => carriers,
    };
    if let (Asked::AsNeeded, Some(switch)) = (asked, counts.connect_first.as_ref()) {
        let message = "connections that are opened as needed are not opened before the first \
                       request; leave one of the two out";
        scope.found.add_if(is_first, &switch.place, message);
    }
    if let (Asked::AsNeeded, Some(text)) = (asked, &counts.connections) {
        let message = "an unlimited rate uses all connections that it may open; write a number";
        scope.found.add_if(takes_all(&load), &text.place, message);
    }
    Loaded {
        load,
        users: users.filter(|users| rule == StartRule::Open || users.changes().len() > 1),
        connections: carriers.count,
        growth: carriers.growth,
        streams,
        users_end,
    }
}

/// Parses a number of connections, or the word for connections opened as needed.
fn asked(text: Option<&Text>, scope: &mut Scope<'_>) -> Asked {
    let Some(text) = text else {
        return Asked::Nothing;
    };
    if text.value == AS_NEEDED {
        return Asked::AsNeeded;
    }
    let digits = text.value.bytes().all(|byte| byte.is_ascii_digit());
    match text.value.parse() {
        Ok(count) if digits => Asked::Number(count),
        _ => {
            let shown = text.value.escape_debug();
            let most = u32::MAX;
            let message = format!(
                "`{shown}` is not a number of connections; write one such as 100, at most {most}, \
                 or {AS_NEEDED}"
            );
            scope.found.add(&text.place, message);
            Asked::Nothing
        }
    }
}

/// Whether a number of requests is the only load setting of a pool. Requests then follow each other
/// as fast as they are answered, so that the run ends soon.
fn is_counted(pool: &Pool) -> bool {
    let Pool { load, stop, .. } = pool;
    let is_open = load.arrivals.is_some() || load.late.is_some();
    (stop.requests.is_some() || stop.iterations.is_some()) && !is_open
}

/// Whether an open load starts a request whenever a connection is free, and therefore uses every
/// allowed connection.
fn takes_all(load: &Load) -> bool {
    match load {
        Load::Open { rate, .. } => rate
            .0
            .iter()
            .any(|law| matches!(law, Law::Unlimited { .. })),
        Load::Closed { .. } | Load::PerUser { .. } => false,
    }
}

/// Whether each user keeps a connection, which must be open before the user's first request.
fn keeps_users_apart(pool: &Pool) -> bool {
    let session = pool.settings.connections.session.as_ref();
    session.is_some_and(|session| session.value == "user")
}

/// The connections of an unlimited open load.
const fn unlimited(http: Multiplexing) -> u32 {
    match http {
        Multiplexing::None => CONNECTIONS_UNLIMITED,
        Multiplexing::Streams => CONNECTIONS_UNLIMITED_HTTP2,
    }
}

/// A load of users that start again after they have finished.
///
/// Without think time or pace, the next request follows immediately.
fn closed(written: &Written, users: u32, scope: &mut Scope<'_>) -> Load {
    for text in [&written.arrivals, &written.late].into_iter().flatten() {
        let rate = names::name(&text.place, "rate");
        let message = format!(
            "in the closed model, users send again when they have a response; leave it out, or set \
             {rate}"
        );
        scope.found.add(&text.place, message);
    }
    let think: Option<Pause> = scope.found.parse(written.think.as_ref());
    let pace: Option<Nanos> = scope.found.parse(written.pace.as_ref());
    Load::Closed {
        users,
        think: think.unwrap_or(Pause::NONE),
        pace: pace.unwrap_or_default(),
    }
}

/// A load of arrivals by a law, or at the times of a replay.
fn open(written: &Written, replay: Option<Replay>, scope: &mut Scope<'_>) -> Load {
    refuse_rest(written, scope);
    Load::Open {
        rate: match replay {
            Some(Replay { times }) => Sequence(vec![Law::Trace { times }]),
            None => rate(written, scope),
        },
        arrivals: arrivals(written, scope),
        late: late(written.late.as_ref(), scope),
    }
}

/// A load of arrivals by a law for each user.
fn per_user(written: &Written, users: u32, scope: &mut Scope<'_>) -> Load {
    let arrivals = arrivals(written, scope);
    if let Some(text) = written
        .arrivals
        .as_ref()
        .filter(|_| arrivals != Arrivals::Constant)
    {
        let message = "the arrivals of each user are evenly spaced; for random arrivals, leave out \
                       `rate_per` and set the rate of all users";
        scope.found.add(&text.place, message);
    }
    refuse_rest(written, scope);
    Load::PerUser {
        users,
        rate: rate(written, scope),
        late: late(written.late.as_ref(), scope),
    }
}

/// Notes think time and pace in an open load, which has no users to pause.
fn refuse_rest(written: &Written, scope: &mut Scope<'_>) {
    for text in [&written.think, &written.pace].into_iter().flatten() {
        let rate = names::name(&text.place, "rate");
        let message = format!("users pause only in the closed model; leave it out, or {rate}");
        scope.found.add(&text.place, message);
    }
}

/// The law of an open load. The default applies if no law was written, or after a mistake was
/// noted.
fn rate(written: &Written, scope: &mut Scope<'_>) -> Sequence {
    let rate = written.rate.as_ref();
    let rate = rate.and_then(|text| sequence(text, scope));
    let usual = || RATE_DEFAULT.parse().ok();
    rate.or_else(usual).unwrap_or_else(|| Sequence(Vec::new()))
}

/// How arrivals are spread; the default is evenly.
fn arrivals(written: &Written, scope: &mut Scope<'_>) -> Arrivals {
    let arrivals = scope.found.parse(written.arrivals.as_ref());
    arrivals.unwrap_or_default()
}

/// The number of concurrent requests on a connection. The plan's check refuses a number for
/// HTTP/1.1.
fn streams(
    written: Option<&Count>,
    http: Multiplexing,
    of_users: bool,
    scope: &mut Scope<'_>,
) -> u32 {
    if let Some(count) = written.filter(|count| count.value == 0) {
        let message = "0 requests at a time send nothing; write at least 1";
        scope.found.add(&count.place, message);
        return 1;
    }
    let usual = match (http, of_users) {
        (Multiplexing::None, _) | (Multiplexing::Streams, true) => 1,
        (Multiplexing::Streams, false) => STREAMS_DEFAULT,
    };
    scope.count(written).unwrap_or(usual)
}

/// The end of the run; the default duration applies if nothing else ends it.
///
/// A duration comes from the document or from the users' law. Without both, and without a count or
/// an end of the load's law, it is [`DURATION_DEFAULT`]. If several ends are written, the first
/// that is reached ends the run.
pub(crate) fn stop(written: &WrittenStop, loaded: &Loaded, scope: &mut Scope<'_>) -> Stop {
    let given = scope.found.parse(written.after.as_ref());
    let given = given.or(loaded.users_end);
    let counted = written.requests.is_some() || written.iterations.is_some();
    let endless = !counted && !loaded.load.ends_by_itself();
    let drains = [
        ("wait", Drain::Wait),
        ("close", Drain::Close),
        ("ignore", Drain::Ignore),
    ];
    let drain = scope.word(written.drain.as_ref(), &drains, "drain mode");
    let value = |count: &Option<Count>| count.as_ref().map(|count| count.value);
    Stop {
        duration: given.or_else(|| endless.then_some(DURATION_DEFAULT)),
        requests: value(&written.requests),
        iterations: value(&written.iterations),
        drain: drain.unwrap_or_default(),
    }
}

/// A rate or a law. A trace is read from its file.
fn sequence(text: &Text, scope: &mut Scope<'_>) -> Option<Sequence> {
    let host = scope.host;
    let mut read_trace = |path: &str| {
        let read = host.read(path);
        let bytes = read.map_err(|error| format!("can't read {path}: {error}"))?;
        trace(&bytes)
    };
    scope.law(text, &mut read_trace)
}

/// Parses the times of a trace, one per line, from the start of the trace; a bare number is in
/// seconds. The law checks their order.
fn trace(bytes: &[u8]) -> Result<Vec<Nanos>, String> {
    let text = utf8::text(bytes).map_err(|what| format!("the file is {what}"))?;
    let lines = text.lines().map(str::trim).enumerate();
    lines
        .filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
        .map(|(index, line)| {
            let time = line
                .parse()
                .or_else(|_| format!("{line}s").parse::<Nanos>());
            time.map_err(|error| format!("line {}: {error}", index + 1))
        })
        .collect()
}

/// The late policy; the default is `queue`.
fn late(text: Option<&Text>, scope: &mut Scope<'_>) -> LatePolicy {
    let Some(text) = text else {
        return LatePolicy::Queue;
    };
    let dropped = text.value.strip_prefix("drop(");
    match (
        text.value.as_str(),
        dropped.and_then(|t| t.strip_suffix(')')),
    ) {
        ("queue", _) => LatePolicy::Queue,
        ("skip", _) => LatePolicy::Skip,
        (_, Some(time)) => {
            let time = scope.found.ok(&text.place, time.parse());
            time.map_or(LatePolicy::Queue, LatePolicy::Drop)
        }
        (other, None) => {
            let shown = other.escape_debug();
            let message = format!("unknown policy `{shown}`; use `queue`, `skip` or `drop(2s)`");
            scope.found.add(&text.place, message);
            LatePolicy::Queue
        }
    }
}
