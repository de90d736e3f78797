//! Compares a dialect with its original: the recorded result of the original in each case, our
//! result, and the reason for every difference. The records are in
//! `conformance/dialects/NAME-beside/cases.txt`; a reason is a line of `docs/dialects/NAME.md`.
//!
//! With the path of the original in the environment, the original runs again and its records are
//! rewritten. Our differing records are written too, so that a person can add the reason.

use super::delays::try_again;
use super::{Process, Signal, lab, side_by_side};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::thread::sleep;
use std::time::Duration;
use std::{env, fs};

/// The compared parts of a run, one per line.
pub(crate) type Record = Vec<String>;

/// One case: the server, the command line, the original's record, and ours with a reason if it
/// differs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Case {
    pub(crate) server: String,
    pub(crate) name: String,
    /// Further settings, one per line.
    given: Vec<String>,
    original: Record,
    ours: Option<Difference>,
}

#[derive(Clone, Debug)]
struct Difference {
    reason: String,
    record: Record,
}

/// The maximum delay that leaves no trace in the record of a run.
const SLACK: Duration = Duration::from_millis(100);

/// A dialect with its records.
#[derive(Debug)]
pub(crate) struct Beside {
    /// The dialect's name in file names.
    pub(crate) dialect: &'static str,
    /// The environment variable with the original's path.
    pub(crate) original: &'static str,
    /// The number of cases that run in parallel.
    pub(crate) at_a_time: usize,
    /// The minimum number of cases.
    pub(crate) least: usize,
}

impl Beside {
    /// Runs all cases. `run` runs one of them: with the original if it gets its path, otherwise
    /// with ours.
    pub(crate) fn check(&self, run: impl Fn(Option<&str>, &Case) -> Record + Sync) {
        let path = self.folder().join("cases.txt");
        let text = fs::read_to_string(&path).expect("the records");
        let (head, cases) = read(&text);
        assert!(cases.len() >= self.least, "{} cases", cases.len());
        let original = env::var(self.original).unwrap_or_default();
        if !original.is_empty() {
            let again = side_by_side(self.at_a_time, &cases, |case| {
                case.again(run(Some(&original), case), run(None, case))
            });
            return fs::write(path, print(&head, &again)).expect("the records");
        }
        self.check_reasons(&head, &cases);
        let differs = |case: &Case| {
            let found = run(None, case);
            (found != *case.expected()).then_some(found)
        };
        let found = side_by_side(self.at_a_time, &cases, differs);
        let found = cases.iter().zip(found);
        let doubted: Vec<_> = found
            .filter_map(|(case, record)| Some((case, record?)))
            .collect();
        // A run of one second may be over before a busy machine has sent or read anything. A case
        // that differs while others run must differ alone as well.
        let count = doubted.len();
        let wrong = doubted.into_iter().filter_map(|(case, busy)| {
            eprintln!("beside its neighbours: {}", case.told(&busy));
            let again = || differs(case).map_or(Ok(()), |found| Err(case.told(&found)));
            try_again(SLACK, again).err()
        });
        let wrong: Vec<String> = wrong.collect();
        assert!(
            wrong.is_empty(),
            "{} of {count} cases:\n{}",
            wrong.len(),
            wrong.join("\n")
        );
    }

    /// The folder of the dialect's records.
    pub(crate) fn folder(&self) -> PathBuf {
        lab::repository().join(format!("conformance/dialects/{}-beside", self.dialect))
    }

