//! go-wrk's results as recorded from the original, compared with ours: the exit code, whether there
//! were requests, the errors, and the first request as it arrived. The records and the reason for
//! every difference are in `conformance/dialects/go-wrk-beside/cases.txt`.
//!
//! The reason for a difference is a line of `docs/dialects/go-wrk.md`.
//!
//! With `GO_WRK` in the environment, the path of go-wrk's program (commit 806f06b), the original
//! runs again and its records are rewritten. Our differing records are written too, so that a
//! person can add the reason.

use crate::support::program::{LIMIT, neutral, words};
use crate::support::script::Peer;
use crate::support::{Beside, Case, Folder, Process, Record, Run, Script, Serve, drumfire};
use std::collections::BTreeSet;
use std::io::BufRead as _;
use std::process::Command;
use std::sync::{Arc, OnceLock};
use std::thread::sleep;
use std::time::Duration;

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// The server's response to each request, by the name of the behaviour; `None` for behaviours that
/// need more. `status CODE` is a status, `moved CODE LOCATION` a redirect of `/`, in which `HOST`
/// is the server.
fn reply(behaviour: &str, head: &str) -> Option<String> {
    let mut words = behaviour.splitn(3, ' ');
    match (words.next(), words.next(), words.next()) {
        (Some("status"), Some(code), None) => {
            return Some(format!("HTTP/1.1 {code} X\r\nContent-Length: 0\r\n\r\n"));
        }
        (Some("moved"), Some(code), Some(location)) if head.split(' ').nth(1) == Some("/") => {
            return Some(format!(
                "HTTP/1.1 {code} X\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n"
            ));
        }
        (Some("moved"), Some(_), Some(_)) => return Some(OK.to_owned()),
        _ => {}
    }
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

/// Serves one connection with a behaviour.
fn serve(behaviour: &str, peer: &mut Peer) {
    let mut count = 0;
    while let Some(head) = peer.request() {
        count += 1;
        sleep(Duration::from_millis(20));
        // The response to HEAD has no body.
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
        match written(behaviour, peer) {
            Some(true) => continue,
            Some(false) => return,
            None => {}
        }
        match behaviour {
            "closes-second" => {
                peer.send(bare(OK.to_owned()));
                if count == 2 {
                    // The next request has arrived by then. Otherwise the scheduler would decide
                    // whether the end of the connection overtakes it.
                    let _next = peer.stream.fill_buf();
                    return peer.shut_down_write();
                }
            }
            "heeds-close" => {
                peer.send(OK);
                if head.to_ascii_lowercase().contains("connection: close") {
                    return peer.shut_down_write();
                }
            }
            "third-is-last" if count == 3 => {
                let bytes = OK.replace("Content", "Connection: close\r\nContent");
                return last(&bytes, peer);
            }
            "third-is-last" => drop(peer.send(OK)),
            "until-end" => return last("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nok", peer),
            "hangs-up" => return peer.shut_down_write(),
            "resets" => return peer.reset(),
            "cuts" => return last("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok", peer),
            "resets-body" | "resets-chunk" | "drips" => return begin_body(behaviour, peer),
            "cuts-head" => return last("HTTP/1.1 200 OK\r\nContent-Le", peer),
            "bad-gzip" => {
                let fields = "Content-Encoding: gzip\r\nContent-Length: 30";
                let body = "x".repeat(30);
                peer.send(format!("HTTP/1.1 200 OK\r\n{fields}\r\n\r\n{body}"));
            }
            "bad-chunk" => {
                peer.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\nok\r\n");
                return peer.shut_down_write();
            }
            "silent" => return peer.hold(),
            other => panic!("no behaviour {other}"),
        }
    }
}

/// Sends the bytes of a behaviour, before or together with the end of the connection. Returns
/// whether the connection continues; `None` if the behaviour has no bytes.
fn written(behaviour: &str, peer: &mut Peer) -> Option<bool> {
    if let Some(raw) = behaviour.strip_prefix("raw ") {
        peer.send_written(raw);
        peer.shut_down_write();
        return Some(false);
    }
    let kept = behaviour.strip_prefix("kept ")?;
    Some(peer.send_written(kept))
}

/// Sends bytes and closes the connection.
fn last(bytes: &str, peer: &mut Peer) {
    peer.send(bytes);
    peer.shut_down_write();
}

/// Sends a head and the beginning of a body that never ends.
fn begin_body(behaviour: &str, peer: &mut Peer) {
    let head = match behaviour {
        "resets-body" => "Content-Length: 9\r\n\r\nok",
        "resets-chunk" => "Transfer-Encoding: chunked\r\n\r\n5\r\nok",
        _ => "Content-Length: 99\r\n\r\n",
    };
    peer.send(format!("HTTP/1.1 200 OK\r\n{head}"));
    if behaviour != "drips" {
        peer.await_read();
        return peer.reset();
    }
    while peer.send("x") {
        sleep(Duration::from_millis(50));
    }
}

/// The result of a run against a server, with `host` masked. `heads` are the heads of the requests:
/// the first is recorded, and the second if its path differs.
fn record(run: &Run, heads: &[String], host: &str) -> Record {
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
    let target = |head: &String| head.split(' ').nth(1).unwrap_or_default().to_owned();
    let first = heads.first();
    let second = heads
        .get(1)
        .filter(|head| Some(target(head)) != first.map(target));
    for (verb, head) in first
        .map(|head| ("sent", head))
        .into_iter()
        .chain(second.map(|head| ("then", head)))
    {
        let mut fields = head.lines().filter(|line| !line.is_empty());
        lines.extend(fields.next().map(|line| format!("{verb} {line}")));
        let fields: BTreeSet<String> = fields.map(|line| line.replace(host, "HOST")).collect();
        lines.extend(fields.into_iter().map(|line| format!("{verb} {line}")));
    }
    lines
}

/// An error with the addresses of the server and of the machine's name server masked.
fn masked(text: &str, host: &str) -> String {
    let text = text.replace(host, "HOST");
    match (text.split_once(" on "), text.rsplit_once(": ")) {
        (Some((name, _)), Some((_, why))) if name.starts_with("lookup ") => {
            format!("{name} on ADDRESS: {why}")
        }
        _ => text,
    }
}

/// Runs a case; its server's files are in `DIR`.
fn run(mut command: Command, case: &Case) -> Record {
    let folder = Folder::new();
    let dir = folder.path().to_str().expect("a path of text");
    let name = case.server.clone();
    let place: Arc<OnceLock<String>> = Arc::default();
    let served = Arc::clone(&place);
    let script = Script::new(move |peer| {
        let host = served.get().map_or("HOST", String::as_str);
        serve(&name.replace("HOST", host), peer);
    });
    let secure = case.server.strip_prefix("serve");
    let secure = secure.map(|words| Serve::new(&words.trim().replace("DIR", dir)));
    let host = match &secure {
        Some(serve) => serve.address().to_string(),
        None => format!("127.0.0.1:{}", script.port()),
    };
    drop(place.set(host.clone()));
    let files = BESIDE.folder().join("files");
    let port = host.rsplit(':').next().unwrap_or_default();
    let filled = |text: &str| {
        text.replace("URL", &format!("http://{host}/"))
            .replace("HOST", &host)
            .replace("PORT", port)
            .replace("DIR", dir)
    };
    command.args(words(&filled(&case.name))).current_dir(files);
    if let Some((name, value)) = case.first("env").and_then(|env| env.split_once('=')) {
        command.env(name, filled(value));
    }
    let process = Process::start(&mut command);
    case.signal(&process);
    let run = process.finish(LIMIT);
    let record = record(&run, &script.heads(), &host);
    let own = format!(":{port}");
    let masked = |line: &String| line.replace(dir, "DIR").replace(&own, ":PORT");
    record.iter().map(masked).collect()
}

const BESIDE: Beside = Beside {
    dialect: "go-wrk",
    original: "GO_WRK",
    // Runs take about a second each, and mostly wait.
    at_a_time: 24,
    least: 500,
};

#[test]
fn lines_end_as_recorded() {
    BESIDE.check(|original, case| {
        let program = match original {
            Some(path) => neutral(Command::new(path)),
            None => drumfire(["go-wrk"]),
        };
        run(program, case)
    });
}
