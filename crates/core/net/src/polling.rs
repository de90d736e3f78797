//! When a thread polls for readiness before it sleeps, and for how long.
//!
//! A sleep costs the same however long it is: the way into it, the wake and the time until the
//! thread runs again. A poll costs the time that passes. Which one is less is known only afterwards,
//! so a wait polls for as long as a sleep costs, and then sleeps (ski rental; Karlin and others,
//! "Competitive Randomized Algorithms for Non-Uniform Problems", 1990): with the cost `c` of a sleep
//! and an event after the time `t`,
//!
//! ```text
//! t ≤ c:  polls for t,                    the lesser of t and c
//! t > c:  polls for c, then sleeps: 2 c,  twice the lesser of t and c
//! ```
//!
//! [`Polling`] decides this, without a clock and without system calls: the driver provides times and
//! results. The rule bounds the time of one wait. Four more rules say when a wait sleeps at once,
//! because the time of a poll may be taken from others:
//!
//! - **CPU.** Polling may use [`SHARE_PERCENT`] of the time that the thread works, in addition to
//!   the CPU time of the sleeps that it saves.
//! - **In vain.** After [`RUN_MAX`] polls in a row without an event, polling rests.
//! - **Preempted.** If another thread took the core from a polling one, or often from a working one,
//!   polling rests: what it waits for may need this core.
//! - A rest is twice as long as the one before, from [`REST_MIN`] to [`REST_MAX`]; each poll that
//!   finds something halves the next rest. After a rest for polls in vain, a single one begins the
//!   next rest.
//!
//! A look is one call that asks for readiness and does not sleep.

use crate::WaitCounts;
use drumfire_units::Nanos;

/// The maximum of a measured cost. A sleep costs 3 µs on a processor that stays awake and some 20 µs
/// on a virtual one; only a busy machine shows more, where polling would disturb.
const COST_MAX: Nanos = Nanos::from_micros(50);

/// The share of the time worked that polling may use in excess of what it saves, in percent. A
/// request then uses at most 1.15 times the CPU time that it uses with sleeps.
const SHARE_PERCENT: u64 = 15;

/// The maximum CPU time that polling may use in advance: some dozens of polls, so that a burst after
/// a calm time does not wait for its share, and no visible part of an interval.
const ALLOWANCE_MAX: i64 = 1_000_000;

/// The number of polls in vain that begin a rest. If every second poll finds something, a run of
/// so many is one in 256; if one in ten does, it is the rule.
const RUN_MAX: u32 = 8;

/// The minimum of a rest: many waits at full speed, so that a rest is worth its name, and short
/// enough that one interruption by the system costs a percent of the time if it comes ten times a
/// second.
const REST_MIN: Nanos = Nanos::from_millis(1);

/// The minimum of a rest after a thread of another program took the core, which needs it for longer.
const REST_SHARED: Nanos = Nanos::from_millis(64);

/// The maximum of a rest. One poll in vain after each rest is then below a thousandth of the time,
/// and polling is resumed a quarter of a second after it began to pay.
const REST_MAX: Nanos = Nanos::from_millis(256);

/// A time between two looks above this means that the thread did not run all the time. A look takes
/// below 1 µs, and the system's timer interrupts for some 5 µs.
const GAP_MAX: Nanos = Nanos::from_micros(10);

/// After a longer gap, another program had the core: its turn is some milliseconds long. The
/// system's own threads, such as those of the network, take far less.
const TURN_MIN: Nanos = Nanos::from_millis(1);

/// The time between two looks at the kernel's count of preemptions, each of which takes some 10 µs.
/// Preemptions between two waits do not show in the times of looks.
const CHECK: Nanos = Nanos::from_millis(50);

/// The minimum time between two looks at that count because of gaps: a network card may interrupt
/// each poll, and is no other thread.
const CHECK_MIN: Nanos = Nanos::from_millis(5);

/// The number of preemptions within [`CHECK`] that begin a rest, 80 in a second. The system's own
/// threads preempt some ten times a second, another program some hundred times, and a target on the
/// same core with each request.
const PREEMPTIONS_MAX: u64 = 4;

/// The time between two sleeps that are cut short to measure what a sleep costs now: one more wake
/// among thousands.
const TRIAL_EVERY: Nanos = Nanos::from_millis(250);

/// The length of such a sleep. If an event ends it, it was a sleep as any other.
const TRIAL: Nanos = Nanos::from_micros(50);

