//! A coordinator that died, and another one that continues its run.

use crate::support::nats::Nats;
use crate::support::program::LIMIT;
use crate::support::{Folder, Process, Run, Serve, drumfire, in_time, lab, punctually, wait_until};
use drumfire_measure::Summary;
use drumfire_store::Record;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::thread;
use std::time::Duration;

/// A run on two agents, with a NATS server that outlives its coordinator.
struct Cluster {
    nats: Nats,
    serve: Serve,
    folder: Folder,
    agents: Vec<Process>,
}

impl Cluster {
    fn new() -> Option<Self> {
        let program = lab::suite("nats-server")?;
        Some(Self {
            nats: Nats::new(&program),
            serve: Serve::new(""),
            folder: Folder::new(),
            agents: Vec::new(),
        })
    }

    /// The drumfire command with the state folder of the test.
    fn drumfire(&self, args: &[&str]) -> Command {
        let mut command = drumfire(args);
        command.env("XDG_STATE_HOME", self.folder.at("state"));
        command.env("XDG_RUNTIME_DIR", self.folder.path());
        command
    }

    /// Starts agents, and a run of 300 requests/s that lasts `seconds`.
    fn run(&mut self, seconds: u32, more: &[&str]) -> Process {
        let text = format!(
            "drumfire: 1\npools:\n  p:\n    target: {}\n    rate: const(300/s,{seconds}s)\n    \
             connections: 16\n    requests: [ {{ get: / }} ]\n",
            self.serve.url
        );
        let plan = self.folder.write("plan.yaml", &text);
        let url = self.nats.url();
        for _ in 0..2 {
            let agent = self.drumfire(&["agent", "--nats", &url]);
            self.agents.push(Process::start(&mut { agent }));
        }
        let mut args = vec!["cluster", "run", &plan, "--agents", "2", "--nats", &url];
        args.extend(more);
        Process::start(&mut self.drumfire(&args))
    }

    fn attach(&self, more: &[&str]) -> Run {
        let mut args = vec!["cluster", "attach", "last"];
        args.extend(more);
        Process::start(&mut self.drumfire(&args)).finish(LIMIT)
    }

    fn journals(&self) -> Vec<PathBuf> {
        let folder = self.folder.at("state/drumfire/cluster");
        let files = fs::read_dir(folder).into_iter().flatten().flatten();
        files.map(|file| file.path()).collect()
    }

    /// The summary of the only stored run.
    fn record(&self) -> Summary {
        let folder = self.folder.at("state/drumfire/runs");
        let mut runs = fs::read_dir(folder).unwrap().flatten();
        let run = runs.next().expect("the run has a record");
        assert!(runs.next().is_none(), "the run has one record");
        let record = Record::read(&run.path()).unwrap();
        assert!(record.is_whole());
        record.summary
    }

    /// The summary of a run of 6 s that ended well and lost no request.
    fn whole(&self, run: &Run) -> Summary {
        assert_eq!(run.code, Some(0), "{}{}", run.stdout, run.stderr);
        let summary = self.record();
        let counts = &summary.total.counts;
        assert_eq!(
            (counts.intended, counts.ok),
            (1_800, 1_800),
            "{}",
            run.stdout
        );
        summary
    }
}

fn kill(signal: &str, id: u32) {
    let sent = Command::new("kill")
        .args([signal, &id.to_string()])
        .status();
    assert!(sent.unwrap().success());
}

/// The tolerance for the second coordinator; the agents' lease is 3 s.
const SLACK: Duration = Duration::from_secs(1);

/// Whether the second coordinator took over before the agents' lease expired.
fn came_in_time(run: &Run) -> Result<(), String> {
    in_time(run.code == Some(0), || {
        format!("{}{}", run.stdout, run.stderr)
    })
}

/// The coordinator is killed in the middle. The agents continue without a gap, and the run has one
/// record, which contains each request once.
#[test]
fn a_coordinator_that_was_killed_is_followed_by_another() {
    punctually(SLACK, killed_and_followed);
}

