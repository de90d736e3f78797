//! A run as it was written: plain data, unchecked.
//!
//! Flags, plan files and other tools' command lines all become a [`Document`]. A document can be
//! printed, stored with a run and sent to other machines; only the compiler makes a plan from it.
//! Numbers with a unit, laws and rules are texts here, as written, so that a mistake in one is
//! reported with its [`Place`]. Values that were not written are absent, and the compiler has the
//! defaults.
//!
//! The document's `defaults` replace a pool's absent values, and the pool's values replace those of
//! a request.
//!
//! References in the text of a value may have been replaced. The text with the references is kept
//! ([`Placed::written`]), so that a printed document has the references and never the secrets that
//! they refer to. Two documents are equal if they were written in the same way, at any places.

mod ammo;
mod feed;
mod phase;
mod request;
mod scenario;
mod socket;

pub use ammo::Ammo;
pub use feed::{Feed, FeedRows};
pub use phase::Phase;
pub use request::{Ask, Data, Request};
pub use scenario::{Branch, Loop, RequestStep, Scenario, Step};
pub use socket::Socket;

use crate::keys::fields::table;
use crate::keys::{Flag, Group};
use crate::{Field, Generator, LlmSettings, Load, Outputs, Settings, Stop, Text};

table! {
    /// A run as it was written.
    pub struct Document [] {
        name: Option<Text> = "Name of the run";
        vars: Vec<Field> = "Variables, for references such as `${name}`; each has a single value";
        defaults: Settings = "Settings of every pool that does not set them itself";
        feeds: Vec<Feed> = "Rows of data for templates, by the name of their feed",
            Flag::new(Group::Data, "--feed <NAME=FILE>",
                "Rows for templates: NAME=FILE.csv or NAME=FILE.jsonl, used as {{NAME.column}}; repeatable");
        setup: Vec<Step> =
            "Steps that run once before the load; `${setup:name}` is a value that they take";
        pools: Vec<Pool> = "Loads that run at the same time, by name; at least one";
        teardown: Vec<Step> = "Steps that run once after the load, however it ended";
        stop: Stop = "Conditions that end each pool; a pool's own keys override them";
        thresholds: Vec<Text> = "Rules for the result, such as `p99<500ms` or `failed<1%`",
            Flag::new(Group::Output, "--threshold <RULE>",
                "Rule that the result must satisfy, such as `p99<50ms`; repeatable").first();
        outputs: Outputs = "Where results go";
        generator: Generator = "Settings of drumfire itself: threads, seed, warm-up";
    } []
}

impl Document {
    /// The names of the pools, in their order.
    #[must_use]
    pub fn pool_names(&self) -> Vec<&str> {
        let names = self.pools.iter().map(|pool| &*pool.name.value);
        names.collect()
    }
}

table! {
    /// Requests that share a load, connections and settings.
    pub struct Pool (
        /// The name under which its figures are reported.
        name: Text,
    ) [
        /// The law by which its requests start.
        load: Load,
        /// The settings of its connections and requests.
        settings: Settings,
    ] {
        requests: Vec<Request> = "Requests, sent in turn or by weight";
        scenario: Vec<Step> = "Instead of `requests`: the steps of a user, in order";
        scenarios: Vec<Scenario> = "Instead of `requests`: several scenarios, by name";
        llm: LlmSettings = "The requests of steps `llm: prompt`, for the load test of a language model";
        mix: Option<Text> =
            "Order of requests or scenarios with weights: `spread` (the default): as evenly as possible; `blocks`: all turns of one, then all turns of the next; `random`";
        stop: Stop = "Conditions that end this pool; absent keys come from the plan's `stop`";
    } []
}

impl Pool {
    /// Every request, in the list and in the scenarios.
    pub fn every_request(&self) -> impl Iterator<Item = &Request> {
        let scenarios = self.scenarios.iter().flat_map(|scenario| &scenario.steps);
        let steps = self.scenario.iter().chain(scenarios);
        self.requests.iter().chain(steps.flat_map(Step::requests))
    }
}
