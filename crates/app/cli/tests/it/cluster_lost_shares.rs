//! Which agent takes the shares of a lost agent: waiting agents before those with shares, and only
//! agents with enough file descriptors.

use crate::support::nats::Nats;
use crate::support::program::{LIMIT, PATH, neutral};
use crate::support::{Folder, Process, Run, Serve, drumfire, lab};
use drumfire_measure::{IntervalRow, Summary};
use drumfire_store::Record;
use rustix::process::{Pid, Resource, Rlimit, prlimit};
use rustix::time::{ClockId, clock_gettime};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A NATS server, and a target.
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
            serve: Serve::new("--arrival-log"),
            folder: Folder::new(),
        })
    }

    /// An agent that may open this number of file descriptors.
    fn agent(&self, name: &str, descriptors: u32) -> Process {
        let url = self.nats.url();
        let line = format!("ulimit -n {descriptors}; exec {PATH} agent --nats {url} --name {name}");
        Process::start(neutral(Command::new("sh")).args(["-c", &line]))
    }

    /// An agent with a folder of secrets.
    fn agent_with_secrets(&self, name: &str, secrets: &str) -> Process {
        let url = self.nats.url();
        let args = [
            "agent",
            "--nats",
            &url,
            "--name",
            name,
            "--secrets",
            secrets,
        ];
        Process::start(&mut drumfire(args))
    }

    /// A run of 300 requests/s with 60 connections in six shares. Lost shares are redistributed.
    fn run(&self, agents: &str) -> Process {
        self.run_of(14, "{}", agents)
    }

    /// A run that lasts this number of seconds and sends these headers.
    fn run_of(&self, seconds: u32, headers: &str, agents: &str) -> Process {
        let text = format!(
            "drumfire: 1
pools:
  p:
    target: {}
    rate: const(300/s,{seconds}s)
    connections: 60
    headers: {headers}
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

/// The report of a complete run, with single spaces between its words.
fn words(run: &Run) -> String {
    assert_eq!(run.code, Some(0), "{}{}", run.stdout, run.stderr);
    let words = run.stdout.split_whitespace();
    words.collect::<Vec<_>>().join(" ").replace(" · ", " ")
}

/// Each of three agents has two shares with 10 connections each, and keeps 64 descriptors for other
/// uses. Of the two that remain, one has enough descriptors for a third share, and the other has
/// not.
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
        "b+1 took over 1 of them at",
        "1 of them is not taken over: with one more share, agent a needs 94 file descriptors, but \
         its limit is 90 (set ulimit -n 94)",
        "of the requested load is unaccounted for",
    ] {
        assert!(words.contains(stated), "{stated}: {words}");
    }
    assert!(!words.contains("local"), "no connection failed: {words}");
    for agent in [full, roomy] {
        assert_eq!(agent.finish(LIMIT).code, Some(0));
    }
    drop(lost.finish(LIMIT));
}

/// The wall clock's time at the epoch of the monotonic clock, in nanoseconds since 1970. The target
/// logs monotonic times.
fn monotonic_epoch() -> i128 {
    let read = |clock| {
        let time = clock_gettime(clock);
        i128::from(time.tv_sec) * 1_000_000_000 + i128::from(time.tv_nsec)
    };
    let (wall, monotonic) = (read(ClockId::Realtime), read(ClockId::Monotonic));
    wall - monotonic
}

/// A time in a report after these words, in nanoseconds: `… within 1.2 ms`.
fn stated_time(words: &str, before: &str) -> i128 {
    let (_, rest) = words
        .split_once(before)
        .unwrap_or_else(|| panic!("{before}: {words}"));
    let mut rest = rest.split_whitespace();
    let number: f64 = rest.next().unwrap().parse().unwrap();
    let unit = rest.next().unwrap().trim_end_matches([',', ';', ':']);
    let unit = match unit {
        "ns" => 1.0,
        "µs" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        other => panic!("{other}: {words}"),
    };
    (number * unit) as i128
}

/// The target's log of a run with a lost agent, and the run's report. All times are nanoseconds
/// since 1970.
struct Truth {
    arrivals: Vec<i128>,
    rows: Vec<IntervalRow>,
    start: i128,
    /// The maximum difference between the clocks.
    doubt: i128,
    /// The time of the longest response.
    longest: i128,
    /// The total number of requests in the report.
    sent: u64,
    /// The last report of the lost agent covers its requests before this time.
    reported: i128,
    /// The agent was dead at this time.
    dead: i128,
}

impl Truth {
    fn arrived_before(&self, time: i128) -> u64 {
        self.arrivals.partition_point(|at| *at < time) as u64
    }

    /// Compares the number of requests in the report at the end of each interval with the number of
    /// arrivals. A request arrives before it ends, at most by the time of the longest response.
    /// Requests of the lost agent after its last report are only in the log.
    fn check(&self) {
        let unknown = self.arrivals.len() as u64 - self.sent;
        let mut ended = 0;
        for row in &self.rows {
            ended += row.good + row.bad + row.failed;
            let end = self.start + i128::from(row.end.0);
            let least = self.arrived_before(end - self.longest - self.doubt);
            let most = self.arrived_before(end + self.doubt);
            // All unknown requests arrived after the last report, and before the agent was dead.
            let (fewest, all) = match () {
                () if end + self.doubt < self.reported => (ended, ended),
                () if end - self.doubt > self.dead => (ended + unknown, ended + unknown),
                () => (ended, ended + unknown),
            };
            assert!(
                fewest <= most && least <= all,
                "at {}: {ended} ended and {unknown} unknown, {least} to {most} arrived",
                row.end
            );
        }
    }
}

