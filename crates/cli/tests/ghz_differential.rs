//! ghz itself beside `drumfire ghz`: the same command lines to the same servers. What differs on
//! purpose is listed here, each difference with its reason.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(
    clippy::allow_attributes,
    reason = "not every lint fires in every file"
)]
#![allow(clippy::disallowed_methods, reason = "a test runs another program")]

mod support;

use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::time::Duration;
use support::peers::{Nginx, Processes};
use support::program::{LIMIT, neutral, words};
use support::{Folder, Interop, Process, Run, Serve, alone, drumfire, lab};

const HELLO: &str = "--insecure --call helloworld.Greeter/SayHello";
const UNARY: &str = "--insecure --call drumfire.test.v1.TestService/Unary";

/// The same command line, run by ghz and by us.
struct Both<T> {
    ghz: T,
    ours: T,
}

impl<T> Both<T> {
    fn map<U>(self, mut change: impl FnMut(T) -> U) -> Both<U> {
        Both {
            ghz: change(self.ghz),
            ours: change(self.ours),
        }
    }
}

impl<T: PartialEq + std::fmt::Debug> Both<T> {
    fn must_be_equal(&self, what: &str) {
        assert_eq!(self.ours, self.ghz, "ours, ghz's: {what}");
    }
}

/// ghz's program; `None` where it is not installed.
fn original() -> Option<Command> {
    lab::suite("ghz").map(|path| neutral(Command::new(path)))
}

/// Starts the line, which names the server of each side as `HOST`.
fn start(line: &str, hosts: &Both<String>) -> Both<Process> {
    let begin = |mut command: Command, host: &str| {
        command.args(words(&line.replace("HOST", host)));
        Process::start(&mut command)
    };
    Both {
        ghz: begin(original().unwrap(), &hosts.ghz),
        ours: begin(drumfire(["ghz"]), &hosts.ours),
    }
}

/// Runs the line by both, one after the other, to the same server.
fn run(line: &str, host: &str) -> Both<Run> {
    let run = |mut command: Command| {
        command.args(words(&line.replace("HOST", host)));
        Process::start(&mut command).finish(LIMIT)
    };
    Both {
        ghz: run(original().unwrap()),
        ours: run(drumfire(["ghz"])),
    }
}

/// The reports of a line that asks for JSON.
fn reports(runs: Both<Run>) -> Both<Value> {
    runs.map(|run| serde_json::from_str(&run.stdout).expect(&run.stderr))
}

