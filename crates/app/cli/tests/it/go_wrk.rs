//! go-wrk's command lines unchanged, and its report byte for byte.

use crate::support::certificates::VALID;
use crate::support::peers::{self, Nginx};
use crate::support::program::{LIMIT, PATH, neutral, words};
use crate::support::script::{Peer, field};
use crate::support::{
    Authority, Folder, Process, Run, Script, Serve, Signal, drumfire, wait_until,
};
use std::os::unix::fs::symlink;
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

fn obliging(peer: &mut Peer) {
    while peer.request().is_some() && peer.send(OK) {}
}

/// `drumfire go-wrk LINE`.
fn go_wrk(line: &str) -> Run {
    let mut command = drumfire(["go-wrk"]);
    Process::start(command.args(words(line))).finish(LIMIT)
}

/// Matches a line against a mask with placeholders: a count, a time as Go prints it, a size, two
/// decimals.
fn matches(mask: &str, line: &str) -> bool {
    let Some((before, rest)) = mask.split_once('{') else {
        return mask == line;
    };
    let (kind, mask) = rest.split_once('}').unwrap();
    let Some(line) = line.strip_prefix(before) else {
        return false;
    };
    // The shortest value with which the rest matches.
    (1..=line.len()).any(|end| {
        line.is_char_boundary(end) && fits(kind, &line[..end]) && matches(mask, &line[end..])
    })
}

fn fits(kind: &str, text: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let unit = |units: &[&str]| units.iter().find_map(|unit| text.strip_suffix(unit));
    let two = |text: &str| {
        let parts = text.split_once('.');
        parts.is_some_and(|(whole, part)| digits(whole) && digits(part) && part.len() == 2)
    };
    match kind {
        "count" => digits(text),
        "text" => !text.is_empty(),
        "two" => two(text),
        "size" => unit(&["KB", "MB", "GB", "bytes"]).is_some_and(two),
        // With a resolution of microseconds: 98µs, 46.608ms, 1.001867s.
        "time" => unit(&["\u{b5}s", "ms", "s"]).is_some_and(|number| {
            let (whole, part) = number.split_once('.').unwrap_or((number, "0"));
            digits(whole) && digits(part) && part.len() <= 6
        }),
        // In nanoseconds: 689.479µs, 10.012950719s.
        "span" => unit(&["\u{b5}s", "ms", "s"]).is_some_and(|number| {
            let (whole, part) = number.split_once('.').unwrap_or((number, "0"));
            digits(whole) && digits(part) && part.len() <= 9
        }),
        other => panic!("no kind {other}"),
    }
}

const OVERALL: &str = "Overall Requests/sec:\t{two}\nOverall Transfer/sec:\t{size}\n";
const NO_ERRORS: &str = "Number of Errors:\t0\n";
const ERRORS: &str = "Error Counts:\t\tmap[]\n";

/// The report with its labels, tabs and units.
fn report(seconds: u32, users: u32, url: &str) -> String {
    format!(
        "Running {seconds}s test @ {url}\n  {users} goroutine(s) running concurrently\n\
         {{count}} requests in {{span}}, {{size}} read\n\
         Requests/sec:\t\t{{two}}\nTransfer/sec:\t\t{{size}}\n{OVERALL}\
         Fastest Request:\t{{time}}\nAvg Req Time:\t\t{{time}}\nSlowest Request:\t{{time}}\n\
         Number of Errors:\t0\n\
         10%:\t\t\t{{time}}\n50%:\t\t\t{{time}}\n75%:\t\t\t{{time}}\n99%:\t\t\t{{time}}\n\
         99.9%:\t\t\t{{time}}\n99.9999%:\t\t{{time}}\n99.99999%:\t\t{{time}}\n\
         stddev:\t\t\t{{time}}\n"
    )
}

/// Compares line by line.
fn check(text: &str, mask: &str) {
    let (lines, masks): (Vec<&str>, Vec<&str>) = (text.lines().collect(), mask.lines().collect());
    assert_eq!(lines.len(), masks.len(), "wanted\n{mask}\nsaw\n{text}");
    for (line, mask) in lines.iter().zip(masks) {
        assert!(matches(mask, line), "{line:?} is no {mask:?}");
    }
    assert!(text.ends_with('\n'));
}

