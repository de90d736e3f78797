//! Arrival times of calls.

use super::{Both, HELLO, original, reports, start};
use crate::support::delays::try_again;
use crate::support::program::LIMIT;
use crate::support::{Process, Serve, alone, in_time, punctually};
use serde_json::Value;
use std::time::Duration;

/// A schedule, its server's flags, and the number of calls that are due in each second.
type Schedule = (&'static str, &'static str, &'static [u64]);

const SCHEDULES: [Schedule; 5] = [
    ("-r 40 -n 160", "", &[40, 40, 40, 40]),
    (
        "--load-schedule step --load-start 20 --load-step 20 --load-step-duration 1s \
         --load-end 60 -n 180",
        "",
        &[20, 40, 60, 60],
    ),
    (
        "--load-schedule step --load-start 60 --load-step=-20 --load-step-duration 1s \
         --load-end 20 -n 140",
        "",
        &[60, 40, 20, 20],
    ),
    (
        "--load-schedule line --load-start 10 --load-step 15 -n 130",
        "",
        &[10, 25, 40, 55],
    ),
    // Without a rate, each worker sends its next call when the response arrives: ten calls a
    // second.
    (
        "--concurrency-schedule step --concurrency-start 1 --concurrency-step 1 \
         --concurrency-step-duration 1s --concurrency-end 3 -c 3 -n 90",
        "--delay 100ms",
        &[10, 20, 30, 30],
    ),
];

/// The maximum stall of a program on a busy machine. Delayed calls are sent right after the stall,
/// so a window may lack the calls that were due in that time, and the next window have as many
/// more. The time is less than half of the change of one step, so that a wrong level is detected.
const STALL: Duration = Duration::from_millis(150);

/// The maximum median difference between arrivals of the two programs, in nanoseconds. The
/// difference is 1 ms on an idle machine. If a schedule were shifted by one call, it would be 16 to
/// 100 ms.
const APART: f64 = 10e6;

#[test]
fn calls_arrive_by_the_same_schedule() {
    if original().is_none() {
        return;
    }
    let _turn = alone();
    let started: Vec<_> = SCHEDULES.into_iter().map(start_both).collect();
    for ((servers, processes), schedule) in started.into_iter().zip(SCHEDULES) {
        let first = arrivals(servers, processes, schedule.0);
        let found = check_arrivals(schedule, &first);
        // Neither program can keep its schedule on a machine that stalls, so a missed schedule is
        // run again alone. A wrong schedule is missed every time.
        let again = || {
            let (servers, processes) = start_both(schedule);
            check_arrivals(schedule, &arrivals(servers, processes, schedule.0))
        };
        let found = found.or_else(|_| try_again(STALL, again));
        assert_eq!(found, Ok(()), "{}", schedule.0);
    }
}

/// Starts a schedule in both programs, each against its own server.
fn start_both((line, flags, _): Schedule) -> (Both<Serve>, Both<Process>) {
    let server = || Serve::new(&format!("--grpc --arrival-log {flags}"));
    let servers = Both {
        ghz: server(),
        ours: server(),
    };
    let hosts = Both {
        ghz: servers.ghz.address().to_string(),
        ours: servers.ours.address().to_string(),
    };
    let processes = start(&format!("{HELLO} {line} HOST"), &hosts);
    (servers, processes)
}

/// The arrival times of the calls, after both runs ended.
fn arrivals(servers: Both<Serve>, processes: Both<Process>, line: &str) -> Both<Vec<u64>> {
    for run in [processes.ghz, processes.ours].map(|process| process.finish(LIMIT)) {
        assert_eq!(run.code, Some(0), "{line}: {}", run.stderr);
    }
    servers.map(|server| server.arrivals())
}

/// Each window has as many arrivals as the schedule and as the other program, and the n-th arrivals
/// of both programs come at the same time. Both count from their first arrival.
fn check_arrivals((line, _, windows): Schedule, arrivals: &Both<Vec<u64>>) -> Result<(), String> {
    let total: usize = line.rsplit("-n ").next().unwrap().parse().unwrap();
    let (ghz, ours) = (&arrivals.ghz, &arrivals.ours);
    assert_eq!((ghz.len(), ours.len()), (total, total), "{line}");
    let first = first_due(line);
    let count = |arrivals: &[u64], window: usize| {
        let at = |time: &u64| (time - arrivals[0]) as f64 / 1e9 + first;
        // Half a millisecond more, because a call that is due at an edge belongs before it.
        let edge = |n: usize| n as f64 + 0.0005;
        let inside = |time: &&u64| at(time) > edge(window) - 1.0 && at(time) <= edge(window);
        arrivals.iter().filter(inside).count() as f64
    };
    for (n, due) in (1..).zip(windows) {
        let tolerance = 1.0 + *due as f64 * STALL.as_secs_f64();
        let counts = (count(ghz, n), count(ours, n));
        let apart = (counts.0 - counts.1).abs();
        let off = (counts.1 - *due as f64).abs();
        if apart > tolerance || off > tolerance {
            return Err(format!("second {n}: {counts:?}, {due} are due"));
        }
    }
    let offset = |arrivals: &[u64], n: usize| (arrivals[n] - arrivals[0]) as f64;
    let mut apart: Vec<f64> = (0..total)
        .map(|n| (offset(ghz, n) - offset(ours, n)).abs())
        .collect();
    apart.sort_by(f64::total_cmp);
    let limit = match line.contains("concurrency") {
        // A worker's next call waits for the response, so the extra time of each call adds up: 2 ms
        // per call become 80 ms after 40 calls.
        true => 8.0 * APART,
        false => APART,
    };
    match apart[total / 2] {
        median if median < limit => Ok(()),
        median => Err(format!("{median} ns apart")),
    }
}

/// The time at which the first call is due, in seconds.
fn first_due(line: &str) -> f64 {
    let after = |flag: &str| {
        let (_, rest) = line.split_once(flag)?;
        rest.split_whitespace().next()?.parse::<f64>().ok()
    };
    let rate = after("-r ").or_else(|| after("--load-start "));
    rate.map_or(0.0, |rate| 1.0 / rate)
}

/// A run takes longer than its arrivals by the delay of the first call, and by delays of the
/// machine. The test uses the minimum of three runs.
#[test]
fn the_first_call_is_due_at_one_by_the_rate() {
    if original().is_none() {
        return;
    }
    let _turn = alone();
    punctually(STALL, || {
        let waits: Vec<Both<u64>> = (0..3).map(|_| first_waits()).collect();
        for wait in [|both: &Both<u64>| both.ghz, |both: &Both<u64>| both.ours] {
            let least = waits.iter().map(wait).min().unwrap();
            let is_right = (240_000_000..450_000_000).contains(&least);
            in_time(is_right, || format!("{least} ns"))?;
        }
        Ok(())
    });
}

/// The time by which a run of four calls a second is longer than its arrivals, in nanoseconds.
fn first_waits() -> Both<u64> {
    let server = || Serve::new("--grpc --arrival-log");
    let servers = Both {
        ghz: server(),
        ours: server(),
    };
    let hosts = Both {
        ghz: servers.ghz.address().to_string(),
        ours: servers.ours.address().to_string(),
    };
    let runs = start(&format!("{HELLO} -r 4 -n 4 -c 2 -O json HOST"), &hosts);
    let totals = reports(runs.map(|run| run.finish(LIMIT)));
    let spans = servers.map(|server| {
        let arrivals = server.arrivals();
        arrivals[3] - arrivals[0]
    });
    let wait = |report: Value, span| report["total"].as_u64().unwrap() - span;
    Both {
        ghz: wait(totals.ghz, spans.ghz),
        ours: wait(totals.ours, spans.ours),
    }
}
