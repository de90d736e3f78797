//! The runs under way, and agents that are told from the others.

use crate::support::nats::Nats;
use crate::support::program::LIMIT;
use crate::support::{Folder, Process, Run, Serve, drumfire, lab, wait_until};
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

/// Agents with their shares, clocks and requests, as a table and as JSON, while a run goes on and
/// before it has its agents; and an agent that stood still has its name in the report.
#[test]
fn a_run_under_way_is_shown_with_its_agents() {
    let Some(program) = lab::suite("nats-server") else {
        return;
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
    let run = Process::start(&mut with_state(&folder, &args));
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
    let name = check_json(&status(&folder, &url, &["--json"]).stdout);
    let shown = status(&folder, &url, &[&name]).stdout;
    assert!(shown.contains("alpha") && shown.contains("beta"), "{shown}");
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
    assert!(words.contains("no message from agent beta for"), "{words}");
    assert!(
        words.contains("agent beta judges its own part invalid"),
        "{words}"
    );
    drop((first, second));
}

/// Both agents run; the run's name.
fn check_json(text: &str) -> String {
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
        // They have one clock, whenever they were started.
        let ahead = agent["clock_ahead_ns"].as_i64().unwrap();
        assert!(ahead.abs() < 200_000_000, "{json}");
        assert!(number("silent_ns") < 3_000_000_000, "{json}");
    }
    found["run"].as_str().unwrap().to_owned()
}
