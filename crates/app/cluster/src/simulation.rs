//! Both state machines in virtual time, with a broker that loses, repeats and reorders messages,
//! and acknowledges reports that it lost.
//!
//! Each seed is a run of a few agents. Their clocks differ, messages take up to 60 ms, some are
//! lost or delivered twice, and the stream acknowledges some reports that it does not have. In
//! addition, an agent may be killed, stopped, or cut off for a while. The coordinator may be
//! stopped or killed, even during a write of its journal, and one or two successors may take over
//! the run.

mod altered;
mod conductor;

use crate::coordinator::Coordinator;
use crate::envelope::Message as _;
use crate::event::{ClusterEvent, CoordinatorAction};
use crate::lease::{LEASE, LEASE_MARGIN};
use crate::message::{AgentKey, Content, MachineFacts, Reply};
use crate::offset::CLOCK_AGE;
use crate::on_loss::OnLoss;
use crate::place::PlaceState;
use crate::redacted::Redacted;
use crate::{Agent, AgentAction, Left};
use altered::Alteration;
use conductor::{Conductor, Life, setup};
use drumfire_measure::form;
use drumfire_measure::{
    Ending, Interval, Leniencies, Outcome, PoolInfo, RunEvent, RunInfo, Sample, encode_event,
};
use drumfire_plan::{Change, Command, Plan, StopReason};
use drumfire_units::{Nanos, Random};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::{Arc, LazyLock};

/// The step of the world's clock.
const STEP: Nanos = Nanos::from_millis(5);
/// The number of intervals of a share's run.
const INTERVALS: u64 = 6;
/// The number of intervals of a run whose lost shares others take over; the run must last longer
/// than a lease.
const INTERVALS_LONG: u64 = 30;
/// The length of an interval.
const INTERVAL: Nanos = Nanos::from_millis(500);
/// How an agent leaves that has delivered everything.
const STORED: Option<Result<Left, String>> = Some(Ok(Left::Stored));

fn plan() -> Plan {
    let draft = drumfire_testkit::open("const(100/s,3s)").connections(64);
    draft.threads(8).plan().unwrap()
}

/// An interval of the run; a clone of it is small.
static EMPTY: LazyLock<Interval> = LazyLock::new(|| {
    let empty = Interval::of_pools(&info().pools).encode();
    Interval::decode(&empty, &info().pools).unwrap()
});

/// The plan, which all runs share.
static PLAN: LazyLock<Arc<Plan>> = LazyLock::new(|| Arc::new(plan()));

fn info() -> RunInfo {
    RunInfo {
        id: "r".to_owned(),
        seed: 1,
        version: "1".to_owned(),
        threads: 4,
        threads_planned: 4,
        interval: INTERVAL,
        ..RunInfo::new(vec![PoolInfo::new(
            "main",
            drumfire_measure::Model::Open,
            ["a"],
        )])
    }
}

/// Adds this number of requests to an interval.
fn send(interval: &mut Interval, count: u64) -> u64 {
    let sample = Sample {
        intended: interval.start,
        due: interval.start,
        sent: interval.start,
        first_byte: interval.end,
        end: interval.end,
        bytes_sent: 1,
        outcome: Outcome::Ok,
        leniencies: Leniencies::default(),
        bytes_received: 1,
        status: 200,
        step: 0,
    };
    let pool = interval.pool_mut(0);
    pool.record_intended(count);
    (0..count).for_each(|_| pool.record(&sample));
    count
}

/// The fault of a seed's agent, in addition to the broker's faults.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    None,
    Killed,
    Still(Nanos),
    CutOff(Nanos),
    /// The run of the agent's share fails.
    Failed,
}

/// The fault of a seed's coordinator.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Ordeal {
    None,
    /// The coordinator is killed, and a successor takes over after this time.
    Killed(Nanos),
    /// The coordinator is killed during a write of its journal, after this number of bytes.
    KilledWithin(usize, Nanos),
    /// The coordinator is stopped for the first time, and a successor takes over after the second.
    Still(Nanos, Nanos),
}

