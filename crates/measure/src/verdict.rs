//! The generator judges itself: whether the figures can be believed, and why not.

use crate::health::limits_reached;
use crate::words::{share_text, time_text};
use crate::{GeneratorHealth, Histogram, Interval, Model, RunInfo, Unfinished};
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
    /// The gravest of what was found.
    pub validity: Validity,
    /// One sentence for each thing found: the figure, what it means, the remedy.
    pub reasons: Vec<String>,
}

/// The least lag that counts against a run.
const LAG_LIMIT: Nanos = Nanos::from_millis(1);
/// The share of the response time that lag may be.
const LAG_SHARE: f64 = 0.1;
/// How many times the limit makes an open-model run invalid.
const LAG_INVALID: f64 = 10.0;
/// The share of intended requests that has to be sent.
const SENT_SHARE: f64 = 0.999;
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
    /// Judges a run by its merged samples, what was left unfinished and the generator's health.
    #[must_use]
    pub fn judge(
        info: &RunInfo,
        total: &Interval,
        unfinished: Unfinished,
        generator: &GeneratorHealth,
    ) -> Self {
        let mut found = Vec::new();
        judge_amount(total, &mut found);
        judge_limits(total, &mut found);
        judge_lag(info.model, total, &mut found);
        if info.model == Model::Open {
            judge_sent(total, unfinished, &mut found);
        }
        judge_pauses(total, &mut found);
        judge_threads(total, generator, &mut found);
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

fn judge_amount(total: &Interval, found: &mut Vec<Finding>) {
    if total.counts.finished() == 0 {
        found.push(Finding(
            Validity::Invalid,
            "nothing was measured: no request ended; check the target and let the run last longer"
                .to_owned(),
        ));
    }
}

fn judge_limits(total: &Interval, found: &mut Vec<Finding>) {
    for outcome in limits_reached(total) {
        let count = total.outcomes().get(outcome);
        found.push(Finding(
            Validity::Invalid,
            format!(
                "generator-limited: {count} requests failed here, not at the target: {}",
                outcome.words()
            ),
        ));
    }
}

/// The strictest quantile up to p99 that the count supports, with its name; the greatest value
/// where none is.
fn near_p99(histogram: &Histogram) -> (&'static str, Nanos) {
    [("p99", 0.99), ("p90", 0.9), ("p50", 0.5)]
        .into_iter()
        .find_map(|(name, q)| Some((name, histogram.quantile(q)?)))
        .unwrap_or_else(|| ("max", histogram.max()))
}

fn judge_lag(model: Model, total: &Interval, found: &mut Vec<Finding>) {
    let (name, lag) = near_p99(&total.latency.lag);
    let latency = match model {
        Model::Open => &total.latency.response_time,
        Model::Closed => &total.latency.service_time,
    };
    let (_, response) = near_p99(latency);
    let limit = (LAG_LIMIT.0 as f64).max(LAG_SHARE * response.0 as f64);
    let lag = lag.0 as f64;
    if lag <= limit {
        return;
    }
    let validity = if model == Model::Open && lag > LAG_INVALID * limit {
        Validity::Invalid
    } else {
        Validity::Suspect
    };
    found.push(Finding(
        validity,
        format!(
            "requests left late by {} ({name} of lag, at most {} is allowed): the generator could \
             not keep its own schedule; lower the rate, add --threads or give it a core of its own",
            time_text(lag),
            time_text(limit)
        ),
    ));
}

/// Fewer sent than intended is the target's doing when requests waited for a connection, and ours
/// when they did not.
fn judge_sent(total: &Interval, unfinished: Unfinished, found: &mut Vec<Finding>) {
    let intended = total.counts.intended;
    let sent = total.counts.sent;
    let latency = &total.latency;
    let target_was_slow = latency.waiting.sum() >= latency.lag.sum() && latency.waiting.sum() > 0;
    if sent as f64 >= SENT_SHARE * intended as f64 || target_was_slow {
        return;
    }
    found.push(Finding(
        Validity::Suspect,
        format!(
            "{sent} of {intended} intended requests were sent ({} pending, {} dropped) and it was \
             not for want of a free connection: lower the rate or add --threads",
            unfinished.pending, total.counts.dropped
        ),
    ));
}

fn judge_pauses(total: &Interval, found: &mut Vec<Finding>) {
    let health = &total.health;
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

fn judge_threads(total: &Interval, generator: &GeneratorHealth, found: &mut Vec<Finding>) {
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
            "the event loop took {} a turn (p99): responses waited that long to be seen; use fewer \
             connections per thread",
            time_text(generator.loop_turn_p99.0 as f64)
        ));
    }
    let wall = total.health.wall.0;
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
