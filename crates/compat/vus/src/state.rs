//! What native functions and the run share: the users, and the metrics that count their samples.

use crate::errand::{Errand, Expected, Hop, Timings};
use crate::jars::Jars;
use crate::settings::Settings;
use crate::surroundings::{Level, Surroundings};
use drumfire_k6::{Contains, Kind, MetricId, Registry, Sample, Tags};
use drumfire_modules::Linked;
use drumfire_units::{Nanos, Random};
use rquickjs::{Object, Persistent};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

/// The stage of a run, which decides what functions may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// The top level of modules.
    Init,
    /// `setup`
    Setup,
    /// Iterations.
    Scenarios,
    /// `teardown`
    Teardown,
    /// `handleSummary`
    Summary,
}

/// The numbers of metrics that every run has.
pub(crate) struct Builtin {
    pub(crate) vus: MetricId,
    pub(crate) vus_max: MetricId,
    pub(crate) iterations: MetricId,
    pub(crate) iteration_duration: MetricId,
    pub(crate) dropped_iterations: MetricId,
    pub(crate) checks: MetricId,
    pub(crate) group_duration: MetricId,
    pub(crate) data_sent: MetricId,
    pub(crate) data_received: MetricId,
    pub(crate) failed: MetricId,
    pub(crate) ws_sessions: MetricId,
    pub(crate) ws_connecting: MetricId,
    pub(crate) ws_session_duration: MetricId,
    pub(crate) ws_sent: MetricId,
    pub(crate) ws_received: MetricId,
    pub(crate) ws_ping: MetricId,
    /// `http_reqs`, then the times of a request in the order of outputs.
    pub(crate) requests: [MetricId; 8],
}

impl Builtin {
    fn of(registry: &Registry) -> Option<Self> {
        let id = |name: &str| registry.id(name);
        Some(Self {
            vus: id("vus")?,
            vus_max: id("vus_max")?,
            iterations: id("iterations")?,
            iteration_duration: id("iteration_duration")?,
            dropped_iterations: id("dropped_iterations")?,
            checks: id("checks")?,
            group_duration: id("group_duration")?,
            data_sent: id("data_sent")?,
            data_received: id("data_received")?,
            failed: id("http_req_failed")?,
            ws_sessions: id("ws_sessions")?,
            ws_connecting: id("ws_connecting")?,
            ws_session_duration: id("ws_session_duration")?,
            ws_sent: id("ws_msgs_sent")?,
            ws_received: id("ws_msgs_received")?,
            ws_ping: id("ws_ping")?,
            requests: [
                id("http_reqs")?,
                id("http_req_duration")?,
                id("http_req_blocked")?,
                id("http_req_connecting")?,
                id("http_req_tls_handshaking")?,
                id("http_req_sending")?,
                id("http_req_waiting")?,
                id("http_req_receiving")?,
            ],
        })
    }
}

/// A user, as native functions see it.
#[derive(Debug)]
pub(crate) struct User {
    /// The tags of all samples of the current iteration: of the run, the scenario and the user.
    pub(crate) tags: Tags,
    pub(crate) group: String,
    pub(crate) jars: Jars,
    pub(crate) random: Random,
    /// The index of the scenario whose iteration runs.
    pub(crate) scenario: usize,
    /// Iterations that have begun, in this run and in the scenario.
    pub(crate) iterations: u64,
    pub(crate) scenario_iterations: u64,
    /// The number of the iteration among those of its scenario.
    pub(crate) iteration_in_test: u64,
    pub(crate) bytes_sent: u64,
    pub(crate) bytes_received: u64,
}

/// A scenario, as native functions see it.
#[derive(Debug, Default)]
pub(crate) struct ScenarioFacts {
    pub(crate) name: String,
    pub(crate) executor: &'static str,
    /// Milliseconds since 1970.
    pub(crate) start: f64,
    pub(crate) started: Nanos,
    pub(crate) duration: Nanos,
}