/// The command line of go-wrk's own page, as a subcommand and by the name of the link; with one
/// second instead of ten, and more time for each response.
#[test]
fn the_seeds_command_line_runs_as_it_stands() {
    let folder = Folder::new();
    let link = folder.at("go-wrk");
    symlink(PATH, &link).unwrap();
    let serve = Serve::new("");
    let url = serve.url.replace("127.0.0.1", "localhost") + "plaintext";
    for users in [2048, 10] {
        // go-wrk waits for one second, which is short for 2,048 connections on a busy machine.
        let line = format!("-c {users} -d 1 -T 20000 {url}");
        let mut by_name = neutral(Command::new(&link));
        let by_name = Process::start(by_name.args(line.split(' '))).finish(LIMIT);
        for run in [go_wrk(&line), by_name] {
            assert_eq!((run.code, &*run.stderr), (Some(0), ""), "{}", run.stdout);
            check(&run.stdout, &report(1, users, &url));
        }
    }
}

#[test]
fn the_older_shape_has_no_overall_lines_and_always_a_map() {
    let serve = Serve::new("");
    let mask = report(1, 5, &serve.url)
        .replace(OVERALL, "")
        .replace("Errors:\t0\n", &format!("Errors:\t0\n{ERRORS}"));
    for line in [
        "--seed-format -c 5 -d 1 -T 20000 URL",
        "-c 5 -d 1 -T 20000 URL -seed-format",
    ] {
        let run = go_wrk(&line.replace("URL", &serve.url));
        check(&run.stdout, &mask);
    }
    let run = go_wrk("-seed-format -c 2 -d 1 http://127.0.0.1:9/");
    let errors = "Error Counts:\t\tmap[connection refused:{count}]\n";
    check(
        &run.stdout,
        &format!("{}{errors}", failure("127.0.0.1:9", 2)),
    );
}

/// The report of a run without a success, except for its last line.
fn failure(host: &str, users: u32) -> String {
    format!(
        "Running 1s test @ http://{host}/\n  {users} goroutine(s) running concurrently\n\
         Error: No statistics collected / no requests found\nNumber of Errors:\t{{count}}\n"
    )
}

/// A server's behaviour, and the text of the error; the exit code is 0 nevertheless.
#[test]
fn errors_have_go_s_texts() {
    let refused = go_wrk("-c 2 -d 1 http://127.0.0.1:9/");
    let last = "Error Counts:\t\tconnection refused={count}\n";
    check(&refused.stdout, &(failure("127.0.0.1:9", 2) + last));
    assert_eq!(refused.code, Some(0));
    let serve = Serve::new("");
    for (query, timeout, text) in [
        ("hangup=1", 20_000, "EOF={count}"),
        ("cut=1", 20_000, "connection reset by peer={count}"),
        ("reset=1", 20_000, "connection reset by peer={count}"),
        ("status=404", 20_000, "received status code 404={count}"),
        (
            "delay=const:1m",
            900,
            "net/http: timeout awaiting response headers={count}",
        ),
    ] {
        let run = go_wrk(&format!("-c 2 -d 1 -T {timeout} {}?{query}", serve.url));
        let host = format!("{}", serve.address());
        let mask = failure(&host, 2).replace("/\n  2", &format!("/?{query}\n  2"));
        check(&run.stdout, &format!("{mask}Error Counts:\t\t{text}\n"));
    }
    let run = go_wrk(&format!("-c 4 -d 1 -T 20000 {}?status=503:0.5", serve.url));
    assert!(
        run.stdout
            .contains("\nError Counts:\t\treceived status code 503="),
        "{}",
        run.stdout
    );
}

/// Flags, the beginning of the request, and fields with their values.
type Row<'a> = (&'a str, &'a str, &'a [(&'a str, Option<&'a str>)]);

