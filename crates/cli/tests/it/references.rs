//! References in plans, settings above them, and what no output may show.

use crate::support::program::{LIMIT, words};
use crate::support::{Folder, Process, Run, Serve, drumfire};
use std::fs;

const TOKEN: &str = "CANARY/to \"ken-5b7e";

/// Runs a line in a folder, with a token in its environment.
fn run(folder: &Folder, line: &str) -> Run {
    let mut command = drumfire(words(line));
    command.current_dir(folder.at("."));
    command.env("TOKEN", TOKEN).env_remove("TARGET");
    Process::start(&mut command).finish(LIMIT)
}

const PLAN: &str = r#"
drumfire: 1
vars:
  base: "${env:TARGET:-http://ADDRESS}"
  key: "${secret:file:key.txt}"
  n: 3
  on: true
defaults: { target: "${base}", timeout: 5s, respect_keepalive: "${on}" }
pools:
  main:
    headers: { Authorization: "Bearer ${secret:env:TOKEN}", X-Key: "${key}" }
    connections: "${n}"
    requests:
      - { get: "/?a=${key}", expect: { body: "contains ${key}" } }
      - { get: "/?b=${key}" , name: "step ${key}" }
      - { post: /echo, body: "$${kept} {{ user }} ${secret:env:TOKEN}", expect: { body: "missing" } }
stop: { requests: "${n}" }
outputs: { explain: "${on}" }
"#;

