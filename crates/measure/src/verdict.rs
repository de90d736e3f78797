//! The generator judges itself: whether the figures can be believed, and why not.
//!
//! Nothing here looks at the target. [`Evidence`] collects what the generator measured of itself:
//! lag, pauses, turns of its event loops, CPU time, time in the run queue, limits that were
//! reached. Each judge adds findings, and the gravest is the verdict: suspect where the generator
//! may have had a part in the figures, invalid where they say more about it than about the target.
//! Lag of an open model is judged beside the latency, that of a closed one by the share of its
//! users' time that it cost. Spans under 200 ms are judged by amounts and pauses alone, for the
//! kernel counts in ticks.
//!
//! By the kernel's clock the time at which a thread gets to a response is no part of any figure of the
//! target: turns of the event loop and waits for a core are then judged by the lag that they cause,
//! and responses without a stamp take their place.
//!
//! A finding is made of an effect that figures show, not of a cause that might have had one: a busy
//! machine on which every request left in time is no reason to doubt a run. Causes are named in the
//! reason, with the remedy that fits.

use crate::near_p99::{near_p99, near_p99_measured};
use crate::target::unreached;
use crate::words::share_text;
use crate::{
    ArrivalClock, Doubt, Figures, GeneratorHealth, Latency, LatencyKind, Model, PoolInfo, Reason,
    Remedy, WorkerHealth,
};
use drumfire_units::{Nanos, rounded::time as time_text};

/// The answer to whether a run's figures can be believed. It says nothing of the target.
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

/// The judgement with its reasons, the gravest first.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// The gravest of the findings.
    pub validity: Validity,
    /// One for each finding.
    pub reasons: Vec<Reason>,
    /// The findings that no interval shows, which are among the reasons once the books are closed.
    pub(crate) doubts: Vec<Doubt>,
}

/// The least lag that counts against a run.
const LAG_SUSPECT: Nanos = Nanos::from_millis(1);
/// Lag, and a turn of the event loop, may be one part in this many of the latency.
const LATENCY_PART: u64 = 10;
/// The least lag that makes an open-model run worthless.
const LAG_INVALID: Nanos = Nanos::from_millis(10);
/// The share of their time that the users of a closed model may lose to lag.
const LOST_SHARE: f64 = 0.1;
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
const STEAL_SHARE: f64 = 0.05;
/// Threads that use less of a core are not what makes a generator late.
const IDLE_SHARE: f64 = 0.5;
/// One part in this many of the lag, spent waiting for a core, names the cause of it.
const QUEUED_PART: u128 = 4;
/// The share of receives that may lack the kernel's stamp.
const LOST_STAMPS: f64 = 0.01;
/// The kernel's figures of shorter spans are noise: it counts in ticks of up to 10 ms.
const SPAN_MIN: Nanos = Nanos::from_millis(200);
/// The same of the whole machine's time.
const STEAL_SPAN_MIN: Nanos = Nanos::from_secs(1);

/// The evidence by which a run is judged.
pub(crate) struct Evidence<'a> {
    pub(crate) pools: &'a [(&'a PoolInfo, &'a Figures)],
    pub(crate) total: &'a Figures,
    pub(crate) health: &'a WorkerHealth,
    pub(crate) generator: &'a GeneratorHealth,
    pub(crate) span: Nanos,
}

/// The share of stamps that are lost, where it is more than may be passed over.
fn lost_share(lost: u64, all: u64) -> Option<f64> {
    let share = lost as f64 / all.max(1) as f64;
    (share > LOST_STAMPS).then_some(share)
}

/// Whether lag made a quantile of the response time greater by more than `limit`. Where most of the
/// time before sending was waiting, lag can't be told apart in it, and counts as showing.
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

/// One thing that speaks against a run, and how far.
struct Finding(Validity, Reason);

