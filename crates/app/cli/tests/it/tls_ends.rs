//! Servers that end TLS without close_notify, as Python's do, and the dialects of tools written in
//! Go.
//!
//! If the connection ends at the end of a record, Go's client treats it as the end of the body.
//! Within a record, the client reports an unexpected EOF.

use crate::support::certificates::{Identity, VALID};
use crate::support::program::{LIMIT, words};
use crate::support::tls_server::{TlsEnd, TlsReply};
use crate::support::{Authority, Folder, Process, Run, Script, drumfire};
use serde_json::Value;

const ENDS: [TlsEnd; 3] = [TlsEnd::Notified, TlsEnd::Silent, TlsEnd::Cut];

/// An authority, and a certificate for 127.0.0.1.
fn identity() -> Option<(Authority, Identity)> {
    let authority = Authority::new()?;
    let identity = authority.sign("localhost", "DNS:localhost,IP:127.0.0.1", VALID);
    Some((authority, identity))
}

/// A server whose bodies have no length.
fn without_length(end: TlsEnd, identity: &Identity) -> Script {
    let reply = TlsReply {
        alpn: b"http/1.1",
        greeting: b"",
        is_request: |bytes| bytes.ends_with(b"\r\n\r\n"),
        bytes: b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nhello",
        end,
    };
    reply.serve(identity)
}

fn dialect(tool: &str, line: &str) -> Run {
    Process::start(drumfire([tool]).args(words(line))).finish(LIMIT)
}

#[test]
fn go_wrk_takes_a_body_that_ends_without_close_notify() {
    let Some((_authority, identity)) = identity() else {
        return;
    };
    for end in ENDS {
        let server = without_length(end, &identity);
        let url = format!("https://127.0.0.1:{}/", server.port());
        let run = dialect("go-wrk", &format!("-c 2 -d 1 -no-vr -T 20000 {url}"));
        let is_whole = run.stdout.contains("Number of Errors:\t0\n");
        assert_eq!(is_whole, end != TlsEnd::Cut, "{end:?}: {}", run.stdout);
        let is_cut = run.stdout.contains("unexpected EOF=");
        assert_eq!(is_cut, end == TlsEnd::Cut, "{end:?}: {}", run.stdout);
    }
}

#[test]
fn slow_cooker_counts_a_body_that_ends_without_close_notify_as_good() {
    let Some((_authority, identity)) = identity() else {
        return;
    };
    for end in ENDS {
        let server = without_length(end, &identity);
        let url = format!("https://127.0.0.1:{}/", server.port());
        let line = format!("-qps 20 -concurrency 2 -interval 500ms -iterations 1 {url}");
        let run = dialect("slow_cooker", &line);
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        let counts = run.stdout.lines().find_map(|line| {
            let counts = line
                .split_whitespace()
                .find(|word| word.matches('/').count() == 2)?;
            let counts: Result<Vec<u64>, _> = counts.split('/').map(str::parse).collect();
            counts.ok()
        });
        let counts = counts.unwrap_or_else(|| panic!("{}", run.stdout));
        let (good, failed) = (counts[0], counts[2]);
        assert_eq!(good > 0, end != TlsEnd::Cut, "{end:?}: {}", run.stdout);
        assert_eq!(failed > 0, end == TlsEnd::Cut, "{end:?}: {}", run.stdout);
    }
}

#[test]
fn pandora_takes_a_body_that_ends_without_close_notify() {
    let Some((_authority, identity)) = identity() else {
        return;
    };
    for end in ENDS {
        let server = without_length(end, &identity);
        let folder = Folder::new();
        folder.write(
            "load.yaml",
            format!(
                "pools:\n  - gun: {{type: http, target: '127.0.0.1:{}', ssl: true}}\n    \
                 ammo: {{type: uri, uris: ['/a']}}\n    \
                 result: {{type: phout, destination: phout.log}}\n    \
                 rps: {{type: once, times: 4}}\n    startup: {{type: once, times: 2}}\n",
                server.port()
            ),
        );
        let mut command = drumfire(["pandora", "load.yaml"]);
        let run = Process::start(command.current_dir(folder.path())).finish(LIMIT);
        let rows = std::fs::read_to_string(folder.at("phout.log")).unwrap();
        let ends: Vec<_> = rows
            .lines()
            .filter_map(|row| row.rsplit_once('\t'))
            .collect();
        assert_eq!(ends.len(), 4, "{}", run.stderr);
        for (before, status) in ends {
            let net = before.rsplit('\t').next();
            assert_eq!(status, "200", "{end:?}: {rows}");
            assert_eq!(net == Some("0"), end != TlsEnd::Cut, "{end:?}: {rows}");
        }
    }
}

/// Whether an HTTP/2 connection has received the head of a request.
fn has_headers(bytes: &[u8]) -> bool {
    const PREFACE: usize = 24;
    let mut rest = bytes.get(PREFACE..).unwrap_or_default();
    while let [high, middle, low, kind, ..] = *rest {
        if kind == 1 {
            return true;
        }
        let length = u32::from_be_bytes([0, high, middle, low]) as usize;
        rest = rest.get(9 + length..).unwrap_or_default();
    }
    false
}

/// gRPC's library in Go reads both ends as EOF.
#[test]
fn ghz_reads_the_end_of_tls_alike_with_and_without_close_notify() {
    let Some((_authority, identity)) = identity() else {
        return;
    };
    let folder = Folder::new();
    folder.write(
        "t.proto",
        "syntax = \"proto3\";\npackage t;\nmessage M {}\nservice S { rpc U (M) returns (M); }\n",
    );
    let errors = |end| {
        let reply = TlsReply {
            alpn: b"h2",
            // Empty SETTINGS.
            greeting: b"\0\0\0\x04\0\0\0\0\0",
            is_request: has_headers,
            bytes: b"",
            end,
        };
        let server = reply.serve(&identity);
        let line = format!(
            "--skipTLS --proto {} --call t.S/U -n 4 -c 1 -O json 127.0.0.1:{}",
            folder.at("t.proto"),
            server.port()
        );
        let run = dialect("ghz", &line);
        let report: Value = serde_json::from_str(&run.stdout)
            .unwrap_or_else(|_| panic!("{end:?}: {} {}", run.stdout, run.stderr));
        assert_eq!(
            report["statusCodeDistribution"]["Unavailable"], 4,
            "{report:#}"
        );
        report["errorDistribution"].clone()
    };
    assert_eq!(errors(TlsEnd::Notified), errors(TlsEnd::Silent));
}
