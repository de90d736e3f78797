//! HTTP/2 against servers of other projects, whose own counts are compared with ours.

use crate::support::certificates::{Identity, VALID};
use crate::support::peers::{self, Nginx, Peer, Processes};
use crate::support::{
    Authority, Folder, Process, Report, Signal, drumfire, http, lab, load, load_of,
};
use std::thread::sleep;
use std::time::Duration;

/// The number of requests in each row.
const REQUESTS: u64 = 500;
/// The load of each row: more users than connections.
const LOAD: &str = "--http2 -c 2 --streams 10";

/// The requests to each server, and their required result.
struct Row {
    path: &'static str,
    flags: &'static str,
    status: u16,
    /// The minimum and maximum number of bytes of each response, frames included.
    bytes: (u64, u64),
}

const fn row(path: &'static str, flags: &'static str, status: u16, bytes: (u64, u64)) -> Row {
    Row {
        path,
        flags,
        status,
        bytes,
    }
}

/// Heads are compressed, so they add little to the body.
const ROWS: [Row; 5] = [
    row("index.html", "", 200, (13 + 2 * 9, 400)),
    row("100k.txt", "", 200, (100_000, 101_000)),
    row("10k.txt", "-X HEAD", 200, (9, 400)),
    row("none", "", 404, (9, 4_000)),
    row("10k.txt", "-H 'Range: bytes=0-99'", 206, (100, 10_500)),
];

