//! A run as a comparison takes it: whole, or as far as the JSON of its summary has it.
//!
//! JSON has the distributions of the whole run, but of its intervals only some quantiles, and of its
//! plan texts. So a run that was read has a summary whose timeline is empty ([`Compared::summary`]);
//! its rows over time and the texts of its load stand beside it. Whether two loads are alike is
//! decided by the texts as soon as one of both runs was read, and intervals of blocks are not made
//! of it.

mod read;

use crate::json::plan_texts;
use drumfire_measure::{IntervalRow, Summary};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A run that is compared.
#[derive(Clone, Debug)]
pub struct Compared {
    summary: Arc<Summary>,
    /// What JSON has beside that; `None` of a whole run.
    read: Option<Arc<Read>>,
}

/// What the JSON of a run has, as far as a summary has no place for it.
#[derive(Clone, Debug)]
struct Read {
    rows: Vec<IntervalRow>,
    /// The keys of its plan's load with their texts.
    load: BTreeMap<String, String>,
    /// The names of the quantiles that are only lower bounds, as `0.99`.
    at_least: Vec<String>,
    /// Failures by their kinds.
    failures: Vec<(String, u64)>,
}

impl Compared {
    /// A whole run.
    #[must_use]
    pub const fn of(summary: Arc<Summary>) -> Self {
        Self {
            summary,
            read: None,
        }
    }

    /// A run from the JSON of its summary, of any version of that contract so far.
    ///
    /// # Errors
    /// When the bytes are no such JSON; the text says what they are, or which key is wrong.
    pub fn read(json: &[u8]) -> Result<Self, String> {
        let (summary, read) = read::of(json)?;
        Ok(Self {
            summary: Arc::new(summary),
            read: Some(Arc::new(read)),
        })
    }

    /// The summary, whose timeline is empty where the run was read.
    #[must_use]
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    /// Whether the run is known from JSON alone.
    #[must_use]
    pub const fn is_read(&self) -> bool {
        self.read.is_some()
    }

    /// The run over time.
    pub(crate) fn rows(&self) -> Vec<IntervalRow> {
        match &self.read {
            Some(read) => read.rows.clone(),
            None => self.summary.intervals(),
        }
    }

    /// A quantile of *the* latency above 0 that is known exactly, in nanoseconds.
    pub(super) fn known(&self, q: f64) -> Option<f64> {
        let run = &self.summary;
        let times = run.model().latency(&run.total.latency);
        let is_at_least = match &self.read {
            // The names are exact where they are, and quantiles without one are judged by the least
            // lower bound.
            Some(read) if read::is_named(q) => read.at_least.contains(&q.to_string()),
            _ => times.is_at_least(q),
        };
        let value = times.quantile(q).filter(|_| !is_at_least)?;
        Some(value.0 as f64).filter(|value| *value > 0.0)
    }

    /// The keys of the load that its plan asks for, with their texts.
    pub(super) fn load(&self) -> BTreeMap<String, String> {
        match &self.read {
            Some(read) => read.load.clone(),
            None => read::load(&plan_texts(&self.summary.info)),
        }
    }

    /// Failures by their kinds, as they are named in results.
    pub(crate) fn failures(&self) -> Vec<(String, u64)> {
        match &self.read {
            Some(read) => read.failures.clone(),
            None => {
                let failures = self.summary.total.outcomes().failures();
                let named = failures.map(|(outcome, count)| (outcome.name().to_owned(), count));
                named.collect()
            }
        }
    }
}
