//! The generator judges itself: whether the figures can be believed, and why not.

use crate::words::{share_text, time_text};
use crate::{Counts, Figures, GeneratorHealth, Model, PoolInfo, RunInfo, WorkerHealth};
use drumfire_units::Nanos;

/// Whether a run's figures can be believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Validity {
    /// Nothing speaks against them.
    Valid,
    /// The generator may have had a part in them.
    Suspect,
    /// They say more about the generator than about the target.
    Invalid,
}

impl Validity {
    /// The word used in reports and JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Valid => "valid",
            Self::Suspect => "suspect",
            Self::Invalid => "invalid",
        }
    }
}

/// The judgement with its reasons in plain words, the gravest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The gravest of the findings.
    pub validity: Validity,
    /// One sentence for each finding: the figure, its meaning, the remedy.
    pub reasons: Vec<String>,
}

/// The least lag that counts against a run.
const LAG_SUSPECT: Nanos = Nanos::from_millis(1);
/// Lag may be one part in this many of the latency.
const LAG_PART: u64 = 10;
/// The least lag that makes an open-model run worthless.
const LAG_INVALID: Nanos = Nanos::from_millis(10);
/// The share of intended requests that may be left unsent.
const PENDING_SHARE: f64 = 0.001;
/// The CPU share from which a thread counts as busy.
const CPU_SHARE: f64 = 0.85;
/// The longest turn of an event loop, at its 99th percentile.
const LOOP_TURN: Nanos = Nanos::from_millis(1);
/// A single pause of the generator that shows in the figures.
const PAUSE_SUSPECT: Nanos = Nanos::from_millis(100);
/// A single pause that makes them worthless.
const PAUSE_INVALID: Nanos = Nanos::from_secs(1);
/// The share of time that threads may stand in the run queue.
const RUN_QUEUE_SHARE: f64 = 0.05;
/// The share of CPU time that the hypervisor may take.
const STEAL_SHARE: f64 = 0.01;

impl Verdict {
    /// Judges a run by its merged figures and the generator's health.
    #[must_use]
    pub fn judge(
        info: &RunInfo,
        total: &Figures,
        health: &WorkerHealth,
        generator: &GeneratorHealth,
    ) -> Self {
        let mut found = Vec::new();
        judge_amount(total, &mut found);
        judge_limits(total, generator, &mut found);
        let pool = info.pool();
        judge_lag(pool.model, total, &mut found);
        if pool.model == Model::Open {
            judge_sent(pool, total, &mut found);
        }
        judge_pauses(health, &mut found);
        judge_threads(health, generator, &mut found);
        Self::of(found)
    }

    fn of(mut found: Vec<Finding>) -> Self {
        found.sort_by_key(|finding| std::cmp::Reverse(finding.0));
        Self {
            validity: found.first().map_or(Validity::Valid, |finding| finding.0),
            reasons: found.into_iter().map(|finding| finding.1).collect(),
        }
    }

    /// Adds one more reason that makes the run invalid.
    pub(crate) fn condemn(&mut self, reason: String) {
        self.validity = Validity::Invalid;
        self.reasons.insert(0, reason);
    }
}

/// One thing that speaks against a run.
struct Finding(Validity, String);

fn judge_amount(total: &Figures, found: &mut Vec<Finding>) {
    if total.counts.finished() == 0 {
        found.push(Finding(
            Validity::Invalid,
            "nothing was measured: no request ended; check the target and let the run last longer"
                .to_owned(),
        ));
    }
}

fn judge_limits(total: &Figures, generator: &GeneratorHealth, found: &mut Vec<Finding>) {
    for outcome in &generator.limited_by {
        let count = total.outcomes().get(*outcome);
        found.push(Finding(
            Validity::Invalid,
            format!(
                "generator-limited: {} ({count} × {}); such failures say nothing of the target",
                outcome.words(),
                outcome.name()
            ),
        ));
    }
}

/// Lag is part of the response time, so a tenth of the response time is the most it may be; once
/// it exceeds the service time, the response time speaks of us and no longer of the target. How
/// long a timeout is was our choice, so it excuses nothing: quantiles that it reaches are left out.
fn judge_lag(model: Model, total: &Figures, found: &mut Vec<Finding>) {
    let (name, lag) = total.latency.lag.near_p99();
    let service = total.latency.service_time.near_p99_measured();
    let latency = model.latency(&total.latency).near_p99_measured();
    let limit = LAG_SUSPECT.max(Nanos(latency.0 / LAG_PART));
    if lag <= limit {
        return;
    }
    let validity = if model == Model::Open && lag > LAG_INVALID.max(service) {
        Validity::Invalid
    } else {
        Validity::Suspect
    };
    found.push(Finding(
        validity,
        format!(
            "requests left late by {} ({name} of lag, at most {} is allowed): the generator could \
             not keep its own schedule; lower the rate, add --threads or give it a core of its own",
            time_text(lag.0 as f64),
            time_text(limit.0 as f64)
        ),
    ));
}

/// Requests that were due and never sent waited for the target when connections were scarce, and
/// for us when they were not. Requests that the late policy dropped had no free connection.
fn judge_sent(pool: &PoolInfo, total: &Figures, found: &mut Vec<Finding>) {
    let Counts {
        intended,
        pending,
        in_flight,
        ..
    } = total.counts;
    let latency = &total.latency;
    let all_busy = in_flight >= u64::from(pool.connections);
    let waited = latency.waiting.sum() > latency.lag.sum();
    if pending as f64 <= PENDING_SHARE * intended as f64 || all_busy || waited {
        return;
    }
    found.push(Finding(
        Validity::Suspect,
        format!(
            "{pending} of {intended} requests were due and not sent, and not for want of a free \
             connection: the generator could not keep up; lower the rate or add --threads"
        ),
    ));
}

fn judge_pauses(health: &WorkerHealth, found: &mut Vec<Finding>) {
    let longest = health.loop_turn.max().max(health.wake_lateness.max());
    if longest <= PAUSE_SUSPECT {
        return;
    }
    let validity = if longest > PAUSE_INVALID {
        Validity::Invalid
    } else {
        Validity::Suspect
    };
    found.push(Finding(
        validity,
        format!(
            "the generator stood still for {} at a time: times in that span are its own, not the \
             target's; let nothing else run on its cores",
            time_text(longest.0 as f64)
        ),
    ));
}

fn judge_threads(health: &WorkerHealth, generator: &GeneratorHealth, found: &mut Vec<Finding>) {
    let mut suspect = |reason| found.push(Finding(Validity::Suspect, reason));
    if generator.cpu_share_max >= CPU_SHARE && !generator.spin {
        suspect(format!(
            "the generator was {} busy: the target may be faster than shown; add --threads or \
             lower the rate",
            share_text(generator.cpu_share_max)
        ));
    }
    if generator.loop_turn_p99 > LOOP_TURN {
        suspect(format!(
            "the event loop took {} for one turn in a hundred: responses waited that long to be seen; use fewer \
             connections per thread",
            time_text(generator.loop_turn_p99.0 as f64)
        ));
    }
    let wall = health.wall.0;
    let queued = generator.run_queue_delay.0 as f64 / wall.max(1) as f64;
    if wall > 0 && queued > RUN_QUEUE_SHARE {
        suspect(format!(
            "the generator's threads waited {} of the time for a CPU: other programs compete for \
             its cores",
            share_text(queued)
        ));
    }
    if generator.steal_share > STEAL_SHARE {
        suspect(format!(
            "the hypervisor took {} of this machine's CPU time: use a machine with cores of its own",
            share_text(generator.steal_share)
        ));
    }
}
