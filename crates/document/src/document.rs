//! A run as it was written: plain data, unchecked.
//!
//! Flags, plan files and other tools' command lines all make a [`Document`]. It is shown, kept
//! beside a run and sent to other machines, and becomes a plan only by being compiled. Numbers with
//! a unit, laws and rules are texts here, as they were given: a mistake in one is then reported
//! with its [`Place`]. Values that were not written are absent, and the compiler has the defaults.
//!
//! A pool's absent values are those of the document's `defaults`; a request's are those of its
//! pool.
//!
//! A value's text may be one in which references were replaced; the text with the references stays
//! beside it ([`Placed::written`]), so that a document that is printed has them again and never a
//! secret that they stood for. Two documents are equal when they were written alike, wherever that
//! was.

mod ammo;
mod call;
mod expect;
mod feed;
mod field;
mod payload;
mod phase;
mod place;
mod request;
mod scenario;
mod settings;

pub use ammo::Ammo;
pub use call::{CallOptions, Stream};
pub use expect::Expect;
pub use feed::{Feed, FeedRows};
pub use field::{Field, Fields};
pub use payload::{Part, PartContent, Payload};
pub use phase::Phase;
pub use place::{Count, Place, Placed, Switch, Text};
pub use request::{Ask, Data, Request};
pub use scenario::{Branch, Loop, RequestStep, Scenario, Step};
pub use settings::{
    CommonBody, CommonFields, Connections, Http, Kept, Reach, Reflection, Schema, Settings,
    Timeouts, Tls,
};

/// A run as it was written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Document {
    /// The name of the run.
    pub name: Option<Text>,
    /// Values with names, which references in other values stand for.
    pub vars: Vec<Field>,
    /// The defaults of all pools.
    pub defaults: Settings,
    /// The sources of templates.
    pub feeds: Vec<Feed>,
    /// The steps before the load, gone through once.
    pub setup: Vec<Step>,
    /// The pools: requests, and their load.
    pub pools: Vec<Pool>,
    /// The steps behind the load, gone through once.
    pub teardown: Vec<Step>,
    /// The end of all pools without an end of their own.
    pub stop: Stop,
    /// The rules that the result must satisfy.
    pub thresholds: Vec<Text>,
    /// The destinations of results.
    pub outputs: Outputs,
    /// The program that sends.
    pub generator: Generator,
}

impl Document {
    /// The names of the pools, in their order.
    #[must_use]
    pub fn pool_names(&self) -> Vec<&str> {
        let names = self.pools.iter().map(|pool| &*pool.name.value);
        names.collect()
    }
}

/// Requests that share a load, connections and settings.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pool {
    /// The name under which its figures are reported.
    pub name: Text,
    /// The law by which its requests start.
    pub load: Load,
    /// The settings of its connections and requests.
    pub settings: Settings,
    /// Its end.
    pub stop: Stop,
    /// The requests, sent in turn.
    pub requests: Vec<Request>,
    /// The steps of each iteration of a user, in place of a list of requests.
    pub scenario: Vec<Step>,
    /// Several scenarios in their place, of which each iteration takes one.
    pub scenarios: Vec<Scenario>,
    /// `spread`, `blocks` or `random`: the order in which requests or scenarios with weights come.
    pub mix: Option<Text>,
}

impl Pool {
    /// Every request, of the list and of the scenario.
    pub fn every_request(&self) -> impl Iterator<Item = &Request> {
        let scenarios = self.scenarios.iter().flat_map(|scenario| &scenario.steps);
        let steps = self.scenario.iter().chain(scenarios);
        self.requests.iter().chain(steps.flat_map(Step::requests))
    }
}

