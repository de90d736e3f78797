//! Random faults in short runs on several agents: the counts stay exact, or the unknown part is
//! bounded and stated, and no agent sends after its lease. Exits with 1 on a miss.
//!
//! Each run has four agents with separate addresses, by which the target distinguishes their
//! requests. A fault comes at a random time of the load; then the report is compared with the
//! arrivals.

use clap::{Parser, ValueEnum};
use drumfire_bench::arrivals::{Arrivals, Times};
use drumfire_bench::cluster::{AgentProcess, Binaries, CoordinatorProcess, Island, NatsServer};
use drumfire_bench::machine;
use drumfire_net::Clock;
use drumfire_plan::Random;
use drumfire_units::Nanos;
use nix::sys::signal::Signal;
use serde_json::Value;
use std::fs;
use std::io::{Error, Result, Write};
use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::thread;
use std::time::Duration;

/// The number of agents in a run.
const AGENTS: usize = 4;
/// Requests per second of all agents.
const RATE: u64 = 400;
/// The length of the load.
const LOAD: Nanos = Nanos::from_secs(7);
/// The time for which an answered beat allows an agent to send.
const LEASE: Nanos = Nanos::from_secs(3);
/// The maximum delay on a busy machine between an agent's decision and its last arrival.
const SLACK: Nanos = Nanos::from_millis(150);
/// The uncertain requests of one agent around the end of its last report: those in flight, and the
/// requests of 0.1 s, which is the resolution of the end in reports.
const EDGE: u64 = 2 + RATE / AGENTS as u64 / 10;

/// Break parts of a cluster in short runs, and compare reports with the requests at the target
#[derive(Debug, Parser)]
struct Faults {
    /// The number of runs
    #[arg(long, default_value_t = 100)]
    runs: u64,
    /// The number of the first run, which determines its fault
    #[arg(long, default_value_t = 0)]
    first: u64,
    /// Only these faults; can be given several times
    #[arg(long, value_name = "FAULT")]
    only: Vec<Kind>,
    /// The program to measure [default: the one next to this program]
    #[arg(long, value_name = "FILE")]
    drumfire: Option<PathBuf>,
    /// The nats-server program
    #[arg(long, value_name = "FILE", default_value = "target/suites/nats-server")]
    nats: PathBuf,
}

/// A fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Kind {
    AgentKilled,
    AgentStopped,
    CoordinatorKilled,
    ServerKilled,
    ServerWiped,
    Partition,
}

const KINDS: [Kind; 6] = [
    Kind::AgentKilled,
    Kind::AgentStopped,
    Kind::CoordinatorKilled,
    Kind::ServerKilled,
    Kind::ServerWiped,
    Kind::Partition,
];

impl Kind {
    const fn words(self) -> &'static str {
        match self {
            Self::AgentKilled => "kill -9 of an agent",
            Self::AgentStopped => "SIGSTOP of an agent for 5 s",
            Self::CoordinatorKilled => "kill -9 of the coordinator, then `attach`",
            Self::ServerKilled => "kill -9 of nats-server, its store kept",
            Self::ServerWiped => "kill -9 of nats-server, its store wiped",
            Self::Partition => "a partition of 5 s",
        }
    }
}

/// The outcome of a run.
struct Outcome {
    kind: Kind,
    /// Requests that arrived and are not in any figure.
    unknown: u64,
    /// The number of agents that the report lists as lost.
    lost: usize,
    /// The time of the last arrival from a lost agent, since the fault.
    sent_for: Option<Nanos>,
    misses: Vec<String>,
}

