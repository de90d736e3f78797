//! `drumfire compare` with runs that were made here.

use crate::support::process::Run;
use crate::support::program::{LIMIT, words};
use crate::support::{Folder, Process, Serve, drumfire};

fn run(line: &str) -> Run {
    Process::start(&mut drumfire(words(line))).finish(LIMIT)
}

/// Makes a run of 1.2 s against the server, whose answers take this long.
fn fire(serve: &Serve, folder: &str, name: &str, delay: &str) {
    let line = format!(
        "http -q -r 100 -z 1200ms --interval 100ms -o {folder}/{name} {}?delay={delay}",
        serve.url
    );
    assert_eq!(run(&line).code, Some(0), "{line}");
}

#[test]
fn sets_of_runs_have_an_answer_and_an_exit_code() {
    let serve = Serve::new("");
    let folder = Folder::new();
    let [base, candidate] = ["base", "candidate"].map(|side| folder.at(side));
    for n in 0..5 {
        fire(&serve, &base, &format!("r{n}"), "2ms");
        fire(&serve, &candidate, &format!("r{n}"), "12ms");
    }
    let found = run(&format!("compare {base} {candidate} --any-target"));
    assert_eq!(found.code, Some(4), "{} {}", found.stdout, found.stderr);
    assert!(
        found.stdout.contains("✗ the candidate is worse: p50 by +"),
        "{}",
        found.stdout
    );
    let better = run(&format!("compare {candidate} {base} --any-target --json"));
    assert_eq!(better.code, Some(0), "{}", better.stderr);
    let json: serde_json::Value = serde_json::from_str(&better.stdout).unwrap();
    assert_eq!(json["answer"], "better");
    assert_eq!(json["base"]["runs"].as_array().unwrap().len(), 5);
    let refused = run(&format!("compare {base} {candidate}"));
    assert_eq!(refused.code, Some(2));
    assert!(
        refused
            .stderr
            .contains("--any-target compares them all the same"),
        "{}",
        refused.stderr
    );
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
        found.stdout.contains("One pair of runs: no verdict"),
        "{}",
        found.stdout
    );
    assert!(found.stdout.contains("95 % interval"), "{}", found.stdout);
    let page = folder.at("page.md");
    let line = format!("compare {root}/one {root}/two --markdown {page}");
    assert_eq!(run(&line).code, Some(0), "{line}");
    let page = std::fs::read_to_string(&page).unwrap();
    assert!(
        page.starts_with("## One pair of runs: no verdict."),
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

#[test]
fn a_side_that_is_none_is_named() {
    let folder = Folder::new();
    let empty = folder.at("empty");
    std::fs::create_dir(&empty).unwrap();
    for (line, why) in [
        (
            format!("compare {empty} {empty}"),
            "is neither a run nor a directory of runs",
        ),
        (
            "compare tag:nothing last".to_owned(),
            "no stored run has the tag `nothing`",
        ),
        (
            "compare nothing,here last".to_owned(),
            "`nothing` is neither a directory nor the id",
        ),
        (
            "compare a b --least 0".to_owned(),
            "write a share above 0 % and below 100 %",
        ),
    ] {
        let found = run(&line);
        assert_eq!(found.code, Some(2), "{line}");
        assert!(found.stderr.contains(why), "{line}: {}", found.stderr);
    }
}