/// A schedule, its server's flags, and how many calls are due in each second.
type Schedule = (&'static str, &'static str, &'static [u64]);

const SCHEDULES: [Schedule; 5] = [
    ("-r 40 -n 160", "", &[40, 40, 40, 40]),
    (
        "--load-schedule step --load-start 20 --load-step 20 --load-step-duration 1s \
         --load-end 60 -n 180",
        "",
        &[20, 40, 60, 60],
    ),
    (
        "--load-schedule step --load-start 60 --load-step=-20 --load-step-duration 1s \
         --load-end 20 -n 140",
        "",
        &[60, 40, 20, 20],
    ),
    (
        "--load-schedule line --load-start 10 --load-step 15 -n 130",
        "",
        &[10, 25, 40, 55],
    ),
    // Without a rate each worker sends as soon as its answer is there: ten calls a second.
    (
        "--concurrency-schedule step --concurrency-start 1 --concurrency-step 1 \
         --concurrency-step-duration 1s --concurrency-end 3 -c 3 -n 90",
        "--delay 100ms",
        &[10, 20, 30, 30],
    ),
];

/// How long a stall of one of the programs may be on a busy machine. What a stall holds back is
/// sent right after it, so a window may lack what is due in that time, and the next have as many
/// more. Less than half of what one step changes, so that a wrong level shows.
const STALL: Duration = Duration::from_millis(150);

/// How far the arrivals of the two may be apart, half of them: on an idle machine it is one
/// millisecond. A schedule that is shifted by one call would be 16 to 100 ms apart.
const APART: f64 = 10e6;

#[test]
fn calls_arrive_by_the_same_schedule() {
    if original().is_none() {
        return;
    }
    let _turn = alone();
    let started: Vec<_> = SCHEDULES
        .iter()
        .map(|(line, flags, _)| {
            let server = || Serve::new(&format!("--grpc --arrival-log {flags}"));
            let servers = Both {
                ghz: server(),
                ours: server(),
            };
            let hosts = Both {
                ghz: servers.ghz.address().to_string(),
                ours: servers.ours.address().to_string(),
            };
            let processes = start(&format!("{HELLO} {line} HOST"), &hosts);
            (servers, processes)
        })
        .collect();
    for ((servers, processes), (line, _, windows)) in started.into_iter().zip(SCHEDULES) {
        for run in [processes.ghz, processes.ours].map(|process| process.finish(LIMIT)) {
            assert_eq!(run.code, Some(0), "{line}: {}", run.stderr);
        }
        let arrivals = servers.map(|server| server.arrivals());
        check_arrivals(line, &arrivals, windows);
    }
}

/// Each window has as many arrivals as the schedule says and as the other has, and the n-th
/// arrival of one comes when that of the other does. Both count from their first arrival.
fn check_arrivals(line: &str, arrivals: &Both<Vec<u64>>, windows: &[u64]) {
    let total: usize = line.rsplit("-n ").next().unwrap().parse().unwrap();
    let (ghz, ours) = (&arrivals.ghz, &arrivals.ours);
    assert_eq!((ghz.len(), ours.len()), (total, total), "{line}");
    let first = first_due(line);
    let count = |arrivals: &[u64], window: usize| {
        let at = |time: &u64| (time - arrivals[0]) as f64 / 1e9 + first;
        // Half a millisecond more: what is due at an edge belongs before it.
        let edge = |n: usize| n as f64 + 0.0005;
        let inside = |time: &&u64| at(time) > edge(window) - 1.0 && at(time) <= edge(window);
        arrivals.iter().filter(inside).count() as f64
    };
    for (n, due) in (1..).zip(windows) {
        let tolerance = 1.0 + *due as f64 * STALL.as_secs_f64();
        let counts = (count(ghz, n), count(ours, n));
        let apart = (counts.0 - counts.1).abs();
        assert!(apart <= tolerance, "{line}: second {n}: {counts:?}");
        let off = (counts.1 - *due as f64).abs();
        assert!(
            off <= tolerance,
            "{line}: second {n}: {counts:?}, not {due}"
        );
    }
    let offset = |arrivals: &[u64], n: usize| (arrivals[n] - arrivals[0]) as f64;
    let mut apart: Vec<f64> = (0..total)
        .map(|n| (offset(ghz, n) - offset(ours, n)).abs())
        .collect();
    apart.sort_by(f64::total_cmp);
    let limit = match line.contains("concurrency") {
        // A worker's next call waits for its answer, so what each takes longer adds up: two
        // milliseconds a call are 80 after 40.
        true => 8.0 * APART,
        false => APART,
    };
    let median = apart[total / 2];
    assert!(median < limit, "{line}: {median} ns apart");
}

/// When the first call is due, in seconds.
fn first_due(line: &str) -> f64 {
    let after = |flag: &str| {
        let (_, rest) = line.split_once(flag)?;
        rest.split_whitespace().next()?.parse::<f64>().ok()
    };
    let rate = after("-r ").or_else(|| after("--load-start "));
    rate.map_or(0.0, |rate| 1.0 / rate)
}

/// The run is as much longer than its arrivals as the first call waits.
#[test]
fn the_first_call_is_due_at_one_by_the_rate() {
    if original().is_none() {
        return;
    }
    let _turn = alone();
    let server = || Serve::new("--grpc --arrival-log");
    let servers = Both {
        ghz: server(),
        ours: server(),
    };
    let hosts = Both {
        ghz: servers.ghz.address().to_string(),
        ours: servers.ours.address().to_string(),
    };
    let runs = start(&format!("{HELLO} -r 4 -n 4 -c 2 -O json HOST"), &hosts);
    let totals = reports(runs.map(|run| run.finish(LIMIT))).map(|report| report["total"].as_u64());
    let spans = servers.map(|server| {
        let arrivals = server.arrivals();
        arrivals[3] - arrivals[0]
    });
    for (total, span) in [(totals.ghz, spans.ghz), (totals.ours, spans.ours)] {
        let before = total.unwrap() - span;
        assert!((230_000_000..350_000_000).contains(&before), "{before} ns");
    }
}

/// JSON with its keys, their order and its white space, but `s` for each text and `n` for each
/// number.
fn skeleton(json: &str) -> String {
    let mut out = String::new();
    let mut rest = json;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '"' => text_length(rest),
            '-' | '0'..='9' => rest
                .find(|c: char| !"+-.eE0123456789".contains(c))
                .unwrap_or(rest.len()),
            other => other.len_utf8(),
        };
        let (piece, after) = rest.split_at(length);
        match first {
            '"' if after.starts_with(':') => out.push_str(piece),
            '"' => out.push('s'),
            '-' | '0'..='9' => out.push('n'),
            _ => out.push_str(piece),
        }
        rest = after;
    }
    out
}

