//! The facts of a run that are known before its end.
//!
//! The facts are collected when the run is prepared, published as its first event and shared from
//! then on. Everything that shows a run needs them: outputs for the names of pools and steps,
//! decoders for the series of intervals (the facts come before the intervals), and judgements for
//! the model and the limits of the plan. A summary has its own copy, which includes changes of the
//! load.

use crate::form;
use crate::{ArrivalClock, Asked, Histogram, Latency};
use drumfire_plan::{Growth, Load, Stage, Threshold, Warmup};
use drumfire_units::Nanos;
use std::sync::Arc;

/// The rule by which the requests of a pool start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Model {
    /// Arrivals do not depend on completions.
    Open,
    /// A user starts again only when the last exchange has ended.
    Closed,
}

impl Model {
    /// The model of a pool's load.
    #[must_use]
    pub const fn of_load(load: &Load) -> Self {
        match load.is_open() {
            true => Self::Open,
            false => Self::Closed,
        }
    }

    /// The word used in reports and JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Closed => "closed",
        }
    }

    /// The time that is *the* latency of requests with these times: in the open model the response
    /// time. In the closed model also the response time if one request in a hundred waited for a
    /// connection or a stream, because its user waited then; otherwise the service time.
    #[must_use]
    pub fn latency_kind(self, of: &Latency) -> LatencyKind {
        match self {
            Self::Closed if !of.waits() => LatencyKind::Service,
            Self::Open | Self::Closed => LatencyKind::Response,
        }
    }

    /// *The* latency of requests with these times.
    #[must_use]
    pub fn latency(self, of: &Latency) -> &Histogram {
        self.latency_kind(of).histogram(of)
    }
}

/// The time of a request that is *the* latency of its pool or its run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LatencyKind {
    /// From the intended start to the end.
    Response,
    /// From the moment of sending to the end.
    Service,
}

impl LatencyKind {
    /// All kinds.
    pub const ALL: [Self; 2] = [Self::Response, Self::Service];

    /// The name for reports.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Response => "response time",
            Self::Service => "service time",
        }
    }

    /// The key for JSON.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            Self::Response => "response_time",
            Self::Service => "service_time",
        }
    }

    /// This time, of all requests.
    #[must_use]
    pub const fn histogram(self, of: &Latency) -> &Histogram {
        match self {
            Self::Response => &of.response_time,
            Self::Service => &of.service_time,
        }
    }
}

/// The facts of a pool that are known when a run starts.
#[derive(Clone, Debug, PartialEq)]
pub struct PoolInfo {
    /// The name in the plan.
    pub name: String,
    /// Open or closed.
    pub model: Model,
    /// The distinct names of its steps; a sample's `step` is an index into them.
    pub steps: Vec<Arc<str>>,
    /// The rate of the schedule, per second, if it is one number.
    pub intended_rate: Option<f64>,
    /// The maximum number of open connections.
    pub connections: u32,
    /// Whether all connections were opened in advance, or only as needed.
    pub growth: Growth,
    /// The maximum number of simultaneous requests on a connection.
    pub streams: u32,
    /// The maximum number of simultaneous users; `None` if it has no effect.
    pub users: Option<u32>,
    /// Whether an iteration may contain several requests, so that iterations are counted and timed
    /// separately.
    pub iterations: bool,
    /// The names of its scenarios, if there are several: their iterations are also counted and
    /// timed separately.
    pub scenarios: Vec<Arc<str>>,
    /// The stages of its load: the plan's, or, in a summary, as changed by orders.
    pub stages: Vec<Stage>,
    /// The facts of its plan; `None` if they are unknown, as for a run without a plan.
    pub asked: Option<Asked>,
}

form! { enum Model { 0 => Open, 1 => Closed } }

form! {
    struct PoolInfo {
        name, model, steps, intended_rate, connections, growth, streams, users, iterations,
        scenarios, stages, asked as crate::asked::StoredAsked,
    }
    check |pool| pool.intended_rate.is_none_or(f64::is_finite), "a rate that is not a number";
    // Stages are found by binary search.
    check |pool| pool.stages.is_sorted_by_key(|stage| stage.start), "stages are out of order";
}

// Grids of time rely on the length of an interval.
form! {
    struct RunInfo {
        id, started_at_unix_ns, seed, version, threads, threads_planned, pools, interval, warmup,
        tls_verified, spin, clock, thresholds, notes, target, machine, name,
    }
    check |run| !run.pools.is_empty(), "a run without pools";
    check |run| run.interval > Nanos::ZERO, "an interval without length";
}

impl PoolInfo {
    /// The facts of a pool with one connection and these steps; everything else is unknown.
    #[must_use]
    pub fn new<S: Into<Arc<str>>>(
        name: &str,
        model: Model,
        steps: impl IntoIterator<Item = S>,
    ) -> Self {
        Self {
            name: name.to_owned(),
            model,
            steps: steps.into_iter().map(Into::into).collect(),
            intended_rate: None,
            connections: 1,
            growth: Growth::Ahead,
            streams: 1,
            users: None,
            iterations: false,
            scenarios: Vec::new(),
            stages: Vec::new(),
            asked: None,
        }
    }
}

