//! Files of requests in plans: what arrives, when, and what is said of broken ones.

use crate::support::program::LIMIT;
use crate::support::script::{WholeRequest, field};
use crate::support::{Folder, Process, Report, Run, Script, Serve, drumfire, in_time, punctually};
use std::fmt::Write as _;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// A request, and when it arrived.
#[derive(Clone)]
struct Arrived {
    request: WholeRequest,
    at: Instant,
}

/// A server that keeps what arrives.
fn server() -> (Script, Arc<Mutex<Vec<Arrived>>>) {
    Script::keeping(|request| Arrived {
        request,
        at: Instant::now(),
    })
}

fn run(pool: &str, url: &str, folder: &Folder, flags: &str) -> Run {
    let url = url.trim_end_matches('/');
    let plan = format!(
        "drumfire: 1\npools:\n  p:\n    target: \"{url}\"\n    connections: 1\n{pool}\n\
         generator: {{ threads: 1 }}\n"
    );
    let (path, json) = (folder.write("plan.yaml", plan), folder.at("result.json"));
    let mut command = drumfire(["run", &path, "--json", &json, "--no-tui"]);
    command.args(flags.split_whitespace());
    Process::start(&mut command).finish(LIMIT)
}

/// What arrives when a pool sends a file.
fn arrives(name: &str, content: &[u8], keys: &str) -> (Vec<Arrived>, Report) {
    let folder = Folder::new();
    folder.write(name, content);
    let (server, arrived) = server();
    let pool = format!("    requests: [ {{ ammo: {name}{keys} }} ]");
    let run = run(&pool, &server.url(), &folder, "");
    assert_eq!(run.code, Some(0), "{run:?}");
    let report = Report::read(&folder.at("result.json"));
    report.balances();
    let arrived = arrived.lock().unwrap().clone();
    (arrived, report)
}

/// Requests in lines: method, target, some fields, body.
fn shown(arrived: &[Arrived]) -> Vec<String> {
    let show = |Arrived { request, .. }: &Arrived| {
        let mut line = request.head.split(" HTTP/").next().unwrap().to_owned();
        for name in ["X-A", "User-Agent"] {
            let value = field(&request.head, name).unwrap_or("-");
            let value = value.split('/').next().unwrap();
            let _ = write!(line, " {value}");
        }
        let hosts = request.head.matches("\r\nHost: ").count();
        let host = field(&request.head, "host").unwrap();
        let host = if host.starts_with("127.") {
            "self"
        } else {
            host
        };
        let body = String::from_utf8_lossy(&request.body);
        format!("{line} {hosts}:{host} {body}")
            .trim_end()
            .to_owned()
    };
    arrived.iter().map(show).collect()
}

fn steps(report: &Report) -> Vec<(String, u64)> {
    let steps = report.at("steps").as_array().unwrap().iter();
    let counted = steps.map(|step| {
        let count = &step["requests"]["sent"];
        (
            step["name"].as_str().unwrap().to_owned(),
            count.as_u64().unwrap(),
        )
    });
    counted.collect()
}

const URI: &str =
    "/one\n[X-A: file]\n/two buy now\n[User-Agent: me]\nhttp://c.test/three buy now\n";

#[test]
fn every_format_is_sent_with_its_parts() {
    let raw =
        "POST /r HTTP/1.1\r\nHost: r.test\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi";
    let raw = format!("{} tag\n{raw}\n", raw.len());
    for (name, content, keys, expected) in [
        (
            "a.uri",
            URI,
            ", passes: 2",
            &[
                "GET /one - drumfire 1:self",
                "GET /two file drumfire 1:self",
                "GET /three file me 1:c.test",
                "GET /one - drumfire 1:self",
                "GET /two file drumfire 1:self",
                "GET /three file me 1:c.test",
            ][..],
        ),
        (
            "a.txt",
            URI,
            ", format: uri, limit: 2, headers: { X-A: plan }, override_headers: true",
            &[
                "GET /one plan drumfire 1:self",
                "GET /two plan drumfire 1:self",
            ],
        ),
        (
            "a.uri",
            URI,
            ", passes: 1, chosen: [ buy now ], headers: { X-A: plan, Host: p.test }",
            &[
                "GET /two file drumfire 1:p.test",
                "GET /three file me 1:c.test",
            ],
        ),
        (
            "a.uripost",
            "3 /p t\na\nb\n0 /q\n",
            ", passes: 1",
            &[
                "POST /p - drumfire 1:self a\nb",
                "POST /q - drumfire 1:self",
            ],
        ),
        (
            "a.raw",
            &raw,
            ", limit: 1",
            &["POST /r - drumfire 1:r.test hi"],
        ),
        (
            "a.jsonl",
            "{\"uri\": \"/j\", \"method\": \"PUT\", \"host\": \"j.test\", \"headers\": {\"X-A\": \"1\"}, \"body\": \"x\"}\n",
            ", limit: 2, preload: true",
            &[
                "PUT /j 1 drumfire 1:j.test x",
                "PUT /j 1 drumfire 1:j.test x",
            ],
        ),
    ] {
        let (arrived, report) = arrives(name, content.as_bytes(), keys);
        assert_eq!(shown(&arrived), expected, "{name}{keys}");
        assert_eq!(report.n("requests.ok"), expected.len() as u64);
    }
}

