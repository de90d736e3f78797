//! Who keeps the shares of a lost agent: one that waits before those that have some, and none for which
//! there are no file descriptors.

use crate::support::nats::Nats;
use crate::support::program::{LIMIT, PATH, neutral};
use crate::support::{Folder, Process, Run, Serve, drumfire, lab};
use rustix::process::{Pid, Resource, Rlimit, prlimit};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// A server of NATS, and a target.
struct Lab {
    nats: Nats,
    serve: Serve,
    folder: Folder,
}

impl Lab {
    fn new() -> Option<Self> {
        let program: PathBuf = lab::suite("nats-server")?;
        Some(Self {
            nats: Nats::new(&program),
            serve: Serve::new(""),
            folder: Folder::new(),
        })
    }

    /// An agent that may open this many file descriptors.
    fn agent(&self, name: &str, descriptors: u32) -> Process {
        let url = self.nats.url();
        let line = format!("ulimit -n {descriptors}; exec {PATH} agent --nats {url} --name {name}");
        Process::start(neutral(Command::new("sh")).args(["-c", &line]))
    }

    /// A run of 300 requests a second with 60 connections, in six shares, whose lost ones go on.
    fn run(&self, agents: &str) -> Process {
        let text = format!(
            "drumfire: 1
pools:
  p:
    target: {}
    rate: const(300/s,14s)
    connections: 60
    requests: [ {{ get: / }} ]
generator: {{ interval: 1s, threads: 6 }}
",
            self.serve.url
        );
        let plan = self.folder.write("plan.yaml", &text);
        let url = self.nats.url();
        let args = [
            "cluster",
            "run",
            &plan,
            "--agents",
            agents,
            "--nats",
            &url,
            "--on-loss",
            "redistribute",
            "-o",
            &self.folder.at("run"),
        ];
        let run = Process::start(&mut drumfire(args));
        self.serve.await_requests(300);
        run
    }
}

fn kill(process: &Process) {
    let id = process.id().to_string();
    let killed = Command::new("kill").args(["-9", &id]).status();
    assert!(killed.unwrap().success());
}

/// The report in one line, of a run that was carried out.
fn words(run: &Run) -> String {
    assert_eq!(run.code, Some(0), "{}{}", run.stdout, run.stderr);
    let words = run.stdout.split_whitespace();
    words.collect::<Vec<_>>().join(" ").replace(" · ", " ")
}

/// Each of three agents has two shares with 10 connections each, and 64 descriptors to spare: one has
/// room for a third share and the other has none.
#[test]
fn a_lost_share_is_taken_as_far_as_there_are_descriptors() {
    let Some(lab) = Lab::new() else {
        return;
    };
    let (full, roomy, lost) = (
        lab.agent("a", 90),
        lab.agent("b", 94),
        lab.agent("c", 1_000),
    );
    let run = lab.run("3");
    kill(&lost);
    let run = run.finish(LIMIT);
    let words = words(&run);
    for stated in [
        "agent c (2 of 6 shares) was lost at",
        "b+1 kept 1 of them from",
        "1 of them is kept by nobody: with one more, agent a needs 94 file descriptors, and it may \
         open 90 (ulimit -n 94)",
        "of what was asked for has no account",
    ] {
        assert!(words.contains(stated), "{stated}: {words}");
    }
    assert!(!words.contains("local"), "no connection failed: {words}");
    for agent in [full, roomy] {
        assert_eq!(agent.finish(LIMIT).code, Some(0));
    }
    drop(lost.finish(LIMIT));
}

/// An agent that came when the run had all of its own has the share of one that is lost, and the other
/// no more than it had.
#[test]
fn an_agent_that_waits_takes_a_lost_share() {
    let Some(lab) = Lab::new() else {
        return;
    };
    let (other, lost) = (lab.agent("a", 1_000), lab.agent("c", 1_000));
    let run = lab.run("2");
    let spare = lab.agent("s", 1_000);
    kill(&lost);
    let run = run.finish(LIMIT);
    let words = words(&run);
    for stated in [
        "agent c (3 of 6 shares) was lost at",
        "s kept 3 of them from",
    ] {
        assert!(words.contains(stated), "{stated}: {words}");
    }
    assert!(!words.contains("a+1"), "{words}");
    for agent in [other, spare] {
        assert_eq!(agent.finish(LIMIT).code, Some(0));
    }
    drop(lost.finish(LIMIT));
}

/// A limit that was lowered since the agent came is seen by the agent alone: it refuses the share with the
/// sums, and its own part goes on.
#[cfg(target_os = "linux")]
#[test]
fn an_agent_counts_its_descriptors_again() {
    let Some(lab) = Lab::new() else {
        return;
    };
    let (other, lost) = (lab.agent("a", 1_000), lab.agent("c", 1_000));
    let run = lab.run("2");
    let open = fs::read_dir(format!("/proc/{}/fd", other.id())).unwrap();
    // Enough for another connection to the server, and for none to the target.
    let most = Some(open.count() as u64 + 12);
    let limit = Rlimit {
        current: most,
        maximum: most,
    };
    let id = Pid::from_raw(other.id().cast_signed());
    prlimit(id, Resource::Nofile, limit).unwrap();
    kill(&lost);
    let run = run.finish(LIMIT);
    let words = words(&run);
    for stated in [
        "agent c (3 of 6 shares) was lost at",
        "a+1 did not take 3 of them: 30 connections need",
        "that are open, and this process may open",
    ] {
        assert!(words.contains(stated), "{stated}: {words}");
    }
    let other = other.finish(LIMIT);
    assert_eq!(other.code, Some(0), "{}", other.stderr);
    drop(lost.finish(LIMIT));
}