/// A skeleton whose list of details has one: with a duration, ghz's last call is chance.
fn without_repeats(skeleton: &str) -> String {
    let detail = "{\"timestamp\":s,\"latency\":n,\"error\":s,\"status\":s}";
    skeleton.replace(&format!(",{detail}"), "")
}

/// How long the text is with which some JSON begins, in bytes.
fn text_length(json: &str) -> usize {
    let mut escaped = false;
    let mut inside = json.char_indices().skip(1);
    let end = inside.find(|(_, c)| {
        let ends = *c == '"' && !escaped;
        escaped = *c == '\\' && !escaped;
        ends
    });
    end.unwrap().0 + 1
}

/// The options in a report on one line, as they stand there.
fn options(json: &str) -> &str {
    let (_, rest) = json.split_once("\"options\":").unwrap();
    rest.split_once(",\"count\":").unwrap().0
}

/// Lines whose reports are compared, with what differs in their options on purpose: what ghz
/// writes, what we write, and why.
type Line<'a> = (&'a str, &'a [(&'a str, &'a str, &'a str)]);

const REPORTS: [Line<'_>; 8] = [
    ("-n 5 -c 1 HOST", &[]),
    (
        "-n 6 -c 2 --connections 2 --name 'a <name>' --tags '{\"env\":\"a&b\",\"build\":\"7\"}' \
         -d '{\"name\": \"{{.WorkerID}}\"}' -t 5s --connect-timeout 3s --skipFirst 2 \
         --count-errors --cpus 1 --authority a.test HOST",
        &[],
    ),
    (
        "-n 4 -c 2 -m '{\"x-b\":\"2\",\"x-a\":\"{{.RequestNumber}}\"}' -d '{\"name\":\"☺\"}' HOST",
        &[],
    ),
    (
        "-n 4 -c 1 --load-schedule line --load-start 50 --load-step 5 --load-end 60 --async HOST",
        &[],
    ),
    (
        "-n 4 -c 4 --concurrency-schedule step --concurrency-start 1 --concurrency-step 1 \
         --concurrency-step-duration 9s --concurrency-max-duration 20s -e HOST",
        &[],
    ),
    ("-n 3 -c 1 -B DIR/message HOST", &[]),
    (
        "-c 1 -r 20 -z 320ms HOST",
        &[(
            "\"total\":2147483647,",
            "",
            "a number that nobody gave is no setting",
        )],
    ),
    (
        "-n 3 -c 1 -m '{\"authorization\":\"Bearer abc\"}' HOST",
        &[(
            "\"Bearer abc\"",
            "\"***\"",
            "nothing that could be a secret is written to a report",
        )],
    ),
];

/// The JSON report: keys, order, types and white space, and the options to the last byte.
#[test]
fn json_reports_have_the_same_keys_in_the_same_order() {
    if original().is_none() {
        return;
    }
    let server = Serve::new("--grpc");
    let host = server.address().to_string();
    let folder = Folder::new();
    folder.write("message", b"\x0a\x03bob");
    let dir = folder.path().to_str().unwrap();
    for (line, allowed) in REPORTS {
        let line = line.replace("DIR", dir);
        let mut both = run(&format!("{HELLO} -O json {line}"), &host).map(|run| run.stdout);
        assert!(both.ghz.ends_with('}'), "{line}: ghz gave no report");
        for (theirs, ours, why) in allowed {
            assert!(both.ghz.contains(theirs), "{line}: {why}: {}", both.ghz);
            both.ghz = both.ghz.replace(theirs, ours);
        }
        let given = Both {
            ghz: options(&both.ghz),
            ours: options(&both.ours),
        };
        given.must_be_equal(&line);
        let shape = |text: String| match line.contains(" -z ") {
            true => without_repeats(&skeleton(&text)),
            false => skeleton(&text),
        };
        both.map(shape).must_be_equal(&line);
    }
    let failing = format!("{UNARY} -n 3 -c 1 -d {{\"wish\":{{\"status\":{{\"code\":5}}}}}} HOST");
    for format in ["json", "pretty"] {
        let line = format!("-O {format} {failing}");
        let both = run(&line, &host).map(|run| skeleton(&run.stdout));
        both.must_be_equal(&line);
        let line = format!("-O {format} {HELLO} -n 3 -c 1 HOST");
        let both = run(&line, &host).map(|run| skeleton(&run.stdout));
        both.must_be_equal(&line);
    }
}