/// The figures of each second agree with the target's log: before the loss of an agent, while its
/// share is idle, and after others have taken it over.
#[test]
fn intervals_of_a_run_with_a_lost_agent_are_those_of_the_targets_log() {
    let Some(lab) = Lab::new() else {
        return;
    };
    let agents = ["a", "b", "c"].map(|name| lab.agent(name, 1_000));
    let epoch = monotonic_epoch();
    let run = lab.run_of(14, "{}", "3");
    let [first, second, lost] = agents;
    kill(&lost);
    drop(lost.finish(LIMIT));
    let now = clock_gettime(ClockId::Realtime);
    let dead = i128::from(now.tv_sec) * 1_000_000_000 + i128::from(now.tv_nsec);
    let words = words(&run.finish(LIMIT));
    for agent in [first, second] {
        assert_eq!(agent.finish(LIMIT).code, Some(0));
    }
    let Summary { info, total, .. } = &summary(lab.folder.path());
    let start = i128::from(info.started_at_unix_ns);
    let drifted = (monotonic_epoch() - epoch).abs();
    let arrivals = lab.serve.arrivals().into_iter();
    let truth = Truth {
        arrivals: arrivals.map(|at| i128::from(at) + epoch).collect(),
        rows: summary(lab.folder.path()).intervals(),
        start,
        doubt: drifted + stated_time(&words, "all started within "),
        longest: i128::from(total.latency.response_time.max().0),
        sent: total.counts.sent,
        // The report gives the time to a tenth of a second.
        reported: start + stated_time(&words, "its requests after ") - 100_000_000,
        dead,
    };
    assert!(words.contains("took over"), "{words}");
    truth.check();
}

fn summary(folder: &Path) -> Summary {
    Record::read(&folder.join("run")).unwrap().summary
}

/// An agent that arrived after the run had all its agents takes the share of a lost one. The other
/// agent keeps only its own shares.
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
        "s took over 3 of them at",
    ] {
        assert!(words.contains(stated), "{stated}: {words}");
    }
    assert!(!words.contains("a+1"), "{words}");
    for agent in [other, spare] {
        assert_eq!(agent.finish(LIMIT).code, Some(0));
    }
    drop(lost.finish(LIMIT));
}

/// Only the agent itself can see a limit that was lowered after it joined. It refuses the share
/// with the numbers, and its own share continues.
#[cfg(target_os = "linux")]
#[test]
fn an_agent_counts_its_descriptors_again() {
    let Some(lab) = Lab::new() else {
        return;
    };
    let (other, lost) = (lab.agent("a", 1_000), lab.agent("c", 1_000));
    let run = lab.run("2");
    let open = fs::read_dir(format!("/proc/{}/fd", other.id())).unwrap();
    // Enough for another connection to the server, but not for one to the target.
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
        "already open, but this process may open only",
    ] {
        assert!(words.contains(stated), "{stated}: {words}");
    }
    let other = other.finish(LIMIT);
    assert_eq!(other.code, Some(0), "{}", other.stderr);
    drop(lost.finish(LIMIT));
}

/// The load ends while an agent still prepares the share that it was offered. The agent has sent
/// nothing and has not failed.
#[test]
fn an_offer_that_is_taken_back_is_no_failure() {
    let Some(lab) = Lab::new() else {
        return;
    };
    lab.folder.write("token", "the-token");
    let secrets = lab.folder.at("");
    let other = lab.agent_with_secrets("a", &secrets);
    let lost = lab.agent_with_secrets("c", &secrets);
    let headers = "{ X-Token: \"${secret:file:token}\" }";
    let run = lab.run_of(9, headers, "2");
    // The secret of this agent is a pipe, and reading it blocks until the pipe has data.
    let own = lab.folder.at("own");
    fs::create_dir(&own).unwrap();
    let pipe = format!("{own}/token");
    let made = Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let spare = lab.agent_with_secrets("s", &own);
    kill(&lost);
    let run = run.finish(LIMIT);
    let words = words(&run);
    assert!(
        words.contains("s did not take 3 of them: the load was over"),
        "{words}"
    );
    assert_eq!(other.finish(LIMIT).code, Some(0));
    // Any later read of the path finds a file.
    let read = format!("{pipe}-read");
    fs::rename(&pipe, &read).unwrap();
    fs::write(&pipe, "the-token").unwrap();
    fs::write(&read, "the-token").unwrap();
    let spare = spare.finish(LIMIT);
    assert_eq!(spare.code, Some(0), "{}", spare.stderr);
    let stated = "the shares offered to agent s are no longer needed";
    assert!(spare.stderr.contains(stated), "{}", spare.stderr);
    drop(lost.finish(LIMIT));
}
