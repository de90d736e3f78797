//! Servers that stop, die and come back, signals, and a generator that is itself stopped.
//!
//! These runs are about time, so each has the machine to itself as far as this file goes.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(
    clippy::allow_attributes,
    reason = "not every lint fires in every file"
)]
#![allow(clippy::disallowed_methods, reason = "a test waits in real time")]

mod support;

use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use support::peers::{Nginx, Peer, Processes};
use support::process::Signal;
use support::program::{PATH, neutral};
use support::{Process, Report, Serve, alone, drumfire, lab, load_of};

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// Starts `drumfire http LINE` with JSON on its standard output.
fn start(line: &str) -> Process {
    Process::start(drumfire(["http", "--json", "-"]).args(line.split_whitespace()))
}

fn one_process() -> Option<Peer> {
    let nginx = Nginx {
        processes: Processes::One,
        ..Nginx::default()
    };
    nginx.start()
}

/// Stops a process for a while; tells for how long it really stood.
fn stand_still(process: &Process, time: Duration) -> Duration {
    let since = Instant::now();
    process.signal(Signal::STOP);
    sleep(time);
    process.signal(Signal::CONT);
    since.elapsed()
}

/// The q-quantile, by nearest rank, of the response times of evenly spread arrivals: one that
/// comes while the server stands waits for what is left of the stall, and the others wait for
/// nothing.
fn closed_form(stalls: &[Duration], rate: f64, count: u64, q: f64) -> f64 {
    let mut times: Vec<f64> = stalls
        .iter()
        .flat_map(|stall| {
            let arrivals = (stall.as_secs_f64() * rate) as u64;
            (0..arrivals).map(move |k| (k as f64 + 0.5) / rate)
        })
        .collect();
    times.resize(count as usize, 0.0);
    times.sort_by(f64::total_cmp);
    let rank = (q * count as f64).ceil() as usize;
    times[rank - 1]
}

/// A server that stands for 1 s of every 5 s, at a constant rate over few connections: response
/// times have the whole wait of everybody who came, while service times show the few requests
/// that were on the wire, which is what a tool that waits for its target would have reported.
#[test]
fn a_stall_of_nginx_is_in_the_response_times_and_not_in_the_service_times() {
    let _turn = alone();
    let Some(nginx) = one_process() else { return };
    let (rate, count) = (200.0, 2_000);
    let process = start(&format!("-r 200/s -c 4 -z 10s {}", nginx.url("fast")));
    let mut stalls = Vec::new();
    for _ in 0..2 {
        sleep(ms(2_000));
        stalls.push(stand_still(nginx.process(), ms(1_000)));
        sleep(ms(2_000));
    }
    let report = load_of(process);
    assert_eq!(report.n("requests.ok"), count, "{:#}", report.short());
    for q in ["0.9", "0.95", "0.99"] {
        let expected = closed_form(&stalls, rate, count, q.parse().unwrap());
        let seen = report.quantile("response_time", q);
        assert!(
            (seen / expected - 1.0).abs() < 0.05,
            "response time at {q}: {seen} s, the closed form says {expected} s"
        );
    }
    // Four connections, two stalls: 8 of 2,000 requests were on the wire.
    assert!(report.quantile("service_time", "0.99") < 0.2);
    assert!(report.number("latency.service_time.max") > 0.95e9);
    assert!(
        report.quantile("waiting", "0.99") > 0.85,
        "the target caused the wait"
    );
    assert!(
        report.quantile("lag", "0.5") < 0.05,
        "the generator did not"
    );
    assert_eq!(nginx.logged(count), count);
}

/// With a connection for everybody the requests are on the wire, and both times tell the stall.
#[test]
fn with_enough_connections_a_stall_is_in_both_times() {
    let _turn = alone();
    let Some(nginx) = one_process() else { return };
    let process = start(&format!("-r 100/s -c 200 -z 5s {}", nginx.url("fast")));
    sleep(ms(2_000));
    let stalls = [stand_still(nginx.process(), ms(1_000))];
    let report = load_of(process);
    assert_eq!(report.n("requests.ok"), 500, "{:#}", report.short());
    for distribution in ["response_time", "service_time"] {
        let expected = closed_form(&stalls, 100.0, 500, 0.95);
        let seen = report.quantile(distribution, "0.95");
        assert!(
            (seen / expected - 1.0).abs() < 0.05,
            "{distribution}: {seen}, not {expected}"
        );
    }
}