impl Verdict {
    /// The verdict on a run against which nothing speaks.
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
            return Self::of(found);
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
        Self::of(found)
    }

    fn of(mut found: Vec<Finding>) -> Self {
        found.sort_by_key(|finding| std::cmp::Reverse(finding.0));
        Self {
            validity: found.first().map_or(Validity::Valid, |finding| finding.0),
            reasons: found.into_iter().map(|finding| finding.1).collect(),
            doubts: Vec::new(),
        }
    }

    /// The same with what no interval shows, each of which makes the run suspect at least.
    pub(crate) fn with(mut self, doubts: Vec<Doubt>) -> Self {
        for doubt in &doubts {
            self.doubt(Reason::new(doubt.text.clone(), &[]));
        }
        Self { doubts, ..self }
    }

    /// Adds one more reason that makes the run suspect at least.
    pub(crate) fn doubt(&mut self, reason: Reason) {
        self.validity = self.validity.max(Validity::Suspect);
        self.reasons.push(reason);
    }

    /// Adds one more reason that makes the run invalid.
    pub(crate) fn condemn(&mut self, reason: Reason) {
        self.validity = Validity::Invalid;
        self.reasons.insert(0, reason);
    }
}

impl Evidence<'_> {
    /// Finds a run in which nothing ended. A target that takes no request is no fault of the
    /// generator, and lasting longer no remedy, so that such pools are left out.
    fn judge_amount(&self, found: &mut Vec<Finding>) {
        // A pool that ended no request because its target took none is answered for by the target.
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

    /// Finds the limits of the machine that made requests fail: such failures say nothing of the
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

    /// A handful of milliseconds supports no judgement: threads begin, connections open, and the
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

    /// Finds lag that reached *the* latency, or that kept users from sending.
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

    /// Lag is part of the response time, so a tenth of that is the most it may be; once it exceeds
    /// the service time, the response time speaks of us and no longer of the target.
    /// How long a timeout is was our choice, so it excuses nothing: quantiles that it reaches are
    /// left out. A handful of samples supports no quantile and no judgement, and lag that no
    /// quantile of the response time shows made no figure wrong.
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

    /// Lag is no part of a closed model's service time. It counts where it took a tenth of its
    /// users' time from them, for then they asked the less for it.
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

    /// The likeliest cause of the generator's lateness, with its remedy; `less` is the one that
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

    /// The likeliest cause of lateness where neither the threads nor the machine was busy for long.
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

    /// Finds the longest time for which an event loop stood still: exchanges of that span were
    /// timed by it.
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

    /// Finds responses that the program's clock timed where the kernel's timed the others: what this
    /// generator did late is in theirs.
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

    /// Finds requests that the program's clock timed where the kernel's timed the others.
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

    /// Finds threads that were busy, turns that took long, and cores that others had.
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
        // Of an open model each arrival samples how soon a thread gets its core: what these two
        // take shows as lag, and is judged there.
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

    /// Finds CPU time that the machine did not have. Of an open model lag shows it.
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

    /// The reason for which a turn took long that had little to do: the thread was taken off its
    /// core within it. `None` where the turn was full of work.
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

    /// The time for which a thread waited for its core before a turn of its event loop, on average,
    /// in nanoseconds: by that much the responses that the turn read were seen late.
    fn queued_each(&self) -> f64 {
        let turns = self.health.loop_turn.count().max(1);
        self.generator.run_queue_delay.0 as f64 / turns as f64
    }

    /// Whether the waits for a core reached the service times: on average by a tenth, or by wakes
    /// that came late.
    fn queueing_shows(&self) -> bool {
        let service = &self.total.latency.service_time;
        let late = near_p99(&self.health.wake_lateness);
        self.queued_each() * LATENCY_PART as f64 > service.mean()
            || late.is_some_and(|(_, late)| late > self.turn_limit())
    }

    /// The remedy that asks for less load.
    fn less(&self) -> Remedy {
        if self.has_open() {
            Remedy::LowerRate
        } else {
            Remedy::FewerUsers
        }
    }

    /// The greatest time for a turn of the event loop, at its 99th percentile: 1 ms, or a tenth of
    /// a longer latency.
    fn turn_limit(&self) -> Nanos {
        let latency = near_p99_measured(&self.total.latency.service_time);
        LOOP_TURN.max(Nanos(latency.0 / LATENCY_PART))
    }

    /// The share of the workers' time in which they were ready to run and did not; 0 of a run that
    /// is too short to tell.
    fn queued_share(&self) -> f64 {
        let wall = self.health.wall.0;
        if self.span < SPAN_MIN || wall == 0 {
            return 0.0;
        }
        self.generator.run_queue_delay.0 as f64 / wall as f64
    }

    /// The share of CPU time that the hypervisor took; 0 of a run that is too short to tell.
    fn steal_share(&self) -> f64 {
        if self.span < STEAL_SPAN_MIN {
            0.0
        } else {
            self.generator.steal_share
        }
    }
}
