//! go-wrk's ends as recorded from the original, beside ours: the exit code, whether there were
//! requests, the errors, and the first request as it arrived. The records stand in
//! `conformance/dialects/go-wrk-beside/cases.txt`, and so does the reason of every difference.
//!
//! With `GO_WRK` in the environment, the path of go-wrk's program (commit 806f06b), the original is
//! run once more and its records are written anew; where ours differ they are written too, for a
//! person to give the reason.

use crate::support::program::{LIMIT, neutral, words};
use crate::support::script::Peer;
use crate::support::{Process, Run, Script, drumfire, lab};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::Command;
use std::sync::Mutex;
use std::thread::sleep;
use std::time::Duration;

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// Runs last a second each, and mostly wait.
const SIDE_BY_SIDE: usize = 6;

/// What the server sends for each request, by the behaviour's name; `None` where it is not as
/// simple as that.
fn reply(behaviour: &str, head: &str) -> Option<String> {
    let status = |line: &str| format!("HTTP/1.1 {line}\r\nContent-Length: 0\r\n\r\n");
    let hop = || -> u32 {
        let path = head.split(' ').nth(1).unwrap_or_default();
        path.trim_start_matches('/').parse().unwrap_or(0)
    };
    let moved = |code: u16, to: &str| {
        format!("HTTP/1.1 {code} Moved\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n")
    };
    Some(match behaviour {
        "ok" => OK.to_owned(),
        "created" => status("201 Created"),
        "empty" => "HTTP/1.1 204 No Content\r\n\r\n".to_owned(),
        "chunked" => {
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n".to_owned()
        }
        "interim" => format!("HTTP/1.1 103 Early Hints\r\n\r\n{OK}"),
        "moved-nowhere" => status("301 Moved"),
        "temporary-nowhere" => status("307 Temporary"),
        "found-nowhere" => status("302 Found"),
        "unmodified" => "HTTP/1.1 304 Not Modified\r\n\r\n".to_owned(),
        "bad-request" => status("400 Bad Request"),
        "not-found" => status("404 Not Found"),
        "error" => status("500 Internal Server Error"),
        "unavailable" => status("503 Service Unavailable"),
        "found" => moved(302, "/1"),
        "nine-hops" if hop() < 9 => moved(302, &format!("/{}", hop() + 1)),
        "ten-hops" if hop() < 10 => moved(302, &format!("/{}", hop() + 1)),
        "kept-hop" if hop() < 1 => moved(307, "/1"),
        "nine-hops" | "ten-hops" | "kept-hop" => OK.to_owned(),
        "other-scheme" => moved(302, "ftp://x/"),
        _ => return None,
    })
}

/// One connection of a server with a behaviour.
fn serve(behaviour: &str, peer: &mut Peer) {
    let mut count = 0;
    while let Some(head) = peer.request() {
        count += 1;
        sleep(Duration::from_millis(20));
        // The reply to HEAD has no body.
        let bare = |reply: String| match head.starts_with("HEAD ") {
            true => reply.trim_end_matches("ok").to_owned(),
            false => reply,
        };
        if let Some(reply) = reply(behaviour, &head) {
            if !peer.send(bare(reply)) {
                return;
            }
            continue;
        }
        match behaviour {
            "closes-second" => {
                peer.send(bare(OK.to_owned()));
                if count == 2 {
                    return peer.end();
                }
            }
            "heeds-close" => {
                peer.send(OK);
                if head.to_ascii_lowercase().contains("connection: close") {
                    return peer.end();
                }
            }
            "until-end" => {
                peer.send("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nok");
                return peer.end();
            }
            "hangs-up" => return peer.end(),
            "resets" => return peer.reset(),
            "cuts" => {
                peer.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok");
                return peer.end();
            }
            "cuts-head" => {
                peer.send("HTTP/1.1 200 OK\r\nContent-Le");
                return peer.end();
            }
            "bad-gzip" => {
                let fields = "Content-Encoding: gzip\r\nContent-Length: 30";
                let body = "x".repeat(30);
                peer.send(format!("HTTP/1.1 200 OK\r\n{fields}\r\n\r\n{body}"));
            }
            "bad-chunk" => {
                peer.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\nok\r\n");
                return peer.end();
            }
            "silent" => return peer.hold(),
            other => panic!("no behaviour {other}"),
        }
    }
}

/// A record: what is compared of a run, a line each.
type Record = Vec<String>;

/// The end of a run against a server, of which `host` is masked.
fn record(run: &Run, first: Option<String>, host: &str) -> Record {
    let mut lines = vec![format!("exit {}", run.code.unwrap_or(-1))];
    let texts = run.stdout.lines();
    for line in texts.clone().take(2) {
        lines.push(format!("stdout {}", line.replace(host, "HOST")));
    }
    lines.push(match run.stdout.contains(" requests in ") {
        true => "requests".to_owned(),
        false => "no requests".to_owned(),
    });
    let counts = texts
        .clone()
        .find_map(|line| line.strip_prefix("Error Counts:\t\t"));
    let errors = counts.into_iter().flat_map(|list| list.split(','));
    let errors: BTreeSet<&str> = errors
        .filter_map(|one| one.rsplit_once('='))
        .map(|one| one.0)
        .collect();
    lines.extend(
        errors
            .into_iter()
            .map(|text| format!("error {}", masked(text, host))),
    );
    if let Some(head) = first {
        let mut fields = head.lines().filter(|line| !line.is_empty());
        lines.extend(fields.next().map(|line| format!("sent {line}")));
        let fields: BTreeSet<String> = fields.map(|line| line.replace(host, "HOST")).collect();
        lines.extend(fields.into_iter().map(|line| format!("sent {line}")));
    }
    lines
}