/// A new measurement counts as one in so many: single wakes vary by half.
const WEIGHT: u64 = 8;

/// The measured costs of a sleep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SleepCost {
    /// The time from the end of a sleep until the thread runs.
    late: Nanos,
    /// The thread's CPU time for going to sleep. Not all of the measured CPU time: a measured sleep
    /// ends by its timer, and setting that is nearly half of the work.
    cpu: Nanos,
}

impl SleepCost {
    /// The cost, from how late a thread ran after a sleep that a timer ended, and the CPU time of
    /// that sleep. Each is bounded.
    pub(crate) fn new(late: Nanos, cpu: Nanos) -> Self {
        Self {
            late: late.min(COST_MAX),
            cpu: Nanos(cpu.min(COST_MAX).0 / 2),
        }
    }

    /// The time that a sleep takes in excess of its length.
    pub(crate) fn total(self) -> Nanos {
        self.late + self.cpu
    }

    /// Follows a new measurement of the lateness. If it is above the bound, the thread did not run
    /// for another reason.
    fn follow(&mut self, late: Nanos) {
        if late <= COST_MAX {
            self.late = Nanos((self.late.0 * (WEIGHT - 1) + late.0) / WEIGHT);
        }
    }
}

/// What a wait does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Look, then call [`Polling::look`].
    Look,
    /// Call [`Polling::sleep`], sleep, then call [`Polling::wake`].
    Sleep,
    /// The wait is over.
    Return,
}

/// One look.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    /// The time after the look.
    pub(crate) now: Nanos,
    /// The end of the wait.
    pub(crate) until: Nanos,
    /// Whether there was any event.
    pub(crate) any: bool,
}

/// The decisions of one thread.
#[derive(Debug)]
pub(crate) struct Polling {
    cost: SleepCost,
    /// The CPU time that polling may use, in nanoseconds; negative after it used more.
    allowance: i64,
    /// Polls in vain since the last one that found something.
    run: u32,
    /// The length of the last rest.
    rest: Nanos,
    /// The end of the last rest.
    rest_until: Nanos,
    /// The kernel's count of preemptions at the last check; `None` if it does not show them.
    preemptions: Option<u64>,
    /// The time of the last check.
    checked: Nanos,
    /// The time of the last check because of a gap.
    gap_checked: Nanos,
    /// When the last wait ended.
    returned: Nanos,
    /// When the next sleep is a trial.
    trial_at: Nanos,
    /// The planned end of the sleep, if it is a trial.
    trial: Option<Nanos>,
    poll: Poll,
    counts: WaitCounts,
}

/// The poll of the current wait.
#[derive(Clone, Copy, Debug, Default)]
struct Poll {
    begun: Nanos,
    /// The time of the last look.
    looked: Nanos,
    /// The time that the thread spent on looks, without gaps.
    spent: Nanos,
    /// Whether there was a look.
    has_looked: bool,
}

impl Polling {
    /// The decisions of a thread whose sleeps have this cost, and that has been preempted so many
    /// times, if that is known.
    pub(crate) fn new(cost: SleepCost, preemptions: Option<u64>) -> Self {
        Self {
            cost,
            allowance: 0,
            run: 0,
            rest: Nanos::ZERO,
            rest_until: Nanos::ZERO,
            preemptions,
            checked: Nanos::ZERO,
            gap_checked: Nanos::ZERO,
            returned: Nanos::ZERO,
            trial_at: Nanos::ZERO,
            trial: None,
            poll: Poll::default(),
            counts: WaitCounts::default(),
        }
    }

    /// Forgets all points in time, because the clock has a new epoch.
    pub(crate) const fn start_anew(&mut self) {
        self.rest_until = Nanos::ZERO;
        self.checked = Nanos::ZERO;
        self.gap_checked = Nanos::ZERO;
        self.returned = Nanos::ZERO;
        self.trial_at = Nanos::ZERO;
        self.allowance = 0;
    }

    /// The waits until now.
    pub(crate) const fn counts(&self) -> WaitCounts {
        self.counts
    }

    /// Begins a wait.
    pub(crate) fn begin(&mut self, now: Nanos) -> Next {
        let worked = now - self.returned;
        // Below 2^63 for any time of a run.
        let share = (worked.0.min(1 << 40) * SHARE_PERCENT / 100) as i64;
        self.allowance = (self.allowance + share).min(ALLOWANCE_MAX);
        if now < self.rest_until || self.allowance <= 0 {
            return Next::Sleep;
        }
        self.poll = Poll {
            begun: now,
            looked: now,
            ..Poll::default()
        };
        Next::Look
    }

