//! gRPC against grpc-go's interoperability server, an independent implementation, and against our
//! own server for features that it lacks.

use crate::support::certificates::VALID;
use crate::support::program::{LIMIT, words};
use crate::support::{
    Authority, Folder, Interop, Process, Report, Run, Serve, Signal, Tap, drumfire, in_time, lab,
    load_of, punctually, wait_until,
};
use std::net::SocketAddr;
use std::thread::sleep;
use std::time::Duration;

/// The number of calls in each row, over two connections with five streams each.
const CALLS: u64 = 50;

/// Sends the calls of a row to grpc-go's server.
fn calls_of(server: &Interop, method: &str, flags: &str) -> Report {
    let load = format!("-c 2 --streams 5 -n {CALLS}");
    calls(&server.line(method, &format!("{load} {flags}")))
}

/// Runs `drumfire grpc LINE --json -`, and returns its report, whose counts must balance.
fn calls(line: &str) -> Report {
    load_of(start(line))
}

fn start(line: &str) -> Process {
    Process::start(drumfire(["grpc", "--json", "-"]).args(words(line)))
}

/// Runs `drumfire grpc LINE`.
fn grpc(line: &str) -> Run {
    Process::start(drumfire(["grpc"]).args(words(line))).finish(LIMIT)
}

/// `count` zeros, in the base64 of JSON.
fn zeros(count: usize) -> String {
    assert!(count.is_multiple_of(3));
    "A".repeat(count / 3 * 4)
}

/// A method and its flags, the numbers of messages that each call sends and receives, and the
/// minimum numbers of bytes that it sends and receives.
type Exchange<'a> = (&'a str, &'a str, (u64, u64), (u64, u64));

/// Each kind of call, with the sizes that the interoperability tests prescribe.
#[test]
fn every_kind_of_call_is_answered() {
    let Some(server) = Interop::new(None) else {
        return;
    };
    let unary = format!(
        "{{\"responseSize\":314159,\"payload\":{{\"body\":\"{}\"}}}}",
        zeros(271_827)
    );
    let input: Vec<String> = [27_183, 9, 1_827, 45_903]
        .map(|size| format!("{{\"payload\":{{\"body\":\"{}\"}}}}", zeros(size)))
        .into();
    let output =
        "{\"responseParameters\":[{\"size\":31415},{\"size\":9},{\"size\":2653},{\"size\":58979}]}";
    let duplex: Vec<String> = [31_415, 9, 2_653, 58_979]
        .map(|size| format!("{{\"responseParameters\":[{{\"size\":{size}}}]}}"))
        .into();
    let file = |name: &str, text: String| format!("-d @{}", server.folder.write(name, text));
    let unary = file("unary", unary);
    let input = file("input", format!("[{}]", input.join(",")));
    let duplex = file("duplex", format!("[{}]", duplex.join(",")));
    let output = format!("-d '{output}'");
    let repeated = format!("{duplex} --stream-count 10");
    let cut = format!("{duplex} --stream-receive 2");
    let rows: [Exchange<'_>; 7] = [
        ("EmptyCall", "", (1, 1), (5, 5)),
        ("UnaryCall", &unary, (1, 1), (271_827, 314_159)),
        ("StreamingInputCall", &input, (4, 1), (74_922, 5)),
        ("StreamingOutputCall", &output, (1, 4), (5, 93_056)),
        ("FullDuplexCall", &duplex, (4, 4), (20, 93_056)),
        ("FullDuplexCall", &repeated, (10, 10), (50, 217_536)),
        ("FullDuplexCall", "--stream-count 0", (0, 0), (0, 0)),
    ];
    for (method, flags, (sent, received), (sent_bytes, received_bytes)) in rows {
        let report = calls_of(&server, method, flags);
        let what = format!("{method} {flags}: {:#}", report.short());
        assert_eq!(report.n("requests.ok"), CALLS, "{what}");
        assert_eq!(report.at("status")["OK"], CALLS, "{what}");
        if sent + received == 0 {
            assert!(report.at("messages").is_null(), "{what}");
        } else {
            assert_eq!(report.n("messages.sent"), CALLS * sent, "{what}");
            assert_eq!(report.n("messages.received"), CALLS * received, "{what}");
        }
        for (direction, least) in [("sent", sent_bytes), ("received", received_bytes)] {
            let bytes = report.n(&format!("bytes.{direction}")) / CALLS;
            let most = least + least / 100 + 300;
            assert!(
                (least..=most).contains(&bytes),
                "{bytes} {direction}; {what}"
            );
        }
        assert_eq!(report.n("generator.connections_opened"), 2, "{what}");
    }
    // Cancelling after some messages is not a failure, and the connection stays open.
    let report = calls_of(&server, "FullDuplexCall", &cut);
    assert_eq!(report.n("requests.ok"), CALLS, "{:#}", report.short());
    assert_eq!(
        report.n("messages.received"),
        CALLS * 2,
        "{:#}",
        report.short()
    );
    assert_eq!(report.n("generator.connections_opened"), 2);
}

