//! Mistakes of a new user of `drumfire grpc`, and the program's answer: the place, the reason, the
//! remedy, an exit code, and nothing sent.

use crate::support::program::{LIMIT, words};
use crate::support::{Folder, Process, Run, Serve, drumfire};

/// Arguments after `drumfire grpc`, and what stderr must have. `{at}` stands for the built-in
/// server with `--plaintext`, `{host}` for its address, `{hello}` for a call of its greeter and
/// `{dir}` for a folder with some files.
const MISTAKES: [(&str, &[&str]); 38] = [
    (
        "https://{host} --plaintext {hello}",
        &["--plaintext contradicts `https://{host}`"],
    ),
    (
        "http://{host}/some/path {hello}",
        &["has a path, `/some/path`", "--call"],
    ),
    (
        "dns:///{host} --plaintext {hello}",
        &["`dns:///{host}`", "HOST:PORT", "unix:PATH"],
    ),
    ("{at} {hello} -c 0", &["-c: 0 users"]),
    ("{at} {hello} -r 5 -c 0", &["-c: "]),
    ("{at} {hello} -c 1 --streams 0", &["--streams: "]),
    ("{at} {hello} -r 0", &["-r: a rate of 0"]),
    ("{at} {hello} -z 0s", &["-z: a duration can't be 0"]),
    ("{at} {hello} -n 0", &["-n: a run of 0"]),
    ("{at} {hello} --threads 0", &["--threads: "]),
    ("{at} {hello} -n -5", &["'-5' for '--requests <N>'"]),
    ("{at} {hello} -c -5", &["'-5' for '--connections <N>'"]),
    ("{at} {hello} -r -5", &["-r: `-5`"]),
    ("{at} {hello} -u -5", &["-u: "]),
    ("{at} {hello} --streams -5", &["'-5' for '--streams <N>'"]),
    ("{at} {hello} -c 0 --list", &["--list", "--call"]),
    ("{at} {hello} -d ''", &["-d: the data is empty", "{}"]),
    (
        "{at} {hello} -d @{dir}/blank",
        &["-d: {dir}/blank: the data is empty"],
    ),
    (
        "{at} {hello} -d @{dir}/comma.json",
        &["-d: {dir}/comma.json: ", "trailing comma at line 2"],
    ),
    (
        "{at} {hello} -d {dir}/comma.json",
        &["is a file: use -d @{dir}/comma.json"],
    ),
    (
        "{at} {hello} -d @{dir}/wrong.json",
        &[
            "-d: {dir}/wrong.json: element 2 of the data",
            "did you mean `name`",
        ],
    ),
    (
        "{at} {hello} -d @{dir}/latin1",
        &["-d: {dir}/latin1: ", "UTF-8", "--binary"],
    ),
    ("{at} {hello} -d @-", &["-d: stdin: the data is empty"]),
    (
        "{at} {hello} -d '{\"name\":\"{{ random_int(5) }}\"}'",
        &["-d: in the template `{{ random_int(5) }}`: missing argument"],
    ),
    (
        "{at} {hello} --feed p={dir}/people.csv -d '{\"name\":\"{{ p.surname }}\"}'",
        &["-d: the feed `p` has no column `surname`; it has name, city"],
    ),
    (
        "{at} {hello} --feed p={dir}/people.csv -d '{\"name\":\"{{ people.name }}\"}'",
        &["-d: templates have no variable `people`; the feeds are p"],
    ),
    (
        "{at} {hello} --proto {dir}/a.proto --import-path {dir}/none",
        &["--import-path: `{dir}/none` is not a folder"],
    ),
    (
        "{at} {hello} --stream-count 3",
        &[
            "--stream-count is only for methods that stream from the client",
            "SayHello",
        ],
    ),
    (
        "{at} {hello} --stream-interval 3ms",
        &["--stream-interval is"],
    ),
    (
        "{at} {hello} --stream-duration 3s",
        &["--stream-duration is"],
    ),
    ("{at} {hello} --stream-receive 3", &["--stream-receive is"]),
    (
        "{at} --call helloworld.Greeter/SayHelloBidi -d '{\"name\":\"x\"}' --stream-duration 300ms \
         --stream-interval 10ms",
        &[
            "--stream-interval has no effect on a call that sends one message",
            "--stream-duration has no effect",
            "--stream-count",
        ],
    ),
    (
        "{at} --call helloworld.Greeter/SayHelloCS --stream-count 1 --stream-interval 3ms",
        &["--stream-interval has no effect"],
    ),
    (
        "{at} {hello} --retry-reused",
        &["--retry-reused: it has no effect: over HTTP/2"],
    ),
    (
        "{at} {hello} --reflect-metadata 'a: b' --protoset {dir}/a.pb",
        &["--reflect-metadata", "--protoset"],
    ),
    (
        "{at} --call helloworld.Greeter/SayHelloCS --stream-receive 3",
        &["stream from the server", "SayHelloCS"],
    ),
    (
        "{at} --call helloworld.Greeter/SayHellos --stream-count 3",
        &["stream from the client", "SayHellos"],
    ),
    (
        "{at} {hello} --respect-keepalive",
        &["--respect-keepalive: HTTP/2 has no"],
    ),
];

