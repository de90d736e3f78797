//! Configurations as the original ran them, compared with ours: the exit code, the rows, the
//! requests that the server received, words and counters. The records and the reason for every
//! difference are in `conformance/dialects/pandora-beside/cases.txt`; a reason is a line of
//! `docs/dialects/pandora.md`.
//!
//! With `PANDORA` in the environment, the path of Pandora's program (v0.5.29), the original runs
//! again and its records are rewritten. Our differing records are written too, so that a person can
//! add the reason.

use crate::support::lab::port;
use crate::support::program::{LIMIT, PATH, neutral, undeafened};
use crate::support::script::{Peer, WholeRequest};
use crate::support::{Beside, Case, Folder, Process, Record, Run, Script, Serve, Signal};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::thread::sleep;
use std::time::{Duration, Instant};

const BESIDE: Beside = Beside {
    dialect: "pandora",
    original: "PANDORA",
    // Runs take a second or two each, and mostly wait.
    at_a_time: 12,
    least: 450,
};

/// The default keys of a pool, which a case can override.
const USUAL: [(&str, &str); 5] = [
    ("gun", "{type: http, target: 'TARGET'}"),
    ("ammo", "{type: uri, uris: ['/a', '/b tag']}"),
    ("result", "{type: phout, destination: phout.log}"),
    ("rps", "{type: once, times: 4}"),
    ("startup", "{type: once, times: 1}"),
];

/// The configuration of a case: its whole text, or the text of one pool.
fn config(case: &Case) -> String {
    let whole = case.all("|");
    if !whole.is_empty() {
        return whole.join("\n").replace("\\n", "\n");
    }
    let mut text = "pools:\n  - id: p\n".to_owned();
    for (key, usual) in USUAL {
        let value = case.first(key).unwrap_or(usual);
        text.push_str(&format!("    {key}: {value}\n"));
    }
    for more in case.all("pool") {
        text.push_str(&format!("    {more}\n"));
    }
    for more in case.all("root") {
        text.push_str(&format!("{more}\n"));
    }
    text
}

/// A server of a case.
enum Server {
    Script(Script, Arc<Mutex<Vec<WholeRequest>>>),
    Serve(Serve),
    Nothing(u16),
}

impl Server {
    fn start(behaviour: &str) -> Self {
        if let Some(line) = behaviour.strip_prefix("serve") {
            return Self::Serve(Serve::new(line.trim()));
        }
        if behaviour == "nothing" {
            return Self::Nothing(port());
        }
        let seen: Arc<Mutex<Vec<WholeRequest>>> = Arc::default();
        let (behaviour, kept) = (behaviour.to_owned(), Arc::clone(&seen));
        let script = Script::new(move |peer| serve(&behaviour, peer, &kept));
        Self::Script(script, seen)
    }

    fn port(&self) -> u16 {
        match self {
            Self::Script(script, _) => script.port(),
            Self::Serve(serve) => serve.port(),
            Self::Nothing(port) => *port,
        }
    }

    /// The requests in order of arrival: the number of each, and the fields of the first one.
    fn requests(&self) -> Record {
        let Self::Script(_, seen) = self else {
            return Vec::new();
        };
        let seen = seen.lock().unwrap();
        let mut record = Vec::new();
        let lines = seen.iter().map(|request| {
            let line = request.head.lines().next().unwrap_or_default();
            let body = String::from_utf8_lossy(&request.body)
                .escape_debug()
                .to_string();
            match body.is_empty() {
                true => line.to_owned(),
                false => format!("{line} {body}"),
            }
        });
        for (line, count) in counted(lines) {
            record.push(format!("sent {count} {line}"));
        }
        let port = format!(":{}", self.port());
        if let Some(first) = seen.first() {
            let fields: BTreeSet<String> = first
                .head
                .lines()
                .skip(1)
                .filter(|line| !line.is_empty())
                .map(|line| match line.strip_prefix("Date: ") {
                    Some(date) => format!("Date: … {}", date.rsplit(' ').next().unwrap()),
                    None => line.replace(&port, ":PORT"),
                })
                .map(|line| format!("first {line}"))
                .collect();
            record.extend(fields);
        }
        record
    }
}

