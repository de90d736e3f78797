//! Responses measured by the kernel's clock, over real sockets.

use crate::support::process::Signal;
use crate::support::program::LIMIT;
use crate::support::{
    Folder, Process, Report, Serve, drumfire, in_time, load, load_of, punctually,
};
use std::thread::sleep;
use std::time::Duration;

/// Checks that the kernel has stamped all requests too.
#[track_caller]
fn is_of_the_wire(line: &str, report: &Report) {
    if cfg!(not(target_os = "linux")) {
        assert_eq!(report.at("generator.clock"), "program");
        return;
    }
    let generator = report.at("generator");
    assert_eq!(generator["clock"], "wire", "{line}: {generator:#}");
    let of = |key: &str| report.n(&format!("generator.departures.{key}"));
    let [taken, missing, refused, passed] = ["taken", "missing", "refused", "passed"].map(of);
    assert!(taken > 0, "{line}: {generator:#}");
    // Two flushes of a connection may be merged into one segment, which has one stamp.
    assert!(missing <= taken / 50, "{line}: {generator:#}");
    assert_eq!(refused, 0, "{line}: {generator:#}");
    assert!(taken + missing + passed > 0);
    let [p50, p99] = ["p50", "p99"].map(|q| report.n(&format!("generator.leaving_{q}_ns")));
    assert!(0 < p50 && p50 <= p99, "{line}: {generator:#}");
}

/// Checks that the kernel has stamped all responses.
#[track_caller]
fn is_stamped(line: &str, report: &Report) {
    if cfg!(not(target_os = "linux")) {
        assert_eq!(report.at("generator.clock"), "program");
        return;
    }
    let generator = report.at("generator");
    let is_kernel = ["kernel", "wire"].map(|clock| generator["clock"] == clock);
    assert!(is_kernel.contains(&true), "{line}: {generator:#}");
    assert_eq!(generator["stamps"]["refused"], 0, "{line}: {generator:#}");
    let [taken, missing] =
        ["taken", "missing"].map(|key| report.n(&format!("generator.stamps.{key}")));
    assert!(taken > 0 && missing == 0, "{line}: {generator:#}");
    assert!(
        report.n("generator.handling_p50_ns") > 0,
        "{line}: {generator:#}"
    );
}

#[test]
fn the_kernel_stamps_what_arrives() {
    let folder = Folder::new();
    let ca = folder.at("ca.pem");
    let (plain, sealed) = (Serve::new(""), Serve::new(&format!("--tls --tls-ca {ca}")));
    for line in [
        format!("-r 500 -z 1s {}", plain.url),
        format!("-c 4 -n 2000 {}", plain.url),
        format!("-c 2 -n 2000 --http2 --streams 8 {}", plain.url),
        format!("-c 4 -n 500 --no-keepalive {}", plain.url),
        format!("-c 4 -n 1000 --cacert {ca} {}", sealed.url),
        format!("-c 4 -n 20 '{}/?size=2000000'", plain.url),
    ] {
        let report = load(&format!("{line} --clock receive"));
        assert_eq!(
            report.n("requests.failed"),
            0,
            "{line}: {:#}",
            report.short()
        );
        is_stamped(&line, &report);
        assert_eq!(report.at("generator.clock"), "kernel");
        assert!(report.at("generator.departures").is_null());
        let report = load(&format!("{line} --clock wire"));
        let failed = report.n("requests.failed");
        assert_eq!(failed, 0, "{line}: {:#}", report.short());
        is_stamped(&line, &report);
        is_of_the_wire(&line, &report);
        let report = load(&line);
        if line.starts_with("-r") {
            is_of_the_wire(&line, &report);
            continue;
        }
        assert_eq!(report.at("generator.clock"), "program");
        assert!(report.at("generator.stamps").is_null());
        assert!(report.at("generator.handling_p99_ns").is_null());
    }
}

