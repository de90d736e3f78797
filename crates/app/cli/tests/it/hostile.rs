//! Servers that use a protocol's freedom to the limit, or violate the protocol: the program neither
//! aborts nor lets them write to the terminal.

use crate::support::certificates::{Identity, VALID};
use crate::support::peers::{self, Nginx};
use crate::support::program::{LIMIT, words};
use crate::support::{Authority, Process, Script, drumfire, lab, load, wait_until};
use serde_json::Value;
use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::thread;
use std::time::Duration;

/// A certificate authority, and a certificate of 37 kB that it signed.
fn large() -> Option<(Authority, Identity)> {
    let authority = Authority::new()?;
    let names = (0..2500).fold("DNS:localhost".to_owned(), |names, n| {
        names + &format!(",DNS:host{n:04}.test")
    });
    let identity = authority.sign("large", &names, VALID);
    Some((authority, identity))
}

/// Sends requests over twenty connections, each with its own handshake.
fn check(flags: &str, url: &str) {
    let report = load(&format!("-c 4 -n 20 --no-keepalive {flags} {url}"));
    assert_eq!(
        report.n("requests.ok"),
        20,
        "{flags} {url}: {:#}",
        report.short()
    );
}

/// TLS splits such a certificate into several records, and the network splits these into several
/// packets.
#[test]
fn a_large_certificate_is_no_trouble() {
    let Some((authority, identity)) = large() else {
        return;
    };
    let ca = format!("--cacert {}", authority.certificate);
    for version in ["TLSv1.2", "TLSv1.3"] {
        let nginx = Nginx {
            identity: Some(&identity),
            extra: &format!("ssl_protocols {version};"),
            ..Nginx::default()
        };
        let Some(nginx) = nginx.start() else {
            return;
        };
        check("-k --full-handshakes", &nginx.tls_url("fast"));
        check(&ca, &nginx.tls_url("fast"));
    }
    let Some(nghttpd) = peers::nghttpd(Some(&identity), "") else {
        return;
    };
    let url = nghttpd.tls_url("10k.txt");
    let report = load(&format!("--http2 -c 4 -n 20 {ca} {url}"));
    assert_eq!(report.n("requests.ok"), 20, "{:#}", report.short());
}

/// OpenSSL can be configured to send records of at most 512 bytes.
#[test]
fn small_records_in_small_packets_are_no_trouble() {
    let Some((authority, identity)) = large() else {
        return;
    };
    for version in ["tls1_2", "tls1_3"] {
        let port = lab::port();
        let mut command = lab::program("openssl");
        let line = format!(
            "s_server -accept 127.0.0.1:{port} -cert {} -key {} -{version} -max_send_frag 512 \
             -www -quiet",
            identity.certificate, identity.key
        );
        let _server = Process::start(command.args(line.split_whitespace()));
        wait_until("it listens", || {
            TcpStream::connect(("127.0.0.1", port)).is_ok()
        });
        let relay = Script::new(move |peer| in_pieces(peer.stream.get_ref(), port));
        // The relay serves one connection at a time.
        let ca = &authority.certificate;
        let url = format!("https://localhost:{}/", relay.port());
        let report = load(&format!("-c 1 -n 5 --no-keepalive --cacert {ca} {url}"));
        assert_eq!(report.n("requests.ok"), 5, "{:#}", report.short());
    }
}

/// Relays to a server, and back in packets of at most 700 bytes.
fn in_pieces(near: &TcpStream, port: u16) {
    near.set_nodelay(true).unwrap();
    let far = TcpStream::connect(("127.0.0.1", port)).unwrap();
    let (mut from, mut to) = (&far, near);
    thread::scope(|scope| {
        scope.spawn(|| {
            // Either side may close at any time.
            let _ended = io::copy(&mut { near }, &mut { &far });
            let _ended = far.shutdown(Shutdown::Write);
        });
        let mut piece = [0; 700];
        while let Ok(length @ 1..) = from.read(&mut piece) {
            if to.write_all(&piece[..length]).is_err() {
                break;
            }
            thread::sleep(Duration::from_millis(1));
        }
        let _ended = near.shutdown(Shutdown::Both);
        let _ended = far.shutdown(Shutdown::Both);
    });
}

/// A gRPC server whose texts attack the client's terminal, and its port.
fn hostile() -> Option<(Process, u16)> {
    if !lab::has_python("grpc") {
        return None;
    }
    let port = lab::port();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/support/hostile.py");
    let mut command = lab::python();
    let process = Process::start(command.args([script, &port.to_string()]));
    wait_until("it listens", || {
        TcpStream::connect(("127.0.0.1", port)).is_ok()
    });
    Some((process, port))
}

/// The program's output, with any outcome: it has no terminal control characters, but contains a
/// part of the server's text.
#[track_caller]
fn printed(line: &str) -> String {
    let run = Process::start(&mut drumfire(words(line))).finish(LIMIT);
    assert!(run.code.is_some(), "{line}: {}", run.stderr);
    for text in [&run.stdout, &run.stderr] {
        let obeyed = |c: &char| {
            c.is_control() && !matches!(c, '\n' | '\t')
                || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
                || matches!(c, '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e0fff}')
        };
        let found = text.chars().find(obeyed);
        assert_eq!(found, None, "{line}: {text:?}");
    }
    let all = run.stdout + &run.stderr;
    assert!(all.contains("pwn"), "{line}: {all}");
    all
}

#[test]
fn names_from_reflection_do_nothing_to_a_terminal() {
    let Some((_server, port)) = hostile() else {
        return;
    };
    let at = format!("127.0.0.1:{port}");
    for line in [
        "grpc --plaintext --list",
        "grpc --plaintext --describe t.M",
        "grpc --plaintext --describe t.S",
        "grpc --plaintext --describe t.Refused",
        "grpc --plaintext --call t.S/X",
        "ghz --insecure --call t.S/X",
        "ghz --insecure --call t.Refused/X",
    ] {
        let text = printed(&format!("{line} {at}"));
        assert!(text.contains("\\x1b[31m \\r\\nline"), "{line}: {text}");
    }
}

#[test]
fn a_status_does_nothing_to_a_terminal() {
    let Some((_server, port)) = hostile() else {
        return;
    };
    let at = format!("127.0.0.1:{port}");
    let call = "--call t.S/U -n 3 -c 1";
    let own = printed(&format!("grpc --plaintext {call} {at}"));
    assert!(own.contains("\\u{1b}[31m"), "{own}");
    for format in ["summary", "csv", "html", "json", "pretty", "influx-details"] {
        let text = printed(&format!("ghz --insecure {call} -O {format} {at}"));
        if matches!(format, "json" | "pretty") {
            // Escaped as in JSON, so that a parser gets the exact text.
            let json: Value = serde_json::from_str(&text).unwrap();
            let error = json["details"][0]["error"].as_str().unwrap();
            assert!(
                error.ends_with("\u{202e} \u{200b} \u{feff} \u{e0041}"),
                "{error:?}"
            );
        } else {
            assert!(text.contains("\\x1b[31m"), "{format}: {text}");
        }
    }
}
