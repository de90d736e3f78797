//! Hundreds of command lines, each with the required similarity of the two tools. The lines and the
//! reason for every difference are in `conformance/dialects/ghz-beside/cases.txt`; a reason is a
//! line of `docs/dialects/ghz.md`.

use super::{original, run};
use crate::support::delays::try_again;
use crate::support::{Folder, Run, Serve, lab, side_by_side};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The number of lines that run in parallel.
const SIDE_BY_SIDE: usize = 3;

/// The maximum delay of anything; the minimum time that a line allows for a call is half a second.
const SLACK: Duration = Duration::from_millis(200);

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

/// The table: reasons by name, and lines.
struct Table<'a> {
    reasons: BTreeMap<&'a str, &'a str>,
    lines: Vec<(Expected<'a>, &'a str)>,
}

impl<'a> Table<'a> {
    fn read(text: &'a str) -> Self {
        let (mut reasons, mut lines) = (BTreeMap::new(), Vec::new());
        for row in text
            .lines()
            .filter(|row| !row.is_empty() && !row.starts_with('#'))
        {
            if let Some(reason) = row.strip_prefix("reason ") {
                let (name, why) = reason.split_once(": ").expect(row);
                assert!(reasons.insert(name, why).is_none(), "{name} stands twice");
                continue;
            }
            let (mark, line) = row.split_once(' ').unwrap_or((row, ""));
            let expected = match mark {
                "=" => Expected::Same,
                "~" => Expected::Refused,
                mark => Expected::Differs(mark.strip_prefix('!').expect(row)),
            };
            lines.push((expected, line));
        }
        Self { reasons, lines }
    }

    /// Checks that each difference has a reason, and that each reason has a difference and its line
    /// on the page.
    fn check(&self, page: &str) {
        for (name, line) in &self.reasons {
            assert!(page.contains(line), "{name}: `{line}` is not on the page");
        }
        let named: BTreeSet<&str> = self.reasons.keys().copied().collect();
        let mut used = BTreeSet::new();
        for (expected, line) in &self.lines {
            if let Expected::Differs(reason) = expected {
                assert!(named.contains(reason), "no reason `{reason}`: {line}");
                used.insert(*reason);
            }
        }
        assert_eq!(used, named, "reasons without a line");
        assert!(self.lines.len() >= 300, "{} lines", self.lines.len());
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
    let source = std::fs::read(files.at("beside.proto")).expect("the schema");
    files.write("bom.proto", [b"\xef\xbb\xbf", &source[..]].concat());
    files
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder");
    for entry in std::fs::read_dir(from).expect("the files") {
        let entry = entry.expect("a file");
        let (path, to) = (entry.path(), to.join(entry.file_name()));
        match path.is_dir() {
            true => copy(&path, &to),
            false => drop(std::fs::copy(&path, &to).expect("a copy")),
        }
    }
}

/// The result of one tool, as far as it is compared.
#[derive(Debug, PartialEq)]
enum End {
    /// A report: the counts of statuses and errors, and the options.
    Report(BTreeMap<(String, String), usize>, String),
    /// No report: the exit code, and the text on standard error.
    Text(Option<i32>, String),
}

impl End {
    fn from_run(run: &Run) -> Self {
        let Ok(report) = serde_json::from_str::<Value>(&run.stdout) else {
            return Self::Text(run.code, run.stderr.trim().to_owned());
        };
        let mut results = BTreeMap::new();
        for detail in report["details"].as_array().into_iter().flatten() {
            let text = |key: &str| detail[key].as_str().unwrap_or_default().to_owned();
            *results.entry((text("status"), text("error"))).or_default() += 1;
        }
        Self::Report(results, report["options"].to_string())
    }

    fn is_refused(&self) -> bool {
        matches!(self, Self::Text(Some(1), _))
    }
}

/// The mistake in the results of a line, if any.
fn check(expected: Expected<'_>, line: &str, host: &str, files: &str) -> Option<String> {
    let mut words = line.replace("DIR", files);
    if ![" -O", " -o"].iter().any(|flag| words.contains(flag)) {
        words.push_str(" -O json");
    }
    let both = run(&words, host).map(|run| End::from_run(&run));
    let fine = match expected {
        Expected::Same => both.ours == both.ghz,
        Expected::Refused => both.ours.is_refused() && both.ghz.is_refused(),
        Expected::Differs(_) => both.ours != both.ghz,
    };
    let told = || {
        format!(
            "{expected:?}: {line}\n  ghz  {:?}\n  ours {:?}",
            both.ghz, both.ours
        )
    };
    (!fine).then(told)
}

#[test]
fn every_line_ends_as_the_table_says() {
    let text = std::fs::read_to_string(folder().join("cases.txt")).expect("the table");
    let table = Table::read(&text);
    let page = lab::repository().join("docs/dialects/ghz.md");
    table.check(&std::fs::read_to_string(page).expect("the page"));
    if original().is_none() {
        return;
    }
    let server = Serve::new("--grpc");
    let (host, files) = (server.address().to_string(), files());
    // ghz shows the shortest path to a file.
    let folder = files.path().canonicalize().expect("the folder");
    let folder = folder.to_str().expect("a path of text");
    let found = side_by_side(SIDE_BY_SIDE, &table.lines, |(expected, line)| {
        check(*expected, line, &host, folder)
    });
    let doubted = table.lines.iter().zip(found);
    let doubted = doubted.filter_map(|(row, wrong)| wrong.map(|wrong| (row, wrong)));
    let wrong = doubted.filter_map(|((expected, line), wrong)| {
        eprintln!("beside its neighbours: {wrong}");
        let again = || check(*expected, line, &host, folder).map_or(Ok(()), Err);
        try_again(SLACK, again).err()
    });
    let wrong: Vec<String> = wrong.collect();
    let count = wrong.len();
    assert!(wrong.is_empty(), "{count} lines:\n{}", wrong.join("\n"));
}
