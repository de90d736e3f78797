//! slow_cooker's runs as recorded from the original, compared with ours: the exit code, the lines,
//! the summary, the requests, the table of latencies and the metrics. The records and the reason
//! for every difference are in `conformance/dialects/slow_cooker-beside/cases.txt`; a reason is a
//! line of `docs/dialects/slow_cooker.md`.
//!
//! With `SLOW_COOKER` in the environment, the path of slow_cooker's program (commit bda352f), the
//! original runs again and its records are rewritten. Our differing records are written too, so
//! that a person can add the reason.

use crate::support::lab::port;
use crate::support::program::{LIMIT, neutral, words};
use crate::support::script::{GZIPPED_HELLO, Peer, WholeRequest};
use crate::support::{Beside, Case, Folder, Process, Record, Run, Script, Serve, drumfire};
use std::collections::BTreeSet;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::thread::sleep;
use std::time::{Duration, Instant};

const BESIDE: Beside = Beside {
    dialect: "slow_cooker",
    original: "SLOW_COOKER",
    // Runs take a second each, and mostly wait.
    at_a_time: 24,
    least: 300,
};

/// The part of a response that a behaviour has sent.
enum Part {
    /// Nothing, or only data that precedes the response.
    Rest,
    /// The whole response.
    Whole,
    /// The last data on the connection.
    Last,
}

/// Performs the behaviour with this name, and returns which part of a response it has sent.
fn part(name: &str, first: &str, peer: &mut Peer) -> Part {
    let whole = |fields: &str, body: &[u8]| {
        let head = format!("HTTP/1.1 200 OK\r\n{fields}\r\n\r\n");
        [head.as_bytes(), body].concat()
    };
    match name {
        "slow" => sleep(Duration::from_millis(first.parse().unwrap())),
        "interim" => {
            peer.send("HTTP/1.1 103 Early Hints\r\n\r\n");
        }
        "chunked" => {
            let body = b"5\r\nhello\r\n0\r\n\r\n";
            peer.send(whole("Transfer-Encoding: chunked", body));
            return Part::Whole;
        }
        "gzip" => {
            let fields = "Content-Encoding: gzip\r\nContent-Length: 25";
            peer.send(whole(fields, &GZIPPED_HELLO));
            return Part::Whole;
        }
        "hangs-up" => return last("", peer),
        "garbage" => return last("no http\r\n\r\n", peer),
        "switches" => {
            let head = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n";
            return last(head, peer);
        }
        "cuts" => return last("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok", peer),
        "resets" => {
            peer.reset();
            return Part::Last;
        }
        "silent" => {
            peer.hold();
            return Part::Last;
        }
        _ => {}
    }
    Part::Rest
}

/// Sends bytes and closes the connection.
fn last(bytes: &str, peer: &mut Peer) -> Part {
    peer.send(bytes);
    peer.shut_down_write();
    Part::Last
}

/// Serves one connection with a behaviour.
fn serve(behaviour: &str, peer: &mut Peer, seen: &Mutex<Vec<WholeRequest>>) {
    let mut words = behaviour.split(' ');
    let (name, first) = (words.next().unwrap(), words.next().unwrap_or_default());
    let mut count = 0;
    while let Some(request) = peer.whole_request() {
        count += 1;
        let target = request.head.split(' ').nth(1).unwrap_or_default();
        let is_first_hop = target == "/";
        let closes = request
            .head
            .to_ascii_lowercase()
            .contains("connection: close");
        let is_head = request.head.starts_with("HEAD ");
        seen.lock().unwrap().push(request);
        let status = match name {
            "status" => format!("{first} X"),
            "moved" if is_first_hop && first.is_empty() => "302 Found\r\nLocation: /to".to_owned(),
            "moved" if is_first_hop => format!("{first} X\r\nLocation: /to"),
            "circles" => "302 Found\r\nLocation: /".to_owned(),
            "mixed" if count % 2 == 0 => "503 X".to_owned(),
            _ => "200 OK".to_owned(),
        };
        if let Some(bytes) = behaviour.strip_prefix("raw ") {
            peer.send_written(bytes);
            return peer.shut_down_write();
        }
        if let Some(bytes) = behaviour.strip_prefix("kept ") {
            if !peer.send_written(bytes) || closes {
                return peer.shut_down_write();
            }
            continue;
        }
        match part(name, first, peer) {
            Part::Rest => {}
            Part::Whole => continue,
            Part::Last => return,
        }
        let body = if is_head { "" } else { "hello" };
        let head = format!("HTTP/1.1 {status}\r\nContent-Length: 5\r\n\r\n");
        let sent = match name {
            "drips" => {
                let began = peer.send(head);
                sleep(Duration::from_millis(first.parse().unwrap()));
                began && peer.send(body)
            }
            _ => peer.send(head + body),
        };
        if !sent || closes {
            return peer.shut_down_write();
        }
    }
}

/// A count reduced to whether the count is zero.
fn some(count: &str) -> &'static str {
    match count {
        "0" => "0",
        _ => "some",
    }
}

