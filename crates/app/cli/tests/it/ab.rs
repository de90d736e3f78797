//! `drumfire ab` against the built-in server, whose responses are slower for one side.

use crate::support::process::{Run, Signal};
use crate::support::program::LIMIT;
use crate::support::script::Peer;
use crate::support::{
    Folder, PATIENCE, Process, Script, Serve, drumfire, in_time, punctually, wait_until,
};
use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::sleep;
use std::time::Duration;

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// Runs an experiment with two command lines.
fn experiment(a: &str, b: &str, flags: &[&str]) -> Process {
    let args = ["ab", "--a", a, "--b", b].into_iter();
    Process::start(&mut drumfire(args.chain(flags.iter().copied())))
}

fn run(a: &str, b: &str, flags: &[&str]) -> Run {
    experiment(a, b, flags).finish(LIMIT)
}

#[test]
fn a_slower_candidate_is_worse_and_its_runs_are_compared_again() {
    punctually(Duration::from_secs(1), slower_candidate);
}

fn slower_candidate() -> Result<(), String> {
    let serve = Serve::new("");
    let folder = Folder::new();
    let store = folder.at("runs");
    let line = |delay: &str| format!("http -r 200 -n 80 {}?delay={delay}", serve.url);
    let json = folder.at("ab.json");
    let flags = [
        "--rounds", "8", "-o", &store, "--tag", "slower", "--json", &json,
    ];
    let found = run(&line("2ms"), &line("8ms"), &flags);
    // If the generator is late, runs are invalid, and the experiment has no answer or another one.
    in_time(found.code == Some(4), || {
        format!("{:?} {} {}", found.code, found.stdout, found.stderr)
    })?;
    let answer = "Answer       ✗ the candidate is worse: p50 by +";
    assert!(found.stdout.starts_with(answer), "{}", found.stdout);
    let json: serde_json::Value = serde_json::from_slice(&fs::read(&json).unwrap()).unwrap();
    assert_eq!(json["answer"], "worse");
    assert_eq!(json["rounds"]["planned"], 8);
    let p50 = &json["figures"][0];
    assert_eq!(
        (&p50["name"], &p50["answer"]),
        (&"p50".into(), &"worse".into())
    );
    for said in [
        "8 rounds detect a shift of",
        "round 1 of 8 done",
        "with the tags slower-a and slower-b",
    ] {
        assert!(found.stderr.contains(said), "{said}: {}", found.stderr);
    }
    let again = Process::start(&mut drumfire([
        "compare",
        &format!("{store}/a"),
        &format!("{store}/b"),
        "--any-target",
    ]));
    let again = again.finish(LIMIT);
    assert_eq!(again.code, Some(4), "{} {}", again.stdout, again.stderr);
    // Both runs of a round have the same seed, and the runs of the first round alternated.
    let seeds = |side: &str, round: &str| {
        let run = format!("{store}/{side}/{round}");
        let args = ["report", &run, "--json", "-"];
        let report = Process::start(&mut drumfire(args)).finish(LIMIT);
        let report: serde_json::Value = serde_json::from_str(&report.stdout).unwrap();
        report["run"]["seed"].clone()
    };
    assert_eq!(seeds("a", "02"), seeds("b", "02"));
    assert_ne!(seeds("a", "02"), seeds("a", "03"));
    Ok(())
}

/// A response that waits until both sides of an experiment have sent a request.
#[derive(Default)]
struct Meeting {
    asked: Mutex<[bool; 2]>,
    changed: Condvar,
}

impl Meeting {
    /// The server of one side, which responds after this time.
    fn server(self: &Arc<Self>, side: usize, delay: Duration) -> Script {
        let meeting = Arc::clone(self);
        Script::new(move |peer: &mut Peer| {
            while peer.request().is_some() {
                meeting.come(side);
                sleep(delay);
                if !peer.send(OK) {
                    return;
                }
            }
        })
    }

    fn come(&self, side: usize) {
        let mut asked = self.asked.lock().unwrap();
        asked[side] = true;
        self.changed.notify_all();
        let waits = |asked: &mut [bool; 2]| asked.contains(&false);
        drop(self.changed.wait_timeout_while(asked, PATIENCE, waits));
    }
}

#[test]
fn a_duet_loads_both_servers_at_the_same_time() {
    punctually(Duration::from_secs(1), duet);
}

