//! A run in a simulated world.

use crate::baton::Baton;
use crate::{Draft, Log, World};
use drumfire_engine::{Control, ControlError, Prepared, PreparedPool, RunError, prepare, run_over};
use drumfire_measure::{
    Asked, Closing, GRPC_STATUS, Interval, Model, PoolInfo, RunEvent, RunInfo, Summary,
};
use drumfire_placement::{Machine, Placement, fit};
use drumfire_plan::{Change, Command, Plan, Pool};
use drumfire_units::Nanos;
use std::sync::{Arc, PoisonError};

/// A plan and the world in which it runs.
#[derive(Clone)]
pub struct Simulation {
    plan: Draft,
    world: World,
    keeps: bool,
    first_stream_id: u32,
    commands: Vec<Command>,
    from: Nanos,
}

/// The result of a simulation.
#[derive(Clone, Debug)]
pub struct Simulated {
    /// The engine's results.
    pub summary: Arc<Summary>,
    /// The world's counts, over all workers.
    pub log: Log,
    /// Every interval, if intervals are kept.
    pub intervals: Vec<Arc<Interval>>,
    /// All other events, in order.
    pub events: Vec<RunEvent>,
}

impl Simulation {
    /// Creates the simulation of `plan` in `world`.
    #[must_use]
    pub fn new(plan: Draft, world: World) -> Self {
        Self {
            plan,
            world,
            keeps: false,
            first_stream_id: 1,
            commands: Vec::new(),
            from: Nanos::ZERO,
        }
    }

    /// Begins the load at a time of the run, for shares whose earlier part ran elsewhere.
    #[must_use]
    pub fn begins_from(mut self, from: Nanos) -> Self {
        self.from = from;
        self
    }

    /// Adds a change of the run at a time. All commands are sent before the start, in this order.
    #[must_use]
    pub fn command(mut self, at: Nanos, change: Change) -> Self {
        let pool = None;
        self.commands.push(Command { at, pool, change });
        self
    }

    /// Adds a change of one of several pools, by its number from 0.
    #[must_use]
    pub fn command_to(mut self, pool: u16, at: Nanos, change: Change) -> Self {
        let pool = Some(pool);
        self.commands.push(Command { at, pool, change });
        self
    }

    /// Returns whether each command is accepted, for a run that has not begun.
    ///
    /// # Panics
    /// If the plan can't run.
    #[must_use]
    pub fn give_commands(&self) -> Vec<Result<Nanos, ControlError>> {
        let control = control(&self.checked_plan());
        let given = self.commands.iter();
        given.map(|command| control.send(command.clone())).collect()
    }

    /// Keeps every interval: 3 MiB each.
    #[must_use]
    pub fn keeps_intervals(mut self) -> Self {
        self.keeps = true;
        self
    }

    /// Sets the id of the first stream of each HTTP/2 connection, which must be odd: ids end at 2³¹
    /// − 1.
    #[must_use]
    pub fn first_stream_id(mut self, id: u32) -> Self {
        self.first_stream_id = id;
        self
    }

    /// Runs to the end.
    ///
    /// # Panics
    /// If the plan can't run, the counts do not add up, or the engine violates the driver's
    /// contract or sends a request before the answer to the previous one.
    #[must_use]
    #[expect(clippy::panic, reason = "a plan that can't run is a wrong test")]
    pub fn run(&self) -> Simulated {
        match self.try_run() {
            Ok(simulated) => simulated,
            Err(error) => panic!("the plan can't run: {error}"),
        }
    }

    /// Runs to the end, or until a driver fails.
    ///
    /// # Errors
    /// If a driver fails.
    ///
    /// # Panics
    /// See [`Self::run`].
    pub fn try_run(&self) -> Result<Simulated, RunError> {
        self.try_run_watched(&mut |_| {})
    }

