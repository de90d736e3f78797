//! Real servers from Debian's packages, whose own counts are compared with ours.

use crate::support::certificates::{EXPIRED, VALID};
use crate::support::peers::{self, Nginx, Peer};
use crate::support::{
    Authority, Folder, Process, Report, drumfire, http, in_time, load, load_of, punctually,
};
use std::time::Duration;

/// The number of requests in each row, over four connections.
const REQUESTS: u64 = 60;

/// The requests to a server, and their required result.
struct Row {
    path: &'static str,
    flags: &'static str,
    /// The minimum and maximum number of bytes of each response, head included.
    bytes: (u64, u64),
    connections: Connections,
}

/// The number of connections that a row needs.
enum Connections {
    /// At most the allowed number.
    Kept,
    /// One per request.
    Each,
}

const fn row(path: &'static str, flags: &'static str, bytes: (u64, u64)) -> Row {
    Row {
        path,
        flags,
        bytes,
        connections: Connections::Kept,
    }
}

/// The minimum length of a head; the maximum is 1,000 bytes.
const HEAD: u64 = 80;

const ROWS: [Row; 7] = [
    row("index.html", "", (HEAD + 13, 1_000)),
    row("10k.txt", "", (10_000 + HEAD, 11_000)),
    row("100k.txt", "", (100_000 + HEAD, 101_000)),
    row("10k.txt", "-X HEAD", (HEAD, 1_000)),
    row("10k.txt", "--compressed", (HEAD, 11_000)),
    row("10k.txt", "-H 'Range: bytes=0-99'", (HEAD + 100, 1_000)),
    Row {
        path: "index.html",
        flags: "--no-keepalive",
        bytes: (HEAD + 13, 1_000),
        connections: Connections::Each,
    },
];

/// Sends a row's requests: all are ok, none is retried, and the sizes fit.
fn check(row: &Row, url: &str, trust: &str) -> Report {
    let report = load(&format!("-c 4 -n {REQUESTS} {} {trust} {url}", row.flags));
    let what = format!("{url} {}: {:#}", row.flags, report.short());
    assert_eq!(report.n("requests.ok"), REQUESTS, "{what}");
    assert_eq!(report.code, Some(0), "{what}");
    let received = report.n("bytes.received") / REQUESTS;
    let (least, most) = row.bytes;
    // Handshakes add bytes.
    let most = if trust.is_empty() { most } else { most + 5_000 };
    assert!(
        (least..=most).contains(&received),
        "{received} bytes; {what}"
    );
    let opened = report.n("generator.connections_opened");
    match row.connections {
        Connections::Kept => assert!((1..=4).contains(&opened), "{opened} opened; {what}"),
        Connections::Each => assert_eq!(opened, REQUESTS, "{what}"),
    }
    assert_eq!(
        report.at("leniencies").as_object().map(|l| l.len()),
        Some(0),
        "{what}"
    );
    report
}

/// Runs every row against a server with a log, which must have one line per request.
fn check_rows(peer: &Peer, url: &dyn Fn(&str) -> String, trust: &str) {
    let mut expected = peer.log().len() as u64;
    for row in &ROWS {
        check(row, &url(row.path), trust);
        expected += REQUESTS;
        assert_eq!(
            peer.logged(expected),
            expected,
            "{} {}",
            row.path,
            row.flags
        );
    }
}

#[test]
fn nginx_counts_what_we_count() {
    let Some(nginx) = (Nginx {
        extra: "gzip on;",
        ..Nginx::default()
    })
    .start() else {
        return;
    };
    check_rows(&nginx, &|path| nginx.url(path), "");
    assert_eq!(nginx.requests(), REQUESTS * ROWS.len() as u64);
}

#[test]
fn nginx_over_tls_counts_what_we_count() {
    let Some(authority) = Authority::new() else {
        return;
    };
    let identity = authority.sign("localhost", "DNS:localhost,IP:127.0.0.1", VALID);
    let nginx = Nginx {
        identity: Some(&identity),
        extra: "gzip on;",
        ..Nginx::default()
    };
    let Some(nginx) = nginx.start() else { return };
    let trust = format!("--cacert {}", authority.certificate);
    check_rows(&nginx, &|path| nginx.tls_url(path), &trust);
}

