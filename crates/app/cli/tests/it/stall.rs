//! Servers that stop, die and return, signals, and a generator that is itself stopped.
//!
//! These runs are about time, and other tests run at the same time. Bounds hold on a busy machine,
//! which makes times longer and never shorter.

use crate::support::peers::{Nginx, Peer, Processes};
use crate::support::process::Signal;
use crate::support::program::{PATH, neutral};
use crate::support::{
    Process, Report, Serve, drumfire, in_time, lab, load, load_of, punctually, wait_until,
};
use std::thread::sleep;
use std::time::{Duration, Instant};

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

/// Stops a process for a while. Returns the time for which it was certainly stopped.
fn stand_still(process: &Process, time: Duration) -> Duration {
    process.signal(Signal::STOP);
    wait_until("every thread of it stands", || process.stands());
    let since = Instant::now();
    sleep(time);
    let stood = since.elapsed();
    process.signal(Signal::CONT);
    stood
}

/// The q-quantile, by nearest rank, of the response times of evenly spread arrivals. An arrival
/// during a stall waits for the rest of the stall, and the others do not wait. A busy machine only
/// adds to this. Tests with virtual time check that nothing is added on an ideal machine.
fn closed_form(stalls: &[Duration], rate: f64, count: u64, q: f64) -> f64 {
    let mut times: Vec<f64> = stalls
        .iter()
        .flat_map(|stall| {
            let arrivals = (stall.as_secs_f64() * rate) as u64;
            (0..arrivals).map(move |k| k as f64 / rate)
        })
        .collect();
    times.resize(count as usize, 0.0);
    times.sort_by(f64::total_cmp);
    let rank = (q * count as f64).ceil() as usize;
    times[rank - 1]
}

/// Checks that a distribution has at least the times of the stalls alone; `less` is the tolerance.
fn check_stalls(
    report: &Report,
    distribution: &str,
    (stalls, rate, count): (&[Duration], f64, u64),
    less: f64,
) {
    for q in ["0.9", "0.95", "0.99"] {
        let least = closed_form(stalls, rate, count, q.parse().unwrap()) - less;
        let seen = report.quantile(distribution, q);
        assert!(
            seen > least * 0.98,
            "{distribution} at {q}: {seen} s, the closed form says {least} s"
        );
    }
}

/// The maximum of a distribution, in seconds.
fn greatest(report: &Report, distribution: &str) -> f64 {
    report.number(&format!("latency.{distribution}.max")) / 1e9
}

/// A server stops for 1 s twice in 8 s, at a constant rate over few connections. Response times
/// contain the whole wait of all arrivals. Service times show only the few requests that were on
/// the wire, as a tool that waits for its target would report.
#[test]
fn a_stall_of_nginx_is_in_the_response_times_and_not_in_the_service_times() {
    punctually(ms(400), stall_of_nginx);
}

fn stall_of_nginx() -> Result<(), String> {
    let Some(nginx) = one_process() else {
        return Ok(());
    };
    let (rate, count) = (200.0, 1_600);
    // A count instead of a duration: late requests at the end are sent nevertheless.
    let process = start(&format!("-r 200/s -c 4 -n {count} {}", nginx.url("fast")));
    let mut stalls = Vec::new();
    for _ in 0..2 {
        nginx.await_requests(100);
        stalls.push(stand_still(nginx.process(), ms(1_000)));
    }
    let report = load_of(process);
    assert_eq!(report.n("requests.ok"), count, "{:#}", report.short());
    check_stalls(&report, "response_time", (&stalls, rate, count), 0.0);
    // Four connections and two stalls: 8 of 1,600 requests were on the wire, the first of them as
    // soon as one was due and the program sent it.
    let service = report.quantile("service_time", "0.95");
    let least = stalls[0].as_secs_f64() - 1.0 / rate - greatest(&report, "lag");
    let longest = greatest(&report, "service_time");
    assert!(longest > least * 0.98, "{longest} s of service at most");
    let waiting = report.quantile("waiting", "0.95");
    assert!(waiting > 0.7, "the target caused the wait: {waiting} s");
    assert_eq!(nginx.logged(count), count);
    in_time(service < 0.5, || format!("{service} s of service"))?;
    let lag = report.quantile("lag", "0.5");
    in_time(lag < 0.1, || format!("the generator did not: {lag} s"))
}

