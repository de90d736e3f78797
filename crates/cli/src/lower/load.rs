//! When requests start: the open and the closed model from flags.

use super::{in_text, optional, parsed};
use crate::exit::Failure;
use crate::flags::LoadFlags;
use crate::input;
use drumfire_plan::{
    Arrivals, Connections, Drain, KeepAlive, KeepAliveHints, LatePolicy, Load, ReusedClosed, Sequence,
    Spin, Stop,
};
use drumfire_units::Nanos;
use std::path::Path;

/// Without any word on load: gentle, so that a first try harms nobody.
const RATE_DEFAULT: &str = "10/s";
/// How long a run lasts that nothing else ends.
const DURATION_DEFAULT: Nanos = Nanos::from_secs(10);
/// Connections of the open model.
const CONNECTIONS_DEFAULT: u32 = 64;

/// The load and the connections that carry it.
pub(crate) fn of(flags: &LoadFlags) -> Result<(Load, Connections), Failure> {
    let closed = flags.connections.is_some() || flags.users.is_some();
    let (load, count) = match &flags.rate {
        None if closed => {
            let users = flags.users.or(flags.connections).unwrap_or(1);
            let think_time = optional("--think-time", flags.think_time.as_deref())?;
            let load = Load::Closed {
                users,
                think_time: think_time.unwrap_or_default(),
            };
            (load, flags.connections.unwrap_or(users))
        }
        rate => {
            let rate = sequence(rate.as_deref().unwrap_or(RATE_DEFAULT))?;
            let load = Load::Open {
                rate,
                arrivals: arrivals(&flags.arrivals)?,
                late: late(&flags.late)?,
            };
            (load, flags.connections.unwrap_or(CONNECTIONS_DEFAULT))
        }
    };
    if flags.users == Some(0) {
        return Err(Failure::usage("-u: a run needs at least one user"));
    }
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get() as u32);
    let connections = Connections {
        count,
        streams: 1,
        keep_alive: KeepAlive::Yes,
        reused_closed: ReusedClosed::Fail,
        hints: KeepAliveHints::Ignore,
        backoff_max: Nanos::from_millis(250),
        threads: flags.threads.unwrap_or(cores),
        spin: if flags.spin { Spin::Yes } else { Spin::No },
    };
    Ok((load, connections))
}

/// What ends the run; a duration where nothing else does.
pub(crate) fn stop(flags: &LoadFlags, load: &Load) -> Result<Stop, Failure> {
    let given = optional::<Nanos>("-z", flags.duration.as_deref())?;
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