#[test]
fn h2o_counts_what_we_count() {
    let Some(authority) = Authority::new() else {
        return;
    };
    let identity = authority.sign("localhost", "DNS:localhost", VALID);
    let Some(h2o) = peers::h2o(Some(&identity)) else {
        return;
    };
    check_rows(&h2o, &|path| h2o.url(path), "");
    check_rows(
        &h2o,
        &|path| h2o.tls_url(path),
        &format!("--cacert {}", authority.certificate),
    );
}

#[test]
fn haproxy_before_nginx_passes_on_what_we_send() {
    let Some(authority) = Authority::new() else {
        return;
    };
    let identity = authority.sign("localhost", "DNS:localhost", VALID);
    let Some(nginx) = Nginx::default().start() else {
        return;
    };
    let Some(haproxy) = peers::haproxy(nginx.port(), Some(&identity)) else {
        return;
    };
    let mut expected = 0;
    for (trust, tls) in [
        ("", false),
        (&*format!("--cacert {}", authority.certificate), true),
    ] {
        for row in &ROWS {
            let url = if tls {
                haproxy.tls_url(row.path)
            } else {
                haproxy.url(row.path)
            };
            check(row, &url, trust);
            expected += REQUESTS;
            assert_eq!(nginx.logged(expected), expected, "{url} {}", row.flags);
        }
    }
}

#[test]
fn large_bodies_arrive_whole() {
    let Some(nginx) = Nginx::default().start() else {
        return;
    };
    let Some(haproxy) = peers::haproxy(nginx.port(), None) else {
        return;
    };
    let Some(h2o) = peers::h2o(None) else { return };
    for peer in [&nginx, &haproxy, &h2o] {
        let report = load(&format!("-c 2 -n 10 {}", peer.url("10m.txt")));
        assert_eq!(report.n("requests.ok"), 10, "{:#}", report.short());
        let received = report.n("bytes.received");
        assert!(
            (100_000_000..100_010_000).contains(&received),
            "{received} bytes"
        );
    }
}

#[test]
fn request_bodies_arrive_whole() {
    let Some(nginx) = Nginx::default().start() else {
        return;
    };
    let Some(haproxy) = peers::haproxy(nginx.port(), None) else {
        return;
    };
    let folder = Folder::new();
    let mut expected = 0;
    for size in [0, 5, 10_000, 100_000, 10_000_000_usize] {
        let file = folder.write("body", vec![b'x'; size]);
        for url in [nginx.url("post"), haproxy.url("post")] {
            let report = load(&format!("-c 2 -n 6 -d @{file} {url}"));
            assert_eq!(report.status(200), 6, "{size} bytes: {:#}", report.short());
            expected += 6;
            assert_eq!(nginx.logged(expected), expected);
            let sent = report.n("bytes.sent") / 6;
            let size = size as u64;
            assert!(
                (size + 60..size + 400).contains(&sent),
                "{sent} bytes sent of {size}"
            );
        }
    }
    for line in nginx.log() {
        let length: usize = line.split(' ').nth(3).unwrap().parse().unwrap();
        assert!(line.starts_with("POST /post 200 "), "{line}");
        let known = [0, 5, 10_000, 100_000, 10_000_000].map(|size: usize| size + 60..size + 400);
        assert!(known.iter().any(|range| range.contains(&length)), "{line}");
    }
}

/// nginx compresses while it sends, so its response has no length and comes in chunks.
#[test]
fn compressed_bodies_are_smaller_and_come_in_chunks() {
    let Some(nginx) = (Nginx {
        extra: "gzip on;",
        ..Nginx::default()
    })
    .start() else {
        return;
    };
    let url = nginx.url("100k.txt");
    let plain = load(&format!("-c 2 -n 20 {url}"));
    let compressed = load(&format!("-c 2 -n 20 --compressed {url}"));
    for report in [&plain, &compressed] {
        assert_eq!(report.n("requests.ok"), 20, "{:#}", report.short());
        assert_eq!(report.n("generator.connections_opened"), 2);
    }
    let (before, after) = (plain.n("bytes.received"), compressed.n("bytes.received"));
    assert!(after * 20 < before, "{before} bytes, compressed {after}");
}

