//! Both machines in virtual time, with a broker that loses, repeats, reorders and lies.
//!
//! Each seed is a run of a few agents: their clocks differ, messages take up to 60 ms, some are lost
//! or come twice, and of some reports the stream says that it has them and has not. On top of that
//! an agent may be killed, stand still, or be cut off for a while.

use crate::coordinator::{Coordinator, CoordinatorAction, OnLoss, Setup};
use crate::lease::{LEASE, LEASE_MARGIN};
use crate::message::{Content, MachineFacts, Report};
use crate::place::PlaceState;
use crate::relayed::ClusterEvent;
use crate::{Agent, AgentAction};
use drumfire_measure::{Ending, Interval, PoolInfo, RunEvent, RunInfo, encode_event};
use drumfire_plan::{Change, Command, Growth, Plan, StopReason, Warmup};
use drumfire_testkit::Random;
use drumfire_units::Nanos;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, LazyLock};

/// The step of the world's clock.
const STEP: Nanos = Nanos::from_millis(5);
/// The intervals of a share's run.
const INTERVALS: u64 = 6;
/// The length of one.
const INTERVAL: Nanos = Nanos::from_millis(500);

fn plan() -> Plan {
    let draft = drumfire_testkit::open("const(100/s,3s)").connections(64);
    draft.threads(8).plan().unwrap()
}

/// An interval of the run; a clone of it is small.
static EMPTY: LazyLock<Interval> = LazyLock::new(|| {
    let empty = Interval::of_pools(&info().pools).encode();
    Interval::decode(&empty, &info().pools).unwrap()
});

/// The plan, which is the same in each run.
static PLAN: LazyLock<Arc<Plan>> = LazyLock::new(|| Arc::new(plan()));

fn info() -> RunInfo {
    RunInfo {
        id: "r".to_owned(),
        started_at_unix_ns: 0,
        seed: 1,
        version: "1".to_owned(),
        threads: 4,
        threads_planned: 4,
        pools: vec![PoolInfo {
            name: "p".to_owned(),
            model: drumfire_measure::Model::Open,
            steps: vec![Arc::from("a")],
            intended_rate: None,
            connections: 1,
            growth: Growth::Ahead,
            streams: 1,
            users: None,
            iterations: false,
            scenarios: Vec::new(),
            stages: Vec::new(),
            asked: None,
        }],
        interval: INTERVAL,
        warmup: Warmup::NONE,
        tls_verified: None,
        spin: false,
        thresholds: Vec::new(),
        notes: Vec::new(),
        target: String::new(),
    }
}

/// The fault that a seed has beside the broker's.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    None,
    Killed,
    Still(Nanos),
    CutOff(Nanos),
    /// It beats, and is fenced for what came late.
    Failed,
}

/// An agent with its process: the run of its share, its clock, its faults.
struct Process {
    machine: Agent,
    /// The world's time at which its clock began.
    epoch: Nanos,
    run: Option<OwnRun>,
    /// Contents of its run, in order, with the weight of those that are intervals.
    weights: Vec<u64>,
    is_dead: bool,
    still_until: Nanos,
    cut_off_until: Nanos,
    left: Option<Result<(), String>>,
    /// The world's time of its last send.
    sent_at: Nanos,
    started_at: Option<Nanos>,
    commands: Vec<Command>,
}

/// The run of a share: an interval each time that one is over.
#[derive(Clone, Copy, Default)]
struct OwnRun {
    start: Option<Nanos>,
    lease: Nanos,
    closed: u64,
    stops: bool,
    has_ended: bool,
}

/// A message on its way.
#[derive(Clone)]
enum Mail {
    Beat(usize, Vec<u8>),
    Reply(usize, Vec<u8>),
    Report(Vec<u8>),
    Nudge(usize),
}

struct World {
    now: Nanos,
    random: Random,
    mail: BTreeMap<(Nanos, u64), Mail>,
    posted: u64,
    coordinator: Coordinator,
    processes: Vec<Process>,
    merged: Vec<Interval>,
    suspicions: usize,
    over: Option<Result<usize, String>>,
    lost_at: BTreeMap<usize, Nanos>,
    /// The numbers of the reports that were journaled, by share.
    journal: BTreeSet<(u32, u64)>,
}

