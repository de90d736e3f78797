//! A run in a comparison: either stored in full, or read from the JSON of its summary.
//!
//! JSON contains the distributions of the whole run, but only some quantiles of its intervals, and
//! its plan only as texts. Therefore a run from JSON has a summary with an empty timeline
//! ([`Compared::summary`]), and this module provides its rows over time and the texts of its load.
//! If either run is from JSON, the loads are compared by these texts, and no intervals are computed
//! from blocks.

mod read;

use crate::contract::summary::Document;
use crate::plan_facts;
use drumfire_measure::{Coverage, IntervalRow, LatencyKind, Reading, RunInfo, Summary};
use drumfire_plan::StopReason;
use drumfire_units::Nanos;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A run in a comparison.
#[derive(Clone, Debug)]
pub struct Compared {
    summary: Arc<Summary>,
    /// The JSON of the run; `None` for a stored run.
    read: Option<Arc<Document>>,
}

impl Compared {
    /// A stored run.
    #[must_use]
    pub const fn from_summary(summary: Arc<Summary>) -> Self {
        Self {
            summary,
            read: None,
        }
    }

    /// A run from the JSON of its summary, in any version of the contract up to this one.
    ///
    /// # Errors
    /// If the bytes are not such JSON; the text is their actual format, or the invalid key.
    pub fn from_json(json: &[u8]) -> Result<Self, String> {
        let document = read::document(json)?;
        Ok(Self {
            summary: Arc::new(read::summary(&document)?),
            read: Some(Arc::new(document)),
        })
    }

    /// A planned run with these facts.
    pub(crate) fn planned(info: &RunInfo) -> Self {
        let nothing = Reading::new(Arc::new(info.clone()), &[]).close(Nanos::ZERO, 0.0);
        Self::from_summary(Arc::new(nothing))
    }

    /// The summary. Its timeline is empty if the run is from JSON.
    #[must_use]
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    /// Whether the run is from JSON.
    #[must_use]
    pub const fn is_read(&self) -> bool {
        self.read.is_some()
    }

    /// The run over time.
    #[must_use]
    pub fn rows(&self) -> Vec<IntervalRow> {
        match &self.read {
            Some(read) => {
                let started = self.summary.info.started_at_unix_ns;
                let intervals = read.intervals.iter();
                intervals.map(|it| read::row(it, started)).collect()
            }
            None => self.summary.intervals(),
        }
    }