/// What is fixed in the summary: labels, units left out; rows of statuses and errors as they are.
fn labels(summary: &str) -> Vec<String> {
    let label = |line: &str| match line {
        line if line.contains('|') => "[…] |".to_owned(),
        line if line.contains(" % in ") => line.split_inclusive(" in ").next().unwrap().to_owned(),
        line if line.starts_with("  [") || line.contains("Count:") || line.contains("Name:") => {
            line.to_owned()
        }
        line if line.contains(":\t") => line.split_inclusive(":\t").next().unwrap().to_owned(),
        line => line.to_owned(),
    };
    summary.lines().map(label).collect()
}

#[test]
fn summaries_and_tables_have_the_same_labels() {
    if original().is_none() {
        return;
    }
    let server = Serve::new("--grpc");
    let host = server.address().to_string();
    let failing = "-d {\"wish\":{\"status\":{\"code\":5,\"message\":\"gone\"}}}";
    for line in [
        format!("{HELLO} -n 20 -c 2 --name some HOST"),
        format!("{HELLO} -n 20 -c 2 --skipFirst 5 HOST"),
        format!("{UNARY} -n 4 -c 1 {failing} HOST"),
        format!("{UNARY} -n 4 -c 1 {failing} --count-errors HOST"),
    ] {
        let both = run(&line, &host).map(|run| labels(&run.stdout));
        both.must_be_equal(&line);
    }
    let line = format!("{UNARY} -n 2 -c 1 -O csv {failing} HOST");
    let cells = |run: Run| {
        let rows = run.stdout.lines().map(|row| match row.split_once(',') {
            Some((time, rest)) if time.parse::<f64>().is_ok() => rest.to_owned(),
            _ => row.to_owned(),
        });
        rows.collect::<Vec<String>>()
    };
    run(&line, &host).map(cells).must_be_equal(&line);
}

/// Statuses and errors in a report, with how many results had each.
fn results(report: &Value) -> BTreeMap<(String, String), usize> {
    let mut results = BTreeMap::new();
    for detail in report["details"].as_array().unwrap() {
        let text = |key: &str| detail[key].as_str().unwrap().to_owned();
        *results.entry((text("status"), text("error"))).or_default() += 1;
    }
    results
}

/// Runs the line by both, whose results must be the same.
fn check_results(line: &str, host: &str) {
    let both = reports(run(&format!("{line} -O json"), host));
    let both = both.map(|report| results(&report));
    assert!(!both.ghz.is_empty(), "{line}: no results");
    both.must_be_equal(line);
}

/// What templates make: the server gives each message back as its status's text.
#[test]
fn messages_arrive_as_ghz_sends_them() {
    if original().is_none() {
        return;
    }
    let Some(server) = Interop::new(None) else {
        return;
    };
    let message =
        |text: &str| format!("-d '{{\"responseStatus\":{{\"code\":9,\"message\":\"{text}\"}}}}'");
    let element =
        |text: &str| format!("{{\"responseStatus\":{{\"code\":9,\"message\":\"{text}\"}}}}");
    let array = format!("-d '[{},{},{}]'", element("a"), element("b"), element("c"));
    let templates = format!(
        "-d '[{},{}]'",
        element("a{{.RequestNumber}}"),
        element("b{{.RequestNumber}}")
    );
    let file = server.folder.write(
        "data.json",
        element("{{if eq .RequestNumber 2}}x{{end}}{{.RequestNumber}}"),
    );
    let snake = "-d '{\"response_status\":{\"code\":\"9\",\"message\":\"s\"}}'";
    let off = format!("--disable-template-data {}", message("{{.RequestNumber}}"));
    for data in [
        message("{{.RequestNumber}} {{.FullyQualifiedName}} {{.MethodName}} {{.ServiceName}}"),
        message("{{.InputName}} {{.OutputName}} {{.IsClientStreaming}}/{{.IsServerStreaming}}"),
        message("{{len .UUID}} {{len newUUID}} {{len (randomString 7)}} {{randomInt 4 5}}"),
        message(
            "{{add 1 .RequestNumber}} {{upper `ab`}} {{printf `%04d|%-4v|%x` .RequestNumber true 255}}",
        ),
        message("{{.WorkerID}} ☺ {{trunc 3 `abcdef`}} {{list 1 2 3 | join `-`}} {{b64enc `x`}}"),
        message(
            "{{sha256sum `x`}} {{ternary `a` `b` true}} {{`a b` | title}} {{.TimestampUnix | toString | len}}",
        ),
        message("plain"),
        array,
        templates,
        format!("-D {file}"),
        snake.to_owned(),
        off,
    ] {
        let line = format!(
            "--insecure --proto {} --call grpc.testing.TestService.UnaryCall -n 5 -c 1 {data} HOST",
            server.folder.at("test.proto")
        );
        check_results(&line, &format!("127.0.0.1:{}", server.port));
    }
}