#[test]
fn tags_are_the_names_of_steps() {
    let (_, report) = arrives("a.uri", URI.as_bytes(), ", passes: 3");
    assert_eq!(
        steps(&report),
        [("GET".to_owned(), 3), ("buy now".to_owned(), 6)]
    );
    let (_, report) = arrives(
        "a.uri",
        URI.as_bytes(),
        ", passes: 1, auto_tag: 1, auto_tag_all: true",
    );
    let names: Vec<String> = steps(&report).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["/one", "buy now|/two", "buy now|/three"]);
    let (_, report) = arrives("a.uri", URI.as_bytes(), ", passes: 1, name: rest");
    assert_eq!(steps(&report)[0], ("rest".to_owned(), 1));
}

/// A log of three requests, half a second after each other.
const LOG: &str = "{\"ts\": 100.0, \"uri\": \"/a\"}\n{\"ts\": 100.5, \"uri\": \"/b\"}\n{\"ts\": 101.0, \"uri\": \"/c\"}\n";

#[test]
fn logs_are_replayed_with_their_own_timing() {
    for (speed, apart) in [("1", 500), ("2", 250), ("0.5", 1000)] {
        punctually(Duration::from_millis(100), || {
            let (arrived, report) = arrives("a.log", LOG.as_bytes(), &format!(", speed: {speed}"));
            assert_eq!(report.n("requests.ok"), 3);
            arrived.windows(2).try_for_each(|pair| {
                let took = pair[1].at.duration_since(pair[0].at).as_millis() as u64;
                let is_right = (apart - 100..apart + 400).contains(&took);
                in_time(is_right, || format!("{speed}: {took} ms"))
            })
        });
    }
    punctually(Duration::from_millis(100), || {
        let folder = Folder::new();
        folder.write("a.log", LOG);
        let (server, arrived) = server();
        let pool = "    requests: [ { ammo: a.log } ]";
        let run = run(pool, &server.url(), &folder, "--speed 4");
        assert_eq!(run.code, Some(0), "{run:?}");
        let arrived = arrived.lock().unwrap().clone();
        let took = arrived[2].at.duration_since(arrived[0].at).as_millis();
        in_time((150..600).contains(&took), || format!("{took} ms"))
    });
    let common =
        "1.1.1.1 - - [10/Oct/2000:13:55:36 -0700] \"GET /x HTTP/1.0\" 200 1 \"-\" \"me/1\"\n";
    let (arrived, _) = arrives("a.log", common.as_bytes(), ", limit: 2");
    assert_eq!(
        shown(&arrived),
        ["GET /x - me 1:self", "GET /x - me 1:self"]
    );
    let har = r#"{"log": {"entries": [{"startedDateTime": "2024-01-01T00:00:00Z",
        "request": {"method": "GET", "url": "https://h.test/p?q", "headers": [{"name": "X-A", "value": "1"}]}}]}}"#;
    let (arrived, _) = arrives("a.har", har.as_bytes(), ", speed: 1");
    assert_eq!(shown(&arrived), ["GET /p?q 1 drumfire 1:h.test"]);
}

