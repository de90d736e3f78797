//! `drumfire compare` with runs made by these tests.

use crate::support::process::Run;
use crate::support::{Folder, Report, Serve, in_time, punctually, run};
use std::time::Duration;

/// Makes a run of 1.2 s against the server with this response time.
fn fire(serve: &Serve, folder: &str, name: &str, delay: &str) {
    stored(
        &format!("{folder}/{name}"),
        &format!("{}?delay={delay}", serve.url),
    );
}

/// Makes a stored run. A run that is invalid because the machine stalled cannot be compared, and is
/// repeated.
fn stored(directory: &str, rest: &str) {
    let line = format!("{LOAD} -o {directory} {rest}");
    for _ in 0..10 {
        assert_eq!(run(&line).code, Some(0), "{line}");
        let report = Report::read(&format!("{directory}/summary.json"));
        if report.validity() != "invalid" {
            return;
        }
        std::fs::remove_dir_all(directory).unwrap();
    }
}

/// A closed load, in which a late response makes no run invalid.
const LOAD: &str = "http -q -c 1 -z 1200ms --interval 100ms";

#[test]
fn sets_of_runs_have_an_answer_and_an_exit_code() {
    punctually(Duration::from_secs(1), sets_of_runs);
}

fn sets_of_runs() -> Result<(), String> {
    let serve = Serve::new("");
    let folder = Folder::new();
    let [base, candidate] = ["base", "candidate"].map(|side| folder.at(side));
    for n in 0..5 {
        fire(&serve, &base, &format!("r{n}"), "2ms");
        fire(&serve, &candidate, &format!("r{n}"), "12ms");
    }
    let refused = run(&format!("compare {base} {candidate}"));
    assert_eq!(refused.code, Some(2));
    assert!(
        refused
            .stderr
            .contains("to compare them anyway, use --any-target"),
        "{}",
        refused.stderr
    );
    let found = run(&format!("compare {base} {candidate} --any-target"));
    let answer = "✗ the candidate is worse: p50 by +";
    in_time(found.stdout.contains(answer), || found.stdout.clone())?;
    assert_eq!(found.code, Some(4), "{} {}", found.stdout, found.stderr);
    let better = run(&format!("compare {candidate} {base} --any-target --json"));
    assert_eq!(better.code, Some(0), "{}", better.stderr);
    let json: serde_json::Value = serde_json::from_str(&better.stdout).unwrap();
    assert_eq!(json["answer"], "better");
    assert_eq!(json["base"]["runs"].as_array().unwrap().len(), 5);
    Ok(())
}

#[test]
fn one_pair_is_named_by_directories_and_never_fails() {
    let serve = Serve::new("");
    let folder = Folder::new();
    let root = folder.at("runs");
    fire(&serve, &root, "one", "2ms");
    fire(&serve, &root, "two", "2ms");
    let found = run(&format!("compare {root}/one {root}/two"));
    assert_eq!(found.code, Some(0), "{}", found.stderr);
    assert!(
        found.stdout.contains("One pair of runs has no verdict"),
        "{}",
        found.stdout
    );
    assert!(found.stdout.contains("95 % interval"), "{}", found.stdout);
    let page = folder.at("page.md");
    let line = format!("compare {root}/one {root}/two --markdown {page}");
    assert_eq!(run(&line).code, Some(0), "{line}");
    let page = std::fs::read_to_string(&page).unwrap();
    assert!(
        page.starts_with("## One pair of runs has no verdict:"),
        "{page}"
    );
    let both = run(&format!(
        "compare {root}/one {root}/two --markdown - --json"
    ));
    assert_eq!(both.code, Some(2));
    assert!(
        both.stderr.contains("name the same place"),
        "{}",
        both.stderr
    );
    let itself = run(&format!("compare {root}/one {root}/one"));
    assert_eq!(itself.code, Some(2));
    assert!(
        itself.stderr.contains("compared with itself"),
        "{}",
        itself.stderr
    );
}

/// A folder of the user may contain links to runs under any name.
#[test]
fn links_to_runs_are_runs_under_any_name() {
    let serve = Serve::new("");
    let folder = Folder::new();
    let root = folder.at("runs");
    let sides = ["main", "branch"].map(|side| {
        fire(&serve, &root, side, "2ms");
        let links = folder.path().join(side);
        std::fs::create_dir(&links).unwrap();
        std::os::unix::fs::symlink(format!("{root}/{side}"), links.join("latest")).unwrap();
        folder.at(side)
    });
    let found = run(&format!("compare {} {} --json", sides[0], sides[1]));
    assert_eq!(found.code, Some(0), "{}", found.stderr);
    let json: serde_json::Value = serde_json::from_str(&found.stdout).unwrap();
    assert_eq!(json["base"]["runs"].as_array().unwrap().len(), 1);
}