/// A server, the beginning of its URLs, and whether it keeps a log.
struct Server {
    peer: Peer,
    base: String,
    log: Log,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Log {
    Kept,
    None,
}

/// nginx with clear-text HTTP/2 on one port and HTTP/2 over TLS on another.
fn nginx(identity: &Identity, processes: Processes, more: &str) -> Option<(Peer, [String; 2])> {
    let (clear, sealed) = (lab::port(), lab::port());
    let extra = format!(
        "listen 127.0.0.1:{clear} http2 backlog=4096;\nlisten 127.0.0.1:{sealed} ssl http2;\n{more}"
    );
    let nginx = Nginx {
        processes,
        identity: Some(identity),
        extra: &extra,
    };
    let bases = [
        format!("http://127.0.0.1:{clear}/"),
        format!("https://localhost:{sealed}/"),
    ];
    let mut peer = nginx.start()?;
    for port in [clear, sealed] {
        peer.await_port(port);
    }
    Some((peer, bases))
}

fn localhost(authority: &Authority) -> Identity {
    authority.sign("localhost", "DNS:localhost,IP:127.0.0.1", VALID)
}

/// All servers, each with its own variant of HTTP/2.
fn servers(identity: &Identity) -> Option<Vec<Server>> {
    let server = |peer: Peer, base: String, log| Server { peer, base, log };
    let (clear, [base, _]) = nginx(identity, Processes::One, "")?;
    let (sealed, [_, sealed_base]) = nginx(identity, Processes::Master, "")?;
    let plain = peers::nghttpd(None, "")?;
    // Padding, and header fields that are never indexed: legal, but rarely used by servers.
    let padding = peers::nghttpd(Some(identity), "-b 100 --encoder-header-table-size 0")?;
    let h2o = peers::h2o(Some(identity))?;
    let (apache, apache_tls) = (peers::apache(identity)?, peers::apache(identity)?);
    let urls = [plain.url(""), padding.tls_url(""), h2o.tls_url("")];
    let [plain_url, padding_url, h2o_url] = urls;
    let [apache_url, apache_tls_url] = [apache.url(""), apache_tls.tls_url("")];
    Some(vec![
        server(clear, base, Log::Kept),
        server(sealed, sealed_base, Log::Kept),
        server(plain, plain_url, Log::None),
        server(padding, padding_url, Log::None),
        server(h2o, h2o_url, Log::Kept),
        server(apache, apache_url, Log::Kept),
        server(apache_tls, apache_tls_url, Log::Kept),
    ])
}

/// Sends a row's requests, and checks the outcome, the counts and the sizes.
fn check(row: &Row, base: &str, trust: &str) -> Report {
    let line = format!(
        "{LOAD} -n {REQUESTS} {} {trust}{base}{}",
        row.flags, row.path
    );
    let report = load(&line);
    let what = format!("{line}: {:#}", report.short());
    assert_eq!(report.n("requests.sent"), REQUESTS, "{what}");
    assert_eq!(report.n("requests.retried"), 0, "{what}");
    assert_eq!(report.n("generator.connections_opened"), 2, "{what}");
    // A server may send the whole body instead of a range, and a missing file is a failure.
    let seen = report.status(row.status)
        + if row.status == 206 {
            report.status(200)
        } else {
            0
        };
    assert_eq!(seen, REQUESTS, "{what}");
    let failed = if row.status < 400 { 0 } else { REQUESTS };
    assert_eq!(report.n("requests.failed"), failed, "{what}");
    assert_eq!(report.kind("http_status"), failed, "{what}");
    let received = report.n("bytes.received") / REQUESTS;
    let (least, most) = row.bytes;
    // Padding: up to 100 bytes for each frame.
    let most = most + most / 16_384 * 100 + 300;
    assert!(
        (least..=most).contains(&received),
        "{received} bytes; {what}"
    );
    report
}

#[test]
fn every_server_answers_every_row() {
    let Some(authority) = Authority::new() else {
        return;
    };
    let identity = localhost(&authority);
    let Some(servers) = servers(&identity) else {
        return;
    };
    let trust = format!("--cacert {} ", authority.certificate);
    for server in &servers {
        let mut expected = 0;
        for row in &ROWS {
            check(row, &server.base, &trust);
            expected += REQUESTS;
            if server.log == Log::Kept {
                assert_eq!(server.peer.logged(expected), expected, "{}", server.base);
            }
        }
    }
}

/// drumfire replaces its connections as planned, with and without active streams. A GOAWAY that is
/// sent too early makes some servers drop unanswered streams.
#[test]
fn connections_that_the_plan_replaces_cost_no_request() {
    let Some(authority) = Authority::new() else {
        return;
    };
    let identity = localhost(&authority);
    let Some(servers) = servers(&identity) else {
        return;
    };
    for server in &servers {
        let mut expected = 0;
        for (flags, connections) in [
            ("--no-keepalive", REQUESTS),
            ("--requests-per-connection 25", REQUESTS / 25),
        ] {
            let line = format!(
                "{LOAD} -n {REQUESTS} {flags} --cacert {} {}10k.txt",
                authority.certificate, server.base
            );
            let report = load(&line);
            let what = format!("{line}: {:#}", report.short());
            assert_eq!(report.n("requests.ok"), REQUESTS, "{what}");
            assert_eq!(report.n("requests.retried"), 0, "{what}");
            // How two connections share the requests is chance, and the last connection may be only
            // partly used.
            let opened = report.n("generator.connections_opened");
            assert!((connections..=connections + 2).contains(&opened), "{what}");
            expected += REQUESTS;
            if server.log == Log::Kept {
                assert_eq!(server.peer.logged(expected), expected, "{what}");
            }
        }
    }
}

/// A server ends each connection after 50 requests with a GOAWAY while others are active. These are
/// sent again on another connection, and each request is processed exactly once.
#[test]
fn connections_that_nginx_gives_up_cost_no_request() {
    let Some(authority) = Authority::new() else {
        return;
    };
    let identity = localhost(&authority);
    let limited = nginx(&identity, Processes::One, "keepalive_requests 50;");
    let Some((nginx, bases)) = limited else {
        return;
    };
    let trust = format!("--cacert {} ", authority.certificate);
    for (round, base) in (1..).zip(&bases) {
        let report = load(&format!("{LOAD} -n 1000 {trust}{base}fast"));
        assert_eq!(
            report.n("requests.ok"),
            1_000,
            "{base}: {:#}",
            report.short()
        );
        let opened = report.n("generator.connections_opened");
        assert!((20..=40).contains(&opened), "{base}: {opened} opened");
        assert_eq!(nginx.logged(round * 1_000), round * 1_000, "{base}");
    }
}

/// Bodies larger than any window, in both directions, and windows of a kilobyte with three streams.
#[test]
fn bodies_pass_through_flow_control() {
    let Some(authority) = Authority::new() else {
        return;
    };
    let identity = localhost(&authority);
    let narrow = "--echo-upload -w 10 -W 16 -m 3 -b 20 --trailer x-end:1";
    let Some(narrow) = peers::nghttpd(None, narrow) else {
        return;
    };
    let Some((nginx, [_, base])) = nginx(&identity, Processes::Master, "") else {
        return;
    };
    let trust = format!("--cacert {} ", authority.certificate);
    let folder = Folder::new();
    let mut expected = 0;
    for (size, count) in [
        (0, 40),
        (5, 40),
        (65_535, 40),
        (300_000, 20),
        (3_000_000, 4),
    ] {
        let file = folder.write("body", vec![b'x'; size]);
        let sizes = size as u64 * count..(size as u64 + size as u64 / 25 + 400) * count;
        let report = load(&format!(
            "{LOAD} -n {count} -d @{file} {}echo",
            narrow.url("")
        ));
        assert_eq!(report.status(200), count, "{size}: {:#}", report.short());
        for direction in ["bytes.sent", "bytes.received"] {
            let bytes = report.n(direction);
            assert!(sizes.contains(&bytes), "{size}: {direction} {bytes}");
        }
        let report = load(&format!("{LOAD} -n {count} -d @{file} {trust}{base}post"));
        assert_eq!(report.status(200), count, "{size}: {:#}", report.short());
        expected += count;
        assert_eq!(nginx.logged(expected), expected);
    }
    for line in nginx.log() {
        assert!(line.starts_with("POST /post 200 "), "{line}");
    }
}

/// Servers that allow fewer streams than there are users. The other users wait, no request fails,
/// and the report contains the reason, as text and as JSON.
#[test]
fn servers_that_allow_few_streams_are_named() {
    let Some(authority) = Authority::new() else {
        return;
    };
    let identity = localhost(&authority);
    let few = nginx(&identity, Processes::One, "http2_max_concurrent_streams 3;");
    let Some((_nginx, bases)) = few else { return };
    let Some(nghttpd) = peers::nghttpd(None, "-m 3") else {
        return;
    };
    let [clear, sealed] = bases;
    for base in [clear, sealed, nghttpd.url("")] {
        let line = format!(
            "{LOAD} -n {REQUESTS} --cacert {} {base}10k.txt",
            authority.certificate
        );
        let report = load(&line);
        let what = format!("{line}: {:#}", report.short());
        assert_eq!(report.n("requests.ok"), REQUESTS, "{what}");
        assert_eq!(report.n("requests.retried"), 0, "{what}");
        assert_eq!(report.n("held_back.streams_allowed"), 3, "{what}");
        // Two connections have room for six of twenty users; the last users have no successor.
        let waited = report.n("held_back.requests");
        assert!(
            (REQUESTS / 2..=REQUESTS).contains(&waited),
            "{waited}; {what}"
        );
        let text = http(&line).stdout;
        let told = " waited: the server allows 3 concurrent streams";
        assert!(text.contains(told), "{line}: {text}");
    }
    // Users that fit do not wait.
    let line = format!("--http2 -c 2 --streams 3 -n 60 {}10k.txt", nghttpd.url(""));
    let report = load(&line);
    assert!(report.at("held_back").is_null(), "{:#}", report.json);
}

/// A server without HTTP/2 is reported as such, and nothing counts as a response.
#[test]
fn servers_without_http2_are_named() {
    let Some(authority) = Authority::new() else {
        return;
    };
    let identity = localhost(&authority);
    let nginx = Nginx {
        identity: Some(&identity),
        ..Nginx::default()
    };
    let Some(nginx) = nginx.start() else { return };
    let Some(haproxy) = peers::haproxy(nginx.port(), Some(&identity)) else {
        return;
    };
    let Some(only) = peers::nghttpd(None, "") else {
        return;
    };
    let to_clear = nginx.tls_url("").replace(
        nginx.tls_url("").rsplit(':').next().unwrap(),
        &format!("{}/", nginx.port()),
    );
    let rows = [
        // One server refuses with an alert, the other continues without the extension.
        (nginx.tls_url(""), "--http2", "tls:alpn", "did not accept"),
        (haproxy.tls_url(""), "--http2", "tls:alpn", "did not accept"),
        (nginx.url(""), "--http2", "proto:not_h2", "HTTP/1.1 400"),
        (to_clear, "--http2", "tls:protocol", "expect plain http://"),
        // The reverse: a server that supports only HTTP/2.
        (only.url(""), "--http1", "proto:not_http", "HTTP/2"),
    ];
    for (url, version, kind, text) in rows {
        let trust = format!("--cacert {}", authority.certificate);
        let report = load(&format!("{version} -c 1 -n 4 {trust} {url}"));
        assert_eq!(report.kind(kind), 4, "{url}: {:#}", report.short());
        let errors = report.at("errors").to_string();
        assert!(errors.contains(text), "{url}: {errors}");
        assert_eq!(report.code, Some(1), "{url}");
    }
}

/// The server dies and returns: every request is accounted for, failures are failures of the
/// connection, and the run continues.
#[test]
fn a_server_that_dies_and_returns_costs_what_was_under_way() {
    let Some(authority) = Authority::new() else {
        return;
    };
    let identity = localhost(&authority);
    let Some((mut nginx, bases)) = nginx(&identity, Processes::One, "") else {
        return;
    };
    for base in &bases {
        let before = nginx.log().len() as u64;
        let line = format!(
            "http --json - --http2 -r 400/s -z 2m -c 2 --streams 50 --cacert {} {base}10k.txt",
            authority.certificate
        );
        let process = Process::start(&mut drumfire(line.split_whitespace()));
        nginx.await_requests(300);
        nginx.kill_and_restart(Duration::from_millis(300));
        // The run continues, however long the server took to return.
        nginx.await_requests(300);
        process.signal(Signal::INT);
        let report = load_of(process);
        let what = format!("{base}: {:#}", report.short());
        assert_eq!(report.n("requests.in_flight"), 0, "{what}");
        assert!(report.n("generator.connections_opened") > 2, "{what}");
        // Responses that a server sent just before it died may have no line in its log: at most as
        // many as there were streams.
        let ok = report.n("requests.ok");
        let logged = nginx.logged(before + ok - 100) - before;
        assert!(
            (500..=logged + 100).contains(&ok),
            "{logged} logged; {what}"
        );
        for kind in report.kinds() {
            let prefix = kind.split(':').next().unwrap();
            assert!(
                ["connect", "closed", "reset", "send", "truncated"].contains(&prefix)
                    // The server may die during a handshake.
                    || kind == "tls:protocol",
                "{kind}; {what}"
            );
        }
    }
}

/// The server stalls for a time shorter than the timeout, which only delays requests.
#[test]
fn a_stall_costs_time_or_is_a_timeout() {
    let Some(authority) = Authority::new() else {
        return;
    };
    let identity = localhost(&authority);
    let Some((nginx, [base, _])) = nginx(&identity, Processes::One, "") else {
        return;
    };
    for (timeout, fails) in [("30s", false), ("150ms", true)] {
        let line = format!(
            "http --json - --http2 -r 200/s -n 600 -c 2 --streams 200 --timeout {timeout} {base}fast"
        );
        let process = Process::start(&mut drumfire(line.split_whitespace()));
        nginx.await_requests(200);
        nginx.process().signal(Signal::STOP);
        sleep(Duration::from_millis(600));
        nginx.process().signal(Signal::CONT);
        let report = load_of(process);
        let what = format!("{timeout}: {:#}", report.short());
        assert_eq!(report.n("requests.intended"), 600, "{what}");
        // The requests before the stall, unless the machine stalled as well.
        assert!(report.n("requests.ok") > 0, "{what}");
        let slowest = report.number("latency.response_time.max") / 1e9;
        if fails {
            assert!(report.n("requests.timed_out") > 0, "{what}");
        } else {
            assert_eq!(report.n("requests.ok"), 600, "{what}");
            assert!(slowest > 0.4, "{slowest} s; {what}");
        }
        for kind in report.kinds() {
            assert!(kind.starts_with("timeout:"), "{kind}; {what}");
        }
    }
}

/// The server stalls for longer than the ping timeout. The requests on its connections fail long
/// before their own timeout, and the run continues when the server is back.
#[test]
fn a_connection_without_a_sign_of_life_is_given_up() {
    let Some(authority) = Authority::new() else {
        return;
    };
    let Some((nginx, [base, _])) = nginx(&localhost(&authority), Processes::One, "") else {
        return;
    };
    let line = format!(
        "http --json - --http2 -r 200/s -n 800 -c 2 --streams 400 --ping 200ms --ping-timeout 200ms \
         {base}fast"
    );
    let process = Process::start(&mut drumfire(line.split_whitespace()));
    nginx.await_requests(200);
    nginx.process().signal(Signal::STOP);
    sleep(Duration::from_millis(1_500));
    nginx.process().signal(Signal::CONT);
    let report = load_of(process);
    let what = format!("{:#}", report.short());
    assert_eq!(report.n("requests.intended"), 800, "{what}");
    assert!(report.kind("timeout:ping") > 0, "{what}");
    // A new connection waits for the stalled server, too.
    for kind in report.kinds() {
        let known = ["timeout:ping", "connect:timeout", "timeout:connect"];
        assert!(known.contains(&kind.as_str()), "{kind}; {what}");
    }
    // The requests before the stall, unless the machine stalled as well.
    assert!(report.n("requests.ok") > 0, "{what}");
    let last = report.number("latency.failed.max") / 1e9;
    assert!(last < 25.0, "nobody waits for 30 s: {last} s; {what}");
}
