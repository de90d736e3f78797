//! What changes under a run that lasts: certificates, the clock on the wall, the room on a disk, a
//! peer that reads no further.

use crate::support::certificates::{Identity, VALID};
use crate::support::lab;
use crate::support::peers::Nginx;
use crate::support::program::{LIMIT, PATH, neutral, words};
use crate::support::{Authority, Folder, Process, Report, Serve, drumfire, load, load_of};
use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::thread;
use std::time::Duration;

/// Where Debian has the library that fakes clocks.
const FAKETIME: &str = "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1";

/// A server whose certificate is replaced by one of an authority that is not trusted: connections
/// that are open go on, and new ones fail by name.
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
    let line = format!(
        "http --json - -r 200/s -c 4 -z 4s --full-handshakes --no-keepalive --cacert {} {}",
        known.certificate,
        nginx.tls_url("fast")
    );
    let process = Process::start(&mut drumfire(words(&line)));
    nginx.await_requests(100);
    let other = foreign.sign("server", names, VALID);
    fs::copy(&other.certificate, &identity.certificate).unwrap();
    fs::copy(&other.key, &identity.key).unwrap();
    nginx.reload();
    let report = load_of(process);
    report.balances();
    assert_eq!(report.n("requests.intended"), 800, "{:#}", report.short());
    assert!(report.n("requests.ok") >= 100, "{:#}", report.short());
    assert_eq!(
        report.kind("tls:untrusted"),
        report.n("requests.failed"),
        "{:#}",
        report.short()
    );
    assert!(report.n("requests.failed") > 50, "{:#}", report.short());
}

/// The server's certificate and those of its callers are replaced by others of another authority,
/// and so are the files that drumfire was given, one after the other: connections that begin from
/// then on use the new ones.
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
    let line = format!(
        "http --json - -r 200/s -c 4 -z 10s --no-keepalive --cacert {trusted} --cert {certificate} \
         --key {key} {}",
        nginx.tls_url("fast")
    );
    let process = Process::start(&mut drumfire(words(&line)));
    nginx.await_requests(100);
    copy(&later.certificate, &callers);
    copy(&new_served.certificate, &served.certificate);
    copy(&new_served.key, &served.key);
    nginx.reload();
    copy(&new_shown.certificate, certificate);
    let a_look = Duration::from_millis(1200);
    // The certificate's key is still the former one.
    thread::sleep(a_look);
    copy(&new_shown.key, key);
    // The server is trusted after the client's own certificate has changed; otherwise it would
    // refuse the former one, which is another kind of failure.
    thread::sleep(a_look);
    copy(&later.certificate, &trusted);
    let report = load_of(process);
    report.balances();
    let short = report.short();
    assert!(report.n("requests.failed") > 50, "{short:#}");
    assert_eq!(
        report.kind("tls:untrusted"),
        report.n("requests.failed"),
        "{short:#}"
    );
    assert!(report.n("requests.ok") > 200, "{short:#}");
    let intervals = report.at("intervals").as_array().unwrap();
    let last = &intervals[intervals.len() - 2..];
    assert!(last.iter().all(|one| one["failed"] == 0), "{last:#?}");
    for file in [certificate, key, &trusted] {
        assert!(report.notes().contains(file), "{file}: {}", report.notes());
    }
}

/// The clock on the wall leaps by a day, and by more than a year back: neither rates nor times
/// follow it.
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
    let seconds = report.number("run.duration_ns") / 1e9;
    assert!((1.2..3.0).contains(&seconds), "{seconds} s");
    let slowest = report.number("latency.response_time.max") / 1e9;
    assert!(slowest < 1.0, "{slowest} s");
    let again = folder.at("again.json");
    let read = drumfire(words(&format!("report {dir} --json {again}")));
    let read = Process::start(&mut { read }).finish(LIMIT);
    assert_eq!(read.code, Some(0), "{}", read.stderr);
    assert_eq!(Report::read(&again).n("requests.ok"), 240);
}

/// A disk that is full, truly: storing ends, is reported, and the load goes on.
#[test]
fn a_disk_without_room_ends_the_storing_alone() {
    if !lab::has("unshare") || !lab::is_root() {
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
        live.stderr.contains("No space left on device"),
        "{}",
        live.stderr
    );
    assert_eq!(serve.count("requests"), 270);
}

/// A peer that stops reading within a long body: its requests end by their timeout, and those to
/// another server are none the wiser.
#[test]
fn a_peer_that_reads_no_further_costs_its_own_requests() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let deaf = format!("http://{}/", listener.local_addr().unwrap());
    let serve = Serve::new("");
    let folder = Folder::new();
    let body = folder.write("body", vec![b'x'; 16 << 20]);
    // What is accepted is held open and never read.
    let _accepting = thread::spawn(move || {
        let held: Vec<_> = listener.incoming().take(8).collect();
        thread::sleep(Duration::from_secs(20));
        drop(held);
    });
    let report = load(&format!(
        "-d @{body} -c 2 -n 8 --timeout 700ms {deaf} {}",
        serve.url
    ));
    report.balances();
    assert_eq!(report.n("requests.ok"), 4, "{:#}", report.short());
    assert_eq!(report.n("requests.timed_out"), 4, "{:#}", report.short());
    let fastest = report.number("latency.failed.min") / 1e9;
    assert!(fastest >= 0.7, "{fastest} s");
}