/// Files with their keys, and what is said of them.
const REFUSED: &[(&str, &str, &str, &str)] = &[
    ("a.uri", "/a\nb\n", "", "a.uri:2: `b` is not a path"),
    ("a.uri", "", "", "a.uri: the file has no requests"),
    (
        "a.uri",
        "/a\n",
        ", chosen: [ x ]",
        "a.uri: no request in the file has a tag from this list: x",
    ),
    (
        "a.uripost",
        "9 /a\nb\n",
        "",
        "a.uripost:1: 9 bytes are expected, but the file ends after 2",
    ),
    (
        "a.raw",
        "3\nabc\n",
        "",
        "a.raw:2: the request has no empty line after its head",
    ),
    ("a.jsonl", "{\"uri\": \"/\"}\n[", "", "a.jsonl:2: "),
    (
        "a.log",
        "what\n",
        "",
        "a.log:1: the line is not an access log entry",
    ),
    ("a.har", "{\"log\": 1}", "", "a.har:1: not an HTTP archive"),
    ("a.txt", "/a\n", "", "the format of a.txt is unknown"),
    (
        "a.uri",
        "/a\n",
        ", format: url",
        "unknown ammo format `url`; use `uri`, `uripost`, `raw`, `jsonline`, `access-log`, `har` or `grpc-json`",
    ),
    (
        "a.uri",
        "/a\n",
        ", limit: 0",
        "write 1 or more, or leave it out",
    ),
    ("a.uri", "/a\n", ", speed: fast", "`fast` is not a speed"),
    (
        "a.uri",
        "/a\n",
        ", speed: 2",
        "the entry has no time, so it can't be replayed at its recorded time",
    ),
    (
        "a.uri",
        "/a\n",
        ", body: x",
        "the requests of a file have their own bodies; leave out the body",
    ),
    (
        "a.uri",
        "/a\n",
        ", headers: { Host: \"{{ uuid }}\" }",
        "the `Host` of ammo can't be a template",
    ),
    (
        "a.uri",
        "/a\n",
        " }, { get: /",
        "a file of requests must be alone in its pool",
    ),
    (
        "a.uri",
        "/a\n",
        " }, { get: /, passes: 2",
        "`passes` is only for files of requests (`ammo`)",
    ),
];

#[test]
fn ammo_that_can_not_be_sent_is_refused_with_its_line() {
    for (name, content, keys, message) in REFUSED {
        let folder = Folder::new();
        folder.write(name, content);
        let pool = format!("    requests: [ {{ ammo: {name}{keys} }} ]");
        let run = run(&pool, "http://127.0.0.1:9", &folder, "");
        assert_eq!(run.code, Some(2), "{keys}: {run:?}");
        assert!(run.stderr.contains(message), "{message}\n{}", run.stderr);
    }
}

/// In the drawing of a plan, and in the report of its run.
#[test]
fn keys_of_a_file_that_are_not_used_are_noted() {
    let folder = Folder::new();
    folder.write("a.jsonl", "{\"uri\": \"/\", \"metod\": \"POST\"}\n");
    let serve = Serve::new("");
    let run = run(
        "    requests: [ { ammo: a.jsonl } ]\n    users: 1\n    stop: { requests: 2 }",
        &serve.url,
        &folder,
        "",
    );
    let note = "a.jsonl:1: the unknown key `metod` is not used";
    assert!(run.stdout.contains(note), "{run:?}");
    let check = Process::start(drumfire(["check", "plan.yaml"]).current_dir(folder.path()));
    let check = check.finish(LIMIT);
    assert!(check.stdout.contains(note), "{check:?}");
}

#[test]
fn a_file_larger_than_memory_is_streamed() {
    let folder = Folder::new();
    let mut text = String::new();
    for n in 0..600_000 {
        let _ = writeln!(text, "/?n={n}&pad=0123456789abcdef0123456789 t{}", n % 2);
    }
    assert!(text.len() > 20 << 20);
    folder.write("large.uri", &text);
    let serve = Serve::new("");
    let pool = "    requests: [ { ammo: large.uri } ]\n    users: 1\n    stop: { requests: 3000 }";
    let run = run(pool, &serve.url, &folder, "");
    assert_eq!(run.code, Some(0), "{run:?}");
    let report = Report::read(&folder.at("result.json"));
    report.balances();
    assert_eq!(report.n("requests.ok"), 3000);
    assert_eq!(
        steps(&report),
        [("t0".to_owned(), 1500), ("t1".to_owned(), 1500)]
    );
}

#[test]
fn fields_of_a_pool_stand_below_the_file_and_those_beside_it_may_stand_above() {
    let (server, arrived) = server();
    let folder = Folder::new();
    let pool = "    users: 1\n    headers: { X-A: pool, User-Agent: pool }\n    requests: { ammo_lines: \
                [ /a one, '[X-A: file]', '[User-Agent: file]', /b ], headers: { X-A: \
                \"own{{ iteration }}\" }, passes: 1";
    for (more, expected) in [
        (" }", ["GET /a own0 pool 1:self", "GET /b file file 1:self"]),
        (
            ", override_headers: true }",
            ["GET /a own0 pool 1:self", "GET /b own1 file 1:self"],
        ),
    ] {
        let run = run(&format!("{pool}{more}"), &server.url(), &folder, "");
        assert_eq!(run.code, Some(0), "{run:?}");
        let arrived = std::mem::take(&mut *arrived.lock().unwrap());
        assert_eq!(shown(&arrived), expected, "{more}");
    }
    let broken = "    requests: { ammo_lines: \"/a\\nb\" }";
    let run = run(broken, &server.url(), &folder, "");
    assert!(
        run.stderr.contains("ammo_lines:2: `b` is not a path"),
        "{run:?}"
    );
}

