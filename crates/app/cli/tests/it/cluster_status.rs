//! The active runs, and how agents are distinguished.

use crate::support::nats::Nats;
use crate::support::program::LIMIT;
use crate::support::{Folder, Process, Run, Serve, drumfire, in_time, lab, punctually, wait_until};
use serde_json::Value;
use std::process::Command;
use std::thread;
use std::time::Duration;

fn with_state(folder: &Folder, args: &[&str]) -> Command {
    let mut command = drumfire(args);
    command.env("XDG_STATE_HOME", folder.at("state"));
    command
}

fn status(folder: &Folder, url: &str, more: &[&str]) -> Run {
    let mut args = vec!["cluster", "status", "--nats", url];
    args.extend(more);
    Process::start(&mut with_state(folder, &args)).finish(LIMIT)
}

/// The agents of an active run with their shares, clocks and requests, as a table and as JSON, and
/// a run that still waits for agents. The report contains the name of an agent that was stopped.
#[test]
fn a_run_under_way_is_shown_with_its_agents() {
    punctually(Duration::from_millis(400), shown_with_its_agents);
}

fn shown_with_its_agents() -> Result<(), String> {
    let Some(program) = lab::suite("nats-server") else {
        return Ok(());
    };
    let (nats, serve, folder) = (Nats::new(&program), Serve::new(""), Folder::new());
    let url = nats.url();
    let none = status(&folder, &url, &[]);
    assert_eq!(none.code, Some(0), "{}", none.stderr);
    assert!(none.stdout.contains("no run is active"), "{}", none.stdout);
    let text = format!(
        "drumfire: 1\npools:\n  p:\n    target: {}\n    rate: const(200/s,8s)\n    \
         connections: 8\n    requests: [ {{ get: / }} ]\n",
        serve.url
    );
    let plan = folder.write("plan.yaml", &text);
    let args = ["cluster", "run", &plan, "--agents", "2", "--nats", &url];
    let mut run = Process::start(&mut with_state(&folder, &args));
    let agent = |name| {
        let args = ["agent", "--nats", &url, "--name", name];
        Process::start(&mut with_state(&folder, &args))
    };
    let first = agent("alpha");
    wait_until("one agent is there", || {
        let shown = status(&folder, &url, &[]).stdout;
        shown.contains("1 of 2 have joined") && shown.contains("alpha")
    });
    let second = agent("beta");
    serve.await_requests(500);
    // An agent has some time to answer, and may be late.
    let mut json = String::new();
    wait_until("both agents run", || {
        json = status(&folder, &url, &["--json"]).stdout;
        both_run(&json) || !run.is_running()
    });
    in_time(run.is_running(), || json.clone())?;
    let name = check_json(&json)?;
    let shown = status(&folder, &url, &[&name]).stdout;
    let is_whole = shown.contains("alpha") && shown.contains("beta");
    in_time(is_whole, || shown.clone())?;
    // A run of another group is not listed as one without a coordinator.
    let other = status(&folder, &url, &["--group", "other"]);
    let is_none = other.stdout.contains("no run is active in the group other");
    in_time(is_none, || other.stdout.clone())?;
    let wrong = status(&folder, &url, &["nothing"]);
    assert_eq!(wrong.code, Some(1), "{}", wrong.stdout);

    let still = |signal| {
        let id = second.id().to_string();
        let sent = Command::new("kill").args([signal, id.as_str()]).status();
        assert!(sent.unwrap().success());
    };
    still("-STOP");
    thread::sleep(Duration::from_millis(1_800));
    still("-CONT");
    let run = run.finish(LIMIT);
    let words = run.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    drop((first, second));
    let stated = [
        "no message from agent beta for",
        "agent beta judges its own part invalid",
    ];
    in_time(stated.iter().all(|part| words.contains(part)), || {
        words.clone()
    })
}

/// Whether two agents of the only run are running.
fn both_run(text: &str) -> bool {
    let json: Value = serde_json::from_str(text).unwrap_or_default();
    let agents = json["runs"][0]["agents"].as_array().cloned();
    let states = agents.unwrap_or_default().into_iter();
    states.filter(|agent| agent["state"] == "runs").count() == 2
}

/// Checks that both agents run, and returns the run's name.
fn check_json(text: &str) -> Result<String, String> {
    let json: Value = serde_json::from_str(text).unwrap();
    let found = &json["runs"][0];
    assert_eq!(json["runs"].as_array().unwrap().len(), 1, "{json}");
    assert_eq!(found["agents_wanted"], 2, "{json}");
    let agents = found["agents"].as_array().unwrap();
    assert_eq!(agents.len(), 2, "{json}");
    for agent in agents {
        let number = |key: &str| agent[key].as_u64().unwrap();
        assert_eq!(agent["state"], "runs", "{json}");
        assert!(number("sent") > 0, "{json}");
        assert!(number("clock_uncertainty_ns") > 0, "{json}");
        // Both agents use the same clock, whenever they were started.
        let ahead = agent["clock_ahead_ns"].as_i64().unwrap();
        let is_near = ahead.abs() < 200_000_000 && number("silent_ns") < 3_000_000_000;
        in_time(is_near, || json.to_string())?;
    }
    Ok(found["run"].as_str().unwrap().to_owned())
}