/// With a connection for every request, all requests are on the wire, and both times show the
/// stall.
#[test]
fn with_enough_connections_a_stall_is_in_both_times() {
    let Some(nginx) = one_process() else { return };
    let (rate, count) = (100.0, 400);
    let process = start(&format!("-r 100/s -c 200 -n {count} {}", nginx.url("fast")));
    nginx.await_requests(50);
    let stalls = [stand_still(nginx.process(), ms(1_000))];
    let report = load_of(process);
    assert_eq!(report.n("requests.ok"), count, "{:#}", report.short());
    let stall = (&stalls[..], rate, count);
    check_stalls(&report, "response_time", stall, 0.0);
    // Late requests were on the wire for a shorter time.
    let late = greatest(&report, "lag") + greatest(&report, "waiting");
    check_stalls(&report, "service_time", stall, late);
}

/// The outcomes of an exchange whose server is killed.
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
    let Some(mut nginx) = one_process() else {
        return;
    };
    let (rate, connections) = (500.0, 16);
    let process = start(&format!("-r 500/s -c 16 -z 2m {}", nginx.url("fast")));
    nginx.await_requests(500);
    let down = Instant::now();
    nginx.kill_and_restart(ms(1_500));
    let outage = down.elapsed();
    // The run continues, however long the server took to return.
    nginx.await_requests(500);
    process.signal(Signal::INT);
    let report = load_of(process);
    assert_eq!(report.n("requests.in_flight"), 0, "{:#}", report.short());
    assert!(report.kind("connect:refused") > 0, "{:#}", report.short());
    for kind in report.kinds() {
        assert!(DEATHS.contains(&&*kind), "{kind}: {:#}", report.short());
    }
    // The log lacks the requests that were on the wire at the kill.
    let ok = report.n("requests.ok");
    let logged = nginx.logged(ok - connections);
    assert!(
        ok.abs_diff(logged) <= connections,
        "{ok} ok, {logged} logged"
    );
    // Only requests that were due during the outage, or due before it and late, have failed.
    let seconds = outage.as_secs_f64() + greatest(&report, "failed");
    let most = (rate * seconds) as u64 + connections + 1;
    let failed = report.n("requests.failed");
    assert!(failed <= most, "{failed} of {most}: {:#}", report.short());
}

