//! Hundreds of command lines, each with the required similarity of the two tools. The lines, what
//! ghz does with each, and the reason for every difference are in
//! `conformance/dialects/ghz-beside/cases.txt`; a reason is a line of `docs/dialects/ghz.md`.
//!
//! With the path of ghz in `GHZ`, ghz runs again and its records are rewritten.

use crate::support::delays::try_again;
use crate::support::program::{LIMIT, neutral, words};
use crate::support::{Folder, Process, Run, Serve, drumfire, lab, side_by_side};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::available_parallelism;
use std::time::Duration;
use std::{env, fs};

/// The number of lines that run in parallel.
const SIDE_BY_SIDE: usize = 3;

/// The maximum delay of anything; the minimum time that a line allows for a call is half a second.
const SLACK: Duration = Duration::from_millis(200);

/// The beginning of a record's lines.
const INDENT: &str = "    ";

/// Options that most reports have; a record has only those that differ.
const COMMON: &str = r#"{
    "call": "drumfire.test.v1.TestService/Unary", "host": "HOST", "proto": "DIR/beside.proto", "insecure": true,
    "load-schedule": "const", "load-start": 0, "load-end": 0, "load-step": 0, "load-step-duration": 0,
    "load-max-duration": 0, "concurrency": 1, "concurrency-schedule": "const", "concurrency-start": 0,
    "concurrency-end": 0, "concurrency-step": 1, "concurrency-step-duration": 0, "concurrency-max-duration": 0,
    "total": 2, "connections": 1, "timeout": 20000000000, "dial-timeout": 10000000000, "binary": false
}"#;

/// The required result of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expected<'a> {
    /// Equal results and options, or an equal refusal word for word.
    Same,
    /// Both refuse the line, each with its own message.
    Refused,
    /// The tools differ, for the reason with this name.
    Differs(&'a str),
}

/// The result of one tool, as far as it is compared: how many calls have each status and error, and
/// the report's options that differ from the common ones; or the exit code and the text on standard
/// error. One part per line.
type Record = Vec<String>;

/// One line of the table.
struct Row<'a> {
    expected: Expected<'a>,
    /// The row as it is written, with its mark.
    written: &'a str,
    line: &'a str,
    ghz: Record,
}

/// The table: its head, reasons by name, and rows.
struct Table<'a> {
    head: &'a str,
    reasons: BTreeMap<&'a str, &'a str>,
    rows: Vec<Row<'a>>,
}

impl<'a> Table<'a> {
    /// Reads the comment and the reasons, then the rows, each with the lines of its record below it,
    /// which are indented.
    fn read(text: &'a str) -> Self {
        let at = ["\n= ", "\n~ ", "\n!"]
            .iter()
            .filter_map(|mark| text.find(mark));
        let (head, body) = text.split_at(at.min().expect("rows"));
        let reasons = head.lines().filter_map(|row| row.strip_prefix("reason "));
        let mut named = BTreeMap::new();
        for reason in reasons {
            let (name, why) = reason.split_once(": ").expect(reason);
            assert!(named.insert(name, why).is_none(), "{name} stands twice");
        }
        let mut rows: Vec<Row<'a>> = Vec::new();
        for written in body.lines().filter(|line| !line.is_empty()) {
            if let Some(part) = written.strip_prefix(INDENT) {
                rows.last_mut().expect("a row").ghz.push(part.to_owned());
                continue;
            }
            let (mark, line) = written.split_once(' ').unwrap_or((written, ""));
            let expected = match mark {
                "=" => Expected::Same,
                "~" => Expected::Refused,
                mark => Expected::Differs(mark.strip_prefix('!').expect(written)),
            };
            rows.push(Row {
                expected,
                written,
                line,
                ghz: Record::new(),
            });
        }
        Self {
            head,
            reasons: named,
            rows,
        }
    }

    /// The text that [`Table::read`] reads, with these records of ghz.
    fn print(&self, records: &[Record]) -> String {
        let mut text = format!("{}\n", self.head);
        for (row, record) in self.rows.iter().zip(records) {
            text.push_str(&format!("{}\n", row.written));
            record
                .iter()
                .for_each(|part| text.push_str(&format!("{INDENT}{part}\n")));
        }
        text
    }

    /// Checks that each difference has a reason, and that each reason has a difference and its line
    /// on the page.
    fn check(&self, page: &str) {
        for (name, line) in &self.reasons {
            assert!(page.contains(line), "{name}: `{line}` is not on the page");
        }
        let named: BTreeSet<&str> = self.reasons.keys().copied().collect();
        let mut used = BTreeSet::new();
        for Row { expected, line, .. } in &self.rows {
            if let Expected::Differs(reason) = expected {
                assert!(named.contains(reason), "no reason `{reason}`: {line}");
                used.insert(*reason);
            }
        }
        assert_eq!(used, named, "reasons without a line");
        assert!(self.rows.len() >= 300, "{} lines", self.rows.len());
    }
}

fn folder() -> PathBuf {
    lab::repository().join("conformance/dialects/ghz-beside")
}

