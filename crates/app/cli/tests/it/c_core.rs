//! gRPC against a server on the C core, the library under gRPC's Python, C++ and others.

use crate::support::program::{LIMIT, words};
use crate::support::{Process, Report, drumfire, lab, load_of, wait_until};
use std::net::TcpStream;
use std::process::Stdio;

/// The number of calls in each row.
const CALLS: u64 = 200;

/// A server that compresses every reply, and its port.
struct CCore {
    _process: Process,
    port: u16,
}

impl CCore {
    /// Starts the server with options of the C core; `None` if Python does not have the library.
    fn new(options: &str) -> Option<Self> {
        if !lab::has_python("grpc") {
            return None;
        }
        let port = lab::port();
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/support/c_core.py");
        let mut command = lab::python();
        command
            .args([script, &port.to_string()])
            .args(words(options));
        let process = Process::start(command.stdin(Stdio::null()));
        wait_until("the server listens", || {
            TcpStream::connect(("127.0.0.1", port)).is_ok()
        });
        Some(Self {
            _process: process,
            port,
        })
    }

    /// Calls a method with messages that are worth compressing; the schema comes from the server.
    fn calls(&self, method: &str, flags: &str) -> Report {
        let texts = format!("[{{\"text\":\"{}\"}},{{\"text\":\"b\"}}]", "z".repeat(3000));
        let line = format!(
            "127.0.0.1:{} --plaintext --call echo.Echo/{method} -c 2 --streams 10 -u 20 -n {CALLS} \
             --timeout 20s {flags}",
            self.port
        );
        let mut command = drumfire(["grpc", "--json", "-"]);
        command.args(words(&line)).args(["-d", &texts]);
        load_of(Process::start(&mut command))
    }
}

#[test]
fn compressed_replies_are_understood_in_every_kind_of_call() {
    let Some(server) = CCore::new("") else { return };
    let run = Process::start(
        drumfire(["grpc", "--list", "--plaintext"]).arg(format!("127.0.0.1:{}", server.port)),
    );
    let listed = run.finish(LIMIT).stdout;
    assert!(
        listed.contains("echo.Echo/Each(stream echo.Text)"),
        "{listed}"
    );
    for (method, sent, received) in [
        ("Unary", 1, 1),
        ("Many", 1, 300),
        ("Last", 2, 1),
        ("Each", 2, 2),
    ] {
        let report = server.calls(method, "");
        let what = format!("{method}: {:#}", report.short());
        assert_eq!(report.n("requests.ok"), CALLS, "{what}");
        assert_eq!(report.n("messages.sent"), CALLS * sent, "{what}");
        assert_eq!(report.n("messages.received"), CALLS * received, "{what}");
        assert_eq!(report.n("generator.connections_opened"), 2, "{what}");
    }
    let refused = server.calls("Unary", "--compress identity");
    assert!(refused.kind("grpc:internal") > 0, "{:#}", refused.short());
}

#[test]
fn statuses_and_deadlines_are_its_own() {
    let Some(server) = CCore::new("") else { return };
    let report = server.calls("Unary", "-H 'x-code: NOT_FOUND'");
    assert_eq!(report.kind("grpc:not_found"), CALLS, "{:#}", report.short());
    let errors = report.at("errors").to_string();
    assert!(errors.contains("as you wish: 100 % \u{e4}"), "{errors}");
    let report = server.calls("Unary", "-H 'x-sleep: 3' --deadline 50ms");
    let what = format!("{:#}", report.short());
    assert_eq!(report.n("requests.failed"), CALLS, "{what}");
    // The server's clock for deadlines counts milliseconds, so its status may arrive a little
    // early.
    let late = report.kind("timeout:total") + report.kind("grpc:deadline_exceeded");
    assert!(late > 0, "{what}");
    // On a busy machine, the server sends a head on a stream that it has ended, which breaks the
    // connection with all calls on it. The next calls may arrive while it still clears those.
    for kind in report.kinds() {
        let known = [
            "timeout:total",
            "grpc:deadline_exceeded",
            "h2:conn:stream_closed",
            "h2:stream:refused_stream",
        ];
        assert!(known.contains(&kind.as_str()), "{kind}; {what}");
    }
}

/// Connections that are too old are replaced. Calls that the server refuses while it shuts down a
/// connection, or while it has not cleared finished ones, are sent once more.
#[test]
fn old_connections_and_few_streams_cost_no_call() {
    let options = "grpc.max_connection_age_ms=300 grpc.max_connection_age_grace_ms=20000 \
                   grpc.max_concurrent_streams=5";
    let Some(server) = CCore::new(options) else {
        return;
    };
    let report = server.calls("Unary", "-H 'x-sleep: 0.05'");
    let what = format!("{:#}", report.short());
    assert_eq!(report.n("requests.sent"), CALLS, "{what}");
    // A call that is refused twice has failed.
    let refused = report.kind("h2:stream:refused_stream");
    assert_eq!(report.n("requests.ok") + refused, CALLS, "{what}");
    assert!(refused <= report.n("requests.retried"), "{what}");
    assert!(refused <= CALLS / 4, "{what}");
    assert!(report.n("generator.connections_opened") > 2, "{what}");
    assert_eq!(report.n("held_back.streams_allowed"), 5, "{what}");
}