/// The facts of a run that are known when it starts.
#[derive(Clone, Debug, PartialEq)]
pub struct RunInfo {
    /// The run's name, unique on this machine; also the name of its directory in a store.
    pub id: String,
    /// The start of its load, in nanoseconds since 1970-01-01 00:00 UTC; before
    /// [`crate::RunEvent::Started`] the time at which the facts were collected.
    pub started_at_unix_ns: u64,
    /// The seed of every random number.
    pub seed: u64,
    /// The version of the program that ran, with its commit if the build knows it.
    pub version: String,
    /// The number of worker threads that ran.
    pub threads: u32,
    /// The number of worker threads in the plan, or of the machine's cores if the plan uses all.
    /// Fewer ran if there were fewer connections or users to divide.
    pub threads_planned: u32,
    /// The pools, at least one, in the plan's order.
    pub pools: Vec<PoolInfo>,
    /// The length of an interval; never zero.
    pub interval: Nanos,
    /// The beginning that is not measured, as the plan defines it.
    pub warmup: Warmup,
    /// Whether certificates are verified; `None` without TLS.
    pub tls_verified: Option<bool>,
    /// Whether workers spin before a due time.
    pub spin: bool,
    /// The clock in the plan; a run uses the program's if the kernel provides no stamps.
    pub clock: ArrivalClock,
    /// The rules that the result must satisfy, and the conditions that end the run.
    pub thresholds: Vec<Threshold>,
    /// Notes that qualify the numbers, such as "TLS verification is off".
    pub notes: Vec<String>,
    /// The target of the load, in the user's words.
    pub target: String,
    /// The machine that sent the load, such as `2 cores, Linux 6.1.0`; empty if it is unknown.
    pub machine: String,
    /// The user's name for the plan.
    pub name: Option<String>,
}

impl RunInfo {
    /// The facts of a run with one thread, these pools, at least one, and intervals of a second;
    /// everything else, such as its name and its target, is unknown.
    #[must_use]
    pub fn new(pools: Vec<PoolInfo>) -> Self {
        Self {
            id: String::new(),
            started_at_unix_ns: 0,
            seed: 0,
            version: String::new(),
            threads: 1,
            threads_planned: 1,
            pools,
            interval: Nanos::from_secs(1),
            warmup: Warmup::NONE,
            tls_verified: None,
            spin: false,
            clock: ArrivalClock::Program,
            thresholds: Vec::new(),
            notes: Vec::new(),
            target: String::new(),
            machine: String::new(),
            name: None,
        }
    }

    /// Whether the target is a WebSocket, whose messages no stream carries.
    #[must_use]
    pub fn is_on_socket(&self) -> bool {
        ["ws://", "wss://"]
            .iter()
            .any(|scheme| self.target.starts_with(scheme))
    }

    /// The length of the load in the plan; `None` if a pool has no duration, or its facts are
    /// unknown.
    #[must_use]
    pub fn planned(&self) -> Option<Nanos> {
        let of_pool = |pool: &PoolInfo| pool.asked.as_ref()?.stop.duration;
        let all: Option<Vec<Nanos>> = self.pools.iter().map(of_pool).collect();
        all?.into_iter().max()
    }

    /// The first pool, which reports use if there is only one.
    ///
    /// # Panics
    /// If there are no pools, which no plan allows.
    #[must_use]
    pub fn pool(&self) -> &PoolInfo {
        &self.pools[0]
    }

    /// The model for the figures of the whole run: open if any pool's is, because response time is
    /// defined in both.
    #[must_use]
    pub fn model(&self) -> Model {
        let is_open = |pool: &PoolInfo| pool.model == Model::Open;
        match self.pools.iter().any(is_open) {
            true => Model::Open,
            false => Model::Closed,
        }
    }

    /// The facts with every text that a person wrote replaced by the result of `rewrite`. The names
    /// of pools stay, because thresholds and commands refer to them.
    #[must_use]
    pub fn with_texts(mut self, rewrite: &dyn Fn(&str) -> String) -> Self {
        let shared = |text: &mut Arc<str>| *text = rewrite(text).into();
        for pool in &mut self.pools {
            pool.steps.iter_mut().for_each(shared);
            pool.scenarios.iter_mut().for_each(shared);
            pool.asked = pool.asked.take().map(|asked| asked.with_texts(rewrite));
        }
        let rules = self.thresholds.into_iter();
        self.thresholds = rules.map(|rule| rule.with_texts(rewrite)).collect();
        for note in &mut self.notes {
            *note = rewrite(note);
        }
        self.target = rewrite(&self.target);
        self.name = self.name.map(|name| rewrite(&name));
        self
    }
}
