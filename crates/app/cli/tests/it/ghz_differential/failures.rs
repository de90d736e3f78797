//! Calls that fail.

use super::{UNARY, check_results, greeter, original, reports, results, run};
use crate::support::{Interop, Serve, lab};

/// Failed calls have ghz's statuses and messages.
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
    // The server enforces the deadline too, and in ghz it is chance which side's message is
    // reported.
    let slow = "-d '{\"responseParameters\":[{\"size\":5,\"intervalUs\":2000000}]}'";
    let line = at(&format!("StreamingOutputCall -O json -t 100ms {slow}"));
    let both = reports(run(&line, &format!("127.0.0.1:{}", server.port)));
    let both = both.map(|report| report["statusCodeDistribution"].to_string());
    assert_eq!(both.ours, "{\"DeadlineExceeded\":3}");
    both.must_be_equal(&line);
}

/// Removes the name server, which Go's own resolver adds to its messages.
fn without_name_server(text: &str) -> String {
    let Some((before, after)) = text.split_once(" on ") else {
        return text.to_owned();
    };
    let end = after.find(": ").unwrap_or(0);
    format!("{before}{}", &after[end..])
}

/// A name without an address makes every call fail, in every form of the report.
#[test]
fn a_name_without_an_address_fails_every_call() {
    if original().is_none() {
        return;
    }
    for host in ["nowhere.invalid:1", "dns:///nowhere.invalid:1"] {
        let line = format!(
            "--insecure --proto {} --call helloworld.Greeter/SayHello -n 4 -c 2 -O json HOST",
            greeter()
        );
        let both = reports(run(&line, host)).map(|report| {
            let results = results(&report).into_iter();
            let results: Vec<_> = results
                .map(|((status, error), n)| (status, without_name_server(&error), n))
                .collect();
            (
                results,
                report["count"].clone(),
                report["endReason"].clone(),
            )
        });
        assert_eq!(both.ours.0.len(), 1, "{:?}", both.ours);
        both.must_be_equal(&line);
        for format in ["summary", "csv", "influx-details", "prometheus"] {
            let line = line.replace("-O json", &format!("-O {format}"));
            let both = run(&line, host).map(|run| {
                let words = |text: &&str| {
                    ["Unavailable", "desc = "]
                        .iter()
                        .any(|word| text.contains(word))
                };
                let lines = run.stdout.lines().filter(words).count();
                (lines, run.stdout.contains("such"))
            });
            both.must_be_equal(&line);
        }
    }
}

/// Lines whose results differ on purpose: the beginnings of ghz's status and message, of ours, and
/// the reason.
type Difference<'a> = (&'a str, (&'a str, &'a str), (&'a str, &'a str), &'a str);

/// Why messages differ if a server violates the protocol.
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
        ("Unknown", "the grpc-status is not a valid code"),
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
        r#"UNARY -d {"wish":{"delay":"60s"}} -z 1s"#,
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