/// What native functions and the run share. One user runs at a time.
pub(crate) struct Shared {
    /// The user whose code runs; 0 is the one of `setup`.
    pub(crate) user: Cell<u32>,
    pub(crate) stage: Cell<Stage>,
    /// The time by the run's clock, and what it was since 1970 at its begin, in nanoseconds.
    pub(crate) now: Cell<Nanos>,
    pub(crate) unix_start: Cell<u64>,
    pub(crate) users: RefCell<Vec<User>>,
    pub(crate) registry: RefCell<Registry>,
    pub(crate) builtin: Builtin,
    pub(crate) settings: RefCell<Settings>,
    pub(crate) surroundings: RefCell<Box<dyn Surroundings>>,
    pub(crate) linked: Linked,
    pub(crate) entry: String,
    /// The environment of each scenario.
    pub(crate) environments: RefCell<Vec<Persistent<Object<'static>>>>,
    pub(crate) arrays: RefCell<HashMap<String, Rc<Vec<String>>>>,
    pub(crate) files: RefCell<HashMap<String, Rc<Vec<u8>>>>,
    /// Whether further users can open files that the first one has not opened.
    pub(crate) is_first: Cell<bool>,
    pub(crate) options: RefCell<String>,
    pub(crate) scenarios: RefCell<Vec<ScenarioFacts>>,
    pub(crate) test_failed: RefCell<Option<String>>,
    pub(crate) completed: Cell<u64>,
    pub(crate) interrupted: Cell<u64>,
    pub(crate) active: Cell<u32>,
    pub(crate) scenario_start: Cell<Nanos>,
}

impl Shared {
    pub(crate) fn new(
        registry: Registry,
        settings: Settings,
        surroundings: Box<dyn Surroundings>,
        linked: Linked,
        entry: String,
    ) -> Option<Self> {
        Some(Self {
            user: Cell::new(0),
            stage: Cell::new(Stage::Init),
            now: Cell::new(Nanos::ZERO),
            unix_start: Cell::new(0),
            users: RefCell::new(Vec::new()),
            builtin: Builtin::of(&registry)?,
            registry: RefCell::new(registry),
            settings: RefCell::new(settings),
            surroundings: RefCell::new(surroundings),
            linked,
            entry,
            environments: RefCell::new(Vec::new()),
            arrays: RefCell::new(HashMap::new()),
            files: RefCell::new(HashMap::new()),
            is_first: Cell::new(true),
            options: RefCell::new("{}".to_owned()),
            scenarios: RefCell::new(Vec::new()),
            test_failed: RefCell::new(None),
            completed: Cell::new(0),
            interrupted: Cell::new(0),
            active: Cell::new(0),
            scenario_start: Cell::new(Nanos::ZERO),
        })
    }

    /// Adds a user. Its random numbers are a function of the seed and its number, so that runs repeat.
    pub(crate) fn add_user(&self, seed: u64) {
        let mut users = self.users.borrow_mut();
        let number = users.len() as u64;
        users.push(User {
            tags: Tags::default(),
            group: String::new(),
            jars: Jars::default(),
            random: Random::new(seed, number, 0, 0),
            scenario: 0,
            iterations: 0,
            scenario_iterations: 0,
            iteration_in_test: 0,
            bytes_sent: 0,
            bytes_received: 0,
        });
    }

    /// Calls a function with the user whose code runs.
    pub(crate) fn with_user<T>(&self, run: impl FnOnce(&mut User) -> T) -> T {
        let mut users = self.users.borrow_mut();
        run(&mut users[self.user.get() as usize])
    }

    /// The time since 1970.
    pub(crate) fn unix_time(&self, at: Nanos) -> Nanos {
        Nanos(self.unix_start.get().saturating_add(at.0))
    }

    /// The tags of a sample of the running user, with its group.
    pub(crate) fn tags(&self) -> Tags {
        let user = self.user.get();
        self.tags_of(user)
    }

    /// The tags of a sample of a user, with its group.
    pub(crate) fn tags_of(&self, user: u32) -> Tags {
        let users = self.users.borrow();
        let user = &users[user as usize];
        let mut tags = user.tags.clone();
        if self.settings.borrow().has_tag("group") {
            tags.set("group", &user.group);
        }
        tags
    }

