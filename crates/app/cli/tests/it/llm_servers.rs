//! `drumfire llm` against llmock, a mock of language models that has no part of ours.

use crate::support::program::{neutral, words};
use crate::support::{Process, Report, drumfire, lab, load_of, wait_until};
use std::net::TcpStream;
use std::process::Command;

/// The number of requests in each row.
const REQUESTS: u64 = 12;

/// The server, and its port.
struct LlMock {
    _process: Process,
    port: u16,
}

impl LlMock {
    /// Starts the server with these flags; `None` if it is not installed.
    fn new(flags: &str) -> Option<Self> {
        let program = lab::suite("llmock")?;
        let port = lab::port();
        let mut command = neutral(Command::new(program));
        command.args(["serve", "--host", "127.0.0.1", "--port", &port.to_string()]);
        let process = Process::start(command.args(words(flags)));
        wait_until("the server listens", || {
            TcpStream::connect(("127.0.0.1", port)).is_ok()
        });
        Some(Self {
            _process: process,
            port,
        })
    }

    fn load(&self, path: &str, line: &str) -> Report {
        let mut command = drumfire(["llm", "--json", "-", "-m", "gpt-4o", "--api-key", "sk-any"]);
        command
            .args(words(line))
            .args(["-c", "2", "-n", &REQUESTS.to_string()]);
        command.arg(format!("http://127.0.0.1:{}{path}", self.port));
        load_of(Process::start(&mut command))
    }
}

#[test]
fn every_api_of_another_server_is_read() {
    let Some(server) = LlMock::new("--response-style varied") else {
        return;
    };
    let messages = "/anthropic/v1/messages";
    for (path, line, streamed, has_tokens) in [
        ("", "", REQUESTS, true),
        ("/v1", "--no-stream", 0, true),
        ("/v1/responses", "", REQUESTS, true),
        ("/v1/responses", "--no-stream", 0, true),
        (messages, "", REQUESTS, true),
        (messages, "--no-stream", 0, true),
        ("/v1/embeddings", "", 0, false),
    ] {
        let report = server.load(path, line);
        let what = format!("{path} {line}: {:#}", report.short());
        assert_eq!(report.n("requests.ok"), REQUESTS, "{what}");
        assert_eq!(report.n("llm.streamed"), streamed, "{what}");
        assert_eq!(report.n("llm.ttft.count"), streamed, "{what}");
        assert!(report.n("llm.tokens.in") > 0, "{what}");
        assert_eq!(report.n("llm.tokens.out") > 0, has_tokens, "{what}");
        for class in ["unknown", "bad"] {
            let events = report.at(&format!("llm.events.{class}"));
            assert!(events.is_null(), "{class}: {what}");
        }
        assert_eq!(report.n("llm.counted"), REQUESTS, "{what}");
    }
}

/// A stream that ends early is never a success. The server draws the chunk of a fault, which may be
/// after the last one of a short answer: such an answer is whole.
#[test]
fn a_broken_stream_of_another_server_fails_by_its_name() {
    for (flags, kind) in [
        ("--stream-fault truncate=1.0", "llm:cut"),
        ("--stream-fault malformed=1.0", "llm:unreadable"),
        ("--stream-fault disconnect=1.0", "truncated"),
        ("--error-rate 429=1.0", "http_status"),
        ("--context-window 5", "http_status"),
    ] {
        let Some(server) = LlMock::new(flags) else {
            return;
        };
        let report = server.load("", "");
        let what = format!("{flags}: {:#}", report.short());
        let (whole, broken) = (report.n("requests.ok"), report.kind(kind));
        assert_eq!(whole + broken, REQUESTS, "{what}");
        assert!(broken >= REQUESTS / 4, "{what}");
        let finished = report.at("llm.finish.stop").as_u64();
        assert!(whole <= finished.unwrap_or(0), "{what}");
    }
}
