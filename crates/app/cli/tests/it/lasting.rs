//! Changes during a long run: certificates, the wall clock, the room on a disk, a peer that stops
//! reading.

use crate::support::certificates::{Identity, VALID};
use crate::support::lab;
use crate::support::peers::Nginx;
use crate::support::program::{LIMIT, PATH, neutral, words};
use crate::support::{
    Authority, Folder, PATIENCE, Process, Report, Serve, Signal, drumfire, load_of, wait_until,
};
use serde_json::Value;
use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::thread;
use std::time::Duration;

/// The place of Debian's library that fakes clocks.
const FAKETIME: &str = "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1";

/// The counts with this name in a run's file of intervals, in order.
fn told(lines: &str, name: &str) -> Vec<u64> {
    let text = fs::read_to_string(lines).unwrap_or_default();
    // The last line may be incomplete.
    let intervals = text
        .lines()
        .map_while(|line| serde_json::from_str(line).ok());
    intervals
        .filter_map(|line: Value| line[name].as_u64())
        .collect()
}

/// Waits until a stored run has read a file again.
fn await_read(dir: &str, file: &str) {
    wait_until("it is read again", || {
        let events = fs::read_to_string(format!("{dir}/events.jsonl")).unwrap_or_default();
        events.contains("reloaded: ") && events.contains(file)
    });
}

/// A server's certificate is replaced by one of an untrusted authority: open connections continue,
/// and new ones fail with the right outcome.
#[test]
fn a_certificate_that_changes_is_judged_by_new_connections() {
    let (Some(known), Some(foreign)) = (Authority::new(), Authority::new()) else {
        return;
    };
    let names = "DNS:localhost,IP:127.0.0.1";
    let identity = known.sign("server", names, VALID);
    let Some(nginx) = (Nginx {
        identity: Some(&identity),
        ..Nginx::default()
    })
    .start() else {
        return;
    };
    let folder = Folder::new();
    let lines = folder.at("lines");
    let line = format!(
        "http --json - --interval 100ms --json-lines {lines} -r 200/s -c 4 -z 1h --full-handshakes \
         --no-keepalive --cacert {} {}",
        known.certificate,
        nginx.tls_url("fast")
    );
    let process = Process::start(&mut drumfire(words(&line)));
    nginx.await_requests(100);
    let other = foreign.sign("server", names, VALID);
    fs::copy(&other.certificate, &identity.certificate).unwrap();
    fs::copy(&other.key, &identity.key).unwrap();
    nginx.reload();
    wait_until("failures", || {
        told(&lines, "failed").iter().sum::<u64>() > 50
    });
    process.signal(Signal::INT);
    let report = load_of(process);
    report.balances();
    assert!(report.n("requests.ok") >= 100, "{:#}", report.short());
    assert_eq!(
        report.kind("tls:untrusted"),
        report.n("requests.failed"),
        "{:#}",
        report.short()
    );
    assert!(report.n("requests.failed") > 50, "{:#}", report.short());
}

/// The certificates of the server and of its accepted clients are replaced with certificates of
/// another authority, and then the files that drumfire was given, one after the other. New
/// connections use the new files.
#[test]
fn certificates_are_read_again_when_their_files_change() {
    let (Some(former), Some(later)) = (Authority::new(), Authority::new()) else {
        return;
    };
    let names = "DNS:localhost,IP:127.0.0.1";
    let (served, shown) = (
        former.sign("server", names, VALID),
        former.sign("client", names, VALID),
    );
    let (new_served, new_shown) = (
        later.sign("server", names, VALID),
        later.sign("client", names, VALID),
    );
    let folder = Folder::new();
    let (trusted, callers) = (folder.at("trusted.pem"), folder.at("callers.pem"));
    let copy = |from: &str, to: &str| fs::copy(from, to).unwrap();
    copy(&former.certificate, &trusted);
    copy(&former.certificate, &callers);
    let Some(nginx) = (Nginx {
        identity: Some(&served),
        extra: &format!("ssl_client_certificate {callers};\nssl_verify_client on;"),
        ..Nginx::default()
    })
    .start() else {
        return;
    };
    let Identity { certificate, key } = &shown;
    let (dir, lines) = (folder.at("run"), folder.at("lines"));
    let line = format!(
        "http --json - --interval 500ms --json-lines {lines} -o {dir} -r 200/s -c 4 -z 1h \
         --no-keepalive --cacert {trusted} --cert {certificate} --key {key} {}",
        nginx.tls_url("fast")
    );
    let process = Process::start(&mut drumfire(words(&line)));
    nginx.await_requests(100);
    copy(&later.certificate, &callers);
    copy(&new_served.certificate, &served.certificate);
    copy(&new_served.key, &served.key);
    nginx.reload();
    copy(&new_shown.certificate, certificate);
    // The key still belongs to the former certificate, during at least one check.
    thread::sleep(Duration::from_millis(1200));
    copy(&new_shown.key, key);
    // The server becomes trusted after the client's own certificate has changed. Otherwise the
    // server would refuse the former certificate, which is another kind of failure.
    await_read(&dir, certificate);
    await_read(&dir, key);
    wait_until("failures", || {
        told(&lines, "failed").iter().sum::<u64>() > 50
    });
    copy(&later.certificate, &trusted);
    await_read(&dir, &trusted);
    wait_until("an end of the failures", || {
        let counts = ["good", "failed"].map(|name| told(&lines, name));
        let [good, failed] = counts.map(|of| of.into_iter().rev().take(2).collect::<Vec<_>>());
        good.len() == 2 && !good.contains(&0) && failed == [0, 0]
    });
    process.signal(Signal::INT);
    let report = load_of(process);
    report.balances();
    let short = report.short();
    assert_eq!(
        report.kind("tls:untrusted"),
        report.n("requests.failed"),
        "{short:#}"
    );
    assert!(report.n("requests.ok") > 100, "{short:#}");
    for file in [certificate, key, &trusted] {
        assert!(report.notes().contains(file), "{file}: {}", report.notes());
    }
}

