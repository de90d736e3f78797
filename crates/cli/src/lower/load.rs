//! When requests start: the open and the closed model from flags.

use super::{in_text, optional, parsed};
use crate::exit::Failure;
use crate::flags::LoadFlags;
use crate::input;
use drumfire_plan::{
    Arrivals, Connections, Drain, KeepAlive, KeepAliveHints, LatePolicy, Load, ReusedClosed,
    Sequence, Spin, Spread, Stop, Users,
};
use drumfire_units::Nanos;
use std::path::Path;

/// Without any word on load: gentle, so that a first try harms nobody.
const RATE_DEFAULT: &str = "10/s";
/// How long a run lasts that nothing else ends.
const DURATION_DEFAULT: Nanos = Nanos::from_secs(10);
/// Connections of the open model.
const CONNECTIONS_DEFAULT: u32 = 64;
/// The same with HTTP/2, where each carries many requests.
const CONNECTIONS_HTTP2_DEFAULT: u32 = 8;
/// Requests at a time on an HTTP/2 connection, in the open model.
const STREAMS_DEFAULT: u32 = 100;

/// The load, its users where they change, and the connections that carry it.
pub(crate) struct Lowered {
    pub(crate) load: Load,
    pub(crate) users: Option<Users>,
    pub(crate) connections: Connections,
    /// When the users' law ends, if it does.
    pub(crate) users_end: Option<Nanos>,
}

/// The load and the connections that carry it.
pub(crate) fn of(flags: &LoadFlags, http: Multiplexing) -> Result<Lowered, Failure> {
    let (users, users_end) = users(flags.users.as_deref())?;
    let closed = flags.rate.is_none() && (flags.connections.is_some() || users.is_some());
    let streams = match (http, closed) {
        (Multiplexing::Streams(Some(0)), _) => {
            return Err(Failure::usage(
                "--streams: 0 requests at a time send nothing; write at least 1",
            ));
        }
        (Multiplexing::None, _) => 1,
        (Multiplexing::Streams(Some(streams)), _) => streams,
        (Multiplexing::Streams(None), true) => 1,
        (Multiplexing::Streams(None), false) => STREAMS_DEFAULT,
    };
    let most = users.as_ref().map(Users::most);
    let (load, count) = if closed {
        let asked = flags.connections.map(|count| count.saturating_mul(streams));
        let present = most.or(asked).unwrap_or(1);
        let think_time = optional("--think-time", flags.think_time.as_deref())?;
        let load = Load::Closed {
            users: present,
            think_time: think_time.unwrap_or_default(),
        };
        let count = present.div_ceil(streams.max(1));
        (load, flags.connections.unwrap_or(count))
    } else {
        let rate = sequence(flags.rate.as_deref().unwrap_or(RATE_DEFAULT))?;
        let load = Load::Open {
            rate,
            arrivals: arrivals(&flags.arrivals)?,
            late: late(&flags.late)?,
        };
        let usual = match http {
            Multiplexing::None => CONNECTIONS_DEFAULT,
            Multiplexing::Streams(_) => CONNECTIONS_HTTP2_DEFAULT,
        };
        (load, flags.connections.unwrap_or(usual))
    };
    let changes = users.filter(|users| !closed || users.changes().len() > 1);
    let connections = connections(flags, count, streams);
    Ok(Lowered {
        load,
        users: changes,
        connections,
        users_end,
    })
}

/// How many requests a connection carries at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Multiplexing {
    /// One, as HTTP/1.1 has it.
    None,
    /// So many, or the usual number.
    Streams(Option<u32>),
}

fn connections(flags: &LoadFlags, count: u32, streams: u32) -> Connections {
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get() as u32);
    Connections {
        count,
        streams,
        keep_alive: KeepAlive::Yes,
        reused_closed: ReusedClosed::Fail,
        hints: KeepAliveHints::Ignore,
        affinity: drumfire_plan::Affinity::Shared,
        backoff_max: Nanos::from_millis(250),
        spread: Spread::Turn,
        ping: None,
        threads: flags.threads.unwrap_or(cores),
        spin: if flags.spin { Spin::Yes } else { Spin::No },
    }
}

/// A number of users, or a law of their number over time and when it ends.
fn users(text: Option<&str>) -> Result<(Option<Users>, Option<Nanos>), Failure> {
    let Some(text) = text else {
        return Ok((None, None));
    };
    if let Ok(count) = text.parse::<u32>() {
        return if count == 0 {
            Err(Failure::usage("-u: a run needs at least one user"))
        } else {
            Ok((Some(Users::constant(count)), None))
        };
    }
    let mut no_trace = |_: &str| Err("users follow `const`, `step` and `line`".to_owned());
    let law = Sequence::parse_with(text, &mut no_trace)
        .map_err(|error| in_text("-u", text, error.at, &error.message))?;
    let (users, end) =
        Users::of_law(&law).map_err(|reason| Failure::usage(format!("-u: {reason}")))?;
    if users.most() == 0 {
        return Err(Failure::usage("-u: a run needs at least one user"));
    }
    Ok((Some(users), (end < Nanos::MAX).then_some(end)))
}

/// What ends the run; a duration where nothing else does.
pub(crate) fn stop(flags: &LoadFlags, lowered: &Lowered) -> Result<Stop, Failure> {
    let load = &lowered.load;
    let given = optional::<Nanos>("-z", flags.duration.as_deref())?.or(lowered.users_end);
    let counted = flags.requests.is_some() || flags.iterations.is_some();
    let duration =
        given.or_else(|| (!counted && !load.ends_by_itself()).then_some(DURATION_DEFAULT));
    for (flag, count) in [("-n", flags.requests), ("--iterations", flags.iterations)] {
        if count == Some(0) {
            return Err(Failure::usage(format!(
                "{flag}: 0 requests measure nothing"
            )));
        }
    }
    Ok(Stop {
        duration,
        requests: flags.requests,
        iterations: flags.iterations,
        drain: Drain::Wait,
    })
}

/// A rate or a law; a trace is read from its file.
fn sequence(text: &str) -> Result<Sequence, Failure> {
    let mut read_trace = |path: &str| {
        let bytes = input::file("-r", Path::new(path)).map_err(|failure| failure.message)?;
        trace(&bytes)
    };
    Sequence::parse_with(text, &mut read_trace)
        .map_err(|error| in_text("-r", text, error.at, &error.message))
}

/// One time a line, from the trace's start; a bare number is in seconds.
fn trace(bytes: &[u8]) -> Result<Vec<Nanos>, String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "it is not valid UTF-8".to_owned())?;
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

fn arrivals(text: &str) -> Result<Arrivals, Failure> {
    match text {
        "constant" => Ok(Arrivals::Constant),
        "poisson" => Ok(Arrivals::Poisson),
        other => Err(Failure::usage(format!(
            "--arrivals: `{}` is not a kind of arrivals; write constant or poisson",
            other.escape_default()
        ))),
    }
}

fn late(text: &str) -> Result<LatePolicy, Failure> {
    match text {
        "queue" => Ok(LatePolicy::Queue),
        "skip" => Ok(LatePolicy::Skip),
        other => match other
            .strip_prefix("drop(")
            .and_then(|rest| rest.strip_suffix(')'))
        {
            Some(time) => parsed("--late", time).map(LatePolicy::Drop),
            None => Err(Failure::usage(format!(
                "--late: `{}` is not a policy; write queue, skip or drop(2s)",
                other.escape_default()
            ))),
        },
    }
}