/// A dead target does not make the generator spin.
#[test]
fn a_refusing_target_costs_little_cpu() {
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

/// Checks the counts at the end of a run that a signal ended: everything sent has ended.
fn check_drained(report: &Report, serve: Serve) {
    assert_eq!(report.code, Some(4), "{}", report.stderr);
    assert_eq!(report.n("requests.in_flight"), 0, "{:#}", report.short());
    assert_eq!(report.n("requests.failed"), 0, "{:#}", report.short());
    assert!(
        report.notes().contains("the run was interrupted"),
        "{:#}",
        report.short()
    );
    // A complete run would have 3,000.
    let sent = report.n("requests.sent");
    assert!((60..2_000).contains(&sent), "{sent} sent");
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
    for (signal, load) in [
        (Signal::INT, "-r 100/s"),
        (Signal::TERM, "-r 100/s"),
        (Signal::HUP, "-r 100/s"),
        (Signal::INT, "-c 32"),
        (Signal::INT, "-r 100/s --arrivals poisson --threads 2"),
    ] {
        let serve = Serve::new("--delay const:300ms");
        let process = start(&format!("{load} -z 30s {}", serve.url));
        serve.await_requests(60);
        process.signal(signal);
        let report = load_of(process);
        check_drained(&report, serve);
    }
}

/// A run started with nohup outlives its terminal.
#[test]
fn a_run_under_nohup_goes_on() {
    let serve = Serve::new("");
    let mut command = neutral(lab::program("nohup"));
    command.args([PATH, "http", "--json", "-"]);
    let line = format!("-r 50/s -n 100 {}", serve.url);
    let process = Process::start(command.args(line.split_whitespace()));
    serve.await_requests(20);
    process.signal(Signal::HUP);
    let report = load_of(process);
    assert_eq!(report.n("requests.ok"), 100, "{:#}", report.short());
}

/// In the closed model with a server that never responds, a signal ends the run when the timeout
/// expires.
#[test]
fn a_drain_ends_with_the_timeout() {
    let serve = Serve::new("--delay const:5m");
    let process = start(&format!("-c 4 -z 30s --timeout 1s {}", serve.url));
    serve.await_requests(4);
    process.signal(Signal::INT);
    let report = load_of(process);
    // Four, and four more for each second by which the signal was later. A complete run has 120.
    let sent = report.n("requests.sent");
    assert!((4..100).contains(&sent), "{:#}", report.short());
    assert_eq!(report.n("requests.timed_out"), sent, "{:#}", report.short());
    assert_eq!(report.n("requests.failed"), sent, "{:#}", report.short());
}

/// A generator that was stopped reports that its figures are suspect.
#[test]
fn a_stopped_generator_is_suspect() {
    let serve = Serve::new("");
    let process = start(&format!("-r 200/s -n 600 {}", serve.url));
    serve.await_requests(100);
    let stood = stand_still(&process, ms(500)).as_secs_f64();
    let report = load_of(process);
    assert_ne!(report.validity(), "valid", "{:#}", report.short());
    assert!(
        report.reasons().contains("was stopped for up to"),
        "{}",
        report.reasons()
    );
    assert_eq!(report.n("requests.ok"), 600, "{:#}", report.short());
    let lag = greatest(&report, "lag");
    assert!(lag > (stood - 0.005) * 0.98, "{lag} s, it stood {stood} s");
}

/// `--strict` turns a suspect run into an exit code.
#[test]
fn strictness_turns_a_limited_generator_into_an_exit_code() {
    let serve = Serve::new("");
    let process = start(&format!("-r 200/s -n 400 --strict {}", serve.url));
    serve.await_requests(40);
    stand_still(&process, ms(500));
    let report = load_of(process);
    assert_eq!(report.code, Some(3), "{:#}", report.short());
}

/// A stall of the built-in server has the same effect as a stopped process.
#[test]
fn the_built_in_stall_follows_the_closed_form() {
    punctually(ms(200), built_in_stall);
}

fn built_in_stall() -> Result<(), String> {
    let serve = Serve::new("--stall 500ms/2s");
    let (rate, count) = (500.0, 1_500);
    let report = load_of(start(&format!("-r 500/s -c 8 -n {count} {}", serve.url)));
    assert_eq!(report.n("requests.ok"), count, "{:#}", report.short());
    // Three seconds contain one complete stall, wherever in a period they start.
    let stall = (&[ms(500)][..], rate, count);
    check_stalls(&report, "response_time", stall, 0.0);
    // At most two stalls, a third of the time.
    let median = report.quantile("response_time", "0.5");
    in_time(median < 0.25, || {
        format!("most wait for nothing: {median} s")
    })
}

/// A server that serves one request at a time, with exponential service at 200/s and Poisson
/// arrivals at 100/s. Response times are exponential with the rate μ − λ, so quantile p is −ln(1 −
/// p) / (μ − λ). The seeds are fixed. Only the machine varies, and makes service times longer.
/// Tests with virtual time check the law itself.
#[test]
fn a_single_server_queue_keeps_to_its_law_on_real_sockets() {
    let serve = Serve::new("--serial --delay exp:5ms --seed 7");
    let line = format!(
        "-r 'const(100/s,10s)' --arrivals poisson --seed 7 -c 100 {}",
        serve.url
    );
    let report = load(&line);
    assert_eq!(report.n("requests.failed"), 0, "{:#}", report.short());
    for q in ["0.5", "0.75", "0.9", "0.95"] {
        let p: f64 = q.parse().unwrap();
        let expected = -(1.0 - p).ln() / (200.0 - 100.0);
        let seen = report.quantile("response_time", q);
        // About fifty independent stretches of queueing in ten seconds.
        assert!(
            seen > expected * 0.75,
            "response time at {q}: {seen} s, the law says {expected} s"
        );
    }
    // Half of all arrivals come while another request is served. A tool that waits would not have
    // that wait on the wire.
    let served = report.number("latency.service_time.mean") / 1e9;
    assert!(served > 0.0075, "{served} s with the wait for the others");
}