/// Serves one connection with a behaviour.
fn serve(behaviour: &str, peer: &mut Peer, seen: &Mutex<Vec<WholeRequest>>) {
    let mut words = behaviour.split(' ');
    let (name, first) = (words.next().unwrap(), words.next().unwrap_or_default());
    while let Some(request) = peer.whole_request() {
        let path = request
            .head
            .split(' ')
            .nth(1)
            .unwrap_or_default()
            .to_owned();
        let closes = request
            .head
            .to_ascii_lowercase()
            .contains("connection: close");
        let is_head = request.head.starts_with("HEAD ");
        seen.lock().unwrap().push(request);
        let status = match (name, path.as_str()) {
            ("status", _) => format!("{first} X"),
            ("moved", "/a" | "/b") => format!("302 Found\r\nLocation: {first}"),
            _ => "200 OK".to_owned(),
        };
        match name {
            "slow" => sleep(Duration::from_millis(first.parse().unwrap())),
            "hangs-up" => return peer.shut_down_write(),
            "resets" => return peer.reset(),
            "silent" => return peer.hold(),
            "raw" => {
                peer.send_written(&behaviour["raw ".len()..]);
                return peer.shut_down_write();
            }
            "kept" => {
                if !peer.send_written(&behaviour["kept ".len()..]) || closes {
                    return peer.shut_down_write();
                }
                continue;
            }
            "garbage" => {
                peer.send("no http\r\n\r\n");
                return peer.shut_down_write();
            }
            "cuts" => {
                peer.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok");
                return peer.shut_down_write();
            }
            _ => {}
        }
        let body = match (name, path.split('?').next().unwrap_or_default()) {
            _ if is_head => "",
            ("shop", "/auth") => "{\"auth_key\": \"k1\"}",
            ("shop", "/list") => "{\"items\": [11, 12, 13]}",
            ("shop", "/numbers") => {
                r#"{"id":12345678,"items":[3,5],"texts":["8","9"],"half":2.5,"o":{"t":"0.10","n":7}}"#
            }
            ("shop", "/page") => {
                "<ul><li class=x>one<li>two</ul><a href=\"/go?id=7&amp;x=1\">go</a>"
            }
            _ => "ok",
        };
        let more = match name {
            "shop" => "Content-Type: application/json\r\nX-Kind: small\r\n",
            _ => "",
        };
        let length = if is_head { 2 } else { body.len() };
        let head = format!("HTTP/1.1 {status}\r\n{more}Content-Length: {length}\r\n\r\n");
        let sent = peer.send(head + body);
        if !sent || closes {
            return peer.shut_down_write();
        }
    }
}

/// The number of occurrences of each line.
fn counted(lines: impl Iterator<Item = String>) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for line in lines {
        *counts.entry(line).or_insert(0) += 1;
    }
    counts
}

/// The names of the counters, requested until they exist.
fn counters(port: u16) -> Option<String> {
    let until = Instant::now() + Duration::from_secs(10);
    while Instant::now() < until {
        let mut reply = String::new();
        if let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)) {
            let asked = stream
                .write_all(b"GET /debug/vars HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
            if asked.is_ok() && stream.read_to_string(&mut reply).is_ok() {
                let body = reply.split_once("\r\n\r\n").map_or("", |(_, body)| body);
                let mut names: Vec<&str> = body
                    .split('"')
                    .filter(|name| name.starts_with("engine_"))
                    .collect();
                names.sort_unstable();
                if !names.is_empty() {
                    return Some(names.join(" "));
                }
            }
        }
        sleep(Duration::from_millis(20));
    }
    None
}