/// The compared parts of a line: everything but times and counts. For a part of an interval,
/// neither its length nor its goal is compared.
fn line(text: &str, whole: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let [at, rest @ ..] = &words[..] else {
        return "no line".to_owned();
    };
    let is_time = at.len() == "2026-01-01T00:00:00Z".len() && at.ends_with('Z');
    let counts = rest.iter().position(|word| word.matches('/').count() == 2);
    let (Some(counts), true) = (counts, is_time) else {
        return format!("line {text}");
    };
    let number = match counts {
        0 => String::new(),
        _ => format!("{} ", rest[0]),
    };
    let kinds: Vec<&str> = rest[counts].split('/').map(some).collect();
    let [goal, percent, interval, behind @ ..] = &rest[counts + 1..] else {
        return format!("line {text}");
    };
    let close = behind.iter().position(|word| *word == "]");
    let hashes = close
        .and_then(|at| behind.get(at + 2))
        .map_or("?", |count| some(count));
    let percent = if percent.ends_with('%') { "%" } else { "?" };
    let bracket = if behind.concat().contains('[') {
        "["
    } else {
        "?"
    };
    let kinds = kinds.join("/");
    let (goal, interval) = match *interval == whole {
        true => (*goal, *interval),
        false => (some(goal), "part"),
    };
    format!("line {number}{kinds} {goal} {percent} {interval} {bracket} hash {hashes}")
}

/// The length of an interval, as lines show it.
fn interval(args: &str) -> &str {
    let (_, rest) = args.split_once("-interval").unwrap_or_default();
    let given = rest.split([' ', '=']).find(|word| !word.is_empty());
    match given {
        Some("1500ms") => "1.5s",
        given => given.unwrap_or("10s"),
    }
}

/// The lines of a run, and the text after them.
fn shown(run: &Run, case: &Case, host: &str) -> Record {
    let whole = interval(&case.name);
    let mut record = vec![format!("exit {}", run.code.unwrap_or(-1))];
    let mut texts = run.stdout.lines().peekable();
    while let Some(head) = texts.next_if(|text| text.starts_with('#')) {
        record.push(format!("head {}", head.replace(host, "HOST")));
    }
    let mut lines: Vec<String> = Vec::new();
    while let Some(text) = texts.next_if(|text| !text.starts_with('{')) {
        lines.push(line(text, whole));
    }
    record.extend(lines);
    let rest: Vec<&str> = texts.collect();
    let summaries = rest.iter().filter(|text| **text == "{").count();
    let keys: Vec<&str> = rest
        .iter()
        .filter_map(|text| text.split('"').nth(1))
        .collect();
    if summaries > 0 {
        let keys: BTreeSet<&str> = keys.into_iter().collect();
        let keys: Vec<&str> = keys.into_iter().collect();
        record.push(format!("summary {summaries} {}", keys.join(" ")));
    }
    if run.code != Some(0) {
        // The text after a panic depends on the program that was built.
        let texts = run.stderr.lines().filter(|text| !text.is_empty());
        let is_told = |text: &&str| !text.starts_with("[signal") && !text.starts_with("goroutine");
        let dateless = |text: &str| {
            let is_dated = text.len() > 20 && text.as_bytes()[4] == b'/';
            let text = if is_dated { &text[20..] } else { text };
            format!("stderr {}", text.replace(host, "HOST"))
        };
        record.extend(texts.take(2).filter(is_told).map(dateless));
    }
    record
}

/// The requests: their targets, hosts and numbers as far as they are the same in each run, and the
/// fields of the first one.
fn sent(seen: &[WholeRequest], host: &str) -> Record {
    let mut record = Vec::new();
    let lines: BTreeSet<String> = seen
        .iter()
        .map(|request| {
            let line = request.head.lines().next().unwrap_or_default();
            format!(
                "sent {line} {}",
                String::from_utf8_lossy(&request.body).escape_debug()
            )
        })
        .collect();
    record.extend(lines.into_iter().map(|line| line.trim_end().to_owned()));
    let field = |request: &WholeRequest, name: &str| {
        let lines = request.head.lines();
        let mut values = lines.filter_map(|line| line.strip_prefix(name).map(str::to_owned));
        values.next()
    };
    let hosts: BTreeSet<String> = seen
        .iter()
        .filter_map(|request| field(request, "Host: "))
        .collect();
    let hosts = hosts
        .into_iter()
        .map(|name| format!("host {}", name.replace(host, "HOST")));
    record.extend(hosts);
    let numbers: BTreeSet<u64> = seen
        .iter()
        .filter_map(|request| field(request, "Sc-Req-Id: ")?.parse().ok())
        .collect();
    if let (Some(1), Some(last)) = (numbers.first(), numbers.last()) {
        record.push(match *last == numbers.len() as u64 {
            true => "numbered from 1".to_owned(),
            false => "numbered with gaps".to_owned(),
        });
    }
    if let Some(first) = seen.first() {
        let fields: BTreeSet<&str> = first.head.lines().skip(1).collect();
        let fields = fields.into_iter().filter(|line| {
            !line.is_empty() && !line.starts_with("Sc-Req-Id") && !line.starts_with("Host: ")
        });
        record.extend(fields.map(|line| format!("first {line}")));
    }
    record
}