/// Neither a text, nor a file, nor a message that quotes a server has a secret of the plan; and what
/// is printed as a plan has the references.
#[test]
fn secrets_are_in_no_output() {
    let serve = Serve::new("");
    let folder = Folder::new();
    folder.write("key.txt", "CANARY-key-1\n");
    folder.write(
        "plan.yaml",
        PLAN.replace("ADDRESS", &serve.address().to_string()),
    );
    let ran = run(&folder, "run plan.yaml --json out.json --csv out.csv");
    assert!(
        ran.stdout.contains("3 sent"),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    assert!(ran.stdout.contains("***"), "{}", ran.stdout);
    let json = fs::read_to_string(folder.at("out.json")).unwrap();
    let _form: serde_json::Value = serde_json::from_str(&json).unwrap();
    let csv = fs::read_to_string(folder.at("out.csv")).unwrap();
    let checked = run(&folder, "check plan.yaml");
    assert_eq!(checked.code, Some(0), "{}", checked.stderr);
    let printed = run(&folder, "run plan.yaml --print-plan");
    assert_eq!(printed.code, Some(0), "{}", printed.stderr);
    for text in [
        "key: \"${secret:file:key.txt}\"",
        "connections: \"${n}\"",
        "respect_keepalive: \"${on}\"",
        "requests: \"${n}\"",
        "body: \"$${kept} {{ user }} ${secret:env:TOKEN}\"",
    ] {
        assert!(printed.stdout.contains(text), "{text}\n{}", printed.stdout);
    }
    let broken = PLAN.replace("timeout: 5s", "timeout: \"${key}\"");
    folder.write("broken.yaml", broken);
    let refused = run(&folder, "run broken.yaml");
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    assert!(
        refused.stderr.contains("timeout: `***` is not a duration"),
        "{}",
        refused.stderr
    );
    folder.write("again.yaml", &printed.stdout);
    let again = run(&folder, "run again.yaml -q");
    assert!(
        again.stdout.contains("3 sent"),
        "{}{}",
        again.stdout,
        again.stderr
    );
    let all = [
        ran.stdout,
        ran.stderr,
        json,
        csv,
        checked.stdout,
        printed.stdout,
        refused.stderr,
        again.stdout,
    ];
    for text in all {
        assert!(!text.contains("CANARY"), "{text}");
    }
}

/// A missing variable is said with its place, and not what else could not be read for its sake.
#[test]
fn a_missing_value_is_said_with_its_place() {
    let folder = Folder::new();
    folder.write(
        "plan.yaml",
        "drumfire: 1\npools:\n  main:\n    target: \"${env:NOWHERE}\"\n    requests: [ { get: / } ]\n",
    );
    let refused = run(&folder, "run plan.yaml");
    assert_eq!(refused.code, Some(2));
    assert_eq!(
        refused.stderr,
        "drumfire: plan.yaml:4:13: target: the environment variable `NOWHERE` is empty or not set; \
         set it, or add a default: `${env:NOWHERE:-VALUE}`\n   4 │     target: \
         \"${env:NOWHERE}\"\n     │              ^\n"
    );
}

const TOML: &str = r#"
drumfire = 1
thresholds = ["failed<1%"]

[pools.b]
rate = "50/s"
requests = [ { get = "http://127.0.0.1:9/" } ]

[pools.a]
users = 4
stop.requests = 1_0

[[pools.a.requests]]
post = "http://127.0.0.1:9/"
headers = { X-A = 1 }
"#;

/// A plan in TOML is the same plan, and flags stand above it.
#[test]
fn a_plan_may_be_toml_and_be_set() {
    let folder = Folder::new();
    folder.write("plan.toml", TOML);
    let printed = run(
        &folder,
        "run plan.toml --print-plan -z 2s --set pools.b.rate=9/s \
        --set pools.a.requests.0.headers.X-A=2 --set 'pools.a.requests.0.name=a b' --set 'pools.b.requests=[{get: \"http://127.0.0.1:9/x\"}]'",
    );
    assert_eq!(printed.code, Some(0), "{}", printed.stderr);
    assert_eq!(
        printed.stdout,
        "drumfire: 1\npools:\n  b:\n    rate: 9/s\n    requests:\n      - get: http://127.0.0.1:9/x\n  \
         a:\n    users: 4\n    requests:\n      - post: http://127.0.0.1:9/\n        name: a b\n        \
         headers:\n          X-A: 2\n    stop:\n      requests: 10\nstop:\n  after: 2s\nthresholds:\n  \
         - failed<1%\n"
    );
    for (flags, message) in [
        (
            "--set pools.c.rate=5",
            "--set pools.c.rate: unknown pool `c`; the pools are b, a",
        ),
        (
            "--set pools.b.rte=5",
            "--set pools.b.rte: a pool has no key `rte`; did you mean `rate`?",
        ),
        (
            "--set pools.b.rate=x",
            "--set pools.b.rate: `x` is neither a rate nor a law",
        ),
        (
            "--set pools.b.rate.x=5",
            "--set pools.b.rate.x: `pools.b.rate` is a string and has no keys",
        ),
        (
            "--set pools.a.requests.1.get=/",
            "--set pools.a.requests.1.get: `pools.a.requests` is a list of length 1",
        ),
        (
            "--set x",
            "error: invalid value 'x' for '--set <PATH=VALUE>'",
        ),
        (
            "-r 5",
            "-r: the plan has 2 pools; for one of them, use --set 'pools.b.rate=5'",
        ),
    ] {
        let refused = run(&folder, &format!("run plan.toml {flags}"));
        assert_eq!(refused.code, Some(2), "{flags}");
        let line = refused.stderr.strip_prefix("drumfire: ").unwrap();
        let message = message.strip_prefix("error: ").unwrap_or(message);
        assert!(line.starts_with(message), "{flags}: {line}");
    }
    let wrong = TOML.replace("50/s", "50/x").replace("[ { get", "[ { git");
    folder.write("plan.toml", wrong);
    let refused = run(&folder, "check plan.toml");
    let lines: Vec<&str> = refused
        .stderr
        .lines()
        .filter(|line| line.starts_with("drumfire"))
        .collect();
    assert!(
        lines[0].starts_with("drumfire: plan.toml:6:8: rate: `50/x`"),
        "{lines:#?}"
    );
    assert!(
        lines[1].starts_with("drumfire: plan.toml:7:16: a request has no key `git`"),
        "{lines:#?}"
    );
}