/// A scenario uses values of replies, checks replies, and expects a status.
#[test]
fn a_scenario_of_calls_takes_and_checks() {
    const ITERATIONS: u64 = 20;
    let Some(server) = Interop::new(None) else {
        return;
    };
    let call = "call: grpc.testing.TestService/UnaryCall";
    let plan = format!(
        "drumfire: 1\n\
         defaults: {{ target: 'localhost:{port}', plaintext: true, proto: [{proto}] }}\n\
         pools:\n  \
           chain:\n    \
             users: 2\n    \
             scenario:\n    \
             - {call}\n      \
               name: take\n      \
               data: '{{\"responseSize\": 3}}'\n      \
               expect: {{ status: OK, json: {{ $.payload.body: equals AAAA }} }}\n      \
               take: {{ body: field payload.body, all: 'json#maybe $.payload.none' }}\n      \
               on_fail: end_iteration\n    \
             - {call}\n      \
               name: give\n      \
               data: '{{\"responseSize\": 6, \"payload\": {{\"body\": \"{{{{ body }}}}{{{{ all }}}}\"}}}}'\n    \
             - {call}\n      \
               name: refused\n      \
               data: '{{\"responseStatus\": {{\"code\": 5, \"message\": \"none\"}}}}'\n      \
               expect: {{ status: 'NOT_FOUND, ALREADY_EXISTS' }}\n    \
             - {call}\n      \
               name: answered\n      \
               expect: {{ status: NOT_FOUND }}\n\
         stop: {{ iterations: {ITERATIONS} }}\n",
        port = server.port,
        proto = server.folder.at("test.proto"),
    );
    let plan = server.folder.write("plan.yaml", plan);
    let report = load_of(Process::start(&mut drumfire(["run", &plan, "--json", "-"])));
    let what = format!("{:#}", report.short());
    assert_eq!(report.n("requests.ok"), 3 * ITERATIONS, "{what}");
    assert_eq!(report.at("status")["NOT_FOUND"], ITERATIONS, "{what}");
    assert_eq!(report.at("status")["OK"], 3 * ITERATIONS, "{what}");
    let failed = report.at("errors").to_string();
    assert!(failed.contains("grpc:ok"), "{failed}");
    assert_eq!(report.n("requests.failed"), ITERATIONS, "{what}");
}

/// A server ends each call while the client still sends messages. The report counts the messages
/// that were not sent.
#[test]
fn what_a_server_does_not_let_be_sent_is_unsent() {
    let Some(server) = Interop::new(None) else {
        return;
    };
    let full = "-d '{\"responseStatus\":{\"code\":8,\"message\":\"full\"}}'";
    let streams = "--stream-count 1000 --stream-interval 5ms";
    let report = calls_of(&server, "FullDuplexCall", &format!("{full} {streams}"));
    let what = format!("{:#}", report.short());
    assert_eq!(report.at("status")["RESOURCE_EXHAUSTED"], CALLS, "{what}");
    let (sent, unsent) = (report.n("messages.sent"), report.n("messages.unsent"));
    assert_eq!(sent + unsent, CALLS * 1000, "{what}");
    assert!((CALLS..CALLS * 1000).contains(&sent), "{what}");
}