/// Calls that `drumfire serve --grpc` answers.
const CALLS: &str = concat!(
    "{\"tag\": \"hi\", \"call\": \"helloworld.Greeter.SayHello\", \"payload\": {\"name\": \"Ada\"}}\n",
    "{\"call\": \"helloworld.Greeter/SayHello\", \"metadata\": {\"X-A\": \"1\"}, \"payload\": null}\n",
    "{\"tag\": \"hi\", \"call\": \"/helloworld.Greeter/SayHello\", \"more\": [1]}\n",
    "{\"tag\": \"many\", \"call\": \"helloworld.Greeter/SayHellos\", \"payload\": {\"name\": \"B\"}}\n",
);

#[test]
fn calls_of_a_file_are_made_as_it_has_them() {
    let folder = Folder::new();
    folder.write("calls.json", CALLS);
    let serve = Serve::new("--grpc");
    for (keys, expected) in [
        (
            "passes: 2",
            &[("hi", 4), ("helloworld.Greeter/SayHello", 2), ("many", 2)][..],
        ),
        (
            "limit: 3, name: other",
            &[("hi", 2), ("other", 1), ("many", 0)],
        ),
        ("passes: 1, chosen: [ many ]", &[("many", 1)]),
        (
            "limit: 4, metadata: { X-B: '{{ uuid }}', X-C: c, x-a: below }, expect: { json: { $.message: exists } }, chosen: hi",
            &[("hi", 4)],
        ),
    ] {
        let pool = format!("    requests: [ {{ ammo: calls.json, format: grpc-json, {keys} }} ]");
        let run = run(&pool, &serve.url, &folder, "");
        assert_eq!(run.code, Some(0), "{keys}: {run:?}");
        let report = Report::read(&folder.at("result.json"));
        report.balances();
        let expected: Vec<(String, u64)> = expected
            .iter()
            .map(|(name, count)| ((*name).to_owned(), *count))
            .collect();
        assert_eq!(steps(&report), expected, "{keys}");
        let sent: u64 = expected.iter().map(|(_, count)| count).sum();
        assert_eq!(report.n("requests.ok"), sent, "{keys}");
    }
}

#[test]
fn calls_of_a_file_that_can_not_be_made_are_refused_with_their_line() {
    let call = "{\"call\": \"helloworld.Greeter.SayHello\"}\n";
    let serve = Serve::new("--grpc");
    for (lines, keys, message) in [
        (
            "{\"call\": \"SayHello\"}",
            "",
            "calls.json:2: `SayHello` is not a call; write package.Service.Method",
        ),
        (
            "{\"call\": \"helloworld.Greeter.SayHallo\"}",
            "",
            "SayHallo",
        ),
        (
            "{\"call\": \"helloworld.Greeter.SayHello\", \"payload\": {\"nam\": 1}}",
            "",
            "calls.json:2: helloworld.Greeter/SayHello: ",
        ),
        (
            "{\"call\": \"helloworld.Greeter.SayHello\", \"metadata\": {\"grpc-timeout\": \"1S\"}}",
            "",
            "calls.json:2: metadata `grpc-timeout`: this key is reserved by gRPC",
        ),
        (
            "{\"payload\": {}}",
            "",
            "calls.json:2: invalid JSON call: missing field `call`",
        ),
        ("", ", speed: 2", "a file of calls has no times"),
        (
            "",
            ", data: '{}'",
            "the requests of a file have their own bodies; leave out the body",
        ),
        ("", ", headers: { A: b }", "`headers` is for HTTP requests"),
        ("", ", metadata: { te: b }", "metadata `te`"),
    ] {
        let folder = Folder::new();
        folder.write("calls.json", format!("{call}{lines}"));
        let pool = format!("    requests: [ {{ ammo: calls.json, format: grpc-json{keys} }} ]");
        let run = run(&pool, &serve.url, &folder, "");
        assert_eq!(run.code, Some(2), "{lines}{keys}: {run:?}");
        assert!(run.stderr.contains(message), "{message}\n{}", run.stderr);
    }
}
