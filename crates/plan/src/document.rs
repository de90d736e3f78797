//! What was written: a run as plain data, before anything of it is checked.
//!
//! Flags, plan files and other tools' command lines all make a [`Document`]. It is what is shown,
//! kept beside a run and sent to other machines, and it becomes a [`Plan`](crate::Plan) only by
//! being compiled. Numbers with a unit, laws and rules are texts here, as they were given: what
//! is wrong with one can then be said with its [`Place`]. What was not written is absent, and the
//! compiler knows what holds then.
//!
//! Where a pool says nothing, the document's `defaults` hold; where a request says nothing, its
//! pool does.

mod place;
mod request;
mod settings;

pub use place::{Count, Place, Placed, Switch, Text};
pub use request::{Ask, Data, Field, Fields, Payload, Request, Stream};
pub use settings::{
    CallOptions, CommonFields, Connections, Expect, Http, Reach, Reflection, Schema, Settings,
    Timeouts, Tls,
};

/// A run as it was written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Document {
    /// What the run is called.
    pub name: Option<Text>,
    /// What holds for every pool that says nothing else.
    pub defaults: Settings,
    /// What templates draw on.
    pub feeds: Vec<Feed>,
    /// Who sends what, and when.
    pub pools: Vec<Pool>,
    /// What ends every pool that says nothing else.
    pub stop: Stop,
    /// What the result must satisfy.
    pub thresholds: Vec<Text>,
    /// Where results go.
    pub outputs: Outputs,
    /// The program that sends.
    pub generator: Generator,
}

/// Requests that share a load, connections and settings.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pool {
    /// What its numbers are reported under.
    pub name: Text,
    /// When its requests start.
    pub load: Load,
    /// How they travel.
    pub settings: Settings,
    /// What ends it.
    pub stop: Stop,
    /// What it sends, in turn.
    pub requests: Vec<Request>,
}

/// When requests start.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Load {
    /// Open model: a rate or a law.
    pub rate: Option<Text>,
    /// `constant` or `poisson`.
    pub arrivals: Option<Text>,
    /// `queue`, `skip` or `drop(TIME)`.
    pub late: Option<Text>,
    /// A number, or a law of it.
    pub users: Option<Text>,
    /// Closed model: a user's pause between answer and next request.
    pub think: Option<Text>,
}

/// What ends a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stop {
    /// A span after which no request starts.
    pub after: Option<Text>,
    /// Exactly this many requests.
    pub requests: Option<Count>,
    /// The list of requests exactly this often.
    pub iterations: Option<Count>,
    /// `wait`, `close` or `ignore`: what becomes of what is under way then.
    pub drain: Option<Text>,
}

/// A table that templates draw on.
#[derive(Clone, Debug, PartialEq)]
pub struct Feed {
    /// What templates call it.
    pub name: Text,
    /// What its file holds.
    pub form: FeedForm,
    /// Its file.
    pub file: Text,
    /// `in_order` or `random`.
    pub order: Option<Text>,
    /// `wrap` or `stop`.
    pub at_end: Option<Text>,
}

/// What a feed's file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FeedForm {
    /// Comma-separated values with a line of names.
    Csv,
    /// A JSON object a line.
    JsonLines,
}

/// Where results go, and how they are shown.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outputs {
    /// The summary as JSON.
    pub json: Option<Text>,
    /// The histograms' buckets as CSV.
    pub csv: Option<Text>,
    /// A sentence under each part of the summary.
    pub explain: Option<Switch>,
    /// Whether there is a live line.
    pub live: Option<Switch>,
    /// Nothing but the result.
    pub quiet: Option<Switch>,
    /// A run that is not valid ends with an exit code of its own.
    pub strict: Option<Switch>,
}

/// The program that sends.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Generator {
    /// Worker threads.
    pub threads: Option<Count>,
    /// Where everything random comes from.
    pub seed: Option<Count>,
    /// A span at the start that is sent and not measured.
    pub warmup: Option<Text>,
    /// Whether workers busy-wait shortly before a request is due.
    pub spin: Option<Switch>,
    /// The length of an interval.
    pub interval: Option<Text>,
}