/// An agent with its process: the run of its share, its clock, its faults.
struct SimulatedAgent {
    machine: Agent,
    name: String,
    key: AgentKey,
    /// The agent that started this one in its process, whose faults apply.
    host: Option<usize>,
    /// The world's time at which the process's clock started.
    epoch: Nanos,
    run: Option<SimulatedRun>,
    /// The contents of the run in order, with the weights of its intervals.
    weights: Vec<u64>,
    /// The number of requests of each interval.
    requests: Vec<u64>,
    is_dead: bool,
    still_until: Nanos,
    cut_off_until: Nanos,
    left: Option<Result<Left, String>>,
    /// The world's time of the last send.
    sent_at: Nanos,
    started_at: Option<Nanos>,
    commands: Vec<Command>,
    /// The times of the beats that have a reply.
    answered: BTreeSet<Nanos>,
}

/// The run of a share, which reports an interval whenever one is over.
#[derive(Clone, Copy, Default)]
struct SimulatedRun {
    start: Option<Nanos>,
    /// The time of the run at which the share's load begins.
    begins: Nanos,
    lease: Nanos,
    closed: u64,
    stops: bool,
    has_ended: bool,
}

/// A message in transit.
#[derive(Clone)]
enum Mail {
    /// A beat to a coordinator.
    Beat(usize, usize, Vec<u8>),
    Reply(usize, Vec<u8>),
    /// A report to a coordinator.
    Report(usize, Vec<u8>),
    Nudge(usize),
}

struct ClusterWorld {
    now: Nanos,
    random: Random,
    mail: BTreeMap<(Nanos, u64), Mail>,
    posted: u64,
    on_loss: OnLoss,
    /// The number of agents that the run needs; a further one waits.
    wanted: usize,
    conductors: Vec<Conductor>,
    processes: Vec<SimulatedAgent>,
    lost_at: BTreeMap<usize, Nanos>,
    /// The alteration of one agent's reports.
    alteration: Option<Alteration>,
}

impl SimulatedAgent {
    fn new(name: String, key: AgentKey, epoch: Nanos) -> Self {
        let facts = MachineFacts {
            cores: 2,
            descriptors: None,
        };
        Self {
            machine: Agent::new((&name, key), "1", facts),
            name,
            key,
            host: None,
            epoch,
            run: None,
            weights: Vec::new(),
            requests: Vec::new(),
            is_dead: false,
            still_until: Nanos::ZERO,
            cut_off_until: Nanos::ZERO,
            left: None,
            sent_at: Nanos::ZERO,
            started_at: None,
            commands: Vec::new(),
            answered: BTreeSet::new(),
        }
    }
}

impl ClusterWorld {
    fn new(seed: u64) -> Self {
        let mut random = Random::from_state(seed);
        let count = 2 + (random.bits() % 3) as usize;
        let on_loss = match random.bits() % 4 {
            0 => OnLoss::Drop,
            1 => OnLoss::Abort,
            _ => OnLoss::Redistribute,
        };
        let spare = usize::from(random.bits().is_multiple_of(3));
        let processes = (0..count + spare).map(|n| {
            let epoch = Nanos(random.bits() % 1_000_000_000);
            let key = AgentKey::new([n as u8; 16]);
            SimulatedAgent::new(format!("agent-{n}"), key, epoch)
        });
        let processes = processes.collect();
        Self {
            now: CLOCK_AGE + Nanos::from_secs(10),
            random,
            mail: BTreeMap::new(),
            posted: 0,
            on_loss,
            wanted: count,
            conductors: vec![Conductor::first(setup(count, on_loss))],
            processes,
            lost_at: BTreeMap::new(),
            alteration: None,
        }
    }

    /// The number of intervals of the whole run.
    fn intervals(&self) -> u64 {
        match self.on_loss {
            OnLoss::Redistribute => INTERVALS_LONG,
            OnLoss::Drop | OnLoss::Abort => INTERVALS,
        }
    }

    /// The process of an agent, to which the faults apply.
    fn process(&self, index: usize) -> &SimulatedAgent {
        &self.processes[self.processes[index].host.unwrap_or(index)]
    }

    /// The current coordinator of the run.
    fn last(&self) -> &Conductor {
        self.conductors.last().unwrap()
    }

    fn coordinator(&self) -> &Coordinator {
        &self.last().machine
    }

    /// Sends a message to every coordinator of the run.
    fn post_to_all(&mut self, mail: impl Fn(usize) -> Mail) {
        for conductor in 0..self.conductors.len() {
            self.post(&mail(conductor));
        }
    }