fn grpc(line: &str) -> Run {
    let mut command = drumfire(["grpc"]);
    command.args(words(line));
    Process::start(&mut command).finish(LIMIT)
}

#[test]
fn every_mistake_is_named_before_anything_is_sent() {
    let serve = Serve::new("--grpc");
    let folder = Folder::new();
    folder.write("blank", "\n");
    folder.write("comma.json", "{\n\"name\":\"Ada\",}\n");
    folder.write("wrong.json", "[{\"name\":\"Ada\"},{\"nome\":\"Bob\"}]");
    folder.write("latin1", b"{\"name\":\"\xe4\"}");
    folder.write("people.csv", "name,city\nAda,London\n");
    let dir = folder.path().to_str().unwrap();
    let fill = |text: &str| {
        text.replace("{at}", "{host} --plaintext")
            .replace("{host}", &serve.address().to_string())
            .replace("{hello}", "--call helloworld.Greeter/SayHello")
            .replace("{dir}", dir)
    };
    let mut wrong = Vec::new();
    for (line, expected) in MISTAKES {
        let run = grpc(&fill(line));
        let says = |part: &&str| run.stderr.contains(&fill(part));
        if run.code != Some(2) || !run.stdout.is_empty() || !expected.iter().all(says) {
            wrong.push(format!(
                "{line} → {:?}, wanted {expected:?}:\n{}",
                run.code, run.stderr
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(serve.count("requests"), 0, "nothing is sent");
}

/// The error of a schema that can't be had has the place that was asked, and the remedy.
#[test]
fn a_server_that_gives_no_schema_is_named() {
    let plain = Serve::new("--grpc");
    let folder = Folder::new();
    let socket = folder.path().join("none.sock");
    let own = plain.address().to_string();
    for (line, expected) in [
        (
            "127.0.0.1:9 --plaintext --list".to_owned(),
            [
                "from 127.0.0.1:9: the address refused the connection",
                "check that the server is running",
            ],
        ),
        (
            format!("unix:{} --plaintext --list", socket.display()),
            [
                "none.sock: the address refused the connection",
                "check that the server is running",
            ],
        ),
        (
            format!("{own} --plaintext --call helloworld.Greter/SayHello"),
            [
                "Symbol not found: helloworld.Greter",
                "did you mean `helloworld.Greeter`",
            ],
        ),
        (
            format!("{own} --list"),
            ["does not speak TLS", "use --plaintext"],
        ),
    ] {
        let run = grpc(&line);
        assert_eq!(run.code, Some(1), "{line}: {}", run.stderr);
        for text in expected {
            assert!(run.stderr.contains(text), "{line}: {}", run.stderr);
        }
    }
}

/// The value that a call gives is known in the run only: what is made of it may fail before.
#[test]
fn calls_with_values_of_earlier_ones_are_not_refused() {
    let (serve, folder) = (Serve::new("--grpc"), Folder::new());
    let text = |step: &str| {
        format!(
            "drumfire: 1\npools:\n  a:\n    target: {}\n    plaintext: true\n    users: 1\n    scenario:\n    \
             - {{ call: helloworld.Greeter/SayHello, data: {{ name: x }}, take: {{ all: json $.message }} }}\n    \
             - {{ call: helloworld.Greeter/SayHello, {step} }}\nstop: {{ iterations: 1 }}\n",
            serve.address()
        )
    };
    let check = |step: &str| {
        folder.write("plan.yaml", text(step));
        let mut command = drumfire(["check", &folder.at("plan.yaml")]);
        Process::start(&mut command).finish(LIMIT)
    };
    for fine in [
        "data: { name: \"{{ (all | fromjson)[0].id }}\" }",
        "data: { name: x }, metadata: { k: \"{{ (all | fromjson)[0].id }}\" }",
    ] {
        let checked = check(fine);
        assert_eq!(checked.code, Some(0), "{fine}: {}", checked.stderr);
    }
    for wrong in [
        "data: { name: \"{{ (all | fromjsn)[0].id }}\" }",
        "data: { nam: \"{{ all }}\" }",
        "data: { name: \"{{ (1 | fromjson)[0].id }}\" }",
    ] {
        let checked = check(wrong);
        assert_eq!(checked.code, Some(2), "{wrong}: {}", checked.stdout);
    }
}
