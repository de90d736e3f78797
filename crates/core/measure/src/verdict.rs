//! The generator's judgement of itself: whether the figures can be trusted, and why not.
//!
//! The target is not considered here. [`Evidence`] collects the generator's measurements of itself:
//! lag, pauses, turns of its event loops, CPU time, time in the run queue, limits that were
//! reached. Each judge adds findings, and the worst determines the verdict: suspect if the
//! generator may have affected the figures, invalid if they show more of it than of the target. The
//! lag of an open model is compared with the latency, the lag of a closed one with the share of its
//! users' time that it cost. Spans under 200 ms are judged only by amounts and pauses, because the
//! kernel counts in ticks.
//!
//! By the kernel's clock, the time at which a thread handles a response does not affect figures of
//! the target. Turns of the event loop and waits for a core are then judged by the lag that they
//! cause, and responses without a stamp are judged instead.
//!
//! A finding is based on an effect in the figures, not on a possible cause: a busy machine on which
//! every request was sent in time is not a reason to doubt a run. The reason contains the cause,
//! with a suitable remedy.

use crate::near_p99::{near_p99, near_p99_measured};
use crate::target::unreached;
use crate::words::share_text;
use crate::{
    ArrivalClock, Doubt, Figures, GeneratorHealth, Latency, LatencyKind, Model, PoolInfo, Reason,
    Remedy, WorkerHealth,
};
use drumfire_units::{Nanos, rounded::time as time_text};

/// Whether a run's figures can be trusted. The target is not considered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Validity {
    /// No finding speaks against the figures.
    Valid,
    /// The generator may have affected the figures.
    Suspect,
    /// The figures show more of the generator than of the target.
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

/// The judgement with its reasons, the worst first.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// The worst of the findings.
    pub validity: Validity,
    /// One for each finding.
    pub reasons: Vec<Reason>,
    /// Findings that no interval shows; they are added to the reasons when the summary is closed.
    pub(crate) doubts: Vec<Doubt>,
}

/// The minimum lag that makes a run suspect.
const LAG_SUSPECT: Nanos = Nanos::from_millis(1);
/// Lag, and a turn of the event loop, may be one part in this many of the latency.
const LATENCY_PART: u64 = 10;
/// The minimum lag that makes an open-model run invalid.
const LAG_INVALID: Nanos = Nanos::from_millis(10);
/// The maximum share of their time that the users of a closed model may lose to lag.
const LOST_SHARE: f64 = 0.1;
/// The CPU share from which a thread counts as busy.
const CPU_SHARE: f64 = 0.85;
/// The maximum turn of an event loop, at its 99th percentile.
const LOOP_TURN: Nanos = Nanos::from_millis(1);
/// A single pause of the generator that affects the figures.
const PAUSE_SUSPECT: Nanos = Nanos::from_millis(100);
/// A single pause that makes the figures invalid.
const PAUSE_INVALID: Nanos = Nanos::from_secs(1);
/// The maximum share of time that threads may be in the run queue.
const RUN_QUEUE_SHARE: f64 = 0.05;
/// The maximum share of CPU time that the hypervisor may take.
const STEAL_SHARE: f64 = 0.05;
/// Threads that use less of a core than this do not make a generator late.
const IDLE_SHARE: f64 = 0.5;
/// Waiting for a core is reported as the cause if it was one part in this many of the lag.
const QUEUED_PART: u128 = 4;
/// The maximum share of receives without the kernel's stamp.
const LOST_STAMPS: f64 = 0.01;
/// The minimum span for the kernel's figures of threads: they count in ticks of up to 10 ms.
const SPAN_MIN: Nanos = Nanos::from_millis(200);
/// The minimum span for the kernel's figures of the whole machine.
const STEAL_SPAN_MIN: Nanos = Nanos::from_secs(1);

/// The evidence for judging a run.
pub(crate) struct Evidence<'a> {
    pub(crate) pools: &'a [(&'a PoolInfo, &'a Figures)],
    pub(crate) total: &'a Figures,
    pub(crate) health: &'a WorkerHealth,
    pub(crate) generator: &'a GeneratorHealth,
    pub(crate) span: Nanos,
}