/// Flags, and the parts of the request that they change.
#[test]
fn flags_reach_the_wire() {
    let folder = Folder::new();
    let body = folder.write("body", "from a file");
    let rows: [Row<'_>; 8] = [
        (
            "",
            "GET /a?b=c%20d=e HTTP/1.1",
            &[("accept-encoding", Some("gzip"))],
        ),
        ("-no-c", "GET ", &[("accept-encoding", None)]),
        ("-no-ka", "GET ", &[("connection", Some("close"))]),
        (
            "-M PATCH -body hello",
            "PATCH ",
            &[("content-length", Some("5"))],
        ),
        (
            "-body @BODY -M POST",
            "POST ",
            &[("content-length", Some("11"))],
        ),
        (
            "-H 'X-One: 1' -H 'X-Two: 2'",
            "GET ",
            &[("x-one", Some("1")), ("x-two", Some("2"))],
        ),
        ("-host api.test", "GET ", &[("host", Some("api.test"))]),
        ("-H=A:b --cpus=1", "GET ", &[("a", Some("b"))]),
    ];
    for (flags, start, fields) in rows {
        let flags = flags.replace("BODY", &body);
        for line in [
            format!("-c 1 -d 1 -T 20000 {flags} URL"),
            format!("URL {flags} -c 1 -d 1 -T 20000"),
        ] {
            let script = Script::new(|peer| {
                while peer.request().is_some() {
                    sleep(Duration::from_millis(50));
                    if !peer.send(OK) {
                        return;
                    }
                }
            });
            let url = format!("{}a?b=c%20d=e", script.url());
            let run = go_wrk(&line.replace("URL", &url));
            assert_eq!(run.code, Some(0), "{line}: {}", run.stderr);
            assert!(run.stdout.contains(NO_ERRORS), "{line}: {}", run.stdout);
            let head = script.heads().pop().unwrap();
            assert!(head.starts_with(start), "{line}: {head}");
            for (name, value) in fields {
                assert_eq!(field(&head, name), *value, "{line}: {name} in {head}");
            }
            if flags == "-no-ka" {
                // The last connection may have been opened when the time was up.
                wait_until("each connection has its request", || {
                    script.connections() == script.heads().len() as u64
                });
            }
        }
    }
}

#[test]
fn a_list_is_replayed_in_order_and_a_lone_line_works() {
    let folder = Folder::new();
    let script = Script::new(obliging);
    let url = script.url();
    let list = folder.write("list", format!("{url}a\n{url}b\n\n{url}c\n"));
    let run = go_wrk(&format!("-c 1 -d 1 -T 20000 -f {list}"));
    assert!(
        run.stdout.contains(NO_ERRORS),
        "{}{}",
        run.stdout,
        run.stderr
    );
    let heads = script.heads();
    assert!(heads.len() > 3);
    for (head, path) in heads.iter().zip(["a", "b", "c"].iter().cycle()) {
        assert!(head.starts_with(&format!("GET /{path} ")), "{head}");
    }
    let lone = folder.write("lone", format!("{url}lone\n"));
    let run = go_wrk(&format!("-c 1 -d 1 -T 20000 -f {lone}"));
    assert!(run.stdout.contains(NO_ERRORS), "{}", run.stdout);
    assert!(script.heads().pop().unwrap().starts_with("GET /lone "));
}

/// `-T` limits the whole exchange: a body that stalls forever does not block a user.
#[test]
fn the_timeout_covers_the_body() {
    let script = Script::new(|peer| {
        if peer.request().is_some() {
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nsome");
            peer.hold();
        }
    });
    // Long enough for a head on a busy machine.
    let run = go_wrk(&format!("-c 2 -d 1 -T 2000 {}", script.url()));
    assert!(
        run.stdout
            .contains("context deadline exceeded (Client.Timeout"),
        "{}",
        run.stdout
    );
}

