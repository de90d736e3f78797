//! A finished run in ghz's terms, from which every format is rendered.

use super::options::{Options, Texts};
use super::settings::Settings;
use super::tally::{HistogramBucket, PERCENTAGES, Tally};
use drumfire_compile::Host;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The reason why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// All requests were sent.
    Normal,
    /// The duration ended.
    Timeout,
    /// A signal stopped the run.
    Cancel,
}

impl End {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::Timeout => "timeout",
            Self::Cancel => "cancel",
        }
    }
}

/// A finished run. Times are in nanoseconds.
#[derive(Clone, Debug)]
pub(super) struct Report {
    pub(super) name: String,
    pub(super) tags: Texts,
    pub(super) settings: Settings,
    pub(super) end: End,
    /// The start of the run, in nanoseconds since the Unix epoch.
    pub(super) started: u64,
    /// The end of the run.
    pub(super) date: u64,
    pub(super) count: u64,
    pub(super) total: u64,
    pub(super) average: u64,
    pub(super) fastest: u64,
    pub(super) slowest: u64,
    pub(super) rate: f64,
    /// The number of times in the histogram and the percentiles.
    pub(super) samples: u64,
    /// The sum of these times.
    pub(super) sum_timed: u128,
    pub(super) percentiles: Vec<(u32, u64)>,
    pub(super) histogram: Vec<HistogramBucket>,
    pub(super) statuses: BTreeMap<&'static str, u64>,
    pub(super) errors: BTreeMap<String, u64>,
    /// The machine, which knows the time zone.
    pub(super) machine: Arc<dyn Host>,
}

impl Report {
    /// Creates the report of a closed tally.
    pub(super) fn from_tally(
        tally: &Tally,
        options: &Options,
        settings: &Settings,
        machine: &Arc<dyn Host>,
        end: End,
        (started, total): (u64, u64),
    ) -> Self {
        let percentile = |p: u32| tally.percentile(p).map(|time| (p, time));
        let rate = match (tally.count, total) {
            (0, _) | (_, 0) => 0.0,
            (count, total) => count as f64 * 1e9 / total as f64,
        };
        Self {
            name: options.name.clone(),
            tags: options.tags.clone(),
            settings: settings.clone(),
            end,
            started,
            date: started.saturating_add(total),
            count: tally.count,
            total,
            average: tally.average(),
            fastest: tally.fastest(),
            slowest: tally.slowest(),
            rate,
            samples: tally.samples(),
            sum_timed: tally.sum_timed,
            percentiles: PERCENTAGES.into_iter().filter_map(percentile).collect(),
            histogram: tally.histogram(),
            statuses: tally.statuses.clone(),
            errors: tally.errors.clone(),
            machine: Arc::clone(machine),
        }
    }

    /// The number of failed results.
    pub(super) fn error_count(&self) -> u64 {
        self.errors.values().sum()
    }

    /// Codes and the number of results with each, the most frequent first.
    pub(super) fn status_rows(&self) -> Vec<(&str, u64)> {
        sorted(self.statuses.iter().map(|(name, count)| (*name, *count)))
    }

    /// Error texts, the most frequent first.
    pub(super) fn error_rows(&self) -> Vec<(&str, u64)> {
        sorted(
            self.errors
                .iter()
                .map(|(text, count)| (text.as_str(), *count)),
        )
    }

    /// A percentile.
    pub(super) fn percentile(&self, percentage: u32) -> Option<u64> {
        let mut found = self.percentiles.iter().filter(|(p, _)| *p == percentage);
        found.next().map(|(_, time)| *time)
    }
}

/// Rows by count, then by name.
fn sorted<'a>(rows: impl Iterator<Item = (&'a str, u64)>) -> Vec<(&'a str, u64)> {
    let mut rows: Vec<(&str, u64)> = rows.collect();
    rows.sort_by_key(|(name, count)| (std::cmp::Reverse(*count), *name));
    rows
}