/// The share of lost stamps, if it is too high.
fn lost_share(lost: u64, all: u64) -> Option<f64> {
    let share = lost as f64 / all.max(1) as f64;
    (share > LOST_STAMPS).then_some(share)
}

/// Whether lag increased a quantile of the response time by more than `limit`. If most of the time
/// before sending was waiting, lag cannot be distinguished in it, and the result is `true`.
fn lag_shows(latency: &Latency, limit: Nanos) -> bool {
    let (response, service) = (&latency.response_time, &latency.service_time);
    if response.is_empty() || latency.waiting.sum() > latency.lag.sum() {
        return true;
    }
    // A quantile that is a lower bound exceeds the service time by at least as much.
    let excess = [0.5, 0.9, 0.99].into_iter().filter_map(|q| {
        let (response, service) = response.quantile(q).zip(service.quantile(q))?;
        Some(response.0.saturating_sub(service.0))
    });
    excess.max().is_none_or(|excess| excess > limit.0)
}

/// One finding against a run, with its severity.
struct Finding(Validity, Reason);

impl Verdict {
    /// The verdict on a run without findings.
    pub(crate) const NONE: Self = Self {
        validity: Validity::Valid,
        reasons: Vec::new(),
        doubts: Vec::new(),
    };

    /// Judges a run.
    pub(crate) fn judge(evidence: &Evidence<'_>) -> Self {
        let mut found = Vec::new();
        evidence.judge_amount(&mut found);
        evidence.judge_limits(&mut found);
        evidence.judge_pauses(&mut found);
        found.extend(evidence.lost_stamps());
        found.extend(evidence.lost_departures());
        if evidence.span < SPAN_MIN {
            found.extend(evidence.too_short());
            return Self::from_findings(found);
        }
        for (pool, figures) in evidence.pools {
            let lag = evidence.lag(pool, figures);
            let several = evidence.pools.len() > 1;
            found.extend(lag.map(|Finding(validity, reason)| match several {
                true => Finding(validity, reason.of_pool(&pool.name)),
                false => Finding(validity, reason),
            }));
        }
        evidence.judge_threads(&mut found);
        Self::from_findings(found)
    }

    fn from_findings(mut found: Vec<Finding>) -> Self {
        found.sort_by_key(|finding| std::cmp::Reverse(finding.0));
        Self {
            validity: found.first().map_or(Validity::Valid, |finding| finding.0),
            reasons: found.into_iter().map(|finding| finding.1).collect(),
            doubts: Vec::new(),
        }
    }

    /// Adds findings that no interval shows; each makes the run at least suspect.
    pub(crate) fn with(mut self, doubts: Vec<Doubt>) -> Self {
        for doubt in &doubts {
            self.doubt(Reason::new(doubt.text.clone(), &[]));
        }
        Self { doubts, ..self }
    }

    /// Adds a finding that no interval shows to a verdict that was reached.
    pub(crate) fn add(&mut self, doubt: Doubt) {
        self.doubt(Reason::new(doubt.text.clone(), &[]));
        self.doubts.push(doubt);
    }

    /// Adds a reason that makes the run at least suspect.
    pub(crate) fn doubt(&mut self, reason: Reason) {
        self.validity = self.validity.max(Validity::Suspect);
        self.reasons.push(reason);
    }

    /// Adds a reason that makes the run invalid.
    pub(crate) fn condemn(&mut self, reason: Reason) {
        self.validity = Validity::Invalid;
        self.reasons.insert(0, reason);
    }
}

