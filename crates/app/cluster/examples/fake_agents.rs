//! Agents without a load. Each uses the protocol of `drumfire agent` and reports one interval of
//! made-up samples per second, so that a coordinator can be measured with more agents than there
//! are machines.
//!
//! ```sh
//! cargo run --example fake_agents -- nats://127.0.0.1:4222 GROUP AGENTS SECONDS SERIES
//! ```
//!
//! At the end, the program prints the bytes that it published and received, summed over all agents.
//!
//! With `-` instead of the URL, the program uses neither a server nor real time. The coordinator's
//! state machine runs in this process, and the program prints its CPU time per second of the run
//! and the memory by which it has grown. So there may be more agents than a machine could run.

use async_nats::jetstream::{self, Context};
use async_nats::{Client, Request};
use drumfire_cluster::{
    Agent, AgentAction, AgentKey, Attachments, Content, Coordinator, CoordinatorAction,
    MachineFacts, OnLoss, Redacted, Setup,
};
use drumfire_measure::{
    Interval, Leniencies, Model, Outcome, PoolInfo, Reading, RunEvent, RunInfo, Sample,
};
use drumfire_net::{Clock, resident_memory};
use drumfire_plan::StopReason;
use drumfire_session::Redactor;
use drumfire_units::{ByteSize, Nanos};
use futures::StreamExt as _;
use std::io::{Error, Result, Write as _};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc;

/// The length of an interval.
const INTERVAL: Nanos = Nanos::from_secs(1);
/// The number of samples of each series in an interval.
const SAMPLES: u64 = 50;
/// The maximum time to wait for a reply.
const REQUEST: Duration = Duration::from_secs(2);

/// The state that all agents share.
struct Fleet {
    clock: Clock,
    group: String,
    intervals: u64,
    info: RunInfo,
    memory: Mutex<Interval>,
    published: AtomicU64,
    received: AtomicU64,
    reports: AtomicU64,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [url, group, agents, seconds, series] = args.as_slice() else {
        return Err(Error::other("URL GROUP AGENTS SECONDS SERIES"));
    };
    let number = |text: &String| text.parse::<u64>().map_err(Error::other);
    let (agents, series) = (number(agents)?, number(series)?);
    if url == "-" {
        return simulate(agents, number(seconds)?, series);
    }
    let fleet = Arc::new(Fleet {
        clock: Clock::start(),
        group: group.clone(),
        intervals: number(seconds)?,
        memory: Mutex::new(Interval::of_pools(&info(series).pools)),
        info: info(series),
        published: AtomicU64::new(0),
        received: AtomicU64::new(0),
        reports: AtomicU64::new(0),
    });
    let mut tasks = Vec::new();
    for index in 0..agents {
        let client = async_nats::connect(url).await.map_err(Error::other)?;
        tasks.push(tokio::spawn(drive(Arc::clone(&fleet), index, client)));
    }
    for task in tasks {
        task.await.map_err(Error::other)??;
    }
    let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    let mut out = std::io::stdout();
    writeln!(
        out,
        "{} {} {}",
        count(&fleet.published),
        count(&fleet.received),
        count(&fleet.reports)
    )
}

/// The facts of a run with one pool that has this number of series.
fn info(series: u64) -> RunInfo {
    let steps = (0..series).map(|step| format!("step{step}"));
    RunInfo {
        id: "fake".to_owned(),
        seed: 1,
        version: "fake".to_owned(),
        interval: INTERVAL,
        target: "http://127.0.0.1/".to_owned(),
        ..RunInfo::new(vec![PoolInfo::new("p", Model::Open, steps)])
    }
}

/// Makes an interval of an agent, whose latencies are spread over some decades. All agents use the
/// same memory in turn, because clearing new memory for each would take more time than the
/// coordinator does.
fn interval(memory: &mut Interval, info: &RunInfo, index: u64, agent: u64) -> Interval {
    let interval = memory;
    interval.reset(index, Nanos(INTERVAL.0 * index));
    interval.end = Nanos(INTERVAL.0 * (index + 1));
    let series = info.pools[0].steps.len() as u64;
    let figures = interval.pool_mut(0);
    for number in 0..SAMPLES * series {
        let drawn = (number * 7_919 + agent * 104_729 + index * 1_299_709) % 1_000;
        let latency = Nanos(200_000 + drawn * drawn * 40);
        let intended = Nanos(INTERVAL.0 * index + number * 1_000);
        figures.record_intended(1);
        figures.record(&Sample {
            intended,
            due: intended,
            sent: intended + Nanos(5_000),
            first_byte: intended + latency,
            end: intended + latency,
            bytes_sent: 100,
            outcome: Outcome::Ok,
            leniencies: Leniencies::default(),
            bytes_received: 300,
            status: 200,
            step: (number % series) as u16,
        });
    }
    interval.sum_up();
    interval.clone()
}