/// The wall clock jumps by a day, and back by more than a year: neither rates nor times change.
#[test]
fn a_leap_of_the_clock_changes_no_time() {
    if !Path::new(FAKETIME).exists() {
        lab::lacks("libfaketime");
        return;
    }
    let serve = Serve::new("");
    let folder = Folder::new();
    let clock = folder.write("clock", "+0");
    let dir = folder.at("run");
    let line = format!(
        "http --json - -r 200/s -z 1200ms --interval 200ms -o {dir} {}",
        serve.url
    );
    let mut command = drumfire(words(&line));
    command
        .env("LD_PRELOAD", FAKETIME)
        .env("FAKETIME_TIMESTAMP_FILE", &clock)
        .env("FAKETIME_NO_CACHE", "1")
        .env("FAKETIME_DONT_FAKE_MONOTONIC", "1");
    let process = Process::start(&mut command);
    serve.await_requests(60);
    fs::write(&clock, "+1d").unwrap();
    serve.await_requests(140);
    fs::write(&clock, "-500d").unwrap();
    let report = load_of(process);
    report.balances();
    assert_eq!(report.n("requests.ok"), 240, "{:#}", report.short());
    // The limit is generous even for a busy machine, because the jumps are a day and more.
    let patience = PATIENCE.as_secs_f64();
    let seconds = report.number("run.duration_ns") / 1e9;
    assert!((1.2..patience).contains(&seconds), "{seconds} s");
    let slowest = report.number("latency.response_time.max") / 1e9;
    assert!(slowest < patience, "{slowest} s");
    let again = folder.at("again.json");
    let read = drumfire(words(&format!("report {dir} --json {again}")));
    let read = Process::start(&mut { read }).finish(LIMIT);
    assert_eq!(read.code, Some(0), "{}", read.stderr);
    assert_eq!(Report::read(&again).n("requests.ok"), 240);
}

/// A disk that is really full: storing ends and is reported, and the load continues.
#[test]
fn a_disk_without_room_ends_the_storing_alone() {
    if !lab::mounts() {
        return;
    }
    let serve = Serve::new("");
    let folder = Folder::new();
    let disk = folder.at("disk");
    fs::create_dir(&disk).unwrap();
    // The mount ends with the shell's namespace.
    let script = format!(
        "mount -t tmpfs -o size=32k none {disk} && exec {PATH} http -q -r 300 -z 900ms \
         --interval 100ms -o {disk}/run {}",
        serve.url
    );
    let mut command = neutral(lab::program("unshare"));
    command.args(["-m", "sh", "-c", &script]);
    let live = Process::start(&mut command).finish(LIMIT);
    assert_eq!(live.code, Some(0), "{}", live.stderr);
    let told = live.stderr.matches("the stored run is incomplete").count();
    assert_eq!(told, 1, "{}", live.stderr);
    assert!(
        live.stderr.contains("no space left on device"),
        "{}",
        live.stderr
    );
    assert_eq!(serve.count("requests"), 270);
}

/// A peer stops reading during a long body: its requests end by their timeout, and requests to
/// another server are not affected.
#[test]
fn a_peer_that_reads_no_further_costs_its_own_requests() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let deaf = format!("http://{}/", listener.local_addr().unwrap());
    let serve = Serve::new("");
    let folder = Folder::new();
    folder.write("body", vec![b'x'; 16 << 20]);
    // Accepted connections stay open and are never read.
    let _accepting = thread::spawn(move || {
        let held: Vec<_> = listener.incoming().take(8).collect();
        thread::sleep(LIMIT);
        drop(held);
    });
    // On a busy machine, 16 MB may take longer than the other requests' timeout.
    let plan = format!(
        "drumfire: 1\npools:\n  p:\n    users: 2\n    connections: 4\n    body_file: body\n    \
         requests: [ {{ post: {deaf}, timeout: 700ms }}, {{ post: {}, timeout: 2m }} ]\n\
         stop: {{ requests: 8 }}\ngenerator: {{ threads: 1 }}\n",
        serve.url
    );
    let plan = folder.write("plan.yaml", plan);
    let report = load_of(Process::start(&mut drumfire(["run", &plan, "--json", "-"])));
    report.balances();
    assert_eq!(report.n("requests.ok"), 4, "{:#}", report.short());
    assert_eq!(report.n("requests.timed_out"), 4, "{:#}", report.short());
    let fastest = report.number("latency.failed.min") / 1e9;
    assert!(fastest >= 0.7, "{fastest} s");
}