    /// Counts a sample.
    pub(crate) fn add(&self, metric: MetricId, value: f64, tags: &Tags) {
        self.add_at(self.now.get(), metric, value, tags);
    }

    /// Counts a sample of a time.
    pub(crate) fn add_at(&self, at: Nanos, metric: MetricId, value: f64, tags: &Tags) {
        let metadata = &Tags::default();
        let sample = Sample {
            metric,
            time: self.unix_time(at),
            value,
            tags,
            metadata,
        };
        let mut registry = self.registry.borrow_mut();
        registry.add(&sample);
        self.surroundings.borrow_mut().sample(&registry, &sample);
    }

    /// Declares a metric of the script.
    ///
    /// # Errors
    ///
    /// What is wrong with the name.
    pub(crate) fn declare(
        &self,
        kind: &str,
        name: &str,
        is_time: bool,
    ) -> Result<MetricId, String> {
        let kind = match kind {
            "counter" => Kind::Counter,
            "gauge" => Kind::Gauge,
            "rate" => Kind::Rate,
            _ => Kind::Trend,
        };
        let contains = if is_time {
            Contains::Time
        } else {
            Contains::Default
        };
        let declared = self.registry.borrow_mut().declare(name, kind, contains);
        declared.map_err(|error| error.to_string())
    }

    /// Counts the samples of a request that has ended.
    pub(crate) fn count_request(&self, user: u32, errand: &Errand, ended: &RequestFacts<'_>) {
        let mut tags = self.tags_of(user);
        let settings = self.settings.borrow();
        let shown = &ended.hop.shown;
        let name = errand.name.as_deref().unwrap_or(shown);
        let expected = errand.expected.holds(ended.status);
        let code = ended.code.to_string();
        let status = ended.status.to_string();
        let mut set = |tag: &str, value: &str| {
            if settings.has_tag(tag) {
                tags.set(tag, value);
            }
        };
        set("method", ended.hop.method.as_str());
        set("status", &status);
        set("name", name);
        set("url", name);
        if ended.status != 0 {
            set("proto", version(ended.version));
        }
        if ended.code != 0 {
            set("error_code", &code);
            if !ended.error.is_empty() {
                set("error", ended.error);
            }
        }
        match expected {
            Some(true) => set("expected_response", "true"),
            Some(false) => set("expected_response", "false"),
            None => {}
        }
        for (tag, value) in &errand.tags {
            tags.set(tag, value);
            // k6 gives both the same value.
            if tag == "name" && settings.has_tag("url") {
                tags.set("url", value);
            }
        }
        drop(settings);
        let timings = ended.timings;
        let values = [
            1.0,
            timings.duration(),
            timings.blocked,
            timings.connecting,
            timings.tls,
            timings.sending,
            timings.waiting,
            timings.receiving,
        ];
        for (metric, value) in self.builtin.requests.iter().zip(values) {
            self.add_at(ended.end, *metric, value, &tags);
        }
        if let Some(expected) = expected {
            let failed = f64::from(u8::from(!expected));
            self.add_at(ended.end, self.builtin.failed, failed, &tags);
        }
    }

    /// Writes a line of the log.
    pub(crate) fn log(&self, level: Level, text: &str, source: Option<&str>) {
        self.surroundings.borrow_mut().log(level, text, source);
    }
}

/// The facts of a request that has ended.
pub(crate) struct RequestFacts<'a> {
    pub(crate) hop: &'a Hop,
    pub(crate) status: u16,
    pub(crate) version: &'a str,
    pub(crate) timings: &'a Timings,
    pub(crate) error: &'a str,
    pub(crate) code: u32,
    pub(crate) end: Nanos,
}

/// The version of HTTP as k6 prints it.
pub(crate) fn version(version: &str) -> &str {
    match version {
        "HTTP/2" => "HTTP/2.0",
        other => other,
    }
}

/// The statuses that a request may have by default.
pub(crate) fn expected() -> Expected {
    Expected::Ranges(vec![(200, 399)])
}