/// A body that the socket does not accept at once. The rest follows when there is room; only then
/// does drumfire watch a socket with stamps for room.
#[test]
fn a_long_body_leaves_with_its_beginning() {
    let folder = Folder::new();
    let body = folder.at("body");
    std::fs::write(&body, vec![b'x'; 8_000_000]).unwrap();
    let ca = folder.at("ca.pem");
    let (plain, sealed) = (Serve::new(""), Serve::new(&format!("--tls --tls-ca {ca}")));
    for line in [
        format!("-c 2 -n 20 -d @{body} {}", plain.url),
        format!("-c 2 -n 20 -d @{body} --cacert {ca} {}", sealed.url),
        format!("-c 1 -n 20 -d @{body} --http2 --streams 4 {}", plain.url),
    ] {
        let report = load(&format!("{line} --clock wire"));
        assert_eq!(report.n("requests.ok"), 20, "{line}: {:#}", report.short());
        // An HTTP/2 stream that opens after the bodies of other streams finds a full socket.
        if !line.contains("--http2") {
            is_of_the_wire(&line, &report);
        }
    }
}

#[test]
fn a_unix_socket_gives_no_stamps() {
    let folder = Folder::new();
    let path = folder.at("socket");
    let _serve = Serve::new(&format!("-l unix:{path}"));
    let report = load(&format!(
        "-c 2 -n 20 --clock wire --unix-socket {path} http://localhost/"
    ));
    assert_eq!(report.n("requests.ok"), 20, "{:#}", report.short());
    assert_eq!(report.at("generator.clock"), "program");
}

/// A generator that is stopped for 300 ms repeatedly, before a service of 50 ms. Twenty requests at
/// a time are on the wire, so that by the program's clock one in twenty would seem to take up to
/// 350 ms.
#[test]
fn a_stopped_generator_is_in_no_service_time() {
    if cfg!(not(target_os = "linux")) {
        return;
    }
    let serve = Serve::new("--delay 50ms");
    punctually(Duration::from_millis(150), || stop_again_and_again(&serve));
}

fn stop_again_and_again(serve: &Serve) -> Result<(), String> {
    let line = format!("-r 400/s -c 300 -n 2000 --clock receive {}", serve.url);
    let process = Process::start(drumfire(["http", "--json", "-"]).args(line.split_whitespace()));
    for _ in 0..5 {
        sleep(Duration::from_millis(500));
        process.signal(Signal::STOP);
        sleep(Duration::from_millis(300));
        process.signal(Signal::CONT);
    }
    let report = load_of(process);
    is_stamped(&line, &report);
    let lag = report.number("latency.lag.max") / 1e9;
    assert!(lag > 0.25, "{lag} s of lag");
    let response = report.quantile("response_time", "0.95");
    assert!(response > 0.2, "{response} s of response");
    assert_ne!(report.validity(), "valid");
    assert!(report.number("generator.handling_p99_ns") > 0.1e9);
    let service = report.quantile("service_time", "0.95");
    in_time(service < 0.2, || {
        format!("{service} s of service: {:#}", report.short())
    })
}

#[test]
fn the_report_and_the_plan_name_the_clock() {
    let serve = Serve::new("");
    let run = |args: &[&str]| {
        let mut command = drumfire(["http", "--no-tui", "-c", "2", "-n", "400"]);
        let run = Process::start(command.args(args).arg(&serve.url)).finish(LIMIT);
        (run.code, run.stdout, run.stderr)
    };
    if cfg!(target_os = "linux") {
        let (code, stdout, _) = run(&["--clock", "receive"]);
        assert_eq!(code, Some(0), "{stdout}");
        assert!(stdout.contains("after the kernel timestamp"), "{stdout}");
    }
    let (_, stdout, _) = run(&[]);
    assert!(!stdout.contains("kernel"), "{stdout}");
    if cfg!(target_os = "linux") {
        let (code, stdout, _) = run(&["--clock", "wire"]);
        assert_eq!(code, Some(0), "{stdout}");
        assert!(stdout.contains("after reaching the kernel"), "{stdout}");
    }
    let (_, plan, _) = run(&["--clock", "wire", "--print-plan"]);
    assert!(plan.contains("clock: wire"), "{plan}");
    let (_, plan, _) = run(&["--clock", "receive", "--print-plan"]);
    assert!(plan.contains("clock: receive"), "{plan}");
    let (code, _, stderr) = run(&["--clock", "kernel"]);
    assert_eq!(code, Some(2));
    assert!(
        stderr.contains("--clock: unknown clock `kernel`; use `program`, `receive` or `wire`"),
        "{stderr}"
    );
}
