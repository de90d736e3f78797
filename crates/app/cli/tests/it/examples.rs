//! The plans in `examples/` run unchanged, except for the server's address and their length.

use crate::docs::{LIMIT, Line, commands_side_by_side, page};
use crate::support::script::get;
use crate::support::{Folder, Process, Report, Serve, drumfire};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// The length of each run here: long enough for the samples that each rule needs.
const LENGTH: &str = "4s";

/// The examples whose requests fail on purpose; their iterations succeed.
const FAILING: [&str; 1] = ["retry.yaml"];
/// The extensions of plans, and the extensions of their data files.
const PLANS: [&str; 2] = [".yaml", ".toml"];
const DATA: [&str; 6] = [".csv", ".txt", ".jsonl", ".js", ".uri", ".log"];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../examples")
}

/// The files with these extensions, with their contents.
fn files(endings: &[&str]) -> Vec<Line> {
    let entries = fs::read_dir(folder()).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names
        .filter(|name| endings.iter().any(|ending| name.ends_with(ending)))
        .collect();
    names.sort();
    let read = |name: String| Line {
        text: fs::read_to_string(folder().join(&name)).unwrap(),
        place: name,
    };
    names.into_iter().map(read).collect()
}

/// A plan for servers on these ports, with a short run and limits that every machine keeps.
fn adapted(plan: &str, plain: u16, sealed: u16) -> String {
    let plan = plan
        .replace(":8080", &format!(":{plain}"))
        .replace(":8443", &format!(":{sealed}"));
    let lines = plan.lines().map(|line| {
        let line = ["<500ms", "<1s", "<2s", "<5s"]
            .iter()
            .fold(line.to_owned(), |line, bound| line.replace(bound, "<60s"));
        let line = match line.split_once("timeout: ") {
            Some((before, _)) => format!("{before}timeout: 60s"),
            None => line,
        };
        let after = ["after: ", "after = \""].iter();
        let mut found = after.filter_map(|key| Some((key, line.split_once(key)?)));
        match found.next_back() {
            Some((key, (before, after))) => {
                let rest = after.trim_start_matches(|c: char| c.is_ascii_alphanumeric());
                format!("{before}{key}{LENGTH}{rest}\n")
            }
            None => format!("{line}\n"),
        }
    });
    lines.collect()
}

/// Writes the adapted examples into the `examples` folder of a folder, where pages expect them.
pub(crate) fn put_into(folder: &Folder, plain: u16, sealed: u16) {
    for Line { place, text } in files(&PLANS) {
        folder.write(&format!("examples/{place}"), adapted(&text, plain, sealed));
    }
    for Line { place, text } in files(&DATA) {
        folder.write(&format!("examples/{place}"), text);
    }
}

/// The servers for which the plans are written.
struct Stage {
    folder: Folder,
    plain: Serve,
    sealed: Serve,
}

impl Stage {
    fn new() -> Self {
        let folder = Folder::new();
        let plain = Serve::new("--shop --grpc");
        let sealed = Serve::new(&format!("--tls --tls-ca {}", folder.at("ca.pem")));
        for file in files(&DATA) {
            folder.write(&file.place, &file.text);
        }
        Self {
            folder,
            plain,
            sealed,
        }
    }

    /// The mistake in a plan's run, if there is one.
    fn judge(&self, Line { place, text }: &Line) -> Option<String> {
        let plan = self
            .folder
            .write(place, adapted(text, self.plain.port(), self.sealed.port()));
        let json = self.folder.at(&format!("{place}.json"));
        let mut command = drumfire(["run", &plan, "--json", &json, "--no-tui"]);
        // One of them takes most of the limit.
        let run = Process::start(&mut command).finish(2 * LIMIT);
        if run.code != Some(0) {
            return Some(format!("{place}: exit code {:?}\n{run:?}", run.code));
        }
        let report = Report::read(&json);
        report.balances();
        let unsent = report.at("steps").as_array().unwrap().iter();
        let unsent: Vec<_> = unsent
            .filter(|step| step["sent"].as_u64() == Some(0))
            .collect();
        let failed = match FAILING.contains(&&**place) {
            true => report.n("iterations.failed"),
            false => report.n("requests.failed"),
        };
        let is_good = failed == 0 && unsent.is_empty();
        (!is_good).then(|| format!("{place}: {unsent:?}\n{}", run.stdout))
    }

    fn stats(&self) -> Value {
        let text = get(self.plain.address(), "/shop/stats").unwrap();
        serde_json::from_str(&text).unwrap()
    }
}

#[test]
fn every_example_runs_and_nobody_is_confused() {
    let stage = Stage::new();
    let plans = files(&PLANS);
    assert!(plans.len() >= 20, "{plans:?}");
    let wrong = commands_side_by_side(&plans, |plan| stage.judge(plan));
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    let stats = stage.stats();
    assert!(stats["orders"].as_u64() > Some(0), "{stats}");
    let mistakes = stats["mistakes"].as_object().unwrap();
    assert!(mistakes.values().all(|count| count == 0), "{stats}");
}

#[test]
fn every_example_has_a_head_and_a_row() {
    let (_, readme) = page("examples/README.md");
    let plans = files(&PLANS);
    for Line { place, text } in &plans {
        assert!(
            readme.contains(&format!("| [{place}]({place}) | ")),
            "{place}"
        );
        let head: Vec<&str> = text
            .lines()
            .take_while(|line| line.starts_with('#'))
            .collect();
        let named = format!("drumfire run examples/{place}");
        assert!(head.iter().any(|line| line.contains(&named)), "{place}");
        assert!(
            head.iter().any(|line| line.contains("drumfire serve")),
            "{place}"
        );
    }
    let rows = |ending: &&str| readme.matches(&format!("{ending}](")).count();
    assert_eq!(PLANS.iter().map(rows).sum::<usize>(), plans.len());
}