/// The request's fields as nginx sees them.
#[test]
fn metadata_arrives_as_ghz_sends_it() {
    let port = lab::port();
    let echo = "$http_x_a|$http_x_b|$http_x_c_bin|$http_authorization|$http_te|$http_content_type|\
                $http_host|$request_method|$uri|$http_grpc_encoding|$http_grpc_accept_encoding";
    let extra = format!(
        "listen 127.0.0.1:{port} http2;\nlocation /grpc. {{ default_type application/grpc; \
         add_header grpc-status 9 always; add_header grpc-message \"{echo}\" always; return 200; }}"
    );
    let nginx = Nginx {
        processes: Processes::One,
        identity: None,
        extra: &extra,
    };
    let (Some(_), Some(_nginx)) = (original(), nginx.start()) else {
        return;
    };
    let folder = Folder::new();
    let proto =
        "syntax = \"proto3\"; package grpc; message E {} service S { rpc M(E) returns (E); }";
    let proto = folder.write("s.proto", proto);
    let raw = folder.write(
        "m.json",
        "{\"x-a\":\"{{.RequestNumber}}\",\"X-B\":\"file\"}",
    );
    for flags in [
        "-m '{\"X-A\":\"a b\",\"x-b\":\"{{.RequestNumber}}-{{.MethodName}}\"}'",
        "-m '{\"x-c-bin\":\"AAEC\",\"authorization\":\"Bearer t\"}'",
        "--authority some.test -e",
        &format!("-M {raw}"),
        "",
    ] {
        let line = format!("--insecure --proto {proto} --call grpc.S/M -n 3 -c 1 {flags} HOST");
        check_results(&line, &format!("127.0.0.1:{port}"));
    }
}

/// Calls that fail: the statuses and the words are ghz's.
#[test]
fn failures_have_the_same_statuses_and_words() {
    if original().is_none() {
        return;
    }
    let Some(server) = Interop::new(None) else {
        return;
    };
    let status = |code: u8, text: &str| {
        format!("-d '{{\"responseStatus\":{{\"code\":{code},\"message\":\"{text}\"}}}}'")
    };
    for (method, flags) in [
        ("UnaryCall", status(7, "no, \\\"never\\\"")),
        ("UnaryCall", status(14, "100 % ☺ <b>")),
        ("UnaryCall", status(1, "")),
        ("FullDuplexCall", status(16, "who?")),
        ("UnimplementedCall", String::new()),
        ("UnaryCall", "-e".to_owned()),
    ] {
        let proto = server.folder.at("test.proto");
        let line = format!(
            "--insecure --proto {proto} --call grpc.testing.TestService/{method} -n 3 -c 1 {flags} HOST"
        );
        check_results(&line, &format!("127.0.0.1:{}", server.port));
    }
    let at = |flags: &str| {
        let proto = server.folder.at("test.proto");
        format!("--insecure --proto {proto} --call grpc.testing.TestService/{flags} -n 3 -c 1 HOST")
    };
    check_results(&at("EmptyCall"), &format!("127.0.0.1:{}", lab::port()));
    // The server keeps the deadline too, and in ghz it is chance whose words are told.
    let slow = "-d '{\"responseParameters\":[{\"size\":5,\"intervalUs\":2000000}]}'";
    let line = at(&format!("StreamingOutputCall -O json -t 100ms {slow}"));
    let both = reports(run(&line, &format!("127.0.0.1:{}", server.port)));
    let both = both.map(|report| report["statusCodeDistribution"].to_string());
    assert_eq!(both.ours, "{\"DeadlineExceeded\":3}");
    both.must_be_equal(&line);
}

/// Our greeter's definition.
fn greeter() -> String {
    let path = lab::repository().join("crates/target/proto/helloworld/greeter.proto");
    path.to_str().unwrap().to_owned()
}

