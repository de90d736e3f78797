//! `drumfire runs --trend` with runs made by these tests.

use crate::support::process::Run;
use crate::support::program::{LIMIT, words};
use crate::support::{Folder, Process, Serve, drumfire, in_time, punctually};
use std::fs;
use std::time::Duration;

/// Runs the program, and stores its runs in a folder of the test.
fn run(folder: &Folder, line: &str) -> Run {
    let mut command = drumfire(words(line));
    command.env("XDG_STATE_HOME", folder.path());
    Process::start(&mut command).finish(LIMIT)
}

/// Makes short runs of one plan.
fn fire(folder: &Folder, plan: &str, count: u32) {
    for number in 0..count {
        // Outputs are not a part of the load, nor is a seed.
        let json = folder.at(&format!("of-{number}.json"));
        let line = format!("run {plan} -q --json {json} --seed {}", number + 1);
        let made = run(folder, &line);
        assert_eq!(made.code, Some(0), "{}", made.stderr);
    }
}

#[test]
fn the_runs_of_a_plan_are_followed_by_its_file_and_by_a_run() {
    punctually(Duration::from_millis(500), runs_of_a_plan);
}

fn runs_of_a_plan() -> Result<(), String> {
    let folder = Folder::new();
    let serve = Serve::new("--delay const:2ms");
    let (url, listen) = (serve.url.clone(), serve.address());
    let plan = folder.at("plan.yaml");
    let print = |line: &str| {
        let printed = run(&folder, &format!("http {line} {url} --print-plan"));
        assert_eq!(printed.code, Some(0), "{}", printed.stderr);
        printed.stdout
    };
    fs::write(&plan, print("-n 12 -r 400")).unwrap();
    fire(&folder, &plan, 9);
    let none = run(&folder, "runs --trend");
    assert_eq!(none.code, Some(0), "{}", none.stderr);
    assert!(
        none.stdout
            .starts_with("Changes      too few runs to show any"),
        "{}",
        none.stdout
    );
    fire(&folder, &plan, 3);
    // A run of another plan, which is not a part of the trend.
    assert_eq!(
        run(&folder, &format!("http -q -n 12 -r 300 {url}")).code,
        Some(0)
    );
    drop(serve);
    let _slower = Serve::new(&format!("-l {listen} --delay const:100ms"));
    fire(&folder, &plan, 12);
    let of_file = run(&folder, &format!("runs --trend {plan}"));
    assert_eq!(of_file.code, Some(0), "{}", of_file.stderr);
    assert!(
        of_file.stdout.starts_with("Changes      "),
        "{}",
        of_file.stdout
    );
    let of_run = run(&folder, "runs --trend last");
    assert_eq!(of_run.stdout, of_file.stdout);
    let json = run(&folder, "runs --trend last --json");
    let json: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    let runs = json["runs"].as_array().unwrap();
    // A run that the machine delayed is invalid, and left out.
    let left_out = json["left_out"].as_array().unwrap();
    assert_eq!(runs.len() + left_out.len(), 24, "{json}");
    let newest = run(&folder, "runs --trend last --limit 3 --json");
    let newest: serde_json::Value = serde_json::from_str(&newest.stdout).unwrap();
    let count = |key: &str| newest[key].as_array().unwrap().len();
    assert_eq!(count("runs") + count("left_out"), 3);

    in_time(of_file.stdout.contains("✗ "), || of_file.stdout.clone())?;
    let figures = json["figures"].as_array().unwrap();
    let values = figures[0]["values"].as_array().unwrap().iter();
    let values: Vec<f64> = values.map(|of| of.as_f64().unwrap()).collect();
    let mut behind = values.windows(3);
    let slower = behind.position(|three| three.iter().all(|of| *of > 50e6));
    // Which figures are steady enough to show the change depends on the machine, and a machine that
    // was busy at first causes another change. The place of the change is fixed, give or take one
    // run.
    let changes = figures
        .iter()
        .flat_map(|of| of["changes"].as_array().unwrap());
    let worse = changes.filter(|change| change["is_worse"] == true);
    let place = |id: &serde_json::Value| runs.iter().position(|of| of["id"] == *id).unwrap();
    let places: Vec<usize> = worse.map(|change| place(&change["run"])).collect();
    let is_there = |place: &usize| slower.is_some_and(|slower| place.abs_diff(slower) <= 1);
    in_time(places.iter().any(is_there), || format!("{places:?} {json}"))
}

/// A change of clock would look like a change of the target.
#[test]
fn runs_by_two_clocks_are_two_series() {
    if cfg!(not(target_os = "linux")) {
        return;
    }
    let (folder, serve) = (Folder::new(), Serve::new("--delay const:2ms"));
    for (clock, count) in [("program", 2), ("receive", 3), ("wire", 4)] {
        let plan = folder.at(&format!("{clock}.yaml"));
        let line = format!(
            "http -n 12 -r 400 --clock {clock} {} --print-plan",
            serve.url
        );
        let printed = run(&folder, &line);
        assert_eq!(printed.code, Some(0), "{}", printed.stderr);
        fs::write(&plan, printed.stdout).unwrap();
        fire(&folder, &plan, count);
        for given in [plan.as_str(), "last"] {
            let json = run(&folder, &format!("runs --trend {given} --json"));
            let json: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
            let lists = ["runs", "left_out"].map(|key| json[key].as_array().unwrap().len());
            assert_eq!(
                lists.iter().sum::<usize>(),
                count as usize,
                "{clock}: {json}"
            );
        }
    }
}
