//! A server that crashes and restarts, and one that freezes, in the middle of a run.

use crate::process::{self, CLIENT_CORE, Finished, MemoryWatch, pinned};
use crate::rows::Settings;
use crate::server::Server;
use crate::summary::Summary;
use crate::table::{Figure, Line, Target};
use drumfire_units::Nanos;
use rustix::time::{ClockId, clock_gettime};
use std::io::{Error, Result};
use std::net::Ipv4Addr;
use std::process::Command;
use std::thread;

/// Requests per second.
const RATE: u64 = 10_000;

/// The length of a run, and the time at which the server fails.
const SECONDS: u64 = 12;
const HEALTHY: Nanos = Nanos::from_secs(4);

/// The time for which a killed server is down.
const AWAY: Nanos = Nanos::from_secs(1);

/// The time for which a server is frozen.
const FROZEN: Nanos = Nanos::from_millis(2_500);

/// The window in which a recovered server must receive its share of the rate.
const WINDOW: Nanos = Nanos::from_millis(100);

/// The share of the rate that counts as recovered.
const RECOVERED: f64 = 0.95;

/// The maximum recovery time, in seconds.
const RECOVERY_MAX: Option<Target> = Some(Target::AtMost(1.0));

/// Kills the server, and starts it again.
pub(super) fn killed(settings: &Settings) -> Result<Vec<Line>> {
    let mut server = serving(settings)?;
    let mut command = load(&server, settings);
    let (summary, back) = meanwhile(&mut command, || {
        thread::sleep(HEALTHY.as_duration());
        server.crash()?;
        thread::sleep(AWAY.as_duration());
        server.start_again()?;
        Ok(monotonic())
    })?;
    let title = format!("{RATE}/s for {SECONDS} s, server killed at 4 s and started 1 s later");
    let mut lines = of_all(&title, &summary)?;
    let recovery = steady_after(&arrivals(&server)?, back)
        .ok_or_else(|| Error::other("the rate was not reached again"))?;
    lines.push(figure(
        &title,
        "from its restart to 95 % of the rate",
        recovery.as_secs_f64(),
        "s",
        RECOVERY_MAX,
    ));
    Ok(lines)
}

/// Stops the server's process for a while.
pub(super) fn frozen(settings: &Settings) -> Result<Vec<Line>> {
    let server = serving(settings)?;
    let mut command = load(&server, settings);
    let (summary, thawed) = meanwhile(&mut command, || {
        thread::sleep(HEALTHY.as_duration());
        server.freeze()?;
        thread::sleep(FROZEN.as_duration());
        server.thaw()?;
        Ok(monotonic())
    })?;
    let title = format!("{RATE}/s for {SECONDS} s, server frozen for 2.5 s at 4 s");
    let mut lines = of_all(&title, &summary)?;
    let recovery = caught_up_after(&arrivals(&server)?, thawed)
        .ok_or_else(|| Error::other("the backlog was not worked off"))?;
    let mut with = |what: &str, value, unit: &str, target| {
        lines.push(figure(&title, what, value, unit, target));
    };
    let what = "from its thaw until all due requests had arrived";
    with(what, recovery.as_secs_f64(), "s", RECOVERY_MAX);
    with(
        "requests that failed",
        summary.count("failed")? as f64,
        "",
        Some(Target::Exactly(0.0)),
    );
    // Arrivals during the freeze wait for the rest of it: a share of 2.5 ÷ 12 of all requests, with
    // waits spread evenly from 0 to 2.5 s. At p90 a tenth of 12 s of the freeze is left, at p99 a
    // hundredth.
    for (name, quantile, least) in [
        ("p90", "0.9", 1.25),
        ("p99", "0.99", 2.3),
        ("max", "max", 2.4),
    ] {
        let value = summary.micros("response_time", quantile)? / 1e6;
        let what = format!("response time {name}");
        with(&what, value, "s", Some(Target::AtLeast(least)));
    }
    let service = summary.micros("service_time", "0.9")? / 1e6;
    with("service time p90 (excludes waiting)", service, "s", None);
    Ok(lines)
}

fn serving(settings: &Settings) -> Result<Server> {
    let flags = ["--delay", "const:2ms", "--arrival-log"];
    Server::serving(Ipv4Addr::LOCALHOST, &flags, &settings.programs)
}

fn load(server: &Server, settings: &Settings) -> Command {
    let mut command = pinned(CLIENT_CORE, &settings.programs.drumfire);
    command.args(["http", "--threads=1", "-q", "--json=-"]);
    command.args(["-r", &RATE.to_string(), "-z", &format!("{SECONDS}s")]);
    command.arg(server.url("/"));
    command
}

/// Runs a client during `event`; returns its summary, and the result of `event`.
fn meanwhile<T: Send>(
    command: &mut Command,
    event: impl FnOnce() -> Result<T> + Send,
) -> Result<(Summary, T)> {
    let limit = Nanos::from_secs(SECONDS + 90);
    let (finished, happened): (Result<Finished>, Result<T>) = thread::scope(|scope| {
        let happening = scope.spawn(event);
        let finished = process::run(command, limit, MemoryWatch::Nothing);
        let happened = happening.join();
        let panicked = |_| Err(Error::other("the server's thread panicked"));
        (finished, happened.unwrap_or_else(panicked))
    });
    Ok((Summary::parse(&finished?.stdout)?, happened?))
}