/// Lines whose results differ on purpose: what ghz's statuses and words begin with, what ours
/// begin with, and why.
type Difference<'a> = (&'a str, (&'a str, &'a str), (&'a str, &'a str), &'a str);

/// Why words differ where a server does what the protocol does not allow.
const OUR_WORDS: &str = "what is against the protocol is told in our words, as everywhere";

const DIFFERENT: [Difference<'_>; 9] = [
    (
        r#"UNARY -d {"wish":{"oddity":"ODDITY_HTTP"}}"#,
        (
            "Unavailable",
            "unexpected HTTP status code received from server: 503",
        ),
        ("Unavailable", "HTTP status 503, not a gRPC reply"),
        OUR_WORDS,
    ),
    (
        r#"UNARY -d {"wish":{"oddity":"ODDITY_RESET"}}"#,
        (
            "Internal",
            "stream terminated by RST_STREAM with error code: INTERNAL_ERROR",
        ),
        ("Internal", "the HTTP/2 stream ended with INTERNAL_ERROR"),
        OUR_WORDS,
    ),
    (
        r#"UNARY -d {"wish":{"oddity":"ODDITY_NO_STATUS"}}"#,
        (
            "Internal",
            "server closed the stream without sending trailers",
        ),
        ("Internal", "the reply ended without trailers"),
        OUR_WORDS,
    ),
    (
        r#"UNARY -d {"wish":{"oddity":"ODDITY_CONTENT_TYPE"}}"#,
        ("Unknown", "transport: received unexpected content-type"),
        ("Unknown", "the content-type is not application/grpc"),
        OUR_WORDS,
    ),
    (
        r#"UNARY -d {"wish":{"oddity":"ODDITY_BAD_STATUS"}}"#,
        ("Internal", "transport: malformed grpc-status"),
        ("Unknown", "the grpc-status is no code"),
        "a status that can't be read is UNKNOWN by gRPC's own rules",
    ),
    (
        r#"UNARY -d {"wish":{"oddity":"ODDITY_HALF_MESSAGE"}}"#,
        ("Internal", "unexpected EOF"),
        (
            "Unimplemented",
            "more than one message in the reply to a unary call",
        ),
        "of two mistakes the first is told: that there is a second message at all",
    ),
    (
        r#"UNARY -d {"wish":{"size":50000}} --max-recv-message-size 20kB"#,
        (
            "ResourceExhausted",
            "grpc: received message larger than max (50",
        ),
        ("ResourceExhausted", "a message is longer than the limit"),
        "the length that the server announced is not kept",
    ),
    (
        r#"UNARY -d {"wish":{"delay":"1s"}} -z 200ms"#,
        ("Unavailable", "error reading from server: read tcp"),
        ("Unavailable", "transport is closing"),
        "these are the words of ghz's documentation, and those with a port differ in each run",
    ),
    (
        "--proto PROTO --call helloworld.Greeter/SayHello",
        (
            "Unavailable",
            "connection error: desc = \"transport: authentication handshake failed: tls: ",
        ),
        (
            "Unavailable",
            "connection error: desc = \"transport: authentication handshake failed: the peer ",
        ),
        "the reason is in the words of another TLS library",
    ),
];

#[test]
fn what_differs_on_purpose_is_known() {
    if original().is_none() {
        return;
    }
    let server = Serve::new("--grpc");
    let host = server.address().to_string();
    for (line, theirs, ours, why) in DIFFERENT {
        let line = line.replace("UNARY", UNARY).replace("PROTO", &greeter());
        let both = reports(run(&format!("{line} -n 2 -c 1 -O json HOST"), &host));
        let both = both.map(|report| results(&report));
        for (results, (status, words)) in [(both.ghz, theirs), (both.ours, ours)] {
            let text = format!("rpc error: code = {status} desc = {words}");
            let known =
                |(found, error): &(String, String)| found == status && error.starts_with(&text);
            assert!(
                !results.is_empty() && results.keys().all(known),
                "{line}: {why}: {results:?}"
            );
        }
    }
}

/// A program in a mount namespace whose `/etc/hosts` is another file; `None` where the machine
/// does not allow it.
fn with_hosts(program: &Command, hosts: &str) -> Option<Command> {
    let may = lab::has("unshare") && lab::is_root();
    if !may || !lab::run(lab::program("unshare").args(["-m", "true"])) {
        lab::lacks("mount namespaces");
        return None;
    }
    let mut command = neutral(lab::program("unshare"));
    let script = "mount --bind \"$0\" /etc/hosts && exec \"$@\"";
    command.args(["-m", "sh", "-c", script, hosts]);
    command.arg(program.get_program()).args(program.get_args());
    Some(command)
}