    /// Starts a successor for the run; `false` if the run has no start.
    fn attach(&mut self) -> bool {
        let term = self.conductors.len() as u64 + 1;
        let setup = setup(self.wanted, self.on_loss);
        let next = self.last().after(setup, term, self.now);
        let has_begun = next.is_some();
        if let Some(next) = next {
            let before = self.last();
            assert!(before.seen.is_beginning_of(&next.seen), "the past stays");
            self.conductors.push(next);
        }
        has_begun
    }

    /// Sends a message once, twice or not at all.
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
        for conductor in 0..self.conductors.len() {
            if self.conductors[conductor].is_awake(self.now) {
                let actions = self.conductors[conductor].machine.handle_time(self.now);
                self.conduct(conductor, actions);
            }
        }
    }

    fn is_reached(&self, index: usize) -> bool {
        let process = self.process(index);
        !process.is_dead && process.cut_off_until <= self.now
    }

    fn deliver(&mut self, mail: Mail) {
        match mail {
            Mail::Beat(conductor, ..) | Mail::Report(conductor, _)
                if !self.conductors[conductor].is_awake(self.now) =>
            {
                if let Life::Still(until) = self.conductors[conductor].life {
                    self.posted += 1;
                    self.mail.insert((until, self.posted), mail);
                }
            }
            Mail::Beat(conductor, index, bytes) => {
                let machine = &mut self.conductors[conductor].machine;
                let (reply, actions) = machine.handle_beat(&bytes, self.now).unwrap();
                let lives = self.conduct(conductor, actions);
                if let Some(reply) = reply.filter(|_| lives && self.is_reached(index)) {
                    self.post(&Mail::Reply(index, reply));
                }
            }
            Mail::Report(conductor, bytes) => {
                let machine = &mut self.conductors[conductor].machine;
                let taken = machine.handle_report(&bytes);
                assert!(taken.is_ok() || self.alteration.is_some());
                self.conduct(conductor, taken.unwrap_or_default());
            }
            Mail::Reply(index, _) | Mail::Nudge(index) if !self.is_reached(index) => {}
            Mail::Reply(index, _) | Mail::Nudge(index)
                if self.process(index).still_until > self.now =>
            {
                // The message stays in a buffer until the process continues.
                self.posted += 1;
                let at = self.process(index).still_until;
                self.mail.insert((at, self.posted), mail);
            }
            Mail::Reply(index, bytes) => {
                let now = self.own_now(index);
                let sent = Reply::decode(&bytes).unwrap().sent;
                // A request accepts only the first reply.
                if !self.processes[index].answered.insert(sent) {
                    return;
                }
                let actions = self.processes[index].machine.handle_reply(&bytes, now);
                self.act(index, actions);
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
        let process = self.process(index);
        if process.is_dead || process.still_until > self.now {
            return;
        }
        let now = self.own_now(index);
        self.run_workers(index, now);
        let actions = self.processes[index].machine.handle_time(now);
        self.act(index, actions);
    }

    /// Runs the workers of a share, which check the lease themselves before they send.
    fn run_workers(&mut self, index: usize, now: Nanos) {
        let weight = self.random.bits() % 1_000_000;
        let intervals = self.intervals();
        let process = &mut self.processes[index];
        let Some(run) = &mut process.run else {
            return;
        };
        let Some(start) = run.start.filter(|start| *start + run.begins <= now) else {
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
        let number = run.begins.0 / INTERVAL.0 + run.closed;
        let edge = start + Nanos(INTERVAL.0 * (number + 1));
        let is_over = number + 1 >= intervals;
        let mut contents = Vec::new();
        if now >= edge || !is_allowed {
            let mut interval = EMPTY.clone();
            interval.index = number;
            interval.start = Nanos(INTERVAL.0 * number);
            interval.end = edge.min(now) - start;
            interval.health.cpu = Nanos(weight);
            let requests = send(&mut interval, weight % 5);
            interval.sum_up();
            run.closed += 1;
            process.weights.push(weight);
            process.requests.push(requests);
            let event = RunEvent::IntervalClosed(Arc::new(interval));
            contents.extend(encode_event(&event).map(Content::Event));
        }
        if now >= edge && is_over || !is_allowed {
            run.has_ended = true;
            let reason = StopReason::Counted;
            let stopping = encode_event(&RunEvent::Stopping { reason });
            contents.extend(stopping.map(Content::Event));
            contents.push(Content::Ending(form::encode(&Ending::default())));
        }
        for content in contents {
            let content = Redacted::new_for_test(content);
            let actions = self.processes[index].machine.report(&content, now);
            self.act(index, actions);
        }
    }

    fn act(&mut self, index: usize, actions: Vec<AgentAction>) {
        for action in actions {
            let is_reached = self.is_reached(index);
            let process = &mut self.processes[index];
            match action {
                AgentAction::Beat(bytes) if is_reached => {
                    self.post_to_all(|to| Mail::Beat(to, index, bytes.clone()));
                }
                AgentAction::Publish(bytes) if is_reached => {
                    if let Some(bytes) = self.altered(index, bytes) {
                        self.post_to_all(|to| Mail::Report(to, bytes.clone()));
                    }
                }
                AgentAction::Beat(_) | AgentAction::Publish(_) => {}
                AgentAction::Prepare(_) => {
                    assert!(process.run.is_none(), "it has one share");
                    process.run = Some(SimulatedRun::default());
                    process
                        .machine
                        .ready(Redacted::new_for_test(form::encode(&info())));
                }
                // A failed share has no run any more.
                AgentAction::Start(at, begins) => {
                    process.run.iter_mut().for_each(|run| {
                        (run.start, run.begins) = (Some(at), begins);
                    });
                }
                AgentAction::Join(name) => {
                    // The process's clock is younger than the run.
                    let epoch = self.now - CLOCK_AGE;
                    let (host, key) = (Some(index), process.key);
                    self.processes.push(SimulatedAgent {
                        host,
                        ..SimulatedAgent::new(name, key, epoch)
                    });
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

    /// Carries out a coordinator's actions. Returns whether the coordinator is still alive
    /// afterwards.
    fn conduct(&mut self, conductor: usize, actions: Vec<CoordinatorAction>) -> bool {
        let is_last = conductor + 1 == self.conductors.len();
        let done = self.conductors[conductor].carry_out(actions, is_last);
        if done.nudges {
            for index in 0..self.processes.len() {
                self.post(&Mail::Nudge(index));
            }
        }
        if is_last {
            for (index, place) in self.conductors[conductor]
                .machine
                .places()
                .iter()
                .enumerate()
            {
                if place.is_lost() {
                    self.lost_at.entry(index).or_insert(self.now);
                }
            }
        }
        done.lives
    }

    /// The agent of a place, by its name.
    fn process_of(&self, place: usize) -> Option<&SimulatedAgent> {
        let name = &self.coordinator().places()[place].agent;
        let mut named = self.processes.iter().filter(|it| it.name == *name);
        named.next()
    }

    /// Checks the properties of a finished run. With `calm`, no agent had a fault, and the
    /// coordinator had none longer than a third of a lease.
    fn check(&self, seed: u64, calm: bool) {
        let seen = &self.last().seen;
        let Some(Ok(ended)) = seen.over else {
            // Before the load, a run may fail, but then nothing was sent.
            let is_gathering = self.coordinator().places().is_empty();
            let is_gone = !self.last().is_awake(self.now);
            assert!(
                is_gathering || is_gone || matches!(seen.over, Some(Err(_))),
                "seed {seed}: it has no end"
            );
            let sent = |process: &SimulatedAgent| process.sent_at == Nanos::ZERO;
            assert!(
                self.processes.iter().all(sent),
                "seed {seed}: no load was sent"
            );
            return;
        };
        for before in &self.conductors {
            assert!(before.seen.is_beginning_of(seen), "seed {seed}: one record");
        }
        let places = self.coordinator().places();
        let begun = || places.iter().filter(|it| it.has_begun());
        let lost = begun().filter(|it| it.state == PlaceState::Lost).count();
        let most = begun().count();
        assert!(ended <= most && ended + lost >= most, "seed {seed}");
        assert_eq!(seen.losses, lost, "seed {seed}: each loss is stated");
        // An agent is lost if no coordinator sent it the start in time.
        let reasons = self.processes.iter().filter_map(|it| it.left.as_ref());
        let mut reasons = reasons.filter_map(|left| left.as_ref().err());
        let calm = calm && !reasons.any(|reason| reason.contains("start too late"));
        if calm {
            let left: Vec<_> = self.processes.iter().map(|it| &it.left).collect();
            assert_eq!(lost, 0, "seed {seed}: lost without a fault: {left:?}");
        }
        for pair in seen.merged.windows(2) {
            let follows = pair[0].end <= pair[1].start;
            assert!(follows || lost > 0, "seed {seed}: spans do not overlap");
        }
        let mut expected = 0;
        for (index, place) in places.iter().enumerate() {
            let Some(process) = self.process_of(index).filter(|_| place.has_begun()) else {
                assert!(!place.has_begun(), "seed {seed}: it was there to begin");
                continue;
            };
            let known = match place.state {
                PlaceState::Ended => process.weights.len(),
                // Only the intervals that were taken are known.
                _ => (place.reported - place.begins()).0.div_ceil(INTERVAL.0) as usize,
            };
            expected += process.weights.iter().take(known).sum::<u64>();
            if let Some(at) = self.lost_at.get(&index) {
                assert!(
                    process.sent_at <= *at,
                    "seed {seed}: it sent at {}, and was lost at {at}",
                    process.sent_at
                );
            }
            if calm {
                assert_eq!(process.left, STORED, "seed {seed}: it went in peace");
            }
        }
        let merged: u64 = seen.merged.iter().map(|it| it.weight).sum();
        assert_eq!(merged, expected, "seed {seed}: each interval once");
        let gathered = 0..places.iter().filter(|it| it.succeeds.is_none()).count();
        let starts = gathered.filter_map(|place| self.process_of(place)?.started_at);
        let (first, last) = (starts.clone().min(), starts.max());
        if calm {
            let apart = last.unwrap() - first.unwrap();
            assert!(apart.0 <= 65_000_000, "seed {seed}: {apart} apart");
        }
        self.check_heirs(seed);
    }

    /// Checks that at most one agent has a share at a time, and that a lost share continues at the
    /// time that was set.
    fn check_heirs(&self, seed: u64) {
        let places = self.coordinator().places();
        // No agent may have received the start itself.
        let elapsed = self.coordinator().status(self.now, 0).elapsed;
        let start = elapsed.map(|elapsed| self.now - elapsed);
        for (index, heir) in places.iter().enumerate() {
            let (Some(succession), Some(process)) = (heir.succeeds, self.process_of(index)) else {
                continue;
            };
            let before = &places[succession.of as usize].assignment.shares;
            let now = heir.assignment.shares;
            let is_part = before.first <= now.first
                && now.first + now.count <= before.first + before.count
                && now.count > 0;
            assert!(is_part, "seed {seed}: {now:?} of {before:?}");
            let Some(began) = process.started_at else {
                continue;
            };
            let stopped = self.process_of(succession.of as usize).unwrap().sent_at;
            assert!(
                stopped < began,
                "seed {seed}: sent at {stopped} and {began}"
            );
            let named = start.unwrap() + heir.begins();
            let error = Nanos::from_millis(65);
            assert!(
                began + error >= named,
                "seed {seed}: it began at {began}, before {named}"
            );
            let stood = process.still_until > Nanos::ZERO;
            assert!(
                stood || began <= named + error,
                "seed {seed}: it began at {began}, and {named} was named"
            );
        }
    }

    /// Checks that another agent takes over every share of a lost agent, unless the agent was lost
    /// before the load: a load that lacks a share from its beginning is stopped.
    fn check_coverage(&self, seed: u64) {
        let places = self.coordinator().places();
        if places
            .iter()
            .any(|place| place.lost_at == Some(Nanos::ZERO))
        {
            return;
        }
        for (of, lost) in (0..).zip(places) {
            if lost.lost_at.is_some() {
                let heirs = crate::offers::heirs(places, of).filter(|heir| heir.has_begun());
                let kept: u32 = heirs.map(|heir| heir.assignment.shares.count).sum();
                let count = lost.assignment.shares.count;
                assert_eq!(
                    kept, count,
                    "seed {seed}: all shares of place {of} continue"
                );
            }
        }
    }

    /// Checks that a waiting agent takes over a lost share before any other agent gets more shares.
    fn check_spare(&self, seed: u64) -> bool {
        let has_waited =
            |process: &SimulatedAgent| process.host.is_none() && process.left.is_none();
        let waits = self
            .processes
            .iter()
            .any(|process| has_waited(process) && !process.is_dead && process.run.is_none());
        let heirs = || {
            self.coordinator()
                .places()
                .iter()
                .filter(|it| it.succeeds.is_some())
        };
        assert!(
            !waits || heirs().count() == 0,
            "seed {seed}: one waits, and a share went to others"
        );
        heirs().any(|heir| !heir.agent.contains('+'))
    }
}

/// The events of a seed.
struct FaultScript {
    victim: usize,
    fault: Fault,
    fault_at: Nanos,
    ordeal: Ordeal,
    ordeal_at: Nanos,
    /// The time at which a successor takes over, after the first coordinator died.
    attach_at: Option<Nanos>,
    command_at: Nanos,
}

impl FaultScript {
    fn draw(world: &mut ClusterWorld) -> Self {
        let mut upto = |most: u64| Nanos(world.random.bits() % most);
        let now = world.now;
        let (victim, fault_at) = (upto(64).0, now + upto(6_000_000_000));
        let span = upto(8_000_000_000);
        let fault = match upto(6).0 {
            0 | 1 => Fault::None,
            2 => Fault::Killed,
            3 => Fault::Still(span),
            4 => Fault::CutOff(span),
            _ => Fault::Failed,
        };
        // Half of the coordinators are away for at most a third of a lease, the others for longer.
        let away = match upto(2).0 {
            0 => upto(LEASE.0 / 3),
            _ => upto(3 * LEASE.0),
        };
        let ordeal = match upto(6).0 {
            0..=2 => Ordeal::None,
            3 => Ordeal::Killed(away),
            4 => Ordeal::KilledWithin(upto(1 << 20).0 as usize, away),
            _ => Ordeal::Still(upto(3 * LEASE.0), away),
        };
        Self {
            victim: victim as usize % world.processes.len(),
            fault,
            fault_at,
            ordeal,
            ordeal_at: now + upto(8_000_000_000),
            attach_at: None,
            command_at: now + upto(5_000_000_000),
        }
    }

    /// Whether no agent has a reason to be lost. With `is_alone`, no successor came because the run
    /// had no start.
    fn is_calm(&self, is_alone: bool) -> bool {
        let away = match self.ordeal {
            Ordeal::None => Nanos::ZERO,
            Ordeal::Still(span, _) if is_alone => span,
            Ordeal::Killed(away) | Ordeal::KilledWithin(_, away) | Ordeal::Still(_, away) => away,
        };
        self.fault == Fault::None && away <= Nanos(LEASE.0 / 3)
    }

    /// Applies the agent's fault.
    fn strike(&self, world: &mut ClusterWorld) {
        let now = world.now;
        let process = &mut world.processes[self.victim];
        match self.fault {
            Fault::None => {}
            Fault::Killed => process.is_dead = true,
            Fault::Still(span) => process.still_until = now + span,
            Fault::CutOff(span) => process.cut_off_until = now + span,
            Fault::Failed => {
                let own = now - process.epoch;
                if process.run.is_some() && process.left.is_none() {
                    process.run = None;
                    let reason = Redacted::new_for_test("it broke".to_owned());
                    let actions = process.machine.fail(reason, own);
                    world.act(self.victim, actions);
                }
            }
        }
    }

    /// Applies the coordinator's fault.
    fn strike_coordinator(&mut self, world: &mut ClusterWorld) {
        let now = world.now;
        let conductor = world.conductors.last_mut().unwrap();
        match self.ordeal {
            Ordeal::None => {}
            Ordeal::Killed(away) => {
                conductor.life = Life::Dead;
                self.attach_at = Some(now + away);
            }
            // The successor comes after the death.
            Ordeal::KilledWithin(bytes, _) => conductor.die_within_write(bytes),
            Ordeal::Still(span, away) => {
                conductor.life = Life::Still(now + span);
                self.attach_at = Some(now + away);
            }
        }
    }

    /// Starts a successor when it is time; `false` if that is impossible.
    fn attach(&mut self, world: &mut ClusterWorld) -> bool {
        let is_dead = world.last().life == Life::Dead;
        if let Ordeal::KilledWithin(_, away) = self.ordeal
            && is_dead
            && world.conductors.len() == 1
            && self.attach_at.is_none()
        {
            self.attach_at = Some(world.now + away);
        }
        match self.attach_at.take_if(|at| *at <= world.now) {
            Some(_) => world.attach() || !is_dead,
            None => true,
        }
    }
}

/// Prints the seed of a failing run.
struct Named(u64);

impl Drop for Named {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("seed {}", self.0);
        }
    }
}

/// The shares of a run that were lost and taken over.
#[derive(Clone, Copy, Default)]
struct GoneOn {
    /// The number of these shares.
    all: usize,
    /// Whether an agent that had waited took one.
    with_spare: bool,
}

/// Runs one seed to its end.
fn simulate(seed: u64) -> GoneOn {
    let _named = Named(seed);
    let mut world = ClusterWorld::new(seed);
    let mut script = FaultScript::draw(&mut world);
    let (mut has_commanded, mut has_faulted, mut has_suffered) = (false, false, false);
    let end = world.now + Nanos::from_secs(60);
    while world.now < end {
        world.step();
        if world.now >= script.fault_at && !has_faulted {
            has_faulted = true;
            script.strike(&mut world);
        }
        if world.now >= script.ordeal_at && !has_suffered {
            has_suffered = true;
            script.strike_coordinator(&mut world);
        }
        if !script.attach(&mut world) {
            // The run had no start, and its agents leave.
            break;
        }
        if world.now >= script.command_at && !has_commanded && world.last().life == Life::Lives {
            has_commanded = true;
            let command = Command {
                at: Nanos(7),
                pool: None,
                change: Change::Pause,
            };
            let last = world.conductors.len() - 1;
            let actions = world.conductors[last].machine.command(command);
            world.conduct(last, actions);
        }
        // An agent without a share waits for the next run.
        let gone = |index: usize| {
            let process = &world.processes[index];
            world.process(index).is_dead || process.left.is_some() || process.run.is_none()
        };
        let is_over = world.last().seen.over.is_some() && script.attach_at.is_none();
        if is_over && (0..world.processes.len()).all(gone) {
            break;
        }
    }
    let is_alone = world.conductors.len() == 1;
    world.check(seed, script.is_calm(is_alone));
    let mut with_spare = false;
    let is_killed = script.fault == Fault::Killed && script.ordeal == Ordeal::None;
    if is_killed && world.on_loss == OnLoss::Redistribute {
        world.check_coverage(seed);
        with_spare = world.check_spare(seed);
    }
    for process in &world.processes {
        assert!(
            process.commands.len() <= 1,
            "seed {seed}: a command comes once"
        );
    }
    let places = world.coordinator().places().iter();
    let gone_on = places.filter(|place| place.succeeds.is_some() && place.has_begun());
    GoneOn {
        all: gone_on.count(),
        with_spare,
    }
}

#[test]
fn every_interval_is_merged_once_or_stated() {
    let gone_on: Vec<GoneOn> = (0..600).map(simulate).collect();
    let all: usize = gone_on.iter().map(|it| it.all).sum();
    let with_spare = gone_on.iter().filter(|it| it.with_spare).count();
    assert!(all > 100, "{all} shares were taken over");
    assert!(
        with_spare > 2,
        "{with_spare} shares were taken over by spares"
    );
}

/// More seeds, in parts as time allows: `DRUMFIRE_SEEDS=10600..20600` selects the seeds of a part,
/// the last one excluded.
///
/// ```text
/// DRUMFIRE_SEEDS=10600..20600 cargo test --workspace --locked --lib many_seeds -- --ignored
/// ```
///
/// Most of the time is spent on memory that glibc returns and requests again. With
/// `MALLOC_MMAP_THRESHOLD_=1073741824 MALLOC_TRIM_THRESHOLD_=4294967296`, the test takes less than
/// half as long.
#[test]
#[ignore = "takes minutes: ten thousand more seeds"]
fn every_interval_is_merged_once_or_stated_in_many_seeds() {
    let given = std::env::var_os("DRUMFIRE_SEEDS");
    let seeds = given.map_or(600..10_600, |text| {
        let range = text.to_str().and_then(seeds);
        range.unwrap_or_else(|| panic!("DRUMFIRE_SEEDS is {text:?}, and not as 600..10600"))
    });
    println!("seeds {seeds:?}");
    // Report all failing seeds, not only the first.
    let fails = |seed: &u64| std::panic::catch_unwind(|| simulate(*seed)).is_err();
    let failed: Vec<u64> = seeds.filter(fails).collect();
    assert!(failed.is_empty(), "seeds that fail: {failed:?}");
}

/// Parses a range of at least one seed.
fn seeds(text: &str) -> Option<Range<u64>> {
    let (first, end) = text.split_once("..")?;
    let range = first.parse().ok()?..end.parse().ok()?;
    (!range.is_empty()).then_some(range)
}

#[test]
fn a_range_of_seeds_has_at_least_one() {
    assert_eq!(seeds("600..602"), Some(600..602));
    for wrong in ["", "600", "602..600", "600..600", "600..=602", "a..b"] {
        assert_eq!(seeds(wrong), None, "{wrong}");
    }
}

/// An agent notices the end of its lease before the coordinator considers it lost.
#[test]
fn the_margin_is_positive() {
    assert!(LEASE_MARGIN > Nanos::ZERO && LEASE > LEASE_MARGIN);
}

/// After a reboot, a successor has only the wall clock, which may be behind. A loss is then not
/// before the last report, and never counts as a loss from the beginning.
#[test]
fn a_clock_that_was_set_back_makes_no_early_loss() {
    let (mut world, on_loss) = (ClusterWorld::new(1), OnLoss::Drop);
    world.conductors = vec![Conductor::first(setup(world.wanted, on_loss))];
    world.on_loss = on_loss;
    while world.last().seen.merged.len() < 2 {
        world.step();
        assert!(
            world.now < CLOCK_AGE + Nanos::from_secs(30),
            "the run does not end"
        );
    }
    let set_back = Nanos::from_secs(1);
    let next = world
        .last()
        .after(setup(world.wanted, on_loss), 2, set_back);
    let mut next = next.expect("the run had a start");
    let looks = (1..=70).map(|look| set_back + Nanos::from_millis(100 * look));
    let actions: Vec<CoordinatorAction> = looks
        .flat_map(|now| next.machine.handle_time(now))
        .collect();
    let aborts = |action: &CoordinatorAction| {
        matches!(action, CoordinatorAction::Tell(ClusterEvent::Aborted))
    };
    assert!(!actions.iter().any(aborts));
    for place in next.machine.places() {
        assert!(place.is_lost() && place.lost_at >= Some(place.reported));
    }
}

/// Runs a run whose agents are killed one after the other when it has two intervals. Returns the
/// end of the load and its reasons. With `halts`, the run was stopped shortly before.
fn all_killed(on_loss: OnLoss, halts: bool) -> (Nanos, Option<Nanos>, Vec<StopReason>) {
    let mut world = ClusterWorld::new(1);
    world.conductors = vec![Conductor::first(setup(world.wanted, on_loss))];
    world.on_loss = on_loss;
    while world.last().seen.merged.len() < 2 {
        world.step();
    }
    let merged = world.last().seen.merged[1].end;
    if halts {
        let now = world.now;
        let halt = world.conductors[0]
            .machine
            .halt(StopReason::Signal, false, now);
        world.conduct(0, halt);
    }
    for index in 0..world.processes.len() {
        world.processes[index].is_dead = true;
        // An agent that lives longer would receive the stop.
        for _ in 0..if halts { 0 } else { 20 } {
            world.step();
        }
    }
    let end = world.now + LEASE + LEASE;
    while world.now < end {
        world.step();
    }
    let seen = &world.last().seen;
    assert!(matches!(seen.over, Some(Ok(0))), "{:?}", seen.over);
    (merged, seen.lost_at, seen.stops.clone())
}

/// If all agents of a run are lost, its load ends with the last loss, or with an earlier stop. The
/// reason is the loss, even if the first loss stops the load.
#[test]
fn a_run_whose_agents_are_all_lost_ends_by_that() {
    for on_loss in [OnLoss::Drop, OnLoss::Abort, OnLoss::Redistribute] {
        let (merged, lost_at, stops) = all_killed(on_loss, false);
        assert!(lost_at > Some(merged + LEASE), "{on_loss:?}: {lost_at:?}");
        assert_eq!(stops.last(), Some(&StopReason::Lost), "{on_loss:?}");
        let (merged, lost_at, stops) = all_killed(on_loss, true);
        let stopped = lost_at.is_some_and(|at| at < merged + INTERVAL);
        assert!(stopped, "{on_loss:?}: {lost_at:?} behind {merged}");
        assert!(!stops.contains(&StopReason::Lost), "{on_loss:?}: {stops:?}");
    }
}