/// The files in the lines, copied to a new folder: the files of the repository, and one with a byte
/// order mark at its beginning, as an editor writes it.
fn files() -> Folder {
    let files = Folder::new();
    copy(&folder().join("files"), files.path());
    let source = fs::read(files.at("beside.proto")).expect("the schema");
    files.write("bom.proto", [b"\xef\xbb\xbf", &source[..]].concat());
    files
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("the files") {
        let entry = entry.expect("a file");
        let (path, to) = (entry.path(), to.join(entry.file_name()));
        match path.is_dir() {
            true => copy(&path, &to),
            false => drop(fs::copy(&path, &to).expect("a copy")),
        }
    }
}

/// What the lines of the table are for: a server, and the folder of their files.
struct Stage {
    _server: Serve,
    host: String,
    _files: Folder,
    /// ghz shows the shortest path to a file.
    folder: String,
}

impl Stage {
    fn new() -> Self {
        let server = Serve::new("--grpc");
        let files = files();
        let folder = files.path().canonicalize().expect("the folder");
        Self {
            host: server.address().to_string(),
            _server: server,
            folder: folder.to_str().expect("a path of text").to_owned(),
            _files: files,
        }
    }

    /// The record of one of the two tools for a line.
    fn run(&self, mut command: Command, line: &str) -> Record {
        let mut line = line
            .replace("HOST", &self.host)
            .replace("DIR", &self.folder);
        if ![" -O", " -o"].iter().any(|flag| line.contains(flag)) {
            line.push_str(" -O json");
        }
        let mut run = Process::start(command.args(words(&line))).finish(LIMIT);
        for text in [&mut run.stdout, &mut run.stderr] {
            *text = text
                .replace(&self.host, "HOST")
                .replace(&self.folder, "DIR");
        }
        record(&run, line.contains("cpus"))
    }

    /// The mistake in our result of a row, if any.
    fn check(&self, row: &Row<'_>) -> Option<String> {
        let ours = self.run(drumfire(["ghz"]), row.line);
        let fine = match row.expected {
            Expected::Same => ours == row.ghz,
            Expected::Refused => is_refused(&ours) && is_refused(&row.ghz),
            Expected::Differs(_) => ours != row.ghz,
        };
        let told = || format!("{}\n  ghz  {:?}\n  ours {ours:?}", row.written, row.ghz);
        (!fine).then(told)
    }
}

/// The record of a run. If the line does not set the number of CPUs, the machine's number is omitted.
fn record(run: &Run, sets_cpus: bool) -> Record {
    let Ok(report) = serde_json::from_str::<Value>(&run.stdout) else {
        let exit = format!("exit {:?}", run.code);
        let text = run.stderr.trim().lines().map(str::to_owned);
        return std::iter::once(exit).chain(text).collect();
    };
    let mut results = BTreeMap::new();
    for detail in report["details"].as_array().into_iter().flatten() {
        let result = format!("{} {}", detail["status"], detail["error"]);
        *results.entry(result).or_insert(0) += 1;
    }
    let mut common: Value = serde_json::from_str(COMMON).expect("options");
    if !sets_cpus {
        common["CPUs"] = available_parallelism().map_or(1, |cpus| cpus.get()).into();
    }
    let options = report["options"].as_object().into_iter().flatten();
    let differing = options.filter(|(key, value)| common[key.as_str()] != **value);
    let missing = common.as_object().expect("options").keys();
    let missing = missing.filter(|key| report["options"].get(key.as_str()).is_none());
    let results = results
        .into_iter()
        .map(|(result, count)| format!("{count} {result}"));
    let options = differing.map(|(key, value)| format!("{key}: {value}"));
    let missing = missing.map(|key| format!("no {key}"));
    results.chain(options).chain(missing).collect()
}

fn is_refused(record: &Record) -> bool {
    record.first().is_some_and(|exit| exit == "exit Some(1)")
}

#[test]
fn every_line_ends_as_the_table_says() {
    let path = folder().join("cases.txt");
    let text = fs::read_to_string(&path).expect("the table");
    let table = Table::read(&text);
    let page = lab::repository().join("docs/dialects/ghz.md");
    table.check(&fs::read_to_string(page).expect("the page"));
    let stage = Stage::new();
    let ghz = env::var("GHZ").unwrap_or_default();
    if !ghz.is_empty() {
        let records = side_by_side(SIDE_BY_SIDE, &table.rows, |row| {
            stage.run(neutral(Command::new(&ghz)), row.line)
        });
        return fs::write(path, table.print(&records)).expect("the table");
    }
    let found = side_by_side(SIDE_BY_SIDE, &table.rows, |row| stage.check(row));
    let doubted = table.rows.iter().zip(found);
    let doubted = doubted.filter_map(|(row, wrong)| wrong.map(|wrong| (row, wrong)));
    let wrong = doubted.filter_map(|(row, wrong)| {
        eprintln!("beside its neighbours: {wrong}");
        let again = || stage.check(row).map_or(Ok(()), Err);
        try_again(SLACK, again).err()
    });
    let wrong: Vec<String> = wrong.collect();
    let count = wrong.len();
    assert!(wrong.is_empty(), "{count} lines:\n{}", wrong.join("\n"));
}