/// Hosts and strategies, and to which of two addresses calls go: the first, the second.
const SPREAD: [(&str, (bool, bool)); 5] = [
    ("two.test:PORT", (true, false)),
    ("dns:///two.test:PORT", (true, false)),
    (
        "--lb-strategy pick_first dns:///two.test:PORT",
        (true, false),
    ),
    ("--lb-strategy round_robin two.test:PORT", (true, false)),
    (
        "--lb-strategy round_robin dns:///two.test:PORT",
        (true, true),
    ),
];

/// Which addresses of a name calls go to, while both answer and when only the second does.
#[test]
fn calls_go_to_the_same_addresses() {
    let Some(ghz) = original() else { return };
    let folder = Folder::new();
    let hosts = folder.write(
        "hosts",
        "127.0.0.1 localhost\n127.0.0.1 two.test\n127.0.0.2 two.test\n",
    );
    let port = lab::port();
    let serve = |address: &str| Serve::new(&format!("--grpc --expose -l {address}:{port}"));
    let (first, second) = (serve("127.0.0.1"), serve("127.0.0.2"));
    let run = |program: &Command, host: &str| {
        let mut command = with_hosts(program, &hosts)?;
        let line = format!("{HELLO} -n 40 -c 4 --connections 4 {host}");
        command.args(words(&line.replace("PORT", &port.to_string())));
        Some(Process::start(&mut command).finish(LIMIT))
    };
    let ours = drumfire(["ghz"]);
    for (host, expected) in SPREAD {
        for program in [&ghz, &ours] {
            let before = (first.count("requests"), second.count("requests"));
            let Some(run) = run(program, host) else {
                return;
            };
            assert_eq!(run.code, Some(0), "{host}: {}", run.stderr);
            let after = (first.count("requests"), second.count("requests"));
            let went = (after.0 > before.0, after.1 > before.1);
            assert_eq!(went, expected, "{program:?} {host}");
        }
    }
    first.stop();
    for (host, _) in SPREAD {
        for program in [&ghz, &ours] {
            let before = second.count("requests");
            let Some(run) = run(program, host) else {
                return;
            };
            assert!(
                run.stdout.contains("[OK]   40 responses"),
                "{host}: {}",
                run.stdout
            );
            assert_eq!(second.count("requests") - before, 40, "{program:?} {host}");
        }
    }
}

/// Times of day, in reports and in templates, are those of the zone that `TZ` names.
#[test]
fn times_are_in_the_same_zone() {
    let Some(ghz) = original() else { return };
    let server = Serve::new("--grpc");
    let wish = "{\"wish\":{\"status\":{\"code\":5,\"message\":\"{{.Timestamp | trunc -6}} {{now | date `MST`}}\"}}}";
    for (zone, offset) in [
        ("Asia/Kolkata", "+05:30"),
        ("America/St_Johns", ""),
        ("UTC", "Z"),
    ] {
        let run = |mut command: Command| {
            let line = format!(
                "{UNARY} -n 1 -c 1 -O json --data '{wish}' {}",
                server.address()
            );
            command.env("TZ", zone).args(words(&line));
            let run = Process::start(&mut command).finish(LIMIT);
            serde_json::from_str::<Value>(&run.stdout).expect(&run.stderr)
        };
        let again = neutral(Command::new(ghz.get_program()));
        let both = Both {
            ghz: run(again),
            ours: run(drumfire(["ghz"])),
        };
        let seen = both.map(|report| {
            // Without the time itself: `2006-01-02T15:04:05`, and a fraction.
            let place = |text: &Value| {
                let text = text.as_str().unwrap();
                text[19..]
                    .trim_start_matches(|c: char| c == '.' || c.is_ascii_digit())
                    .to_owned()
            };
            let detail = &report["details"][0];
            let error = detail["error"].as_str().unwrap().to_owned();
            [place(&report["date"]), place(&detail["timestamp"]), error]
        });
        // A machine without zone data has UTC everywhere.
        if Path::new("/usr/share/zoneinfo").join(zone).exists() {
            assert!(
                seen.ours
                    .iter()
                    .take(2)
                    .all(|text| text.starts_with(offset)),
                "{:?}",
                seen.ours
            );
        }
        seen.must_be_equal(zone);
    }
}

