//! The mock of servers for language models, as a process, under load.

use crate::support::script::get;
use crate::support::{Process, Serve, drumfire, load_of};
use serde_json::Value;

/// The number of streams.
const STREAMS: u64 = 20;
/// The number of tokens of each stream.
const TOKENS: u64 = 10;

const BODY: &str = r#"{"model": "m", "stream": true, "max_tokens": 10, "messages": [{"role": "user", "content": "one two three"}]}"#;

/// The log's requests.
fn log(server: &Serve) -> Vec<Value> {
    let text = get(server.address(), "/llm/log").unwrap();
    let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
    lines.skip(1).collect()
}

fn numbers(value: &Value) -> Vec<u64> {
    let all = value.as_array().unwrap();
    all.iter().map(|n| n.as_u64().unwrap()).collect()
}

/// Times on both sides are on one clock: no client sees a token before it is due.
#[test]
fn a_load_sees_the_tokens_of_the_log() {
    for flags in ["", "--http2"] {
        let server = Serve::new("--llm --ttft 20ms --itl 2ms --role-chunk none --arrival-log");
        let mut command = drumfire(["http", "--json", "-", "--events", "-c", "4"]);
        command.args(flags.split_whitespace());
        command.args(["-n", &STREAMS.to_string(), "-X", "POST", "-d", BODY]);
        command.arg(format!("{}v1/chat/completions", server.url));
        let report = load_of(Process::start(&mut command));
        let what = format!("{flags}: {:#}", report.short());
        assert_eq!(report.n("requests.ok"), STREAMS, "{what}");
        // The tokens, the reason of the finish, and `[DONE]`.
        assert_eq!(
            report.n("messages.received"),
            STREAMS * (TOKENS + 2),
            "{what}"
        );
        assert!(report.n("messages.first.min") >= 20_000_000, "{what}");
        let requests = log(&server);
        assert_eq!(requests.len() as u64, STREAMS);
        for request in &requests {
            let (due, written) = (numbers(&request["due"]), numbers(&request["written"]));
            assert_eq!(due.len() as u64, TOKENS);
            assert!(
                due.windows(2).all(|pair| pair[1] - pair[0] == 2_000_000),
                "{due:?}"
            );
            assert!(
                due.iter()
                    .zip(&written)
                    .all(|(due, written)| written >= due)
            );
        }
        assert_eq!(server.count("responses"), STREAMS);
    }
}

#[test]
fn a_stream_without_its_end_is_no_success() {
    for fault in ["reset", "close"] {
        let server = Serve::new(&format!(
            "--llm --ttft 1ms --itl 1ms --stream-fault {fault}@3"
        ));
        let mut command = drumfire(["http", "--json", "-", "--events", "-c", "1", "-n", "3"]);
        command.args(["-X", "POST", "-d", BODY]);
        command.arg(format!("{}v1/chat/completions", server.url));
        let report = load_of(Process::start(&mut command));
        let what = format!("{fault}: {:#}", report.short());
        assert_eq!(report.n("requests.failed"), 3, "{what}");
        assert_eq!(report.kind("truncated"), 3, "{what}");
        assert_eq!(server.count("faults"), 3);
    }
}