    /// The kind of time that counts as the latency for all of `runs`: the response time if it is
    /// the latency of any run, because every run has a response time.
    #[must_use]
    pub fn latency_kind<'a>(runs: impl IntoIterator<Item = &'a Self>) -> LatencyKind {
        let mut kinds = runs.into_iter().map(|run| run.summary.latency_kind());
        match kinds.all(|kind| kind == LatencyKind::Service) {
            true => LatencyKind::Service,
            false => LatencyKind::Response,
        }
    }

    /// An exact quantile above 0 of a kind of time, in nanoseconds; `None` if it is a lower bound.
    pub(crate) fn known(&self, kind: LatencyKind, q: f64) -> Option<f64> {
        let times = kind.histogram(&self.summary.total.latency);
        let is_at_least = match &self.read {
            // For named quantiles, JSON lists the lower bounds exactly. All other quantiles are
            // compared with the least lower bound.
            Some(read) if read::is_named(q) => {
                let of_kind = match kind {
                    LatencyKind::Response => &read.latency.response_time,
                    LatencyKind::Service => &read.latency.service_time,
                };
                of_kind.at_least.contains(&q.to_string())
            }
            _ => times.is_at_least(q),
        };
        let value = times.quantile(q).filter(|_| !is_at_least)?;
        Some(value.0 as f64).filter(|value| *value > 0.0)
    }

    /// The keys of the plan's load, with their texts.
    pub(crate) fn load(&self) -> BTreeMap<String, String> {
        let mut plan = self.plan();
        plan.retain(|key, _| read::is_of_load(key));
        plan
    }

    /// The keys of the plan, with their texts.
    fn plan(&self) -> BTreeMap<String, String> {
        match &self.read {
            Some(read) => {
                let texts = read.run.plan.0.iter();
                texts
                    .map(|(key, texts)| (key.clone(), texts.joined()))
                    .collect()
            }
            None => {
                let texts = plan_facts::texts(&self.summary.info).into_iter();
                texts.map(|(key, texts)| (key, texts.join(", "))).collect()
            }
        }
    }

    /// The facts in which the run may differ from the run it is compared with.
    pub(crate) fn facts(&self) -> BTreeMap<String, String> {
        let mut facts = BTreeMap::new();
        let mut is_any_secure = false;
        for (key, text) in self.plan() {
            let is_rule = key == "threshold" || key == "abort";
            if is_rule || read::is_of_load(&key) {
                continue;
            }
            let url = key
                .strip_suffix("url")
                .map(|place| (place, text.split_once("://")));
            let Some((place, Some((scheme, rest)))) = url else {
                facts.insert(key, text);
                continue;
            };
            let path = rest.find(['/', '?']).map_or("/", |at| &rest[at..]);
            facts.insert(format!("{place}path"), path.to_owned());
            is_any_secure |= matches!(scheme, "https" | "grpcs");
        }
        let info = &self.summary.info;
        let (verified, spins) = match &self.read {
            Some(read) => (read.generator.tls_verified, read.generator.spin),
            None => (info.tls_verified, info.spin),
        };
        let verified = verified.map(|is| ("tls_verified", switch(is)));
        let spin = Some(("spin", switch(spins)));
        let polls = match &self.read {
            Some(read) => read.generator.waits.is_some(),
            None => self.summary.generator.waits.any(),
        };
        let wait = Some(("adaptive_wait", switch(polls)));
        let tls = Some(("tls", switch(is_any_secure)));
        let version = Some(("version", &*info.version)).filter(|(_, of)| !of.is_empty());
        let others = [verified, spin, wait, tls, version].into_iter().flatten();
        facts.extend(others.map(|(key, text)| (key.to_owned(), text.to_owned())));
        facts
    }

    /// The reason why the figures are from a part of the planned load only, or from another load;
    /// `None` if they are from the planned load.
    pub(crate) fn fault(&self) -> Option<&'static str> {
        let run = &self.summary;
        let (changes, unaccounted) = match &self.read {
            Some(read) => (read.run.load_changes, read.run.unaccounted_share),
            None => (run.load_changes(), run.unaccounted_share()),
        };
        match (run.coverage, run.load_end.reason) {
            (Coverage::Begun, _) => return Some("it is still active, or it was cut off"),
            (_, Some(StopReason::Signal)) => {
                return Some("a signal ended it early, so a part of its load is missing");
            }
            (_, Some(StopReason::Command)) => {
                return Some("a command ended it early, so a part of its load is missing");
            }
            (_, Some(StopReason::Threshold)) => {
                return Some("a rule ended it early, so a part of its load is missing");
            }
            (_, Some(StopReason::AgentLost)) => {
                return Some(
                    "the loss of an agent ended it early, so a part of its load is missing",
                );
            }
            (_, Some(StopReason::Lost)) => {
                return Some("it lost all agents, so a part of its load is missing");
            }
            (_, Some(StopReason::Duration | StopReason::Counted) | None) => {}
        }
        if changes > 0 {
            return Some("its load was changed while it ran, so that it is not the planned one");
        }
        (unaccounted > 0.0).then_some("agents were lost, so a part of its load is unaccounted for")
    }

    /// Failures by kind, with the names that results use.
    #[must_use]
    pub fn failures(&self) -> Vec<(String, u64)> {
        match &self.read {
            Some(read) => {
                let mut kinds: BTreeMap<&str, u64> = BTreeMap::new();
                for error in &read.errors {
                    let count = kinds.entry(&error.kind).or_default();
                    *count = count.saturating_add(error.count);
                }
                let kinds = kinds.into_iter();
                kinds
                    .map(|(kind, count)| (kind.to_owned(), count))
                    .collect()
            }
            None => {
                let failures = self.summary.total.outcomes().failures();
                let named = failures.map(|(outcome, count)| (outcome.name().to_owned(), count));
                named.collect()
            }
        }
    }
}

/// The text of a switch, as in plans.
const fn switch(is_on: bool) -> &'static str {
    match is_on {
        true => "yes",
        false => "no",
    }
}