fn main() -> Result<ExitCode> {
    let flags = Faults::parse();
    let beside = std::env::current_exe()?.with_file_name("drumfire");
    let programs = Binaries {
        drumfire: flags.drumfire.clone().unwrap_or(beside),
        nats: fs::canonicalize(&flags.nats)?,
    };
    let kinds = match flags.only.as_slice() {
        [] => &KINDS[..],
        only => only,
    };
    let mut out = std::io::stdout();
    let mut outcomes = Vec::new();
    for number in flags.first..flags.first + flags.runs {
        let kind = kinds[(number % kinds.len() as u64) as usize];
        let outcome = FaultTrial::new(&programs, kind, number)?.run()?;
        let verdict = match outcome.misses.as_slice() {
            [] => "ok".to_owned(),
            misses => format!("MISSED {}", misses.join("; ")),
        };
        let (lost, unknown) = (outcome.lost, outcome.unknown);
        writeln!(
            out,
            "[{number}] {kind:?}: {lost} lost, {unknown} unknown: {verdict}"
        )?;
        outcomes.push(outcome);
    }
    print(&outcomes)
}

/// Prints the table, and returns the exit code.
fn print(outcomes: &[Outcome]) -> Result<ExitCode> {
    let mut out = std::io::stdout();
    writeln!(
        out,
        "\n- Machine: {}\n- {AGENTS} agents, {RATE} requests/s for {LOAD}, one fault each; a lease of {LEASE}\n\n\
         | fault | runs | agents lost | exact | unknown and stated, most | sent after the fault, most | missed |\n\
         |---|---|---|---|---|---|---|",
        machine::describe(),
    )?;
    for kind in KINDS {
        let of_kind = outcomes.iter().filter(|it| it.kind == kind);
        let runs = of_kind.clone().count();
        if runs == 0 {
            continue;
        }
        let missed = of_kind.clone().filter(|it| !it.misses.is_empty()).count();
        let lost: usize = of_kind.clone().map(|it| it.lost).sum();
        let exact = of_kind.clone().filter(|it| it.unknown == 0).count();
        let unknown = of_kind.clone().map(|it| it.unknown).max().unwrap_or(0);
        let sent = of_kind.filter_map(|it| it.sent_for).max();
        let sent = sent.map_or_else(
            || "–".to_owned(),
            |sent| format!("{:.2} s", sent.as_secs_f64()),
        );
        writeln!(
            out,
            "| {} | {runs} | {lost} | {exact} | {unknown} | {sent} | {missed} |",
            kind.words()
        )?;
    }
    let is_missed = outcomes.iter().any(|it| !it.misses.is_empty());
    Ok(ExitCode::from(u8::from(is_missed)))
}

/// A run with one fault.
struct FaultTrial<'a> {
    programs: &'a Binaries,
    kind: Kind,
    random: Random,
    folder: PathBuf,
    island: Option<Island>,
    target: Arrivals,
    server: NatsServer,
    agents: Vec<AgentProcess>,
    victim: usize,
}

impl Drop for FaultTrial<'_> {
    fn drop(&mut self) {
        let _left_behind = fs::remove_dir_all(&self.folder);
    }
}