impl World {
    fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let count = 2 + (random.bits() % 3) as usize;
        let setup = Setup {
            attachments: crate::Attachments::default(),
            run: "r".to_owned(),
            program: "1".to_owned(),
            plan: Arc::clone(&PLAN),
            text: "drumfire: 1".to_owned(),
            agents: count,
            on_loss: match random.bits() % 2 {
                0 => OnLoss::Drop,
                _ => OnLoss::Abort,
            },
        };
        let facts = MachineFacts {
            cores: 2,
            descriptors: None,
        };
        let processes = (0..count).map(|n| Process {
            machine: Agent::new(&format!("agent-{n}"), "1", facts),
            epoch: Nanos(random.bits() % 1_000_000_000),
            run: None,
            weights: Vec::new(),
            is_dead: false,
            still_until: Nanos::ZERO,
            cut_off_until: Nanos::ZERO,
            left: None,
            sent_at: Nanos::ZERO,
            started_at: None,
            commands: Vec::new(),
        });
        let processes = processes.collect();
        Self {
            now: Nanos::from_secs(10),
            random,
            mail: BTreeMap::new(),
            posted: 0,
            coordinator: Coordinator::new(setup),
            processes,
            merged: Vec::new(),
            suspicions: 0,
            over: None,
            lost_at: BTreeMap::new(),
            journal: BTreeSet::new(),
        }
    }

    /// Sends a message, once, twice or not at all.
    fn post(&mut self, mail: &Mail) {
        let copies = match self.random.bits() % 100 {
            0..=7 => 0,
            8..=15 => 2,
            _ => 1,
        };
        for _ in 0..copies {
            let takes = Nanos(100_000 + self.random.bits() % 60_000_000);
            self.posted += 1;
            self.mail
                .insert((self.now + takes, self.posted), mail.clone());
        }
    }

    fn step(&mut self) {
        self.now += STEP;
        while let Some(entry) = self.mail.first_entry()
            && entry.key().0 <= self.now
        {
            let mail = entry.remove();
            self.deliver(mail);
        }
        for index in 0..self.processes.len() {
            self.run_process(index);
        }
        let actions = self.coordinator.handle_time(self.now);
        self.conduct(actions);
    }

    fn is_reached(&self, index: usize) -> bool {
        let process = &self.processes[index];
        !process.is_dead && process.cut_off_until <= self.now
    }

    fn deliver(&mut self, mail: Mail) {
        match mail {
            Mail::Beat(index, bytes) => {
                let (reply, actions) = self.coordinator.handle_beat(&bytes, self.now).unwrap();
                self.conduct(actions);
                if self.is_reached(index) {
                    self.post(&Mail::Reply(index, reply));
                }
            }
            Mail::Report(bytes) => {
                let actions = self.coordinator.handle_report(&bytes).unwrap();
                self.conduct(actions);
            }
            Mail::Reply(index, _) | Mail::Nudge(index) if !self.is_reached(index) => {}
            Mail::Reply(index, _) | Mail::Nudge(index)
                if self.processes[index].still_until > self.now =>
            {
                // It lies in a buffer until the process goes on.
                self.posted += 1;
                let at = self.processes[index].still_until;
                self.mail.insert((at, self.posted), mail);
            }
            Mail::Reply(index, bytes) => {
                let now = self.own_now(index);
                let actions = self.processes[index].machine.handle_reply(&bytes, now);
                self.act(index, actions.unwrap());
            }
            Mail::Nudge(index) => {
                let now = self.own_now(index);
                let actions = self.processes[index].machine.nudge(now);
                self.act(index, actions);
            }
        }
    }

    fn own_now(&self, index: usize) -> Nanos {
        self.now - self.processes[index].epoch
    }

    fn run_process(&mut self, index: usize) {
        let process = &self.processes[index];
        if process.is_dead || process.still_until > self.now {
            return;
        }
        let now = self.own_now(index);
        self.run_workers(index, now);
        let actions = self.processes[index].machine.handle_time(now);
        self.act(index, actions);
    }

    /// The workers of a share: they look at the lease by themselves before they send.
    fn run_workers(&mut self, index: usize, now: Nanos) {
        let weight = self.random.bits() % 1_000_000;
        let process = &mut self.processes[index];
        let Some(run) = &mut process.run else {
            return;
        };
        let Some(start) = run.start.filter(|start| *start <= now) else {
            return;
        };
        if run.has_ended {
            return;
        }
        process.started_at.get_or_insert(self.now);
        let is_allowed = now < run.lease && !run.stops;
        if is_allowed {
            process.sent_at = self.now;
        }
        let edge = start + Nanos(INTERVAL.0 * (run.closed + 1));
        let mut contents = Vec::new();
        if now >= edge || !is_allowed {
            let mut interval = EMPTY.clone();
            interval.index = run.closed;
            interval.start = Nanos(INTERVAL.0 * run.closed);
            interval.end = edge.min(now) - start;
            interval.health.cpu = Nanos(weight);
            interval.sum_up();
            run.closed += 1;
            process.weights.push(weight);
            let event = RunEvent::IntervalClosed(Arc::new(interval));
            contents.push(Content::Event(encode_event(&event)));
        }
        if run.closed == INTERVALS || !is_allowed {
            run.has_ended = true;
            let reason = StopReason::Counted;
            contents.push(Content::Event(encode_event(&RunEvent::Stopping { reason })));
            contents.push(Content::Ending(Ending::default().encode()));
        }
        for content in contents {
            let actions = self.processes[index].machine.report(&content, now);
            self.act(index, actions);
        }
    }

    fn act(&mut self, index: usize, actions: Vec<AgentAction>) {
        for action in actions {
            let is_reached = self.is_reached(index);
            let process = &mut self.processes[index];
            match action {
                AgentAction::Beat(bytes) if is_reached => self.post(&Mail::Beat(index, bytes)),
                AgentAction::Publish(bytes) if is_reached => self.post(&Mail::Report(bytes)),
                AgentAction::Beat(_) | AgentAction::Publish(_) => {}
                AgentAction::Prepare(_) => {
                    assert!(process.run.is_none(), "it has one share");
                    process.run = Some(OwnRun::default());
                    process.machine.ready(info().encode());
                }
                // A share that has failed has no run any more.
                AgentAction::Start(at) => {
                    process.run.iter_mut().for_each(|run| run.start = Some(at));
                }
                AgentAction::Lease(until) => {
                    process.run.iter_mut().for_each(|run| run.lease = until);
                }
                AgentAction::Command(command) => process.commands.push(command),
                AgentAction::Halt(..) => {
                    if let Some(run) = &mut process.run {
                        run.stops = true;
                    }
                }
                AgentAction::Leave(left) => process.left = Some(left),
            }
        }
    }

    fn conduct(&mut self, actions: Vec<CoordinatorAction>) {
        for action in actions {
            match action {
                CoordinatorAction::Journal(frame) => {
                    let report = Report::decode(&frame[8..]).unwrap();
                    let is_new = self.journal.insert((report.share, report.number));
                    assert!(is_new, "a report is journaled once");
                    // A crash between the two would cost a repetition and nothing else.
                    self.coordinator.journaled();
                }
                CoordinatorAction::Nudge => {
                    for index in 0..self.processes.len() {
                        self.post(&Mail::Nudge(index));
                    }
                }
                CoordinatorAction::Tell(event) => self.tell(event),
            }
        }
        for (index, place) in self.coordinator.places().iter().enumerate() {
            if place.state == PlaceState::Lost {
                self.lost_at.entry(index).or_insert(self.now);
            }
        }
    }

    fn tell(&mut self, event: ClusterEvent) {
        assert!(self.over.is_none(), "nothing comes behind the end");
        match event {
            ClusterEvent::Run(RunEvent::IntervalClosed(interval)) => {
                if let Some(last) = self.merged.last() {
                    assert!(last.end <= interval.start, "spans do not overlap");
                }
                self.merged.push(Interval::clone(&interval));
            }
            ClusterEvent::Suspect(_) | ClusterEvent::Lost(_) => self.suspicions += 1,
            ClusterEvent::Over(endings) => self.over = Some(Ok(endings.len())),
            ClusterEvent::Failed(reason) => self.over = Some(Err(reason)),
            ClusterEvent::Run(_)
            | ClusterEvent::Gathered(..)
            | ClusterEvent::Note(_)
            | ClusterEvent::Aborted => {}
        }
    }

    /// The agent of a place, by its name.
    fn process_of(&self, place: usize) -> &Process {
        let name = &self.coordinator.places()[place].agent;
        let index: usize = name.trim_start_matches("agent-").parse().unwrap();
        &self.processes[index]
    }

    /// The properties of a run that is over.
    fn check(&self, seed: u64, fault: Fault) {
        let Some(Ok(ended)) = self.over else {
            // Before the load a run may fail, and then nothing was sent.
            let is_gathering = self.coordinator.places().is_empty();
            assert!(
                is_gathering || matches!(self.over, Some(Err(_))),
                "seed {seed}: it has no end"
            );
            let sent = |process: &Process| process.sent_at == Nanos::ZERO;
            assert!(
                self.processes.iter().all(sent),
                "seed {seed}: no load was sent"
            );
            return;
        };
        let places = self.coordinator.places();
        let lost = places.iter().filter(|it| it.state == PlaceState::Lost);
        let lost = lost.count();
        assert_eq!(ended + lost, places.len(), "seed {seed}");
        assert_eq!(self.suspicions, lost, "seed {seed}: each loss is stated");
        if fault == Fault::None {
            assert_eq!(lost, 0, "seed {seed}: no one is lost without a fault");
        }
        let mut expected = 0;
        for (index, place) in places.iter().enumerate() {
            let process = self.process_of(index);
            let known = match place.state {
                PlaceState::Ended => process.weights.len(),
                // What is known of it ends with the last interval that was taken.
                _ => place.reported.0.div_ceil(INTERVAL.0) as usize,
            };
            expected += process.weights.iter().take(known).sum::<u64>();
            if let Some(at) = self.lost_at.get(&index) {
                assert!(
                    process.sent_at <= *at,
                    "seed {seed}: it sent at {}, and was lost at {at}",
                    process.sent_at
                );
            }
            if fault == Fault::None {
                assert_eq!(process.left, Some(Ok(())), "seed {seed}: it went in peace");
            }
        }
        let merged: u64 = self.merged.iter().map(|it| it.health.cpu.0).sum();
        assert_eq!(merged, expected, "seed {seed}: each interval once");
        let starts = self.processes.iter().filter_map(|it| it.started_at);
        let (first, last) = (starts.clone().min(), starts.max());
        if fault == Fault::None {
            let apart = last.unwrap() - first.unwrap();
            assert!(apart.0 <= 65_000_000, "seed {seed}: {apart} apart");
        }
    }
}