/// Runs of which only the JSON exists, such as runs from another machine.
#[test]
fn files_of_json_are_compared_and_drawn() {
    let serve = Serve::new("");
    let folder = Folder::new();
    let files = folder.at("files");
    std::fs::create_dir(&files).unwrap();
    for (name, delay) in [("one", "2ms"), ("two", "12ms")] {
        let json = format!("{files}/{name}.json");
        let rest = format!("--json {json} {}?delay={delay}", serve.url);
        stored(&folder.at(name), &rest);
    }
    let (one, two) = (folder.at("one"), format!("{files}/two.json"));
    let stored = run(&format!(
        "compare {one} {} --any-target --json",
        folder.at("two")
    ));
    let mixed = run(&format!("compare {one} {two} --any-target --json"));
    assert_eq!(mixed.code, Some(0), "{}", mixed.stderr);
    let figures = |run: &Run| {
        let json: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
        let figures = json["figures"].as_array().unwrap().clone();
        let shifts = figures.iter().map(|of| of["shift"].as_f64().unwrap());
        shifts.collect::<Vec<_>>()
    };
    assert_eq!(figures(&mixed), figures(&stored));
    let page = folder.at("page.html");
    let drawn = run(&format!(
        "compare {files}/one.json {two} --any-target --html {page}"
    ));
    assert_eq!(drawn.code, Some(0), "{}", drawn.stderr);
    assert!(
        drawn.stdout.contains("There are no intervals"),
        "{}",
        drawn.stdout
    );
    let page = std::fs::read_to_string(&page).unwrap();
    for part in [
        "Content-Security-Policy",
        "id=\"tail\"",
        "id=\"p99\"",
        "id=\"outcomes\"",
        "id=\"figures\"",
    ] {
        assert!(page.contains(part), "{part}");
    }
    // A directory of files is a side, as a directory of runs is.
    let itself = run(&format!("compare {files} {two} --any-target"));
    assert_eq!(itself.code, Some(2));
    assert!(
        itself.stderr.contains("compared with itself"),
        "{}",
        itself.stderr
    );
    let plan = format!("{one}/plan.yaml");
    let wrong = run(&format!("compare {one} {plan}"));
    assert_eq!(wrong.code, Some(2));
    assert!(
        wrong
            .stderr
            .contains("plan.yaml can't be compared: it is not JSON"),
        "{}",
        wrong.stderr
    );
}

#[test]
fn a_run_is_compared_with_its_baseline_in_every_result() {
    let serve = Serve::new("");
    let folder = Folder::new();
    let (json, page, markdown) = (folder.at("a.json"), folder.at("a.html"), folder.at("a.md"));
    let load = |more: &str| format!("{LOAD} {more} {}", serve.url);
    let base = folder.at("base");
    stored(&base, &format!("--json {json} {}", serve.url));
    let line = load(&format!(
        "--no-store --baseline {base} --html {page} --markdown {markdown}"
    ));
    let found = run(&line);
    assert_eq!(found.code, Some(0), "{}", found.stderr);
    let (report, beside) = found
        .stdout
        .split_once("Comparison with the baseline\n")
        .unwrap();
    assert!(report.contains("Verdict"), "{report}");
    assert!(
        beside.contains("One pair of runs has no verdict"),
        "{beside}"
    );
    assert!(
        std::fs::read_to_string(&page)
            .unwrap()
            .contains("id=\"baseline\"")
    );
    let markdown = std::fs::read_to_string(&markdown).unwrap();
    assert!(
        markdown.contains("### Comparison with the baseline"),
        "{markdown}"
    );
    let of_json = run(&load(&format!("--no-store --baseline {json} --json -")));
    let document: serde_json::Value = serde_json::from_str(&of_json.stdout).unwrap();
    assert_eq!(document["comparison"]["schema"], "drumfire.comparison.v1");
    // A stored run is reported with a baseline, too, and a plan may contain one.
    let report = run(&format!("report {base} --baseline {json}"));
    assert!(
        report.stderr.contains("compared with itself"),
        "{}",
        report.stderr
    );
    let plan = folder.at("plan.yaml");
    let printed = run(&load(&format!("--baseline {json} --print-plan"))).stdout;
    assert!(printed.contains("baseline: "), "{printed}");
    std::fs::write(&plan, printed).unwrap();
    let planned = run(&format!("run {plan} --no-store"));
    assert!(
        planned.stdout.contains("Comparison with the baseline"),
        "{}",
        planned.stdout
    );
}