/// What may happen to an exchange whose server is killed.
const DEATHS: [&str; 7] = [
    "connect:refused",
    "connect:reset",
    "closed",
    "closed:in_head",
    "closed:reused",
    "reset",
    "truncated",
];

#[test]
fn a_killed_server_costs_typed_errors_and_the_schedule_goes_on() {
    let _turn = alone();
    let Some(mut nginx) = one_process() else {
        return;
    };
    let process = start(&format!("-r 500/s -c 16 -z 6s {}", nginx.url("fast")));
    sleep(ms(2_000));
    nginx.kill_and_restart(ms(1_500));
    let back = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap()
        .as_secs_f64();
    let report = load_of(process);
    assert_eq!(report.n("requests.intended"), 3_000, "{:#}", report.short());
    assert_eq!(report.n("requests.in_flight"), 0, "{:#}", report.short());
    assert!(report.kind("connect:refused") > 0, "{:#}", report.short());
    for kind in report.kinds() {
        assert!(DEATHS.contains(&&*kind), "{kind}: {:#}", report.short());
    }
    // The log lies behind by what was on the wire at the kill.
    let (ok, logged) = (
        report.n("requests.ok"),
        nginx.logged(report.n("requests.ok")),
    );
    assert!(ok.abs_diff(logged) <= 16, "{ok} ok, {logged} logged");
    let at = |line: &String| line.split(' ').nth(4).unwrap().parse::<f64>().unwrap();
    let first = nginx
        .log()
        .iter()
        .map(at)
        .find(|time| *time > back - 0.5)
        .unwrap();
    assert!(
        first - back < 1.0,
        "the first request came {} s after the restart",
        first - back
    );
    assert!(ok > 1_800, "all but the outage: {:#}", report.short());
}

/// A dead target does not make the generator spin.
#[test]
fn a_refusing_target_costs_little_cpu() {
    let _turn = alone();
    let line = "http --json - -c 64 -z 2s http://127.0.0.1:9/";
    let process = Process::start(&mut drumfire(line.split_whitespace()));
    let report = load_of(process);
    assert_eq!(report.kinds(), ["connect:refused"], "{:#}", report.short());
    assert_eq!(report.code, Some(1));
    assert!(
        report.number("generator.cpu_share_max") < 0.2,
        "{:#}",
        report.short()
    );
}

/// The books at the end of a run that a signal ended: everything sent has come back.
fn check_drained(report: &Report, serve: Serve) {
    assert_eq!(report.code, Some(0), "{}", report.stderr);
    assert_eq!(report.n("requests.in_flight"), 0, "{:#}", report.short());
    assert_eq!(report.n("requests.failed"), 0, "{:#}", report.short());
    let sent = report.n("requests.sent");
    assert!((60..1_000).contains(&sent), "{sent} sent");
    assert_eq!(serve.count("requests"), sent);
    let farewell = serve.stop();
    assert_eq!(farewell.code, Some(0));
    assert!(
        farewell.stderr.starts_with(&format!("{sent} requests on ")),
        "{}",
        farewell.stderr
    );
}

#[test]
fn one_signal_drains_and_reports() {
    let _turn = alone();
    for (signal, load) in [
        (Signal::INT, "-r 100/s"),
        (Signal::TERM, "-r 100/s"),
        (Signal::HUP, "-r 100/s"),
        (Signal::INT, "-c 32"),
        (Signal::INT, "-r 100/s --arrivals poisson --threads 2"),
    ] {
        let serve = Serve::new("--delay const:300ms");
        let process = start(&format!("{load} -z 30s {}", serve.url));
        sleep(ms(1_000));
        process.signal(signal);
        let since = Instant::now();
        let report = load_of(process);
        assert!(
            since.elapsed() < ms(1_500),
            "{load}: it took {:?}",
            since.elapsed()
        );
        check_drained(&report, serve);
    }
}

#[test]
fn a_second_signal_ends_at_once() {
    let _turn = alone();
    let serve = Serve::new("--delay const:20s");
    for (first, second) in [(Signal::INT, Signal::INT), (Signal::TERM, Signal::INT)] {
        let mut process = start(&format!("-c 4 -z 30s {}", serve.url));
        sleep(ms(500));
        process.signal(first);
        sleep(ms(300));
        assert!(process.is_running(), "it waits for what is in flight");
        process.signal(second);
        let since = Instant::now();
        let run = process.finish(ms(5_000));
        assert_eq!(run.code, Some(130));
        assert!(since.elapsed() < ms(500), "it took {:?}", since.elapsed());
    }
}

