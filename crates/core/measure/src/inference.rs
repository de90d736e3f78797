//! What an inference server reported about itself during a run.
//!
//! An observer reads the server's metrics, and gives the record to the summary at the end of the
//! run. The values are the server's own: they exclude the network and gateways in front of it.

use crate::form;
use drumfire_units::Nanos;

/// The maximum number of moments in a record. If a run has more, two neighbours become one.
pub const MOMENTS_MAX: usize = 512;

/// The metrics of an inference server over a run. A figure is absent if the server does not have it,
/// or if it has started again during the run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InferenceRecord {
    /// The server, without secrets.
    pub server: String,
    /// How often the metrics were read during the load.
    pub reads: u64,
    /// Reads that failed.
    pub failed_reads: u64,
    /// The mean time from a request's arrival to its first token, in seconds.
    pub ttft: Option<f64>,
    /// The mean time between two tokens, in seconds.
    pub gap: Option<f64>,
    /// The tokens of prompts that were looked up in the prefix cache.
    pub queries: Option<f64>,
    /// The tokens of prompts that were found there.
    pub cached: Option<f64>,
    /// Requests that were interrupted to make room for others.
    pub preemptions: Option<f64>,
    /// The gauges over time: at most [`MOMENTS_MAX`].
    pub moments: Vec<InferenceMoment>,
}

/// The gauges of an inference server over a short span: those of one read, or of several.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct InferenceMoment {
    /// The time of the last read, from the run's start.
    pub at: Nanos,
    /// The number of reads.
    pub reads: u64,
    /// The requests that the server works on.
    pub running: Option<Gauge>,
    /// The requests that wait in the server.
    pub waiting: Option<Gauge>,
    /// The used share of the cache for keys and values, from 0 to 1; with several engines, of the
    /// fullest.
    pub kv_cache: Option<Gauge>,
}

/// The values of a gauge over a span.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Gauge {
    /// The mean over the reads.
    pub mean: f64,
    /// The maximum.
    pub max: f64,
}

form! { struct Gauge { mean, max } check |gauge| gauge.mean.is_finite() && gauge.max.is_finite(), "a gauge that is not a number"; }

form! { struct InferenceMoment { at, reads, running, waiting, kv_cache } }

form! {
    struct InferenceRecord {
        server, reads, failed_reads, ttft, gap, queries, cached, preemptions, moments,
    }
    check |record| record.moments.len() <= MOMENTS_MAX, "too many moments";
}

impl Gauge {
    /// A single value.
    #[must_use]
    pub const fn new(value: f64) -> Self {
        Self {
            mean: value,
            max: value,
        }
    }
}

/// The gauge over both spans, weighted by their reads. `None` if neither has it.
fn merged(a: Option<Gauge>, b: Option<Gauge>, weights: (f64, f64)) -> Option<Gauge> {
    match (a, b) {
        (Some(a), Some(b)) => Some(Gauge {
            mean: (a.mean * weights.0 + b.mean * weights.1) / (weights.0 + weights.1).max(1.0),
            max: a.max.max(b.max),
        }),
        (one, other) => one.or(other),
    }
}

impl InferenceMoment {
    /// Both moments as one; `later` comes after this one.
    #[must_use]
    pub fn with(self, later: Self) -> Self {
        let weights = (self.reads as f64, later.reads as f64);
        Self {
            at: later.at,
            reads: self.reads + later.reads,
            running: merged(self.running, later.running, weights),
            waiting: merged(self.waiting, later.waiting, weights),
            kv_cache: merged(self.kv_cache, later.kv_cache, weights),
        }
    }
}

impl InferenceRecord {
    /// Adds the gauges of a read, in the order of time.
    pub fn add(&mut self, moment: InferenceMoment) {
        self.reads += moment.reads;
        if self.moments.len() == MOMENTS_MAX {
            let pairs = self.moments.chunks(2);
            let pairs = pairs.map(|pair| match pair {
                [a, b] => a.with(*b),
                one => one[0],
            });
            self.moments = pairs.collect();
        }
        // A moment covers as much time as those before it, or the last one is still growing.
        let full = self.moments.first().map_or(1, |first| first.reads);
        match self.moments.last_mut() {
            Some(last) if last.reads < full => *last = last.with(moment),
            _ => self.moments.push(moment),
        }
    }

    /// The gauges over the whole run; `None` without a read.
    #[must_use]
    pub fn whole(&self) -> Option<InferenceMoment> {
        self.moments.iter().copied().reduce(InferenceMoment::with)
    }

    /// The share of the looked-up tokens that were found in the prefix cache.
    #[must_use]
    pub fn cached_share(&self) -> Option<f64> {
        let queries = self.queries.filter(|queries| *queries > 0.0)?;
        Some(self.cached? / queries)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(second: u64, running: f64) -> InferenceMoment {
        InferenceMoment {
            at: Nanos::from_secs(second),
            reads: 1,
            running: Some(Gauge::new(running)),
            ..InferenceMoment::default()
        }
    }

    /// However long a run is, its record is bounded, and has each read in its means.
    #[test]
    fn a_long_run_has_coarser_moments() {
        for count in [1, MOMENTS_MAX, MOMENTS_MAX + 1, 5 * MOMENTS_MAX + 3] {
            let mut record = InferenceRecord::default();
            for n in 0..count {
                record.add(moment(n as u64, n as f64));
            }
            assert!(record.moments.len() <= MOMENTS_MAX);
            assert!(record.moments.len() >= count.min(MOMENTS_MAX / 2));
            assert_eq!(record.reads, count as u64);
            let whole = record.whole().unwrap();
            let (mean, max) = ((count - 1) as f64 / 2.0, (count - 1) as f64);
            let running = whole.running.unwrap();
            assert!((running.mean - mean).abs() < 1e-6, "{count}: {running:?}");
            assert_eq!((running.max, whole.reads), (max, count as u64));
            assert_eq!(whole.waiting, None);
            let ascends = record.moments.windows(2).all(|two| two[0].at < two[1].at);
            assert!(ascends, "{count}");
        }
    }

    #[test]
    fn what_is_encoded_comes_back() {
        let mut record = InferenceRecord {
            server: "http://h:8000".to_owned(),
            cached: Some(1.0),
            queries: Some(4.0),
            ..InferenceRecord::default()
        };
        record.add(moment(1, 2.0));
        assert_eq!(form::decode(&form::encode(&record)), Ok(record.clone()));
        assert_eq!(record.cached_share(), Some(0.25));
    }
}