    /// Goes on after a look. `preemptions` reads the kernel's count of this thread's preemptions,
    /// and is called rarely.
    pub(crate) fn look(&mut self, look: Look, preemptions: impl FnOnce() -> Option<u64>) -> Next {
        let Look { now, until, any } = look;
        let gap = now - self.poll.looked;
        let is_first = !self.poll.has_looked;
        self.poll.looked = now;
        self.poll.has_looked = true;
        let is_interrupted = gap > GAP_MAX;
        let is_preempted = self.is_check_due(now, is_interrupted)
            && self.is_preempted(now, is_interrupted, preemptions());
        if is_preempted {
            let is_brief = is_interrupted && gap < TURN_MIN;
            self.start_rest(now, if is_brief { REST_MIN } else { REST_SHARED });
        }
        // A sleep would have found this, too, at the same cost.
        if is_first && any {
            return self.end(now);
        }
        self.poll.spent += gap.min(GAP_MAX);
        if any {
            self.charge(self.cost.cpu);
            self.counts.found += 1;
            self.run = 0;
            if !is_preempted {
                self.rest = Nanos(self.rest.0 / 2);
            }
            return self.end(now);
        }
        if now >= until {
            self.charge(Nanos::ZERO);
            return self.end(now);
        }
        if is_interrupted || now - self.poll.begun >= self.cost.total() {
            self.charge(Nanos::ZERO);
            self.run += 1;
            if self.run >= RUN_MAX && !is_preempted {
                self.start_rest(now, REST_MIN);
            }
            return Next::Sleep;
        }
        Next::Look
    }

    /// Begins a sleep in a wait until a point in time. Returns the end of the sleep, which may be
    /// earlier.
    pub(crate) fn sleep(&mut self, now: Nanos, until: Nanos) -> Nanos {
        self.counts.slept += 1;
        if now < self.trial_at {
            return until;
        }
        self.trial_at = now + TRIAL_EVERY;
        let end = now + TRIAL;
        if end >= until {
            return until;
        }
        self.trial = Some(end);
        end
    }

    /// Ends a sleep and the wait. `any`: whether an event ended it.
    pub(crate) fn wake(&mut self, now: Nanos, any: bool) {
        if let Some(end) = self.trial.take()
            && !any
        {
            self.cost.follow(now - end);
        }
        self.returned = now;
    }

    /// Ends the wait without a sleep.
    const fn end(&mut self, now: Nanos) -> Next {
        self.returned = now;
        Next::Return
    }

    /// Charges the poll, less the CPU time that it saved.
    fn charge(&mut self, saved: Nanos) {
        let spent = self.poll.spent;
        self.counts.polled += spent;
        self.allowance += saved.0 as i64 - spent.0 as i64;
    }

    /// Begins a rest, twice as long as the last one and at least this long.
    fn start_rest(&mut self, now: Nanos, least: Nanos) {
        self.rest = Nanos(self.rest.0 * 2).clamp(least, REST_MAX);
        self.rest_until = now + self.rest;
    }

    /// Whether the kernel's count is read now.
    fn is_check_due(&self, now: Nanos, is_interrupted: bool) -> bool {
        match is_interrupted {
            true => self.preemptions.is_none() || now >= self.gap_checked + CHECK_MIN,
            false => now >= self.checked + CHECK,
        }
    }

    /// Whether the thread was preempted, by the kernel's count: once if a poll was interrupted,
    /// otherwise often since the last check. Without a count, an interruption is one.
    #[cold]
    fn is_preempted(&mut self, now: Nanos, is_interrupted: bool, count: Option<u64>) -> bool {
        let before = std::mem::replace(&mut self.preemptions, count);
        let since = now - std::mem::replace(&mut self.checked, now);
        if is_interrupted {
            self.gap_checked = now;
        }
        match (before, count) {
            (Some(before), Some(count)) if is_interrupted => count > before,
            // After a longer time than planned, the same number per time.
            (Some(before), Some(count)) => {
                let most = PREEMPTIONS_MAX.saturating_mul(since.0) / CHECK.0;
                count.saturating_sub(before) >= most.max(PREEMPTIONS_MAX)
            }
            _ => is_interrupted,
        }
    }
}

#[cfg(test)]
mod tests;