#[test]
fn trust_may_be_given_alone_or_waived() {
    let folder = Folder::new();
    let (ca, client) = (folder.at("ca.pem"), folder.at("client"));
    let serve = Serve::new(&format!("--tls --tls-ca {ca} --tls-client {client}"));
    let url = serve.url.replace("127.0.0.1", "localhost");
    for flags in [
        format!("-ca {ca} -T 20000"),
        "-no-vr -T 20000".to_owned(),
        format!("-ca {ca} -cert {client}.crt -key {client}.key -T 20000 -no-c"),
    ] {
        let run = go_wrk(&format!("-c 2 -d 1 {flags} {url}"));
        assert!(run.stdout.contains(NO_ERRORS), "{flags}: {}", run.stdout);
        let waived = run.stderr.contains("not verified");
        assert_eq!(waived, flags.contains("-no-vr"), "{flags}: {}", run.stderr);
    }
    let run = go_wrk(&format!("-c 2 -d 1 {url}"));
    let unknown = "x509: certificate signed by unknown authority=";
    assert!(run.stdout.contains(unknown), "{}", run.stdout);
}

/// nghttpd supports only HTTP/2, and this nginx only HTTP/1.1.
#[test]
fn http2_is_used_where_the_server_chooses_it() {
    let Some(authority) = Authority::new() else {
        return;
    };
    let identity = authority.sign("localhost", "DNS:localhost,IP:127.0.0.1", VALID);
    let Some(only) = peers::nghttpd(Some(&identity), "") else {
        return;
    };
    let nginx = Nginx {
        identity: Some(&identity),
        ..Nginx::default()
    };
    let Some(without) = nginx.start() else { return };
    let (only, without) = (only.tls_url(""), without.tls_url(""));
    let ca = format!("-ca {}", authority.certificate);
    let client = format!("-cert {} -key {}", identity.certificate, identity.key);
    for (flags, url, succeeds) in [
        (format!("{ca} -http"), &only, true),
        (format!("{ca} {client}"), &only, true),
        (format!("{ca} {client} -c 250"), &only, true),
        (ca.clone(), &only, false),
        (format!("{ca} {client} -http=false"), &only, false),
        (format!("{ca} -http"), &without, true),
        (format!("{ca} {client}"), &without, true),
    ] {
        let run = go_wrk(&format!("-c 3 -d 1 -T 20000 {flags} {url}"));
        let none_failed = run.stdout.contains(NO_ERRORS);
        assert_eq!(none_failed, succeeds, "{flags} {url}: {}", run.stdout);
        assert_eq!(run.stderr, "", "{flags} {url}");
    }
}

/// A handshake that the server never finishes is an error, even if its timeout had not expired.
#[test]
fn a_handshake_without_an_end_is_an_error() {
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = silent.local_addr().unwrap();
    let run = go_wrk(&format!("-T 2500 -d 1 -c 2 -no-vr https://{address}/"));
    let errors = "Number of Errors:\t2\nError Counts:\t\tnet/http: TLS handshake timeout=2\n";
    assert!(run.stdout.ends_with(errors), "{}", run.stdout);
}

#[test]
fn an_interrupt_says_stopping_and_reports() {
    let serve = Serve::new("");
    for signal in [Signal::INT, Signal::TERM] {
        let before = serve.count("requests");
        let line = format!("go-wrk -c 3 -d 30 -T 20000 {}", serve.url);
        let process = Process::start(&mut drumfire(line.split(' ')));
        serve.await_requests(before + 10);
        process.signal(signal);
        let run = process.finish(LIMIT);
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        let mask =
            report(30, 3, &serve.url).replace("concurrently\n", "concurrently\nstopping...\n");
        check(&run.stdout, &mask);
    }
}

/// As in Go's client, an empty name is not sent, and no default replaces it.
#[test]
fn an_empty_agent_is_not_sent() {
    for line in [
        "go-wrk -c 1 -d 1 -H User-Agent: URL",
        "slow_cooker -qps 5 -iterations 1 -interval 1s -header User-Agent: URL",
        "http -n 1 -H User-Agent: URL",
    ] {
        let script = Script::new(obliging);
        let line = line.replace("URL", &script.url());
        let run = Process::start(&mut drumfire(words(&line))).finish(LIMIT);
        assert_eq!(run.code, Some(0), "{line}: {}", run.stderr);
        let heads = script.heads();
        assert!(!heads.is_empty(), "{line}");
        for head in heads {
            assert_eq!(field(&head, "User-Agent"), None, "{line}: {head}");
        }
    }
}