/// The log has ghz's messages and keys as far as it goes.
#[test]
fn the_log_has_the_same_keys() {
    let Some(mut ghz) = original() else { return };
    let server = Serve::new("--grpc --grpc-status ABORTED:0.5");
    let folder = Folder::new();
    let log = |command: &mut Command, name: &str| {
        let path = folder.at(name);
        let line = format!("{HELLO} -n 20 -c 1 --debug {path} {}", server.address());
        let run = Process::start(command.args(words(&line))).finish(LIMIT);
        assert_eq!((run.code, &*run.stderr), (Some(0), ""));
        let text = std::fs::read_to_string(path).unwrap();
        let lines = text
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap());
        lines.collect::<Vec<Value>>()
    };
    let theirs = log(&mut ghz, "ghz");
    let ours = log(&mut drumfire(["ghz"]), "ours");
    let calls = |lines: &[Value]| {
        let of_call = |line: &&Value| line["message"] == "Received RPC Stats";
        lines
            .iter()
            .filter(of_call)
            .cloned()
            .collect::<Vec<Value>>()
    };
    let (their_calls, our_calls) = (calls(&theirs), calls(&ours));
    assert_eq!((their_calls.len(), our_calls.len()), (20, 20));
    for line in &ours {
        let same = theirs
            .iter()
            .find(|theirs| theirs["message"] == line["message"]);
        let same = same.unwrap_or_else(|| panic!("ghz has no such message: {line}"));
        for key in line.as_object().unwrap().keys() {
            assert!(same.get(key).is_some(), "{key}: {line}, {same}");
        }
    }
    for line in &our_calls {
        let same = their_calls
            .iter()
            .find(|theirs| theirs["code"] == line["code"]);
        let same = same.expect("a code of both");
        assert_eq!(
            line["error"].is_null(),
            same["error"].is_null(),
            "{line}, {same}"
        );
        for key in line["stats"].as_object().unwrap().keys() {
            assert!(same["stats"].get(key).is_some(), "{key}: {line}, {same}");
        }
    }
}

/// What ghz's exit code and ours are.
#[test]
fn exit_codes_are_the_same_but_where_nothing_succeeded() {
    if original().is_none() {
        return;
    }
    let server = Serve::new("--grpc");
    let host = server.address().to_string();
    let failing = format!("{UNARY} -d {{\"wish\":{{\"status\":{{\"code\":5}}}}}} -n 2 -c 1 HOST");
    // A script that wants to know whether a service works asks for the exit code.
    for (line, codes) in [
        (format!("{HELLO} -n 2 -c 1 HOST"), (0, 0)),
        (failing, (0, 1)),
        (format!("{HELLO}s -n 2 -c 1 HOST"), (0, 0)),
        // Both take compressed replies without being told.
        (
            format!(
                "{UNARY} -d {{\"wish\":{{\"encoding\":\"gzip\",\"size\":9000}}}} -n 2 -c 1 HOST"
            ),
            (0, 0),
        ),
        (
            "--insecure --call helloworld.Greeter/None HOST".to_owned(),
            (1, 1),
        ),
        ("--insecure HOST".to_owned(), (1, 1)),
        (format!("{HELLO} -n 2 -c 1 --bogus HOST"), (1, 1)),
        (format!("{HELLO} -n 2 -c 1 -d {{\"nope\":1}} HOST"), (1, 1)),
        (
            format!("{HELLO} -n 2 -c 1 -d {{\"name\":\"{{{{.Nope}}}}\"}} HOST"),
            (1, 1),
        ),
        // A name that is none, and a message that is too large, are found before the run.
        (
            format!("{HELLO} -n 2 -c 1 --proto PROTO nowhere.invalid:1"),
            (0, 1),
        ),
        (
            format!(
                "{HELLO} -n 2 -c 1 --proto PROTO -d {{\"name\":\"123\"}} --max-send-message-size 3B HOST"
            ),
            (0, 1),
        ),
        (format!("{HELLO} -n 2 -c 1 -o /nowhere/report HOST"), (1, 1)),
        ("--help".to_owned(), (0, 0)),
    ] {
        let both = run(&line.replace("PROTO", &greeter()), &host);
        let (found, said) = ((both.ghz.code, both.ours.code), &both.ours.stderr);
        assert_eq!(found, (Some(codes.0), Some(codes.1)), "{line}: {said}");
        let ours_alone = ["--resolve", "--plaintext"];
        assert!(
            !ours_alone.iter().any(|flag| said.contains(flag)),
            "{line}: {said}"
        );
    }
}