/// What was started to outlive its terminal does.
#[test]
fn a_run_under_nohup_goes_on() {
    let _turn = alone();
    let serve = Serve::new("");
    let mut command = neutral(lab::program("nohup"));
    command.args([PATH, "http", "--json", "-"]);
    let line = format!("-r 50/s -z 2s {}", serve.url);
    let process = Process::start(command.args(line.split_whitespace()));
    sleep(ms(700));
    process.signal(Signal::HUP);
    let report = load_of(process);
    assert_eq!(report.n("requests.ok"), 100, "{:#}", report.short());
}

/// Closed model and a server that never answers: a signal ends the run when the timeout does.
#[test]
fn a_drain_ends_with_the_timeout() {
    let _turn = alone();
    let serve = Serve::new("--delay const:60s");
    let process = start(&format!("-c 4 -z 30s --timeout 1s {}", serve.url));
    sleep(ms(300));
    process.signal(Signal::INT);
    let report = load_of(process);
    assert_eq!(report.n("requests.timed_out"), 4, "{:#}", report.short());
    assert_eq!(report.n("requests.failed"), 4, "{:#}", report.short());
}

/// A generator that stood still cannot vouch for its figures, and says so.
#[test]
fn a_stopped_generator_is_suspect() {
    let _turn = alone();
    let serve = Serve::new("");
    let process = start(&format!("-r 200/s -z 3s {}", serve.url));
    sleep(ms(1_200));
    stand_still(&process, ms(500));
    let report = load_of(process);
    assert_ne!(report.validity(), "valid", "{:#}", report.short());
    assert!(
        report.reasons().contains("stood still"),
        "{}",
        report.reasons()
    );
    assert_eq!(report.n("requests.ok"), 600, "{:#}", report.short());
    assert!(
        report.number("latency.lag.max") > 0.45e9,
        "{:#}",
        report.at("latency.lag")
    );
}

/// The same from the other side: `--strict` makes it an exit code.
#[test]
fn strictness_turns_a_limited_generator_into_an_exit_code() {
    let _turn = alone();
    let serve = Serve::new("");
    let process = start(&format!("-r 200/s -z 2s --strict {}", serve.url));
    sleep(ms(800));
    stand_still(&process, ms(500));
    let report = load_of(process);
    assert_eq!(report.code, Some(3), "{:#}", report.short());
}

/// The built-in server's own stall is the same to us as a stopped process.
#[test]
fn the_built_in_stall_follows_the_closed_form() {
    let _turn = alone();
    // It stands at the end of each period: once in these three seconds, far from either end.
    let serve = Serve::new("--stall 500ms/2s");
    let report = load_of(start(&format!("-r 500/s -c 8 -z 3s {}", serve.url)));
    assert_eq!(report.n("requests.ok"), 1_500, "{:#}", report.short());
    let expected = closed_form(&[ms(500)], 500.0, 1_500, 0.95);
    let seen = report.quantile("response_time", "0.95");
    assert!(
        (seen / expected - 1.0).abs() < 0.05,
        "{seen} s, not {expected} s"
    );
}

/// A server with one place, exponential service at 200/s and Poisson arrivals at 100/s: response
/// times are exponential with the rate μ − λ, so p is at −ln(1 − p) / (μ − λ). The seeds are fixed;
/// what varies is the machine.
#[test]
fn a_single_server_queue_follows_its_law_on_real_sockets() {
    let _turn = alone();
    let serve = Serve::new("--serial --delay exp:5ms --seed 7");
    let line = format!(
        "-r 100/s --arrivals poisson --seed 7 -c 100 -z 20s {}",
        serve.url
    );
    let report = load_of(start(&line));
    assert_eq!(report.n("requests.failed"), 0, "{:#}", report.short());
    for q in ["0.5", "0.75", "0.9", "0.95"] {
        let p: f64 = q.parse().unwrap();
        let expected = -(1.0 - p).ln() / (200.0 - 100.0);
        let seen = report.quantile("response_time", q);
        // Some hundred independent stretches of queue in twenty seconds.
        assert!(
            (seen / expected - 1.0).abs() < 0.25,
            "response time at {q}: {seen} s, the law says {expected} s"
        );
    }
}