/// Runs one agent to its end.
async fn drive(fleet: Arc<Fleet>, index: u64, client: Client) -> Result<()> {
    let machine = MachineFacts {
        cores: 1,
        descriptors: None,
    };
    let version = env!("CARGO_PKG_VERSION");
    let mut fake = Fake {
        machine: Agent::new((&format!("fake{index}"), key(index)), version, machine),
        stream: jetstream::new(client.clone()),
        client,
        fleet,
        reports: String::new(),
        start: None,
        closed: 0,
        index,
    };
    let nudge = format!("drumfire.{}.nudge", fake.fleet.group);
    let mut nudges = fake.client.subscribe(nudge).await.map_err(Error::other)?;
    let (replied, mut replies) = mpsc::unbounded_channel::<Vec<u8>>();
    loop {
        let now = fake.fleet.clock.now();
        let edge = fake.edge().unwrap_or(Nanos::MAX);
        let wait = fake.machine.next_time().min(edge) - now;
        let wait = wait.as_duration().min(Duration::from_millis(200));
        let mut actions = tokio::select! {
            Some(reply) = replies.recv() => {
                let now = fake.fleet.clock.now();
                fake.machine.handle_reply(&reply, now)
            }
            Some(_) = nudges.next() => fake.machine.nudge(fake.fleet.clock.now()),
            () = tokio::time::sleep(wait) => fake.machine.handle_time(fake.fleet.clock.now()),
        };
        actions.extend(fake.work());
        for action in actions {
            if fake.act(action, &replied).await? {
                return Ok(());
            }
        }
    }
}

/// An agent with a share.
struct Fake {
    machine: Agent,
    stream: Context,
    client: Client,
    fleet: Arc<Fleet>,
    reports: String,
    start: Option<Nanos>,
    closed: u64,
    index: u64,
}

impl Fake {
    /// The end of the current interval.
    fn edge(&self) -> Option<Nanos> {
        let is_open = self.closed < self.fleet.intervals;
        let start = self.start.filter(|_| is_open)?;
        Some(start + Nanos(INTERVAL.0 * (self.closed + 1)))
    }

    /// Reports the interval if it is over, and the end after the last interval.
    fn work(&mut self) -> Vec<AgentAction> {
        let now = self.fleet.clock.now();
        if self.edge().is_none_or(|edge| now < edge) {
            return Vec::new();
        }
        let mut memory = self
            .fleet
            .memory
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let interval = interval(&mut memory, &self.fleet.info, self.closed, self.index);
        let interval = Arc::new(interval);
        let mut contents = vec![content(&RunEvent::IntervalClosed(interval))];
        self.closed += 1;
        if self.closed == self.fleet.intervals {
            let reason = StopReason::Counted;
            contents.push(content(&RunEvent::Stopping { reason }));
            let end = Reading::new(Arc::new(self.fleet.info.clone()), &[]);
            let end = end.close(Nanos::ZERO, 0.0);
            contents.push(content(&RunEvent::Finished(Arc::new(end))));
        }
        let contents = contents.iter().flatten();
        let reported = contents.map(|it| self.machine.report(it, now));
        reported.collect::<Vec<_>>().into_iter().flatten().collect()
    }

    /// Performs an action of the state machine. Returns whether the agent has left.
    async fn act(
        &mut self,
        action: AgentAction,
        replied: &mpsc::UnboundedSender<Vec<u8>>,
    ) -> Result<bool> {
        match action {
            AgentAction::Beat(bytes) => {
                let fleet = Arc::clone(&self.fleet);
                fleet
                    .published
                    .fetch_add(bytes.len() as u64, Ordering::Relaxed);
                let (client, replied) = (self.client.clone(), replied.clone());
                let subject = format!("drumfire.{}.beat", fleet.group);
                tokio::spawn(async move {
                    let request = Request::new().payload(bytes.into()).timeout(Some(REQUEST));
                    if let Ok(reply) = client.send_request(subject, request).await {
                        let length = reply.payload.len() as u64;
                        fleet.received.fetch_add(length, Ordering::Relaxed);
                        let _left = replied.send(reply.payload.to_vec());
                    }
                });
            }
            AgentAction::Publish(bytes) => {
                let length = bytes.len() as u64;
                self.fleet.published.fetch_add(length, Ordering::Relaxed);
                self.fleet.reports.fetch_add(1, Ordering::Relaxed);
                let published = self.stream.publish(self.reports.clone(), bytes.into());
                published.await.map_err(Error::other)?;
            }
            AgentAction::Prepare(assignment) => {
                let (group, run, share) = (&self.fleet.group, &assignment.run, assignment.share);
                self.reports = format!("drumfire.{group}.{run}.share.{share}");
                self.machine
                    .ready(Redacted::info(&self.fleet.info, &Redactor::default()));
            }
            AgentAction::Start(at, _) => self.start = Some(at),
            AgentAction::Leave(left) => {
                self.client.flush().await.map_err(Error::other)?;
                return left.map(|_| true).map_err(Error::other);
            }
            AgentAction::Lease(_)
            | AgentAction::Join(_)
            | AgentAction::Command(_)
            | AgentAction::Halt(..) => {}
        }
        Ok(false)
    }
}

