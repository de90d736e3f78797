//! The figures of a run that fit into one row of a list of runs.
//!
//! A list of hundreds of runs cannot read each run's log. The store keeps the digest of each in an
//! index, which can be rebuilt from the logs. So a digest contains only figures of the summary, and
//! is taken from a closed summary. An exit code depends on the same figures, for a run that has
//! just ended and for a stored one.

use crate::form::{self, put_text};
use crate::{ArrivalClock, Asked, Coverage, Histogram, Model, Summary, TargetState, Validity};
use drumfire_plan::StopReason;
use drumfire_units::Nanos;
use twox_hash::XxHash3_64;

/// A quantile of a run's latency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DigestTime {
    /// The time.
    pub time: Nanos,
    /// Whether the time is only a lower bound, because it includes requests that timed out or were
    /// not sent.
    pub is_at_least: bool,
}

/// Quantiles of the latency of a run's model, each only if there are enough samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DigestLatency {
    /// The median.
    pub p50: Option<DigestTime>,
    /// The 95th percentile.
    pub p95: Option<DigestTime>,
    /// The 99th percentile.
    pub p99: Option<DigestTime>,
}

/// A number that runs of one plan, timed by one clock, have in common. Computed from the names,
/// models and facts of the pools ([`crate::Asked`]), so it does not depend on outputs, thresholds
/// and seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PlanKey(pub u64);

/// The figures of a run that fit into one row of a list of runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Digest {
    /// The beginning, in nanoseconds since 1970-01-01 00:00 UTC.
    pub started_at_unix_ns: u64,
    /// The measured span.
    pub duration: Nanos,
    /// The target in the user's words.
    pub target: String,
    /// The user's name for the plan.
    pub name: Option<String>,
    /// The verdict on the measurement.
    pub validity: Validity,
    /// Whether the load was kept; `None` if that was not judged.
    pub load_kept: Option<bool>,
    /// The share of the load that was sent, from 0 to 1.
    pub sent_share: f64,
    /// The verdict on the target.
    pub target_state: TargetState,
    /// The number of judged thresholds.
    pub thresholds: u64,
    /// The number of failed thresholds.
    pub thresholds_failed: u64,
    /// Requests that ended, per second of the measured span.
    pub achieved_per_s: f64,
    /// The quantiles of the run's latency.
    pub latency: DigestLatency,
    /// Requests that were sent.
    pub requests: u64,
    /// Sent requests that ended as the plan expects.
    pub ok: u64,
    /// Sent requests that failed.
    pub failed: u64,
    /// Whether a signal or a command ended the run early.
    pub is_cut_short: bool,
    /// Whether all processes that sent its load were lost before the end of its plan.
    pub is_lost: bool,
    /// Whether its load differs from the plan for another reason: a rule ended it, a command
    /// changed it, or a share of it is unaccounted for.
    pub is_altered: bool,
    /// The part of the run that its record covers.
    pub coverage: Coverage,
    /// The key of its plan; `None` if the facts of the plan are unknown.
    pub plan: Option<PlanKey>,
}

impl Digest {
    /// The digest of a run.
    #[must_use]
    pub fn from_summary(summary: &Summary) -> Self {
        let latency = summary.latency();
        let counts = &summary.total.counts;
        let failed = summary.thresholds.iter().filter(|rule| !rule.passed);
        Self {
            started_at_unix_ns: summary.info.started_at_unix_ns,
            duration: summary.duration,
            target: summary.info.target.clone(),
            name: summary.info.name.clone(),
            validity: summary.verdict.validity,
            load_kept: summary.load.kept,
            sent_share: summary.load.sent_share,
            target_state: summary.target.state,
            thresholds: summary.thresholds.len() as u64,
            thresholds_failed: failed.count() as u64,
            achieved_per_s: match summary.achieved_per_s() {
                rate if rate.is_finite() => rate,
                _ => 0.0,
            },
            latency: DigestLatency::from_histogram(latency),
            requests: counts.sent,
            ok: counts.ok,
            failed: counts.failed,
            is_cut_short: summary.is_cut_short(),
            is_lost: summary.is_lost(),
            is_altered: summary.load_end.reason == Some(StopReason::Threshold)
                || summary.load_changes() > 0
                || summary.unaccounted_share() > 0.0,
            coverage: summary.coverage,
            plan: PlanKey::of_run(summary),
        }
    }

    /// The failed share of the requests that ended; `None` if none ended.
    #[must_use]
    pub fn failed_share(&self) -> Option<f64> {
        let ended = self.ok + self.failed;
        (ended > 0).then(|| self.failed as f64 / ended as f64)
    }
}

impl DigestLatency {
    fn from_histogram(times: &Histogram) -> Self {
        let quantile = |q| {
            Some(DigestTime {
                time: times.quantile(q)?,
                is_at_least: times.is_at_least(q),
            })
        };
        Self {
            p50: quantile(0.5),
            p95: quantile(0.95),
            p99: quantile(0.99),
        }
    }
}

impl PlanKey {
    /// The key of a plan with these pools, from the name, the model and the facts of each, and of
    /// the clock, because a change of clock would look like a change of the target.
    pub fn from_pools<'a>(
        pools: impl IntoIterator<Item = (&'a str, Model, &'a Asked)>,
        clock: ArrivalClock,
    ) -> Self {
        let mut bytes = Vec::new();
        for (name, model, asked) in pools {
            put_text(&mut bytes, name);
            put_text(&mut bytes, model.name());
            form::write(asked, &mut bytes);
        }
        // Runs recorded before there were clocks used the program's, and keep their key.
        if clock != ArrivalClock::Program {
            put_text(&mut bytes, clock.name());
        }
        Self(XxHash3_64::oneshot(&bytes))
    }

    /// The key of a run's plan.
    fn of_run(summary: &Summary) -> Option<Self> {
        let pools = summary.info.pools.iter();
        let pools = pools.map(|pool| Some((&*pool.name, pool.model, pool.asked.as_ref()?)));
        let pools: Option<Vec<_>> = pools.collect();
        pools.map(|pools| Self::from_pools(pools, summary.generator.clock))
    }
}