/// A server that ends each connection after some requests only causes more connections.
#[test]
fn connections_that_nginx_limits_are_replaced() {
    let limited = Nginx {
        extra: "keepalive_requests 10;",
        ..Nginx::default()
    };
    let Some(nginx) = limited.start() else { return };
    let report = load(&format!("-c 1 -n 100 {}", nginx.url("index.html")));
    assert_eq!(report.n("requests.ok"), 100, "{:#}", report.short());
    assert_eq!(
        report.n("generator.connections_opened"),
        10,
        "{:#}",
        report.short()
    );
    assert_eq!(nginx.logged(100), 100);
}

/// During a reload, the server ends idle connections at any time. A request that meets such an end
/// is counted under a separate name, and `--retry-reused` sends it again.
#[test]
fn reloads_cost_no_request() {
    let Some(nginx) = Nginx::default().start() else {
        return;
    };
    for retry in ["", "--retry-reused"] {
        // On a late machine, drumfire notices the end so late that the server could have processed
        // the request.
        punctually(Duration::from_millis(10), || {
            let report = reloaded(&nginx, retry);
            let reused = report.kind("closed:reused");
            let late = report.n("requests.failed") - reused;
            let is_sent_again = retry.is_empty() || reused == 0;
            assert!(is_sent_again, "{:#}", report.short());
            in_time(late == 0, || format!("{:#}", report.short()))
        });
    }
}

/// Loads a server while it is reloaded, with this flag. Every response is in the server's log.
fn reloaded(nginx: &Peer, retry: &str) -> Report {
    let before = nginx.log().len() as u64;
    let line = format!(
        "http --json - -r 1000/s -c 8 -z 2s {retry} {}",
        nginx.url("fast")
    );
    let process = Process::start(&mut drumfire(line.split_whitespace()));
    for _ in 0..5 {
        std::thread::sleep(Duration::from_millis(350));
        nginx.reload();
    }
    let report = load_of(process);
    assert_eq!(report.n("requests.intended"), 2_000);
    let expected = before + report.n("requests.ok");
    assert_eq!(
        nginx.logged(expected),
        expected,
        "{retry}: {:#}",
        report.short()
    );
    report
}

#[test]
fn bad_certificates_are_named_and_k_says_so() {
    let Some(authority) = Authority::new() else {
        return;
    };
    let good = "DNS:localhost";
    let other = "DNS:other.test";
    for (identity, kind) in [
        (
            authority.sign("expired", good, EXPIRED),
            Some("tls:cert_expired"),
        ),
        (authority.sign("other", other, VALID), Some("tls:name")),
        (authority.self_signed("own", good), Some("tls:untrusted")),
        (authority.sign("good", good, VALID), None),
    ] {
        let nginx = Nginx {
            identity: Some(&identity),
            ..Nginx::default()
        };
        let Some(nginx) = nginx.start() else { return };
        let line = format!(
            "-c 1 -n 4 --cacert {} {}",
            authority.certificate,
            nginx.tls_url("fast")
        );
        let report = load(&line);
        assert_eq!(
            report.kind(kind.unwrap_or("none")),
            kind.map_or(0, |_| 4),
            "{:#}",
            report.short()
        );
        assert_eq!(report.code, Some(i32::from(kind.is_some())), "{kind:?}");
        let anyway = load(&format!("-k {line}"));
        assert_eq!(anyway.n("requests.ok"), 4, "{:#}", anyway.short());
        assert_eq!(anyway.at("generator.tls_verified"), false);
        assert!(anyway.notes().contains("-k"), "{}", anyway.notes());
        let text = http(&format!("-k {line}")).stdout;
        assert!(text.contains("not verified"), "{text}");
    }
}