/// A server streams more messages than the client receives. The server receives each cancel at
/// once, and unread messages take no memory.
#[test]
fn a_cancel_is_told_at_once() {
    let folder = Folder::new();
    let own = Serve::new("--grpc");
    let own_line = "--call drumfire.test.v1.TestService/ServerStream \
                    -d '{\"wish\":{\"count\":1000000,\"size\":1000}}'";
    let mut rows = vec![(own.address(), own_line.to_owned())];
    let go = Interop::new(None);
    if let Some(go) = &go {
        let sizes = vec!["{\"size\":1000}"; 10_000].join(",");
        let wanted = format!("{{\"responseParameters\":[{sizes}]}}");
        let line = format!(
            "--proto {} --call grpc.testing.TestService/StreamingOutputCall -d @{}",
            go.folder.at("test.proto"),
            folder.write("wanted", wanted)
        );
        rows.push((([127, 0, 0, 1], go.port).into(), line));
    }
    for (server, line) in rows {
        punctually(Duration::from_millis(90), || cancels_of(server, &line));
    }
}

/// Runs calls that the client cancels after 10 messages. Fails if the client needs 64 MiB, or if the
/// median time until the server receives a cancel is 100 ms or more.
fn cancels_of(server: SocketAddr, line: &str) -> Result<(), String> {
    let tap = Tap::new(server, 10);
    let port = tap.port();
    let flags = format!("--plaintext -c 1 --streams 1 -n {CALLS} --stream-receive 10");
    let mut process = start(&format!("127.0.0.1:{port} {flags} {line}"));
    let mut memory = 0;
    while process.is_running() {
        memory = process.memory_most().unwrap_or(memory);
        sleep(Duration::from_millis(5));
    }
    let report = load_of(process);
    assert_eq!(report.n("requests.ok"), CALLS, "{line}");
    assert_eq!(report.n("generator.connections_opened"), 1, "{line}");
    // The tap may receive cancels after the process ends. It may miss the last one, because the
    // connection ends at the same time.
    wait_until("the cancels are heard", || {
        tap.cancels().len() as u64 >= CALLS - 1
    });
    let mut cancels = tap.cancels();
    cancels.sort();
    let (median, slowest) = (cancels[cancels.len() / 2], cancels[cancels.len() - 1]);
    eprintln!("a cancel after {median:?}, the slowest after {slowest:?}; {memory} bytes");
    assert!(memory < 64 << 20, "{memory} bytes for {line}");
    // If the machine stalls, some of the cancellations are late, but not half of them.
    in_time(median < Duration::from_millis(100), || {
        format!("{cancels:?}")
    })
}

#[test]
fn statuses_have_their_names_and_words() {
    let Some(server) = Interop::new(None) else {
        return;
    };
    let status = |code: u8, text: &str| {
        format!("-d '{{\"responseStatus\":{{\"code\":{code},\"message\":\"{text}\"}}}}'")
    };
    let odd = "\\t\\ntest with whitespace\\r\\nand Unicode BMP ☺ and non-BMP 😈\\t\\n";
    let (unary, duplex) = ("UnaryCall", "FullDuplexCall");
    let waits =
        "-d '{\"responseParameters\":[{\"size\":5,\"intervalUs\":2000000}]}' --deadline 50ms";
    let wide = "-d '{\"responseSize\":5000}' --max-receive 4kB";
    let rows = [
        (unary, status(2, odd), "UNKNOWN", "grpc:unknown", odd),
        (duplex, status(2, odd), "UNKNOWN", "grpc:unknown", odd),
        (
            unary,
            status(7, "no"),
            "PERMISSION_DENIED",
            "grpc:permission_denied",
            "no",
        ),
        (
            unary,
            status(14, "100%"),
            "UNAVAILABLE",
            "grpc:unavailable",
            "100%",
        ),
        (
            unary,
            status(16, ""),
            "UNAUTHENTICATED",
            "grpc:unauthenticated",
            "",
        ),
        (
            "UnimplementedCall",
            String::new(),
            "UNIMPLEMENTED",
            "grpc:unimplemented",
            "UnimplementedCall",
        ),
        // grpc-go's server is built without gzip, and refuses it.
        (
            unary,
            "--compress gzip -d '{\"responseSize\":1}'".into(),
            "UNIMPLEMENTED",
            "grpc:unimplemented",
            "gzip",
        ),
        (
            duplex,
            waits.into(),
            "DEADLINE_EXCEEDED",
            "timeout:total",
            "",
        ),
        (
            unary,
            wide.into(),
            "RESOURCE_EXHAUSTED",
            "limit:message",
            "",
        ),
    ];
    for (method, flags, name, kind, text) in rows {
        let report = calls_of(&server, method, &flags);
        check_failed(&report, (name, kind, text));
    }
}