/// The figures that both cases have.
fn of_all(title: &str, summary: &Summary) -> Result<Vec<Line>> {
    let intended = RATE * SECONDS;
    let sent = summary.count("sent")?;
    let failures = summary.failures();
    let typed: u64 = failures
        .iter()
        .filter(|failure| !failure.kind.is_empty())
        .map(|failure| failure.count)
        .sum();
    let failed = summary.count("failed")?;
    let mut kinds: Vec<String> = failures
        .iter()
        .map(|failure| format!("{} {}", failure.count, failure.kind))
        .collect();
    kinds.sort();
    let kinds = match kinds.is_empty() {
        true => String::new(),
        false => format!("({})", kinds.join(", ")),
    };
    let none = Some(Target::Exactly(0.0));
    Ok(vec![
        figure(
            title,
            "sent minus due",
            sent as f64 - intended as f64,
            &format!("of {intended}"),
            none,
        ),
        figure(
            title,
            "failures without an outcome",
            failed.saturating_sub(typed) as f64,
            &format!("of {failed} {kinds}"),
            none,
        ),
        figure(title, "lag p99", summary.micros("lag", "0.99")?, "µs", None),
    ])
}

fn figure(title: &str, what: &str, value: f64, unit: &str, target: Option<Target>) -> Line {
    Line::Figure(Figure {
        what: format!("{title}: {what}"),
        value,
        unit: unit.to_owned(),
        target,
    })
}

/// The clock by which the server logs arrivals.
fn monotonic() -> Nanos {
    let now = clock_gettime(ClockId::Monotonic);
    Nanos::from_secs(now.tv_sec.unsigned_abs()) + Nanos(now.tv_nsec.unsigned_abs())
}

/// The arrival times of requests at the server, in order.
fn arrivals(server: &Server) -> Result<Vec<Nanos>> {
    let text = server.get("/arrivals")?;
    let mut arrivals = text
        .lines()
        .map(|line| line.trim().parse().map(Nanos))
        .collect::<std::result::Result<Vec<Nanos>, _>>()
        .map_err(Error::other)?;
    arrivals.sort_unstable();
    Ok(arrivals)
}

/// The time from `start` to the end of the first window in which the server received the rate.
fn steady_after(arrivals: &[Nanos], start: Nanos) -> Option<Nanos> {
    let wanted = RATE as f64 * WINDOW.as_secs_f64() * RECOVERED;
    let count = |from: Nanos, to: Nanos| {
        let before = |limit: Nanos| arrivals.partition_point(|at| *at < limit);
        before(to) - before(from)
    };
    let last = *arrivals.last()?;
    let mut window = start;
    while window < last {
        if count(window, window + WINDOW) as f64 >= wanted {
            return Some(window + WINDOW - start);
        }
        window += WINDOW;
    }
    None
}

/// The time from `start` until all due requests had arrived, except for a window's share.
fn caught_up_after(arrivals: &[Nanos], start: Nanos) -> Option<Nanos> {
    let first = *arrivals.first()?;
    let slack = RATE as f64 * WINDOW.as_secs_f64() * (1.0 - RECOVERED);
    let mut counted = arrivals.iter().enumerate();
    let caught_up = counted.find(|(index, at)| {
        let due = (**at - first).as_secs_f64() * RATE as f64;
        **at >= start && *index as f64 >= due - slack
    });
    caught_up.map(|(_, at)| *at - start)
}

#[cfg(test)]
mod tests {
    use super::{Nanos, caught_up_after, steady_after};

    /// 10,000/s for four seconds.
    fn steady() -> impl Iterator<Item = Nanos> {
        (0..40_000_u64).map(|n| Nanos(n * 100_000))
    }

    #[test]
    fn recovery_ends_with_the_first_window_at_the_rate() {
        let start = Nanos::from_secs(1);
        let arrivals: Vec<Nanos> = steady()
            .filter(|at| *at >= Nanos::from_millis(1_250))
            .collect();
        assert_eq!(
            steady_after(&arrivals, start),
            Some(Nanos::from_millis(400))
        );
        assert_eq!(steady_after(&arrivals[..10], start), None);
    }

    #[test]
    fn a_backlog_is_worked_off_when_all_that_was_due_has_come() {
        let thaw = Nanos::from_secs(3);
        // The requests due from 1 s on arrive at twice the rate from 3 s on: caught up at 5 s, and
        // with a slack of 50 requests slightly earlier.
        let late = |at: Nanos| match at >= Nanos::from_secs(1) {
            true => thaw + Nanos((at - Nanos::from_secs(1)).0 / 2),
            false => at,
        };
        let arrivals: Vec<Nanos> = (0..60_000_u64).map(|n| late(Nanos(n * 100_000))).collect();
        let recovery = caught_up_after(&arrivals, thaw).unwrap();
        assert_eq!(recovery, Nanos::from_millis(1_995));
    }
}