/// Runs a case with a program, and records its result.
fn run(program: &mut Command, case: &Case) -> Record {
    let server = Server::start(&case.server);
    let folder = Folder::new();
    let files = BESIDE.folder().join("files");
    for file in fs::read_dir(files).unwrap().flatten() {
        fs::copy(file.path(), folder.path().join(file.file_name())).unwrap();
    }
    let counters_port = port();
    let filled = |text: &str| {
        text.replace("TARGET", &format!("127.0.0.1:{}", server.port()))
            .replace("COUNTERS", &counters_port.to_string())
    };
    for written in case.all("write") {
        let (name, text) = written.split_once(' ').unwrap_or((written, ""));
        let text = filled(text).replace("\\r", "\r").replace("\\n", "\n");
        folder.write(name, text);
    }
    let name = case.first("file").unwrap_or("load.yaml");
    if let Some((folder_name, _)) = name.rsplit_once('/') {
        fs::create_dir_all(folder.path().join(folder_name)).unwrap();
    }
    fs::write(folder.path().join(name), filled(&config(case))).unwrap();
    let args = case.first("args").unwrap_or(name).split(' ');
    program.args(args.filter(|word| *word != "NONE"));
    program.current_dir(folder.path()).env("BESIDE", "5");
    let mut process = Process::start(program);
    let seen = (!case.all("counters").is_empty()).then(|| counters(counters_port));
    case.signal(&process);
    let limit = case
        .first("limit")
        .map(|limit| Duration::from_millis(limit.parse().unwrap()));
    let started = Instant::now();
    while limit.is_some_and(|limit| started.elapsed() < limit) && process.is_running() {
        sleep(Duration::from_millis(10));
    }
    if limit.is_some() && process.is_running() {
        process.signal(Signal::KILL);
        return vec!["does not end".to_owned()];
    }
    let run = process.finish(LIMIT);
    let rows = fs::read_to_string(folder.at("phout.log")).unwrap_or_default();
    let mut record = record(&run, &rows, &server, case);
    for file in case.all("answers") {
        record.extend(answers(
            &fs::read_to_string(folder.at(file)).unwrap_or_default(),
        ));
    }
    if let Some(seen) = seen {
        record.push(format!("counters {}", seen.unwrap_or_default()));
    }
    record
}

/// The lines of a response log, without times and random numbers, and without fields that no server
/// received: the original shows a field that it does not send.
fn answers(text: &str) -> Record {
    let lines = text.lines().map(str::trim_end);
    let lines = lines.filter(|line| !line.is_empty() && *line != "Accept-Encoding: gzip");
    let line = |line: &str| match line.split_once("\tDEBUG\t") {
        None => format!("logs   {line}"),
        Some((_, rest)) => {
            let step = rest.split_once('[');
            let step = step.and_then(|(name, rest)| Some((name, rest.split_once("]:")?.0)));
            match step {
                None => format!("logs {rest}"),
                Some((name, step)) => {
                    let mut parts = step.split('.');
                    let (scenario, request) = (parts.next(), parts.next());
                    let (scenario, request) = (scenario.unwrap(), request.unwrap());
                    format!("logs {name}[{scenario}.{request}]")
                }
            }
        }
    };
    lines.map(line).collect()
}

/// The compared parts of a run that wrote these rows.
fn record(run: &Run, rows: &str, server: &Server, case: &Case) -> Record {
    let mut record = vec![format!("exit {}", run.code.unwrap_or(-1))];
    let to_stdout: String = run
        .stdout
        .lines()
        .filter(|line| line.split('\t').count() == 12)
        .map(|line| format!("{line}\n"))
        .collect();
    let rows = format!("{rows}{to_stdout}");
    let is_exact = case.all("loose").is_empty();
    let columns = rows.lines().map(|row| columns(row, case));
    for (row, count) in counted(columns) {
        record.push(match is_exact {
            true => format!("row {count} {row}"),
            false => format!("row {row}"),
        });
    }
    let requests = server.requests();
    record.extend(
        requests
            .into_iter()
            .filter(|line| is_exact || line.starts_with("first ")),
    );
    let text = format!("{}{}", run.stdout, run.stderr);
    for words in case.all("says") {
        record.push(match text.contains(words) {
            true => format!("said {words}"),
            false => format!("not said {words}"),
        });
    }
    record
}

/// The tag, the codes, and which of the other columns have a value.
fn columns(row: &str, case: &Case) -> String {
    let parts: Vec<&str> = row.split('\t').collect();
    let Some(&[time, tag, real, .., net, proto]) = parts.get(..).filter(|p| p.len() == 12) else {
        return format!("{} columns", parts.len());
    };
    let at = time.parse::<f64>().unwrap_or(0.0);
    let sane = at > 1.6e9
        && time
            .split_once('.')
            .is_some_and(|(_, part)| part.len() == 3);
    let mut line = format!("{tag} {net} {proto}");
    if !sane || real.parse::<u64>().is_err() {
        line.push_str(" malformed");
    }
    if !case.all("filled").is_empty() {
        let filled = (3..10).filter(|n| parts[*n] != "0").map(|n| n.to_string());
        line.push_str(&format!(" filled {}", filled.collect::<Vec<_>>().join(",")));
    }
    line
}

#[test]
fn configurations_run_as_recorded() {
    BESIDE.check(|original, case| {
        let mut program = neutral(undeafened(original.unwrap_or(PATH)));
        if original.is_none() {
            // Use the command; other tests cover the link.
            program.arg("pandora");
        }
        run(&mut program, case)
    });
}