/// Checks that every call failed with this kind, and left its connection open.
fn check_failed(report: &Report, (name, kind, text): (&str, &str, &str)) {
    let what = format!("{kind}: {:#}", report.short());
    assert_eq!(report.n("requests.failed"), CALLS, "{what}");
    assert_eq!(report.at("status")[name], CALLS, "{what}");
    assert_eq!(report.kind(kind), CALLS, "{what}");
    let said = report.at("errors")[0]["message"].as_str().unwrap();
    assert!(said.contains(text), "{said:?}; {what}");
    assert_eq!(report.code, Some(1), "{what}");
    assert_eq!(report.n("generator.connections_opened"), 2, "{what}");
}

/// Messages of feeds and templates arrive unchanged: the server returns each one as the message of
/// its status.
#[test]
fn feeds_and_templates_arrive_as_written() {
    let Some(server) = Interop::new(None) else {
        return;
    };
    let csv = "id,name\n1,Ada\n2,\"Bob \"\"B\"\" ☺\"\n3,\"a\\b, c\"\n";
    let csv = server.folder.write("people.csv", csv);
    let lines = "{\"id\":1,\"name\":\"x\"}\n{\"id\":2,\"name\":\"y z\"}\n";
    let lines = server.folder.write("people.jsonl", lines);
    let message =
        |text: &str| format!("-d '{{\"responseStatus\":{{\"code\":9,\"message\":\"{text}\"}}}}'");
    let from_csv = format!(
        "--feed u={csv} {}",
        message("{{ u.id }} {{ u.name }} {{ request_number }}")
    );
    let once = format!("--feed-order once {from_csv}");
    let from_lines = format!("--feed u={lines} {}", message("{{ u.id }}-{{ u.name }}"));
    let plain = format!("--no-templates {}", message("{{ u.id }}"));
    let array = "-d '[{\"responseStatus\":{\"code\":9,\"message\":\"a\"}},{\"responseStatus\":{\"code\":9,\"message\":\"b\"}}]'";
    let in_turn = ["1 Ada 0", "2 Bob \"B\" ☺ 1", "3 a\\b, c 2", "1 Ada 3"];
    let array_once = format!("{array} --order once");
    let rows: [(&str, &[&str]); 6] = [
        (&from_csv, &in_turn),
        (&once, &in_turn[..3]),
        (&from_lines, &["1-x", "1-x", "2-y z", "2-y z"]),
        (&plain, &["{{ u.id }}"; 4]),
        (array, &["a", "a", "b", "b"]),
        (&array_once, &["a", "b"]),
    ];
    for (flags, expected) in rows {
        let report = calls(&server.line("UnaryCall", &format!("-c 1 -n 4 {flags}")));
        let errors = report.at("errors").as_array().unwrap();
        let mut seen: Vec<String> = Vec::new();
        for error in errors {
            // A report escapes terminal control characters.
            let text = error["message"].as_str().unwrap().replace("\\\\", "\\");
            seen.extend((0..error["count"].as_u64().unwrap()).map(|_| text.clone()));
        }
        seen.sort();
        let mut expected: Vec<String> = expected.iter().map(|&text| text.to_owned()).collect();
        expected.sort();
        assert_eq!(seen, expected, "{flags}: {:#}", report.short());
    }
}