/// A coordinator and its agents in virtual time.
struct SimulatedCluster {
    coordinator: Coordinator,
    agents: Vec<Agent>,
    now: Nanos,
    memory: Interval,
    /// The CPU time that the coordinator has used.
    taken: Nanos,
    journal: u64,
}

/// Runs a coordinator's state machine with this number of agents for this time.
fn simulate(agents: u64, seconds: u64, series: u64) -> Result<()> {
    let count = u32::try_from(agents).map_err(Error::other)?;
    let plan = drumfire_testkit::open("const(1000/s)").connections(count);
    let plan = plan.threads(count).lasts(Nanos::from_secs(seconds)).plan();
    let plan = plan.map_err(|flaws| Error::other(format!("{flaws:?}")))?;
    let setup = Setup {
        run: "r".to_owned(),
        program: "1".to_owned(),
        plan: Arc::new(plan),
        text: "drumfire: 1".to_owned(),
        attachments: Attachments::default(),
        agents: usize::try_from(agents).map_err(Error::other)?,
        on_loss: OnLoss::Drop,
    };
    let machine = MachineFacts {
        cores: 1,
        descriptors: None,
    };
    let mut world = SimulatedCluster {
        coordinator: Coordinator::new(setup),
        agents: (0..agents)
            .map(|index| Agent::new((&format!("fake{index}"), key(index)), "1", machine))
            .collect(),
        now: Nanos::from_secs(1),
        memory: Interval::of_pools(&info(series).pools),
        taken: Nanos::ZERO,
        journal: 0,
    };
    let info = info(series);
    while !world.coordinator.has_start() {
        world.beat(&info);
    }
    // All agents have the start, and their load begins.
    (0..20).for_each(|_| world.beat(&info));
    (world.taken, world.journal) = (Nanos::ZERO, 0);
    let before = resident_memory().unwrap_or(0);
    let mut most = before;
    for index in 0..seconds {
        (0..4).for_each(|_| world.beat(&info));
        world.report(&info, index);
        most = most.max(resident_memory().unwrap_or(0));
    }
    let mut out = std::io::stdout();
    let share = world.taken.as_secs_f64() / seconds as f64;
    writeln!(
        out,
        "{agents} agents: {:.2} % of a core, {} of memory more, journal {}/s",
        share * 100.0,
        ByteSize(most - before),
        ByteSize(world.journal / seconds.max(1)),
    )
}

impl SimulatedCluster {
    /// Sends a beat from each agent, and delivers the reply.
    fn beat(&mut self, info: &RunInfo) {
        self.now += Nanos::from_millis(250);
        for index in 0..self.agents.len() {
            let mut actions = self.agents[index].nudge(self.now);
            while let Some(action) = actions.pop() {
                let agent = &mut self.agents[index];
                match action {
                    AgentAction::Beat(bytes) => {
                        let before = Clock::thread_cpu();
                        let answered = self.coordinator.handle_beat(&bytes, self.now);
                        self.taken += Clock::thread_cpu() - before;
                        let Ok((Some(reply), _)) = answered else {
                            continue;
                        };
                        self.coordinator.journaled();
                        actions.extend(agent.handle_reply(&reply, self.now));
                    }
                    AgentAction::Prepare(_) => {
                        agent.ready(Redacted::info(info, &Redactor::default()));
                    }
                    _ => {}
                }
            }
        }
    }

    /// Reports an interval from each agent.
    fn report(&mut self, info: &RunInfo, index: u64) {
        for agent in 0..self.agents.len() {
            let interval = Arc::new(interval(&mut self.memory, info, index, agent as u64));
            let Some(content) = content(&RunEvent::IntervalClosed(interval)) else {
                continue;
            };
            for action in self.agents[agent].report(&content, self.now) {
                let AgentAction::Publish(bytes) = action else {
                    continue;
                };
                let before = Clock::thread_cpu();
                let actions = self.coordinator.handle_report(&bytes).unwrap_or_default();
                self.coordinator.journaled();
                self.taken += Clock::thread_cpu() - before;
                let written = actions.iter().map(|action| match action {
                    CoordinatorAction::Journal(bytes) => bytes.len() as u64,
                    _ => 0,
                });
                self.journal += written.sum::<u64>();
            }
        }
    }
}

fn content(event: &RunEvent) -> Option<Redacted<Content>> {
    Redacted::event(event, &Redactor::default())
}

/// The key by which the coordinator recognises an agent.
fn key(index: impl TryInto<u64>) -> AgentKey {
    let index = index.try_into().unwrap_or_default();
    AgentKey::new((u128::from(index) + 1).to_le_bytes())
}
