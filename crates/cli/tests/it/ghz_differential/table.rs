//! Hundreds of command lines, each with what the two tools must have in common. The lines stand in
//! `conformance/dialects/ghz-beside/cases.txt`, and so does the reason of every difference.

use super::{original, run};
use crate::support::{Run, Serve, lab};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Mutex;

/// How many lines run at a time.
const SIDE_BY_SIDE: usize = 3;

/// What a line must come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expected<'a> {
    /// The same results and options, or the same refusal to the letter.
    Same,
    /// Both refuse it, each in its own words.
    Refused,
    /// The tools differ, for the reason of this name.
    Differs(&'a str),
}

/// The table: reasons by their names, and lines.
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

    /// Each difference has a reason, and each reason a difference.
    fn check(&self) {
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
    let folder = lab::repository().join("conformance/dialects/ghz-beside");
    // ghz shows the shortest path to a file.
    folder.canonicalize().expect("the folder")
}

/// The end of one tool, as far as it is compared.
#[derive(Debug, PartialEq)]
enum End {
    /// A report: statuses and errors with their numbers, and the options.
    Report(BTreeMap<(String, String), usize>, String),
    /// No report: the code, and what stands on standard error.
    Text(Option<i32>, String),
}

impl End {
    fn of(run: &Run) -> Self {
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

/// What is wrong with a line, if anything is.
fn check(expected: Expected<'_>, line: &str, host: &str) -> Option<String> {
    let files = folder().join("files");
    let mut words = line.replace("DIR", files.to_str().expect("a path of text"));
    if ![" -O", " -o"].iter().any(|flag| words.contains(flag)) {
        words.push_str(" -O json");
    }
    let both = run(&words, host).map(|run| End::of(&run));
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
    table.check();
    if original().is_none() {
        return;
    }
    let server = Serve::new("--grpc");
    let host = server.address().to_string();
    let rest = Mutex::new(table.lines.iter());
    let wrong = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..SIDE_BY_SIDE {
            scope.spawn(|| {
                loop {
                    let next = rest.lock().expect("no panic").next();
                    let Some((expected, line)) = next else { return };
                    let found = check(*expected, line, &host);
                    wrong.lock().expect("no panic").extend(found);
                }
            });
        }
    });
    let wrong = wrong.into_inner().expect("no panic");
    assert!(
        wrong.is_empty(),
        "{} lines:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