/// TLS by ALPN, with the server's certificate verified.
#[test]
fn calls_over_tls() {
    let Some(authority) = Authority::new() else {
        return;
    };
    let identity = authority.sign("localhost", "DNS:localhost", VALID);
    let Some(server) = Interop::new(Some(identity)) else {
        return;
    };
    let trust = format!("--cacert {}", authority.certificate);
    let large = format!("{trust} -d '{{\"responseSize\":100000}}'");
    let report = calls_of(&server, "UnaryCall", &large);
    assert_eq!(report.n("requests.ok"), CALLS, "{:#}", report.short());
    assert_eq!(report.at("generator.tls_verified"), true);
    let report = calls_of(
        &server,
        "FullDuplexCall",
        &format!("{trust} --stream-count 20"),
    );
    assert_eq!(
        report.n("messages.sent"),
        CALLS * 20,
        "{:#}",
        report.short()
    );
    let report = calls_of(&server, "EmptyCall", "");
    assert_eq!(report.kind("tls:untrusted"), CALLS, "{:#}", report.short());
    assert_eq!(report.at("status")["UNAVAILABLE"], CALLS);
    // Each side expects TLS while the other does not.
    let plain = server.line("EmptyCall", "-c 1 -n 3 --plaintext");
    let report = calls(&plain);
    assert_eq!(report.n("requests.failed"), 3, "{:#}", report.short());
    assert_eq!(report.code, Some(1));
}

/// A server is killed and restarted during a run. The client connects again, and every failure is a
/// lost or refused connection.
#[test]
fn a_server_that_dies_and_returns_costs_what_was_under_way() {
    let Some(mut server) = Interop::new(None) else {
        return;
    };
    let load = "-r 300/s -z 2m -c 2 --streams 50 -d '{\"responseSize\":1000}'";
    let process = start(&server.line("UnaryCall", load));
    // Only the number of connections shows that the run sends requests.
    let load_for_a_second = |port| {
        wait_until("a load", || lab::connections(port) == 2);
        sleep(Duration::from_secs(1));
    };
    load_for_a_second(server.port);
    let dying = server.process.take().unwrap();
    dying.signal(Signal::KILL);
    drop(dying);
    sleep(Duration::from_millis(300));
    server.start();
    load_for_a_second(server.port);
    process.signal(Signal::INT);
    let report = load_of(process);
    let what = format!("{:#}", report.short());
    assert_eq!(report.n("requests.in_flight"), 0, "{what}");
    assert!(report.n("requests.ok") > 0, "{what}");
    assert!(report.n("generator.connections_opened") > 2, "{what}");
    for kind in report.kinds() {
        let prefix = kind.split(':').next().unwrap();
        assert!(
            ["connect", "closed", "reset", "send", "truncated"].contains(&prefix),
            "{kind}; {what}"
        );
    }
}

/// Mistakes with servers of other projects, and the required parts of stderr. `{go}` is a server
/// without reflection, `{tls}` one with TLS.
const MISTAKES: [(&str, i32, &[&str]); 5] = [
    (
        "{go} --plaintext --list",
        1,
        &["does not support reflection", "--proto"],
    ),
    ("{go} --list", 1, &["TLS", "use --plaintext"]),
    ("{tls} --plaintext --list", 1, &["leave out --plaintext"]),
    (
        "{closed} --plaintext --list",
        1,
        &["refused the connection"],
    ),
    (
        "{go} --plaintext --proto {dir}/test.proto --call grpc.testing.TestServices/EmptyCall",
        2,
        &["--call: ", "grpc.testing.TestService`"],
    ),
];

#[test]
fn mistakes_are_named() {
    let Some(authority) = Authority::new() else {
        return;
    };
    let identity = authority.sign("localhost", "DNS:localhost", VALID);
    let (Some(go), Some(tls)) = (Interop::new(None), Interop::new(Some(identity))) else {
        return;
    };
    let dir = go.folder.path().to_str().unwrap();
    let fill = |text: &str| {
        let at = |port: u16| format!("localhost:{port}");
        text.replace("{go}", &at(go.port))
            .replace("{tls}", &at(tls.port))
            .replace("{closed}", &at(lab::port()))
            .replace("{dir}", dir)
    };
    for (line, code, texts) in MISTAKES {
        let run = grpc(&fill(line));
        assert_eq!(run.code, Some(code), "{line}: {}{}", run.stderr, run.stdout);
        assert!(
            run.stderr.starts_with("drumfire: "),
            "{line}: {}",
            run.stderr
        );
        for text in texts {
            assert!(run.stderr.contains(&fill(text)), "{line}: {}", run.stderr);
        }
    }
}