/// A run of one seed, to its end.
fn simulate(seed: u64) {
    let mut world = World::new(seed);
    let victim = (world.random.bits() % world.processes.len() as u64) as usize;
    let at = world.now + Nanos(world.random.bits() % 6_000_000_000);
    let span = Nanos(world.random.bits() % 8_000_000_000);
    let fault = match world.random.bits() % 6 {
        0 | 1 => Fault::None,
        2 => Fault::Killed,
        3 => Fault::Still(span),
        4 => Fault::CutOff(span),
        _ => Fault::Failed,
    };
    let command_at = world.now + Nanos(world.random.bits() % 5_000_000_000);
    let mut has_commanded = false;
    let mut has_faulted = false;
    let end = world.now + Nanos::from_secs(60);
    while world.now < end {
        world.step();
        if world.now >= at && !has_faulted {
            has_faulted = true;
            let until = world.now + span;
            let process = &mut world.processes[victim];
            match fault {
                Fault::None => {}
                Fault::Killed => process.is_dead = true,
                Fault::Still(_) => process.still_until = until,
                Fault::CutOff(_) => process.cut_off_until = until,
                Fault::Failed => {
                    let own = world.now - process.epoch;
                    if process.run.is_some() && process.left.is_none() {
                        process.run = None;
                        let actions = process.machine.fail("it broke", own);
                        world.act(victim, actions);
                    }
                }
            }
        }
        if world.now >= command_at && !has_commanded {
            has_commanded = true;
            let command = Command {
                at: Nanos(7),
                pool: None,
                change: Change::Pause,
            };
            let actions = world.coordinator.command(command);
            world.conduct(actions);
        }
        let gone = |process: &Process| process.is_dead || process.left.is_some();
        if world.over.is_some() && world.processes.iter().all(gone) {
            break;
        }
    }
    world.check(seed, fault);
    for process in &world.processes {
        assert!(
            process.commands.len() <= 1,
            "seed {seed}: a command comes once"
        );
    }
}

#[test]
fn every_interval_is_merged_once_or_stated() {
    for seed in 0..600 {
        simulate(seed);
    }
}

/// What an agent can know ends before the coordinator takes it for lost.
#[test]
fn the_margin_is_positive() {
    assert!(LEASE_MARGIN > Nanos::ZERO && LEASE > LEASE_MARGIN);
}