impl Evidence<'_> {
    /// Detects a run in which no request ended. A target that accepts no request is not the
    /// generator's fault, and a longer run would not help, so such pools are left out.
    fn judge_amount(&self, found: &mut Vec<Finding>) {
        // If the target accepted no request, the verdict on the target covers this.
        let unreached = |(pool, figures): &(&PoolInfo, &Figures)| {
            figures.counts.finished() > 0 || unreached(pool, figures).is_some()
        };
        if self.total.counts.finished() == 0 && !self.pools.iter().all(unreached) {
            found.push(Finding(
                Validity::Invalid,
                Reason::new(
                    "nothing was measured: no request ended",
                    &[Remedy::LastLonger],
                ),
            ));
        }
    }

    /// Detects limits of the machine that made requests fail: such failures show nothing of the
    /// target.
    fn judge_limits(&self, found: &mut Vec<Finding>) {
        for outcome in &self.generator.limited_by {
            let count = self.total.outcomes().get(*outcome);
            let text = format!(
                "generator-limited: {} ({count} × {}); these failures are not the target's",
                outcome.words(),
                outcome.name()
            );
            let reason = Reason::new(text, &[Remedy::Against(*outcome)]);
            found.push(Finding(Validity::Invalid, reason));
        }
    }

    /// A few milliseconds do not support a judgement: threads begin, connections open, and the
    /// kernel's clock ticks once or twice.
    fn too_short(&self) -> Option<Finding> {
        if self.total.counts.finished() == 0 {
            return None;
        }
        let text = format!(
            "{} is too short to judge drumfire itself",
            time_text(self.span.0 as f64)
        );
        Some(Finding(Validity::Valid, Reason::new(text, &[])))
    }

    /// Detects lag that affected *the* latency, or that kept users from sending.
    fn lag(&self, pool: &PoolInfo, figures: &Figures) -> Option<Finding> {
        let kept_back = match pool.model {
            Model::Open => return self.lag_of_response(figures, Remedy::LowerRate),
            Model::Closed => self.lag_of_users(pool, figures),
        };
        let kind = pool.model.latency_kind(&figures.latency);
        let shown = (kind == LatencyKind::Response)
            .then(|| self.lag_of_response(figures, Remedy::FewerUsers));
        let findings = [kept_back, shown.flatten()].into_iter().flatten();
        findings.max_by_key(|finding| finding.0)
    }

    /// Lag is part of the response time, so at most a tenth is acceptable; if it exceeds the
    /// service time, the response time shows the generator more than the target. The length of a
    /// timeout is the plan's choice and excuses nothing: quantiles that include timeouts are left
    /// out. A few samples support no quantile and no judgement, and lag that no quantile of the
    /// response time shows made no figure wrong.
    fn lag_of_response(&self, figures: &Figures, less: Remedy) -> Option<Finding> {
        let latency = &figures.latency;
        let (name, lag) = near_p99(&latency.lag)?;
        let response = near_p99_measured(&latency.response_time);
        let limit = LAG_SUSPECT.max(Nanos(response.0 / LATENCY_PART));
        if lag <= limit || !lag_shows(latency, limit) {
            return None;
        }
        let service = near_p99_measured(&latency.service_time);
        let validity = if lag > LAG_INVALID.max(service) {
            Validity::Invalid
        } else {
            Validity::Suspect
        };
        let cause = self.cause(less);
        let text = format!(
            "drumfire itself was late: {} at {name}, {} allowed; {}",
            time_text(lag.0 as f64),
            time_text(limit.0 as f64),
            cause.text
        );
        Some(Finding(validity, Reason::new(text, &cause.remedies)))
    }

    /// Lag is not part of a closed model's service time. It matters if it cost its users a tenth of
    /// their time, because they then sent fewer requests.
    fn lag_of_users(&self, pool: &PoolInfo, figures: &Figures) -> Option<Finding> {
        let lag = &figures.latency.lag;
        let users = u64::from(pool.users.unwrap_or(pool.connections)).max(1);
        let time = self.span.0 as f64 * users as f64;
        let (name, late) = near_p99(lag)?;
        let lost = lag.sum() as f64 / time.max(1.0);
        if lost <= LOST_SHARE || late <= LAG_SUSPECT {
            return None;
        }
        let cause = self.cause(Remedy::FewerUsers);
        let text = format!(
            "drumfire itself was late: {} at {name}, which cost {} of the users' time; {}",
            time_text(late.0 as f64),
            share_text(lost.min(1.0)),
            cause.text
        );
        Some(Finding(
            Validity::Suspect,
            Reason::new(text, &cause.remedies),
        ))
    }

    /// The likeliest cause of the generator's lateness, with its remedy; `less` is the remedy that
    /// lowers the load.
    fn cause(&self, less: Remedy) -> Reason {
        let (queued, steal) = (self.queued_share(), self.steal_share());
        if self.generator.cpu_share_max >= CPU_SHARE && !self.generator.spin {
            let busy = share_text(self.generator.cpu_share_max);
            let text = format!("its busiest thread used {busy} of a core");
            Reason::new(text, &[less, Remedy::AddThreads])
        } else if queued > RUN_QUEUE_SHARE && queued >= steal {
            let text = format!(
                "other programs used its cores {} of the time",
                share_text(queued)
            );
            Reason::new(text, &[Remedy::OwnCores])
        } else if steal > STEAL_SHARE {
            let text = format!(
                "the hypervisor gave {} of this machine's time to others",
                share_text(steal)
            );
            Reason::new(text, &[Remedy::OwnMachine])
        } else {
            self.cause_of_late_wakes(less)
        }
    }

    /// The likeliest cause of lateness if neither the threads nor the machine was busy for long.
    fn cause_of_late_wakes(&self, less: Remedy) -> Reason {
        let lag: u128 = self.pools.iter().map(|(_, f)| f.latency.lag.sum()).sum();
        let queued = self.generator.run_queue_delay;
        let busy = self.generator.cpu_share_max;
        if lag > 0 && u128::from(queued.0) >= lag / QUEUED_PART {
            let text = format!(
                "other programs used its cores for {}",
                time_text(queued.0 as f64)
            );
            Reason::new(text, &[Remedy::OwnCores])
        } else if busy > 0.0 && busy < IDLE_SHARE {
            let text = format!(
                "its threads woke late although they used at most {} of a core",
                share_text(busy)
            );
            Reason::new(text, &[Remedy::OwnCores, Remedy::OwnMachine])
        } else {
            let text = "no single cause was found";
            Reason::new(text, &[less, Remedy::AddThreads, Remedy::OwnCores])
        }
    }

    /// Detects the longest stop of an event loop: exchanges during it were timed wrong by up to its
    /// length.
    fn judge_pauses(&self, found: &mut Vec<Finding>) {
        let health = self.health;
        let longest = health.loop_turn.max().max(health.wake_lateness.max());
        if longest <= PAUSE_SUSPECT {
            return;
        }
        let validity = if longest > PAUSE_INVALID {
            Validity::Invalid
        } else {
            Validity::Suspect
        };
        let effect = match self.generator.clock {
            ArrivalClock::Program => "latencies of that moment are its fault, not the target's",
            ArrivalClock::Kernel | ArrivalClock::Wire => "requests due at that moment left late",
        };
        let text = format!(
            "drumfire was stopped for up to {}: {effect}",
            time_text(longest.0 as f64)
        );
        found.push(Finding(validity, Reason::new(text, &[Remedy::OwnCores])));
    }

    /// Detects responses that the program's clock timed although the kernel's timed the others:
    /// their times include the generator's lateness.
    fn lost_stamps(&self) -> Option<Finding> {
        let stamps = self.generator.stamps;
        let all = stamps.taken + stamps.lost();
        let share = lost_share(stamps.lost(), all).filter(|_| self.generator.clock.is_kernel())?;
        let text = format!(
            "{} of the receives had no plausible kernel timestamp: they are timed by when drumfire \
             read them",
            share_text(share)
        );
        Some(Finding(Validity::Suspect, Reason::new(text, &[])))
    }

    /// Detects requests that the program's clock timed although the kernel's timed the others.
    fn lost_departures(&self) -> Option<Finding> {
        let departures = self.generator.departures;
        let share = lost_share(departures.lost(), departures.asked());
        let share = share.filter(|_| self.generator.clock == ArrivalClock::Wire)?;
        let text = format!(
            "{} of the requests had no plausible kernel timestamp on departure: they are timed from \
             when the kernel received them",
            share_text(share)
        );
        Some(Finding(Validity::Suspect, Reason::new(text, &[])))
    }

    /// Detects busy threads, long turns, and waits for cores.
    fn judge_threads(&self, found: &mut Vec<Finding>) {
        let generator = self.generator;
        let mut suspect = |text: String, remedies: &[Remedy]| {
            found.push(Finding(Validity::Suspect, Reason::new(text, remedies)));
        };
        if generator.cpu_share_max >= CPU_SHARE && !generator.spin {
            let text = format!(
                "the generator was {} busy: the target may be faster than shown",
                share_text(generator.cpu_share_max)
            );
            suspect(text, &[Remedy::AddThreads, self.less()]);
        }
        if generator.clock.is_kernel() {
            return self.judge_steal(found);
        }
        if let Some((name, turn)) = near_p99(&self.health.loop_turn)
            && turn > self.turn_limit()
        {
            let text = format!(
                "a turn of the event loop took {} ({name}): responses waited that long to be read",
                time_text(turn.0 as f64)
            );
            match self.lost_cores() {
                Some(why) => suspect(format!("{text}; {why}"), &[Remedy::OwnCores]),
                None => suspect(text, &[Remedy::FewerConnections, Remedy::AddThreads]),
            }
        }
        // In an open model, each arrival samples how soon a thread gets its core: the effect of
        // both appears as lag, and is judged there.
        if self.has_open() {
            return;
        }
        let queued = self.queued_share();
        if queued > RUN_QUEUE_SHARE && self.queueing_shows() {
            let text = format!(
                "the generator's threads waited {} of the time for a core, {} before each turn: \
                 other programs use its cores",
                share_text(queued),
                time_text(self.queued_each())
            );
            suspect(text, &[Remedy::OwnCores]);
        }
        self.judge_steal(found);
    }

    /// Detects CPU time that the hypervisor took. In an open model, lag shows it.
    fn judge_steal(&self, found: &mut Vec<Finding>) {
        let steal = self.steal_share();
        if self.has_open() || steal <= STEAL_SHARE {
            return;
        }
        let text = format!(
            "the hypervisor took {} of this machine's CPU time",
            share_text(steal)
        );
        let reason = Reason::new(text, &[Remedy::OwnMachine]);
        found.push(Finding(Validity::Suspect, reason));
    }

    /// Whether any pool's model is open.
    fn has_open(&self) -> bool {
        self.pools.iter().any(|(pool, _)| pool.model == Model::Open)
    }

    /// The reason why a turn with little work took long: the thread lost its core during the turn.
    /// `None` if the turn was full of work.
    fn lost_cores(&self) -> Option<String> {
        let (busy, queued) = (self.generator.cpu_share_max, self.generator.run_queue_delay);
        let is_idle = busy > 0.0 && busy < IDLE_SHARE;
        (is_idle || self.queued_share() > RUN_QUEUE_SHARE).then(|| {
            format!(
                "its threads used at most {} of a core, and other programs used its cores for {}",
                share_text(busy),
                time_text(queued.0 as f64)
            )
        })
    }

    /// The average time in nanoseconds that a thread waited for its core before a turn of its event
    /// loop: the responses read in the turn were seen late by that much.
    fn queued_each(&self) -> f64 {
        let turns = self.health.loop_turn.count().max(1);
        self.generator.run_queue_delay.0 as f64 / turns as f64
    }

    /// Whether waits for a core affected the service times: on average by a tenth, or by late
    /// wakes.
    fn queueing_shows(&self) -> bool {
        let service = &self.total.latency.service_time;
        let late = near_p99(&self.health.wake_lateness);
        self.queued_each() * LATENCY_PART as f64 > service.mean()
            || late.is_some_and(|(_, late)| late > self.turn_limit())
    }

    /// The remedy that lowers the load.
    fn less(&self) -> Remedy {
        if self.has_open() {
            Remedy::LowerRate
        } else {
            Remedy::FewerUsers
        }
    }

    /// The maximum time for a turn of the event loop, at its 99th percentile: 1 ms, or a tenth of a
    /// longer latency.
    fn turn_limit(&self) -> Nanos {
        let latency = near_p99_measured(&self.total.latency.service_time);
        LOOP_TURN.max(Nanos(latency.0 / LATENCY_PART))
    }

    /// The share of the workers' time in which they were ready to run but did not; 0 for a run that
    /// is too short.
    fn queued_share(&self) -> f64 {
        let wall = self.health.wall.0;
        if self.span < SPAN_MIN || wall == 0 {
            return 0.0;
        }
        self.generator.run_queue_delay.0 as f64 / wall as f64
    }

    /// The share of CPU time that the hypervisor took; 0 for a run that is too short.
    fn steal_share(&self) -> f64 {
        if self.span < STEAL_SPAN_MIN {
            0.0
        } else {
            self.generator.steal_share
        }
    }
}