/// The format of a table of latencies.
fn table(text: &str) -> Record {
    let is_row = |row: &str| {
        let cells: Vec<&str> = row.split(", ").collect();
        cells.len() == 3 && cells.iter().all(|cell| cell.parse::<u64>().is_ok())
    };
    let odd = text.lines().find(|row| !is_row(row));
    let starts = match text.lines().next() {
        None => "is empty",
        Some(row) if row.starts_with("0, 0, ") => "begins with 0, 0",
        Some(_) => "begins elsewhere",
    };
    let mut record = vec![format!("table {starts}")];
    record.extend(odd.map(|row| format!("table has {row}")));
    record
}

/// The names of the metrics, requested until a request is counted.
fn metrics(port: u16) -> Record {
    let until = Instant::now() + Duration::from_secs(5);
    while Instant::now() < until {
        let mut reply = String::new();
        if let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)) {
            let asked = stream.write_all(b"GET /metrics HTTP/1.0\r\n\r\n");
            if asked.is_ok() && stream.read_to_string(&mut reply).is_ok() {
                let types = reply
                    .lines()
                    .filter_map(|line| line.strip_prefix("# TYPE "));
                let own = types.filter(|line| {
                    let name = line.split(' ').next().unwrap_or_default();
                    !["go_", "process_", "promhttp_"]
                        .iter()
                        .any(|prefix| name.starts_with(prefix))
                });
                let own: BTreeSet<String> = own.map(|line| format!("metric {line}")).collect();
                let buckets = reply.matches("latency_ms_bucket{").count();
                let counted = reply
                    .lines()
                    .any(|line| line.starts_with("requests ") && line != "requests 0");
                if counted {
                    let mut record: Record = own.into_iter().collect();
                    record.push(format!("{buckets} buckets"));
                    return record;
                }
            }
        }
        sleep(Duration::from_millis(20));
    }
    vec!["no metrics".to_owned()]
}

/// Runs a case with a program, and records it.
fn run(program: &mut Command, case: &Case) -> Record {
    let seen: Arc<Mutex<Vec<WholeRequest>>> = Arc::default();
    let (behaviour, kept) = (case.server.clone(), Arc::clone(&seen));
    let script = Script::new(move |peer| serve(&behaviour, peer, &kept));
    let url = script.url();
    let mut host = url
        .trim_start_matches("http://")
        .trim_end_matches('/')
        .to_owned();
    if case.server == "nothing" {
        host = format!("127.0.0.1:{}", port());
    }
    let secure = case.server.strip_prefix("serve ").map(Serve::new);
    if let Some(serve) = &secure {
        host = serve.address().to_string();
    }
    let taken = case
        .first("taken")
        .map(|_| TcpListener::bind("127.0.0.1:0").unwrap());
    let metrics_port = taken
        .as_ref()
        .map_or_else(port, |taken| taken.local_addr().unwrap().port());
    let folder = Folder::new();
    let filled = |text: &str| {
        text.replace("URL", &format!("http://{host}/"))
            .replace("HOST", &host)
            .replace("METRICS", &metrics_port.to_string())
            .replace("\\r", "\r")
            .replace("\\n", "\n")
    };
    for file in case.all("file") {
        let (name, text) = file.split_once(' ').unwrap_or((file, ""));
        folder.write(name, filled(text));
    }
    program.args(words(&filled(&case.name)));
    program.current_dir(folder.path()).env("TZ", "UTC");
    if let Some((name, value)) = case.first("env").and_then(|env| env.split_once('=')) {
        program.env(name, filled(value));
    }
    let input = case
        .first("stdin")
        .map(|text| folder.write("input", filled(text)));
    if let Some(path) = input {
        program.stdin(fs::File::open(path).unwrap());
    }
    let process = Process::start(program);
    let page = case.first("metrics").map(|_| metrics(metrics_port));
    case.signal(&process);
    let run = process.finish(LIMIT);
    let mut record = shown(&run, case, &host);
    for line in &mut record {
        *line = line.replace(&format!(":{metrics_port}"), ":METRICS");
    }
    record.extend(sent(&seen.lock().unwrap(), &host));
    record.extend(besides(&run, case, &host, &folder));
    record.extend(page.into_iter().flatten());
    record
}

/// The additional outputs that a case checks.
fn besides(run: &Run, case: &Case, host: &str, folder: &Folder) -> Record {
    let mut record = Record::new();
    if let Some(words) = case.first("says") {
        let said = match run.stderr.replace(host, "HOST").contains(words) {
            true => "said",
            false => "not said",
        };
        record.push(format!("{said} {words}"));
    }
    if let Some(name) = case.first("table") {
        record.extend(match fs::read_to_string(folder.at(name)) {
            Ok(text) => table(&text),
            Err(_) => vec!["no table".to_owned()],
        });
    }
    record
}

#[test]
fn lines_run_as_recorded() {
    BESIDE.check(|original, case| {
        let mut program = match original {
            Some(path) => neutral(Command::new(path)),
            None => drumfire(["slow_cooker"]),
        };
        run(&mut program, case)
    });
}