impl<'a> FaultTrial<'a> {
    /// Starts all processes except the coordinator.
    fn new(programs: &'a Binaries, kind: Kind, number: u64) -> Result<Self> {
        let mut random = Random::new(number, 0, 0, 0);
        let name = format!("drumfire-faults-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir_all(&folder)?;
        let island = match kind {
            Kind::Partition => Some(Island::new(77 + (number % 100) as u8)?),
            _ => None,
        };
        let own = Ipv4Addr::LOCALHOST;
        let (nats, target) = match &island {
            Some(island) => (island.here(0), island.here(1)),
            None => (own, own),
        };
        let target = Arrivals::listen(IpAddr::V4(target), Clock::start())?;
        let server = NatsServer::start(programs, nats, &folder)?;
        let victim = random.below(AGENTS as u64) as usize;
        let mut trial = Self {
            programs,
            kind,
            random,
            folder,
            island,
            target,
            server,
            agents: Vec::new(),
            victim,
        };
        for index in 0..AGENTS {
            trial.start_agent(index)?;
        }
        Ok(trial)
    }

    fn start_agent(&mut self, index: usize) -> Result<()> {
        let drumfire = &self.programs.drumfire;
        let (command, address) = match &self.island {
            Some(island) if index == self.victim => (island.command(drumfire), island.there(1)),
            _ => (
                Command::new(drumfire),
                Ipv4Addr::new(127, 0, 1, 2 + index as u8),
            ),
        };
        let name = format!("agent{index}");
        let url = self.server.url();
        let who = (name.as_str(), IpAddr::V4(address));
        let agent = AgentProcess::start(command, who, (&url, "faults"), &self.folder)?;
        self.agents.push(agent);
        Ok(())
    }

    /// A random time between two bounds.
    fn between(&mut self, from: Nanos, to: Nanos) -> Duration {
        let span = to.0 - from.0;
        Duration::from_nanos(from.0 + self.random.below(span))
    }

    /// Runs the load, breaks a part, and compares.
    fn run(mut self) -> Result<Outcome> {
        let plan = self.folder.join("plan.yaml");
        fs::write(
            &plan,
            format!(
                "drumfire: 1\npools:\n  p:\n    target: {}\n    rate: {RATE}/s\n    connections: 8\n    \
                 requests: [ {{ get: / }} ]\nstop: {{ after: {LOAD} }}\n",
                self.target.url()
            ),
        )?;
        let (plan, url) = (plan.to_string_lossy().into_owned(), self.server.url());
        let agents = AGENTS.to_string();
        let args = [
            "run", &plan, "--agents", &agents, "--nats", &url, "--group", "faults",
        ];
        let coordinator = CoordinatorProcess::start(self.programs, &args, &self.folder)?;
        let begun = self.await_load()?;
        thread::sleep(self.between(Nanos::from_millis(500), Nanos::from_millis(4_000)));
        let at = self.target.now();
        let coordinator = self.break_part(coordinator)?;
        let report = coordinator.report(Duration::from_secs(40));
        let ended = self.target.now();
        for agent in &mut self.agents {
            // A killed agent has ended; an agent without a coordinator ends after its lease.
            let _ended = agent.ends_within(Duration::from_secs(5));
        }
        let mut outcome = Outcome {
            kind: self.kind,
            unknown: 0,
            lost: 0,
            sent_for: None,
            misses: Vec::new(),
        };
        match report {
            Ok(report) => self.compare(&report, (begun, at, ended), &mut outcome),
            Err(error) => outcome.misses.push(error.to_string()),
        }
        Ok(outcome)
    }

    /// The time of the first arrival.
    fn await_load(&self) -> Result<Nanos> {
        let patience = self.target.now() + Nanos::from_secs(30);
        while self.target.now() < patience {
            let firsts = self.target.so_far();
            let firsts = firsts.values().filter_map(|times| times.first());
            if let Some(first) = firsts.min() {
                return Ok(*first);
            }
            thread::sleep(Duration::from_millis(5));
        }
        Err(Error::other("the load did not begin"))
    }

    /// Breaks a part; returns the coordinator that continues the run.
    fn break_part(&mut self, coordinator: CoordinatorProcess) -> Result<CoordinatorProcess> {
        let pause = self.between(Nanos::from_millis(100), Nanos::from_millis(2_000));
        match self.kind {
            Kind::AgentKilled => self.agents[self.victim].signal(Signal::SIGKILL)?,
            Kind::AgentStopped => {
                self.agents[self.victim].signal(Signal::SIGSTOP)?;
                thread::sleep(Duration::from_secs(5));
                self.agents[self.victim].signal(Signal::SIGCONT)?;
            }
            Kind::CoordinatorKilled => {
                coordinator.kill();
                thread::sleep(pause);
                let args = ["attach", "last"];
                return CoordinatorProcess::start(self.programs, &args, &self.folder);
            }
            Kind::ServerKilled | Kind::ServerWiped => {
                self.server.kill();
                if self.kind == Kind::ServerWiped {
                    self.server.wipe();
                }
                thread::sleep(pause);
                self.server.start_again()?;
            }
            Kind::Partition => {
                if let Some(island) = &self.island {
                    island.set_link("down")?;
                    thread::sleep(Duration::from_secs(5));
                    island.set_link("up")?;
                }
            }
        }
        Ok(coordinator)
    }

    /// Compares a report with the arrivals of a load; `times` has its begin, fault and end.
    fn compare(&self, report: &Value, times: (Nanos, Nanos, Nanos), outcome: &mut Outcome) {
        let (begun, at, ended) = times;
        let arrived = self.target.drain();
        let came: u64 = arrived.values().map(|times| times.len() as u64).sum();
        let sent = report["requests"]["sent"].as_u64().unwrap_or(u64::MAX);
        let text = report.to_string();
        let lost = self
            .agents
            .iter()
            .filter(|agent| is_lost(&text, &agent.name));
        let lost: Vec<&AgentProcess> = lost.collect();
        outcome.lost = lost.len();
        let mut miss = |text: String| outcome.misses.push(text);
        if sent > came {
            return miss(format!("{sent} in the report, {came} arrived"));
        }
        let unknown = came - sent;
        // The requests that a lost agent sent after its last report, by the target's clock.
        let mut bound = 0;
        let mut is_unknown = false;
        for agent in &lost {
            if let Some(reported) = reported(&text, &agent.name) {
                let behind = |it: &&Nanos| **it > begun + reported;
                let after = agent_arrivals(&arrived, agent).iter().filter(behind);
                bound += after.count() as u64 + EDGE;
                is_unknown = true;
            }
            let sent_for = agent_arrivals(&arrived, agent)
                .last()
                .map(|last| *last - at);
            if sent_for > Some(LEASE + SLACK) {
                miss(format!(
                    "{} sent beyond its lease: {sent_for:?}",
                    agent.name
                ));
            }
            outcome.sent_for = outcome.sent_for.max(sent_for);
        }
        if unknown > bound {
            miss(format!(
                "{unknown} requests are unknown, at most {bound} are stated"
            ));
        }
        if is_unknown && !text.contains("is unaccounted for") {
            miss("the unknown share is not stated".to_owned());
        }
        let last = arrived.values().filter_map(|times| times.last()).max();
        if last.is_some_and(|last| *last > ended + SLACK) {
            miss("a request arrived after the run's end".to_owned());
        }
        outcome.unknown = unknown;
    }
}

/// The arrivals from an agent.
fn agent_arrivals<'t>(arrived: &'t Times, agent: &AgentProcess) -> &'t [Nanos] {
    arrived.get(&agent.address).map_or(&[], Vec::as_slice)
}

/// Whether the report lists an agent as lost, even if its complete figures came later.
fn is_lost(text: &str, agent: &str) -> bool {
    text.contains(&format!("agent {agent} ("))
}

/// The run time up to which a lost agent is accounted for, from the report's sentence about it.
fn reported(text: &str, agent: &str) -> Option<Nanos> {
    let (_, rest) = text.split_once(&format!("agent {agent} ("))?;
    // The sentence ends before the next agent's.
    let rest = rest.split("agent ").next()?;
    let (_, rest) = rest.split_once("its requests after ")?;
    let (seconds, _) = rest.split_once(" s are")?;
    let seconds: f64 = seconds.parse().ok()?;
    Some(Nanos((seconds * 1e9) as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loss_is_read_from_its_sentence() {
        let text =
            "agent agent1 (2 of 8 shares) was lost at 5.3 s: its requests after 2.0 s are unknown";
        assert_eq!(reported(text, "agent1"), Some(Nanos::from_secs(2)));
        assert_eq!(reported(text, "agent2"), None);
        assert!(is_lost(text, "agent1") && !is_lost(text, "agent"));
    }
}