    /// Checks that each difference has a reason, and that each reason has a difference and its line
    /// on the dialect's page.
    fn check_reasons(&self, head: &str, cases: &[Case]) {
        let page = lab::repository().join(format!("docs/dialects/{}.md", self.dialect));
        let page = fs::read_to_string(page).expect("the page");
        let reasons = head.lines().filter_map(|line| line.strip_prefix("reason "));
        let mut unused = BTreeSet::new();
        for reason in reasons {
            let (name, line) = reason.split_once(": ").expect(reason);
            assert!(page.contains(line), "{name}: `{line}` is not on the page");
            unused.insert(name);
        }
        let named = unused.clone();
        for case in cases {
            if let Some(Difference { reason, record }) = &case.ours {
                let (reason, name) = (reason.as_str(), &case.name);
                assert!(named.contains(reason), "no reason `{reason}`: {name}");
                assert_ne!(*record, case.original, "{name} differs in nothing");
                unused.remove(reason);
            }
        }
        assert!(unused.is_empty(), "reasons without a case: {unused:?}");
    }
}

impl Case {
    /// The values of a setting.
    pub(crate) fn all(&self, word: &str) -> Vec<&str> {
        let lines = self.given.iter();
        let values = lines.filter_map(|line| line.strip_prefix(word)?.strip_prefix(": "));
        values.collect()
    }

    /// The first value of a setting.
    pub(crate) fn first(&self, word: &str) -> Option<&str> {
        self.all(word).first().copied()
    }

    /// Sends a process the signal of the case at its time, `NAME MILLISECONDS`.
    pub(crate) fn signal(&self, process: &Process) {
        let signal = self
            .first("signal")
            .and_then(|signal| signal.split_once(' '));
        let Some((name, after)) = signal else { return };
        sleep(Duration::from_millis(after.parse().expect("milliseconds")));
        process.signal(match name {
            "INT" => Signal::INT,
            _ => Signal::TERM,
        });
    }

    /// The expected record of ours.
    fn expected(&self) -> &Record {
        self.ours
            .as_ref()
            .map_or(&self.original, |ours| &ours.record)
    }

    /// The expected and the found record, for a person.
    fn told(&self, found: &Record) -> String {
        let (server, name, expected) = (&self.server, &self.name, self.expected());
        format!("{server} | {name}\n  expected {expected:#?}\n  found {found:#?}")
    }

    /// The case with new records.
    fn again(&self, original: Record, ours: Record) -> Self {
        let reason = self.ours.as_ref().map_or("?", |ours| &ours.reason);
        let reason = reason.to_owned();
        Self {
            ours: (ours != original).then_some(Difference {
                reason,
                record: ours,
            }),
            original,
            ..self.clone()
        }
    }
}

/// The comment and reasons, and the cases.
fn read(text: &str) -> (String, Vec<Case>) {
    let (head, rest) = text.split_once("\n== ").expect("a case");
    let cases = rest.split("\n== ").map(|block| {
        let mut lines = block.lines().filter(|line| !line.is_empty());
        let first = lines.next().and_then(|line| line.split_once(" | "));
        let (server, name) = first.expect(block);
        let mut case = Case {
            server: server.to_owned(),
            name: name.to_owned(),
            ..Case::default()
        };
        for line in lines {
            match (line.strip_prefix("-- ours: "), &mut case.ours) {
                (Some(reason), _) => {
                    case.ours = Some(Difference {
                        reason: reason.to_owned(),
                        record: Record::new(),
                    });
                }
                (None, None) if line.starts_with("> ") => case.given.push(line[2..].to_owned()),
                (None, Some(ours)) => ours.record.push(line.to_owned()),
                (None, None) => case.original.push(line.to_owned()),
            }
        }
        case
    });
    (head.to_owned(), cases.collect())
}

fn print(head: &str, cases: &[Case]) -> String {
    let mut lines = vec![head.trim_end().to_owned()];
    for case in cases {
        lines.extend([String::new(), format!("== {} | {}", case.server, case.name)]);
        lines.extend(case.given.iter().map(|line| format!("> {line}")));
        lines.extend(case.original.iter().cloned());
        if let Some(Difference { reason, record }) = &case.ours {
            lines.push(format!("-- ours: {reason}"));
            lines.extend(record.iter().cloned());
        }
    }
    lines.join("\n") + "\n"
}