fn duet() -> Result<(), String> {
    let meeting = Arc::<Meeting>::default();
    let one = meeting.server(0, Duration::from_millis(2));
    let other = meeting.server(1, Duration::from_millis(12));
    let folder = Folder::new();
    let store = folder.at("runs");
    let line = |url: &str| format!("http -r 100 -n 100 --arrivals poisson {url}");
    let flags = ["--duet", "--rounds", "8", "-q", "--json", "-o", &store];
    let found = run(&line(&one.url()), &line(&other.url()), &flags);
    // If the runs were sequential, the first one would have had no response before its end.
    assert_eq!(*meeting.asked.lock().unwrap(), [true; 2]);
    in_time(found.code == Some(4), || {
        format!("{:?} {} {}", found.code, found.stdout, found.stderr)
    })?;
    let json: serde_json::Value = serde_json::from_str(&found.stdout).unwrap();
    assert_eq!(json["rounds"]["form"], "duet");
    let cautions = json["cautions"].to_string();
    assert!(
        cautions.contains("Both servers are on one machine"),
        "{cautions}"
    );
    // Both runs of the first round had the same arrivals, and none was dropped.
    let report = |side: &str| {
        let run = format!("{store}/{side}/01");
        let report = Process::start(&mut drumfire(["report", &run, "--json", "-"])).finish(LIMIT);
        let report: serde_json::Value = serde_json::from_str(&report.stdout).unwrap();
        report
    };
    let (a, b) = (report("a"), report("b"));
    assert_eq!(a["run"]["seed"], b["run"]["seed"]);
    assert_eq!(
        [&a, &b].map(|report| report["requests"]["ok"].clone()),
        [100, 100]
    );
    Ok(())
}

#[test]
fn a_signal_ends_with_the_rounds_that_there_are() {
    let serve = Serve::new("");
    let folder = Folder::new();
    let store = folder.at("runs");
    let line = format!("http -c 1 -z 300ms {}", serve.url);
    let process = experiment(&line, &line, &["--rounds", "60", "-o", &store]);
    wait_until("two rounds", || {
        process.stderr().contains("round 2 of 60 done")
    });
    process.signal(Signal::INT);
    let found = process.finish(LIMIT);
    assert_eq!(found.code, Some(5), "{} {}", found.stdout, found.stderr);
    assert!(
        found.stdout.starts_with("Answer       undecided"),
        "{}",
        found.stdout
    );
    assert!(
        found.stdout.contains("Interrupted after "),
        "{}",
        found.stdout
    );
}

/// The child process that runs a load in this directory, once its record has started.
fn child_of(process: &Process, directory: &str) -> rustix::process::Pid {
    let pid = process.id();
    let log = format!("{directory}/intervals.log");
    // The record contains its first entry, not only its head.
    wait_until("a run's record", || {
        fs::metadata(&log).is_ok_and(|log| log.len() > 256)
    });
    let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap();
    let child = children.split_whitespace().next().unwrap().parse().unwrap();
    rustix::process::Pid::from_raw(child).unwrap()
}

#[test]
fn a_first_round_that_broke_is_made_again_and_compare_leaves_its_run_out() {
    // The first run does not end by itself.
    let holds = Arc::new(AtomicBool::new(true));
    let held = Arc::clone(&holds);
    let server = Script::new(move |peer| {
        while peer.request().is_some() {
            while held.load(Ordering::Relaxed) && !peer.is_over() {
                sleep(Duration::from_millis(5));
            }
            if !peer.send(OK) {
                return;
            }
        }
    });
    let folder = Folder::new();
    let store = folder.at("runs");
    let line = format!(
        "http -c 1 -z 600ms --interval 100ms --timeout 2m {}",
        server.url()
    );
    let process = experiment(&line, &line, &["--rounds", "6", "-o", &store]);
    let child = child_of(&process, &format!("{store}/a/01"));
    rustix::process::kill_process(child, Signal::KILL).unwrap();
    holds.store(false, Ordering::Relaxed);
    let found = process.finish(LIMIT);
    assert!(
        matches!(found.code, Some(0 | 4)),
        "{} {}",
        found.stdout,
        found.stderr
    );
    assert!(
        found
            .stderr
            .contains("it is still active, or it was cut off"),
        "{}",
        found.stderr
    );
    assert!(
        found.stderr.contains("Round 1, A: run ") && found.stderr.contains("Repeating the round"),
        "{}",
        found.stderr
    );
    assert!(
        found.stdout.contains("6 runs, the first started"),
        "{}",
        found.stdout
    );
    let compared = drumfire(["compare", &format!("{store}/a"), &format!("{store}/b")]);
    let compared = Process::start(&mut { compared }).finish(LIMIT);
    assert!(
        matches!(compared.code, Some(0 | 4)),
        "{} {}",
        compared.stdout,
        compared.stderr
    );
    let words: Vec<&str> = compared.stdout.split_whitespace().collect();
    let words = words.join(" ");
    assert!(
        words.contains("Left out: ") && words.contains("or it was cut off."),
        "{words}"
    );
    // A run that is named directly is refused.
    let named = format!("{store}/a/01");
    let refused = Process::start(&mut drumfire(["compare", &*named, &named])).finish(LIMIT);
    assert_eq!(refused.code, Some(2), "{}", refused.stdout);
    assert!(
        refused.stderr.contains("or it was cut off"),
        "{}",
        refused.stderr
    );
}