/// An error without the server's address and that of the machine's name server.
fn masked(text: &str, host: &str) -> String {
    let text = text.replace(host, "HOST");
    match (text.split_once(" on "), text.rsplit_once(": ")) {
        (Some((name, _)), Some((_, why))) if name.starts_with("lookup ") => {
            format!("{name} on ADDRESS: {why}")
        }
        _ => text,
    }
}

/// Runs a line with a server of this behaviour.
fn run(mut command: Command, behaviour: &str, line: &str) -> Record {
    let name = behaviour.to_owned();
    let script = Script::new(move |peer| serve(&name, peer));
    let url = script.url();
    let host = url
        .trim_start_matches("http://")
        .trim_end_matches('/')
        .to_owned();
    command.args(words(&line.replace("URL", &url)));
    let run = Process::start(&mut command).finish(LIMIT);
    record(&run, script.heads().into_iter().next(), &host)
}

/// One case: the server, the line, the original's record, and ours with a reason where it differs.
#[derive(Clone, Debug, Default)]
struct Case {
    behaviour: String,
    line: String,
    original: Record,
    ours: Option<(String, Record)>,
}

fn path() -> PathBuf {
    lab::repository().join("conformance/dialects/go-wrk-beside/cases.txt")
}

/// The comment and reasons, and the cases.
fn read(text: &str) -> (String, Vec<Case>) {
    let (head, rest) = text.split_once("\n== ").expect("a case");
    let cases = rest.split("\n== ").map(|block| {
        let mut lines = block.lines().filter(|line| !line.is_empty());
        let (behaviour, line) = lines
            .next()
            .and_then(|line| line.split_once(" | "))
            .expect(block);
        let mut case = Case {
            behaviour: behaviour.to_owned(),
            line: line.to_owned(),
            ..Case::default()
        };
        for line in lines {
            match (line.strip_prefix("-- ours: "), &mut case.ours) {
                (Some(reason), _) => case.ours = Some((reason.to_owned(), Vec::new())),
                (None, Some((_, record))) => record.push(line.to_owned()),
                (None, None) => case.original.push(line.to_owned()),
            }
        }
        case
    });
    (head.to_owned(), cases.collect())
}

fn print(head: &str, cases: &[Case]) -> String {
    let mut out = format!("{}\n", head.trim_end());
    for case in cases {
        out.push_str(&format!("\n== {} | {}\n", case.behaviour, case.line));
        case.original
            .iter()
            .for_each(|line| out.push_str(&format!("{line}\n")));
        if let Some((reason, record)) = &case.ours {
            out.push_str(&format!("-- ours: {reason}\n"));
            record
                .iter()
                .for_each(|line| out.push_str(&format!("{line}\n")));
        }
    }
    out
}

/// Does the work for every case, some at a time.
fn each(cases: &[Case], work: impl Fn(&Case) -> Case + Sync) -> Vec<Case> {
    let next = Mutex::new(cases.iter().enumerate());
    let done = Mutex::new(BTreeMap::new());
    std::thread::scope(|scope| {
        for _ in 0..SIDE_BY_SIDE {
            scope.spawn(|| {
                loop {
                    let taken = next.lock().expect("no panic").next();
                    let Some((at, case)) = taken else { return };
                    let case = work(case);
                    done.lock().expect("no panic").insert(at, case);
                }
            });
        }
    });
    done.into_inner().expect("no panic").into_values().collect()
}

fn ours(case: &Case) -> Record {
    run(drumfire(["go-wrk"]), &case.behaviour, &case.line)
}

#[test]
fn lines_end_as_recorded() {
    let text = std::fs::read_to_string(path()).expect("the records");
    let (head, cases) = read(&text);
    if let Some(original) = std::env::var_os("GO_WRK") {
        let again = each(&cases, |case| {
            let recorded = run(
                neutral(Command::new(&original)),
                &case.behaviour,
                &case.line,
            );
            let found = ours(case);
            let reason = case
                .ours
                .as_ref()
                .map_or("?", |(reason, _)| reason)
                .to_owned();
            Case {
                ours: (found != recorded).then_some((reason, found)),
                original: recorded,
                ..case.clone()
            }
        });
        return std::fs::write(path(), print(&head, &again)).expect("the records");
    }
    for case in &cases {
        if let Some((reason, record)) = &case.ours {
            let has_reason = head.contains(&format!("\nreason {reason}: "));
            assert!(has_reason, "no reason `{reason}`: {}", case.line);
            assert_ne!(*record, case.original, "{} differs in nothing", case.line);
        }
    }
    let wrong = Mutex::new(Vec::new());
    each(&cases, |case| {
        let expected = case
            .ours
            .as_ref()
            .map_or(&case.original, |(_, record)| record);
        let found = ours(case);
        if found != *expected {
            let (server, line) = (&case.behaviour, &case.line);
            let told = format!("{server} | {line}\n  expected {expected:?}\n  found    {found:?}");
            wrong.lock().expect("no panic").push(told);
        }
        case.clone()
    });
    let wrong = wrong.into_inner().expect("no panic");
    assert!(
        wrong.is_empty(),
        "{} lines:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