/// The law by which requests start.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Load {
    /// Open model: a rate or a law.
    pub rate: Option<Text>,
    /// `constant` or `poisson`.
    pub arrivals: Option<Text>,
    /// `queue`, `skip` or `drop(TIME)`.
    pub late: Option<Text>,
    /// `all`, or `user`, where each user follows the rate by itself.
    pub rate_per: Option<Text>,
    /// A number, or a law of it.
    pub users: Option<Text>,
    /// A law by which users come, each of them once; in place of a law of their number.
    pub start: Option<Text>,
    /// Closed model: a user's pause between two of its iterations.
    pub think: Option<Text>,
    /// Closed model: the least distance between the beginnings of a user's iterations.
    pub pace: Option<Text>,
}

/// The end of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stop {
    /// A span after which no request starts.
    pub after: Option<Text>,
    /// Exactly this many requests.
    pub requests: Option<Count>,
    /// The list of requests this number of times.
    pub iterations: Option<Count>,
    /// `wait`, `close` or `ignore`: the treatment of requests in flight at the end.
    pub drain: Option<Text>,
    /// Conditions that end the run and have failed it; of a document, not of a pool.
    pub abort: Vec<Text>,
    /// More failed requests than this end the run, too.
    pub max_errors: Option<Count>,
}

/// The destinations of results, and the way in which they are shown.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outputs {
    /// The summary as JSON.
    pub json: Option<Text>,
    /// The histograms' buckets as CSV.
    pub csv: Option<Text>,
    /// The run as a page of HTML.
    pub html: Option<Text>,
    /// The summary as Markdown.
    pub markdown: Option<Text>,
    /// The answers and thresholds as JUnit's XML.
    pub junit: Option<Text>,
    /// The histogram of each interval as a log of HdrHistogram.
    pub hlog: Option<Text>,
    /// The folder of the pictures, a file each.
    pub svg: Option<Text>,
    /// The run that this one is compared with.
    pub baseline: Option<Text>,
    /// A line of text for each interval, while the run goes on.
    pub lines: Option<Text>,
    /// A line of JSON for each interval.
    pub json_lines: Option<Text>,
    /// A row of CSV for each interval.
    pub csv_intervals: Option<Text>,
    /// A row for each request, while the run goes on.
    pub rows: Option<Text>,
    /// Whether each part of the summary is explained.
    pub explain: Option<Switch>,
    /// Whether the summary is one line.
    pub brief: Option<Switch>,
    /// Whether there is a live line.
    pub live: Option<Switch>,
    /// Whether nothing but the result is printed.
    pub quiet: Option<Switch>,
    /// Whether GitHub Actions shows the result beside its log, where it runs the program.
    pub github: Option<Switch>,
    /// A run that is not valid ends with an exit code of its own.
    pub strict: Option<Switch>,
    /// The figures for monitoring while the run goes on.
    pub monitoring: Monitoring,
}

/// The figures of a run while it goes on: where they are served, and where they are sent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Monitoring {
    /// The address at which the figures so far are served to monitoring.
    pub metrics: Option<Text>,
    /// The time for which they stay there after the end.
    pub metrics_linger: Option<Text>,
    /// The address of loopback at which the run's page is served while it goes on.
    pub ui: Option<Text>,
    /// The receiver of the figures so far by Prometheus' remote write.
    pub remote_write: Option<Text>,
    /// The same by InfluxDB's line protocol.
    pub influx: Option<Text>,
    /// The same by OpenTelemetry's protocol.
    pub otlp: Option<Text>,
    /// Header fields of what is sent to these.
    pub push_headers: Vec<Field>,
}

/// The program that sends.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Generator {
    /// Worker threads.
    pub threads: Option<Count>,
    /// The source of everything random.
    pub seed: Option<Count>,
    /// A span at the start that is sent and not measured.
    pub warmup: Option<Text>,
    /// Whether workers busy-wait shortly before a request is due.
    pub spin: Option<Switch>,
    /// `program`, `receive` or `wire`: the clock by which exchanges are timed.
    pub clock: Option<Text>,
    /// The length of an interval.
    pub interval: Option<Text>,
    /// Whether more than a modest load may go to public addresses.
    pub i_own_this_target: Option<Switch>,
}
