//! Secrets on a command line that is wrong: the error says what is wrong without them.

use crate::support::program::LIMIT;
use crate::support::{Folder, Process, drumfire};

/// Runs the program and looks for the canary in all that it prints.
#[track_caller]
fn check(args: &[&str]) {
    let run = Process::start(&mut drumfire(args)).finish(LIMIT);
    let all = run.stdout + &run.stderr;
    assert!(!all.contains("CANARY"), "{args:?}: {all}");
    assert!(!all.is_empty(), "{args:?}");
}

const URL: &str = "http://127.0.0.1:9/";

/// Command lines with a mistake.
const MISTAKES: &[&[&str]] = &[
    &["http", "http://h\u{1}/?token=CANARY"],
    &["http", "http://me:CANARY@ho st/"],
    &["http", "http://me:CANARY@h:99999/"],
    &["http", "http://h :1/;jsessionid=CANARY"],
    &["http", "http://h/{{ x?token=CANARY"],
    &["http", "http://h/?token={{ CANARY"],
    &["http", "http://me:CANARY@h/{{ x }}"],
    &["http", URL, "password=CANARY"],
    &["http", URL, "-H", "Authorization Bearer CANARY"],
    &["http", URL, "-H", "Bearer CANARY"],
    &["http", URL, "-H", "Cookie=CANARY"],
    &["http", URL, "-H", "CANARY-eyJhbGciOiJIUzI1NiJ9"],
    &["http", URL, "-H", "Authorization=Bearer CANARY: x"],
    &["http", URL, "-H", "Authorization: CANARY{{"],
    &["http", URL, "-H", "X-Api-Key: CANARY {{ x }}"],
    &["http", URL, "-H", "X-Api-Key: CANARY {{ 1/0 }}"],
    &["http", URL, "-H", "Cookie: CANARY\n"],
    &["http", URL, "-u", "me:CANARY"],
    &["http", URL, "-b", "id=CANARY"],
    &["http", URL, "--cookie", "id=CANARY"],
    &["http", URL, "-X", "http://me:CANARY@h/"],
    &["http", URL, "-x", "http://me:CANARY@h h/"],
    &["http", URL, "--data-raw", "password=CANARY"],
    &["http", URL, "-d", "{\"password\": \"CANARY {{ x\"}"],
    &[
        "http",
        URL,
        "--cert",
        "CANARY.pem:CANARY",
        "--pass",
        "CANARY",
    ],
    &[
        "grpc",
        "127.0.0.1:9",
        "--call",
        "a.B/C",
        "-m",
        "authorization: CANARY",
    ],
    &[
        "grpc",
        "127.0.0.1:9",
        "--call",
        "a.B/C",
        "-H",
        "authorization CANARY",
    ],
    &[
        "ghz",
        "--call",
        "a.B/C",
        "-m",
        "{\"authorization\":\"CANARY\"",
        "h:1",
    ],
    &[
        "ghz",
        "--call",
        "a.B/C",
        "-m",
        "{\"authorization\":[\"CANARY\"]}",
        "h:1",
    ],
    &[
        "ghz",
        "--call",
        "a.B/C",
        "--reflect-metadata",
        "{\"token\":\"CANARY",
        "h:1",
    ],
    &[
        "ghz",
        "--call",
        "a.B/C",
        "-d",
        "{\"password\":\"CANARY",
        "h:1",
    ],
    &["go-wrk", "-H", "Authorization CANARY", URL],
    &[
        "go-wrk",
        "-d",
        "1",
        "-c",
        "1",
        "http://127.0.0.1:9/?token=CANARY",
    ],
];

#[test]
fn errors_show_no_secret() {
    for args in MISTAKES {
        check(args);
    }
}

#[test]
fn errors_in_files_show_no_secret() {
    let folder = Folder::new();
    for (name, text) in [
        ("a.yaml", "headers: {Authorization: Bearer CANARY"),
        (
            "b.yaml",
            "drumfire: 1\npools:\n  main:\n    headers: {Cookie: \"CANARY\n",
        ),
        (
            "c.yaml",
            "drumfire: 1\npools:\n  main:\n    headers:\n      Authorization: [CANARY]\n    requests: [{get: \"http://h/\"}]\n",
        ),
        (
            "d.yaml",
            "drumfire: 1\npools:\n  main:\n    headers:\n      X-Token: \"CANARY {{\"\n    requests: [{get: \"http://me:CANARY@h h/?key=CANARY\"}]\n",
        ),
    ] {
        let path = folder.write(name, text);
        check(&["run", &path]);
    }
    for (name, text) in [
        (
            "a.json",
            "{\"metadata\": {\"authorization\": \"Bearer CANARY\" \"x\"",
        ),
        ("a.toml", "[metadata]\nauthorization = \"Bearer CANARY\n"),
        (
            "e.yaml",
            "host: h\nmetadata: {authorization: Bearer CANARY\n",
        ),
    ] {
        let path = folder.write(name, text);
        check(&["ghz", "--config", &path]);
    }
}
