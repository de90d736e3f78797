//! Times of day, the log, exit codes.

use super::{Both, HELLO, UNARY, greeter, original, run};
use crate::support::program::{LIMIT, neutral, words};
use crate::support::{Folder, Process, Serve, drumfire};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// Times of day, in reports and in templates, use the zone in `TZ`.
#[test]
fn times_are_in_the_same_zone() {
    let Some(ghz) = original() else { return };
    let server = Serve::new("--grpc");
    let wish =
        "{\"wish\":{\"status\":{\"code\":5,\"message\":\"{{.Timestamp}} {{now | date `MST`}}\"}}}";
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
            // The zone without the time: the text after `2006-01-02T15:04:05` and a fraction.
            let place = |text: &Value| {
                let text = text.as_str().unwrap().rsplit(" desc = ").next().unwrap();
                text[19..]
                    .trim_start_matches(|c: char| c == '.' || c.is_ascii_digit())
                    .to_owned()
            };
            let detail = &report["details"][0];
            let texts = [&report["date"], &detail["timestamp"], &detail["error"]];
            texts.map(place)
        });
        // A machine without zone data uses UTC everywhere.
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

/// The log has ghz's messages and keys, as far as it goes.
#[test]
fn the_log_has_the_same_keys() {
    let Some(mut ghz) = original() else { return };
    let server = Serve::new("--grpc --grpc-status ABORTED:0.5");
    let folder = Folder::new();
    let log = |command: &mut Command, name: &str| {
        let path = folder.at(name);
        let line = format!("{HELLO} -n 60 -c 1 --debug {path} {}", server.address());
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
    assert_eq!((their_calls.len(), our_calls.len()), (60, 60));
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

/// The exit codes of ghz and of drumfire.
#[test]
fn exit_codes_are_the_same_but_where_nothing_succeeded() {
    if original().is_none() {
        return;
    }
    let server = Serve::new("--grpc");
    let host = server.address().to_string();
    let failing = format!("{UNARY} -d {{\"wish\":{{\"status\":{{\"code\":5}}}}}} -n 2 -c 1 HOST");
    // A script that checks whether a service works uses the exit code.
    for (line, codes) in [
        (format!("{HELLO} -n 2 -c 1 HOST"), (0, 0)),
        (failing, (0, 1)),
        (format!("{HELLO}s -n 2 -c 1 HOST"), (0, 0)),
        // Both take compressed replies by default.
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
        // With an invalid name, no call succeeds. A message that is too large is found before the
        // run.
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
