//! Event streams of the HTTP server in Python's library, which has no part of ours.

use crate::support::{Process, Report, lab, load, wait_until};
use std::net::TcpStream;
use std::process::Stdio;

/// The number of streams in each row.
const STREAMS: u64 = 20;

/// The server, and its port.
struct Events {
    _process: Process,
    port: u16,
}

impl Events {
    /// Starts the server; `None` without Python.
    fn new() -> Option<Self> {
        if !lab::has_python("http.server") {
            return None;
        }
        let port = lab::port();
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/support/events.py");
        let mut command = lab::python();
        command.args([script, &port.to_string()]);
        let process = Process::start(command.stdin(Stdio::null()));
        wait_until("the server listens", || {
            TcpStream::connect(("127.0.0.1", port)).is_ok()
        });
        Some(Self {
            _process: process,
            port,
        })
    }

    fn load(&self, query: &str) -> Report {
        let port = self.port;
        load(&format!(
            "-c 4 -n {STREAMS} --events http://127.0.0.1:{port}/?{query}"
        ))
    }
}

#[test]
fn events_of_another_server_are_all_there() {
    let Some(server) = Events::new() else { return };
    // With chunks, and with a body that ends with the connection.
    for query in ["n=5&ms=2&chunks", "n=5&ms=2"] {
        let report = server.load(query);
        let what = format!("{query}: {:#}", report.short());
        assert_eq!(report.n("requests.ok"), STREAMS, "{what}");
        assert_eq!(report.n("messages.received"), 5 * STREAMS, "{what}");
        assert_eq!(report.n("messages.first.count"), STREAMS, "{what}");
        assert!(report.n("messages.first.min") >= 2_000_000, "{what}");
        assert!(report.n("messages.gap.max") >= 2_000_000, "{what}");
    }
}

#[test]
fn compressed_events_are_read_as_they_come() {
    let Some(server) = Events::new() else { return };
    for query in [
        "n=5&ms=2&chunks&gzip",
        "n=5&ms=2&gzip",
        "n=5&ms=2&chunks&gzip --compressed",
    ] {
        let report = server.load(query);
        let what = format!("{query}: {:#}", report.short());
        assert_eq!(report.n("requests.ok"), STREAMS, "{what}");
        assert_eq!(report.n("messages.received"), 5 * STREAMS, "{what}");
        // The writes are apart, and so are the events.
        assert!(report.n("messages.gap.max") >= 2_000_000, "{what}");
    }
    // The body is complete for HTTP, but its coding is not.
    let report = server.load("n=5&gzip&cut");
    let what = format!("{:#}", report.short());
    assert_eq!(report.n("requests.ok"), 0, "{what}");
    assert_eq!(report.kind("decode"), STREAMS, "{what}");
    assert_eq!(report.n("messages.received"), 5 * STREAMS, "{what}");
}

#[test]
fn a_stream_of_another_server_that_is_cut_fails() {
    let Some(server) = Events::new() else { return };
    for (query, kind) in [
        ("n=5&chunks&cut", "truncated"),
        ("n=5&last=data:+1", "events:cut"),
        ("n=5&chunks&last=data:+1", "events:cut"),
    ] {
        let report = server.load(query);
        let what = format!("{query}: {:#}", report.short());
        assert_eq!(report.kind(kind), STREAMS, "{what}");
        assert_eq!(report.n("messages.received"), 5 * STREAMS, "{what}");
    }
    // A last event without its empty line counts if its data shows that it is whole.
    for last in ["data:+%5BDONE%5D", "data:+%7B%7D%0d"] {
        let report = server.load(&format!("n=5&last={last}"));
        let what = format!("{last}: {:#}", report.short());
        assert_eq!(report.n("requests.ok"), STREAMS, "{what}");
        assert_eq!(report.n("messages.received"), 6 * STREAMS, "{what}");
        assert_eq!(report.n("leniencies.unended_event"), STREAMS, "{what}");
    }
}