fn killed_and_followed() -> Result<(), String> {
    let Some(mut cluster) = Cluster::new() else {
        return Ok(());
    };
    let json = cluster.folder.at("out.json");
    let run = cluster.run(6, &["--json", &json]);
    cluster.serve.await_requests(700);
    kill("-9", run.id());
    drop(run.finish(LIMIT));
    assert_eq!(cluster.journals().len(), 1);
    let run = cluster.attach(&[]);
    came_in_time(&run)?;
    let summary = cluster.whole(&run);
    summary.conservation().unwrap();
    assert_eq!(summary.load.kept, Some(true), "{:?}", summary.load);
    let notes = summary.info.notes.join("; ");
    assert!(notes.contains("another took over the run (1x)"), "{notes}");
    assert!(cluster.journals().is_empty());
    // The results go to the original destination.
    let json = fs::read_to_string(&json).unwrap();
    assert!(json.contains("1800"), "{json}");
    for agent in cluster.agents {
        assert_eq!(agent.finish(LIMIT).code, Some(0));
    }
    Ok(())
}

/// The second coordinator knows the commands that the first one received.
#[test]
fn commands_that_came_before_are_known() {
    punctually(SLACK, commands_before);
}

fn commands_before() -> Result<(), String> {
    let Some(mut cluster) = Cluster::new() else {
        return Ok(());
    };
    let run = cluster.run(9, &[]);
    cluster.serve.await_requests(300);
    let ctl = |cluster: &Cluster| {
        let mut ctl = cluster.drumfire(&["ctl", "last", "rate", "200/s"]);
        Process::start(&mut ctl).finish(LIMIT)
    };
    let first = ctl(&cluster);
    assert!(first.stdout.contains("was const(300/s"), "{}", first.stdout);
    // The command is in the journal before it is answered.
    kill("-9", run.id());
    drop(run.finish(LIMIT));
    thread::scope(|scope| {
        let attached = scope.spawn(|| cluster.attach(&[]));
        let mut second = String::new();
        wait_until("the other one answers", || {
            second = ctl(&cluster).stdout;
            !second.is_empty() || attached.is_finished()
        });
        came_in_time(&attached.join().unwrap())?;
        assert!(second.contains("is already 200/s"), "{second}");
        Ok(())
    })
}

/// The gap is longer than the lease: the agents have stopped, and deliver what they sent before.
#[test]
fn a_coordinator_that_comes_too_late_gets_what_was_sent() {
    let Some(mut cluster) = Cluster::new() else {
        return;
    };
    let run = cluster.run(60, &[]);
    cluster.serve.await_requests(700);
    kill("-9", run.id());
    drop(run.finish(LIMIT));
    thread::sleep(Duration::from_secs(5));
    let sent = cluster.serve.count("requests");
    let run = cluster.attach(&[]);
    assert_eq!(
        cluster.serve.count("requests"),
        sent,
        "no agent sends behind its lease"
    );
    let summary = cluster.record();
    summary.conservation().unwrap();
    let counts = &summary.total.counts;
    // Requests in flight at the end of the lease may have been aborted.
    assert!(counts.sent.abs_diff(sent) <= 16, "{counts:?} {sent}");
    let words = run.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("its full results arrived later"), "{words}");
    assert_eq!(summary.load.kept, Some(false));
    for agent in cluster.agents {
        assert_eq!(agent.finish(LIMIT).code, Some(1));
    }
}

/// A paused coordinator has lost the run when it resumes, and reports this.
#[test]
fn a_coordinator_that_stood_still_is_fenced() {
    punctually(SLACK, stood_still);
}

fn stood_still() -> Result<(), String> {
    let Some(mut cluster) = Cluster::new() else {
        return Ok(());
    };
    let paused = cluster.run(6, &[]);
    cluster.serve.await_requests(700);
    kill("-STOP", paused.id());
    let refused = cluster.attach(&[]);
    let is_refused = refused.code == Some(1) && refused.stderr.contains("--take-over");
    in_time(is_refused, || refused.stderr.clone())?;
    let (paused, run) = thread::scope(|scope| {
        let attached = scope.spawn(|| cluster.attach(&["--take-over"]));
        wait_until("another one has the run", || {
            cluster.journals().len() == 2 || attached.is_finished()
        });
        thread::sleep(Duration::from_millis(300));
        kill("-CONT", paused.id());
        (paused.finish(LIMIT), attached.join().unwrap())
    });
    came_in_time(&run)?;
    assert_eq!(paused.code, Some(1), "{}", paused.stdout);
    assert!(
        paused
            .stderr
            .contains("another coordinator has taken over the run"),
        "{}",
        paused.stderr
    );
    cluster.whole(&run);
    Ok(())
}