    /// Runs to the end, and passes every event to `watch` as it comes: for runs with too many
    /// intervals to keep.
    ///
    /// # Errors
    /// If a driver fails.
    ///
    /// # Panics
    /// See [`Self::run`].
    #[expect(clippy::panic, reason = "a plan that can't run is a wrong test")]
    pub fn try_run_watched(&self, watch: &mut dyn FnMut(&RunEvent)) -> Result<Simulated, RunError> {
        let plan = self.checked_plan();
        let placement = placed(&plan);
        let of = placement.threads();
        let mut prepared = match prepare(plan, placement, self.world.resolver()) {
            Ok(prepared) => prepared,
            Err(error) => panic!("the plan can't run: {error}"),
        };
        prepared.first_stream_id = self.first_stream_id;
        let prepared = Arc::new(prepared);
        let baton = Arc::new(Baton::new(of as usize));
        let mut drivers = Vec::new();
        let mut logs = Vec::new();
        for worker in 0..of {
            // Each worker has a separate clock and a separate control.
            let control = control(&prepared.plan);
            for command in &self.commands {
                if let Err(error) = control.send(command.clone()) {
                    panic!("{command:?}: {error}");
                }
            }
            let (io, log) = self.world.driver(worker, &control, &baton);
            drivers.push((io, control));
            logs.push(log);
        }
        let info = Arc::new(info(&prepared));
        let mut intervals = Vec::new();
        let mut events = Vec::new();
        let result = run_over(&prepared, &info, drivers, self.from, &mut |event| {
            watch(event);
            match event {
                RunEvent::IntervalClosed(interval) if self.keeps => {
                    intervals.push(Arc::clone(interval));
                }
                RunEvent::IntervalClosed(_) => {}
                other => events.push(other.clone()),
            }
        });
        let summary = result?;
        let mut log = Log::default();
        for part in logs {
            log.merge(&part.lock().unwrap_or_else(PoisonError::into_inner));
        }
        assert_eq!(summary.conservation(), Ok(()));
        let lives = &summary.total.connections;
        let closed: u64 = Closing::ALL.iter().map(|why| lives.closed_by(*why)).sum();
        assert_eq!(lives.known(), closed, "connections opened and closed");
        check_statuses(&summary);
        assert_eq!(
            log.pipelined, 0,
            "requests before the answer to the one before"
        );
        assert_eq!(
            log.over_allowed, 0,
            "streams that the server has no room for"
        );
        assert_eq!(log.over_granted, 0, "bytes that the server has no room for");
        Ok(Simulated {
            summary,
            log,
            intervals,
            events,
        })
    }

    #[expect(clippy::panic, reason = "a plan that can't run is a wrong test")]
    fn checked_plan(&self) -> Plan {
        match self.plan.plan() {
            Ok(plan) => plan,
            Err(flaws) => panic!("the plan can't run: {flaws:?}"),
        }
    }
}

/// The control that changes and stops a run of a plan.
#[expect(clippy::panic, reason = "a plan that can't run is a wrong test")]
fn control(plan: &Plan) -> Control {
    match Control::new(plan) {
        Ok(control) => control,
        Err(error) => panic!("the plan can't run: {error}"),
    }
}

/// The placement of a plan on a machine without limits.
#[expect(clippy::panic, reason = "a plan that can't run is a wrong test")]
fn placed(plan: &Plan) -> Placement {
    match fit(plan, &Machine::SIMULATED) {
        Ok(placement) => placement,
        Err(refused) => panic!("the plan can't run: {refused:?}"),
    }
}

/// The facts about a run that are known before it starts.
fn info(prepared: &Prepared) -> RunInfo {
    let plan = &prepared.plan;
    let generator = plan.generator();
    let info = |(pool, prepared): (&Pool, &Arc<PreparedPool>)| PoolInfo {
        name: pool.name.clone(),
        model: match pool.load.is_open() {
            true => Model::Open,
            false => Model::Closed,
        },
        steps: prepared.steps.clone(),
        intended_rate: None,
        connections: prepared.connections(),
        growth: pool.connections.growth,
        streams: pool.connections.streams,
        users: pool.users_most(),
        iterations: pool.program.has_steps(),
        scenarios: pool.program.scenario_names().to_vec(),
        stages: pool.stages(),
        asked: Some(Asked::from_pool(pool)),
    };
    RunInfo {
        id: "simulated".to_owned(),
        seed: generator.seed,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        threads: prepared.placement.threads(),
        threads_planned: prepared.placement.threads_offered(),
        interval: generator.interval,
        warmup: generator.warmup,
        thresholds: plan.thresholds().to_vec(),
        target: "simulated".to_owned(),
        ..RunInfo::new(plan.pools().iter().zip(&prepared.pools).map(info).collect())
    }
}

/// Checks that an exchange without a connection has no HTTP status. (A call without a connection
/// gets a gRPC status from the engine.)
fn check_statuses(summary: &Summary) {
    let total = &summary.total;
    let http = total.status().filter(|(status, _)| *status < GRPC_STATUS);
    let heard: u64 = http.map(|(_, count)| count).sum();
    let unconnected = total.outcomes().failures().filter(|(outcome, _)| {
        let name = outcome.name();
        ["dns:", "connect:", "tls:"]
            .iter()
            .any(|kind| name.starts_with(kind))
    });
    let unconnected: u64 = unconnected.map(|(_, count)| count).sum();
    let finished = total.counts.finished();
    assert!(
        heard + unconnected <= finished,
        "{heard} statuses of {finished} exchanges, {unconnected} of them without a connection"
    );
}
