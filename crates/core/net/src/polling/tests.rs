//! The rules on simulated events.

use super::*;
use proptest::prelude::*;

/// The time of a look.
const LOOK: Nanos = Nanos(200);

/// A wait ends after this time without an event.
const WAIT: Nanos = Nanos::from_millis(50);

/// A thread whose events come after given times.
struct Thread {
    polling: Polling,
    now: Nanos,
    /// How late the thread runs after a sleep.
    late: Nanos,
    /// The kernel's count.
    preemptions: u64,
    /// The kernel's count was read so many times.
    checks: u64,
}

/// What a wait for one event took.
#[derive(Clone, Copy, Debug, Default)]
struct Waited {
    /// The time of looks.
    polled: Nanos,
    looks: u64,
    sleeps: u64,
}

impl Waited {
    /// The cost in excess of the time until the event, if sleeping costs this.
    fn cost(self, of_sleep: Nanos) -> Nanos {
        Nanos(self.polled.0 + self.sleeps * of_sleep.0)
    }
}

impl Thread {
    /// A thread whose sleeps end this late and take this CPU time.
    fn new(late: Nanos, cpu: Nanos) -> Self {
        Self {
            polling: Polling::new(SleepCost::new(late, cpu), Some(0)),
            now: Nanos::from_secs(1),
            late,
            preemptions: 0,
            checks: 0,
        }
    }

    /// A usual thread.
    fn usual() -> Self {
        Self::new(Nanos::from_micros(16), Nanos::from_micros(12))
    }

    /// Works, then waits for an event that comes after the time `gap`. Another thread takes the
    /// core within the look with the number `stolen`, for this time.
    fn wait(&mut self, work: Nanos, gap: Nanos, stolen: Option<(u64, Nanos)>) -> Waited {
        self.now += work;
        let event = self.now + gap;
        let mut waited = Waited::default();
        loop {
            let (begun, until) = (self.now, self.now + WAIT);
            let mut next = self.polling.begin(self.now);
            while next == Next::Look {
                self.now += LOOK;
                if let Some((look, time)) = stolen
                    && look == waited.looks
                {
                    self.now += time;
                    self.preemptions += 1;
                }
                waited.looks += 1;
                let look = Look {
                    now: self.now,
                    until,
                    any: event <= self.now,
                };
                let Self {
                    polling,
                    preemptions,
                    checks,
                    ..
                } = self;
                next = polling.look(look, || {
                    *checks += 1;
                    Some(*preemptions)
                });
            }
            waited.polled += self.now - begun;
            if next == Next::Sleep {
                let end = self.polling.sleep(self.now, until);
                waited.sleeps += 1;
                self.now = self.now.max(event.min(end)) + self.late;
                self.polling.wake(self.now, event <= end);
            }
            if event <= self.now {
                return waited;
            }
        }
    }

    /// Makes the next wait poll.
    fn allow(&mut self) {
        self.polling.allowance = ALLOWANCE_MAX;
        self.polling.rest_until = Nanos::ZERO;
        self.polling.trial_at = Nanos::MAX;
    }
}

fn micros(from: u64, to: u64) -> impl Strategy<Value = Nanos> {
    (from * 1_000..to * 1_000).prop_map(Nanos)
}

/// The work before each wait, and the time until its event: in most sequences of one size.
fn events() -> impl Strategy<Value = Vec<(Nanos, Nanos)>> {
    let gap = prop_oneof![
        micros(0, 5),
        micros(0, 40),
        micros(10, 400),
        micros(0, 3_000)
    ];
    let size = prop_oneof![Just(1), Just(20), Just(200)];
    (prop::collection::vec((micros(0, 60), gap), 1..200), size).prop_map(|(events, size)| {
        let repeated = events
            .into_iter()
            .flat_map(|event| std::iter::repeat_n(event, size));
        repeated.take(2_000).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// The lesser cost is the time until the event, if the thread polls for it, or the cost of a
    /// sleep. Two looks are the least that the rule can miss it by.
    #[test]
    fn a_wait_that_polls_costs_at_most_twice_the_lesser(
        events in events(), late in micros(1, 50), cpu in micros(0, 50),
    ) {
        let mut thread = Thread::new(late, cpu);
        let sleep = thread.polling.cost.total();
        for (work, gap) in events {
            thread.allow();
            let waited = thread.wait(work, gap, None);
            let least = gap.min(sleep);
            let most = Nanos(least.0 * 2) + LOOK + LOOK;
            prop_assert!(waited.cost(sleep) <= most, "{waited:?} after {gap}, {sleep}");
        }
    }

    /// With all rules, a whole run uses at most 1.15 times the CPU time that it uses if each wait
    /// sleeps, and takes at most the time that sleeps take and 0.15 times the work. One poll is
    /// under way.
    #[test]
    fn polling_uses_no_more_cpu_than_its_share(
        events in events(), late in micros(1, 50), cpu in micros(0, 50),
    ) {
        let mut thread = Thread::new(late, cpu);
        let cost = thread.polling.cost;
        let (mut worked, mut all) = (thread.now, Waited::default());
        for (work, gap) in events {
            worked += work;
            let waited = thread.wait(work, gap, None);
            all.polled += waited.polled;
            all.sleeps += waited.sleeps;
        }
        let counts = thread.polling.counts();
        let share = Nanos((worked.0 * SHARE_PERCENT / 100).min(worked.0));
        let saved = Nanos(counts.found * cost.cpu.0);
        let under_way = cost.total().max(COST_MAX + COST_MAX) + LOOK;
        prop_assert!(counts.polled <= share + saved + under_way, "{counts:?}");
        prop_assert_eq!(counts.slept, all.sleeps);
        prop_assert!(counts.polled <= all.polled);
    }

    /// The look in which the thread was preempted is the wait's last, and the next waits sleep at
    /// once until a rest has passed.
    #[test]
    fn a_preempted_poll_ends_at_once_and_others_rest(
        events in events(), gap in micros(5, 500), look in 0..9_u64, stolen in micros(20, 9_000),
    ) {
        let mut thread = Thread::usual();
        for (work, gap) in events.into_iter().take(100) {
            thread.wait(work, gap, None);
        }
        // The count was not read just before.
        thread.now += CHECK_MIN;
        thread.allow();
        let waited = thread.wait(Nanos::ZERO, gap, Some((look, stolen)));
        prop_assert!(waited.looks <= look + 1, "{waited:?}");
        if waited.looks == look + 1 {
            let rest_until = thread.polling.rest_until;
            prop_assert!(rest_until + gap + thread.late >= thread.now + REST_MIN);
            while thread.now + Nanos::from_micros(100) < rest_until {
                let waited = thread.wait(Nanos(1_000), Nanos(3_000), None);
                prop_assert_eq!(waited.looks, 0);
            }
        }
    }
}

/// While no poll finds anything, polling takes below a thousandth of the time, however much the
/// thread works.
#[test]
fn polls_in_vain_become_rare() {
    let mut thread = Thread::usual();
    let begun = thread.now;
    while thread.now < begun + Nanos::from_secs(10) {
        thread.wait(Nanos::from_micros(300), Nanos::from_micros(300), None);
    }
    let counts = thread.polling.counts();
    assert_eq!(counts.found, 0);
    assert!(counts.polled < Nanos::from_millis(3), "{counts:?}");
}

/// Polling resumes at the end of the last rest, and then finds what comes quickly.
#[test]
fn polls_that_find_something_end_the_rests() {
    let mut thread = Thread::usual();
    let begun = thread.now;
    while thread.now < begun + Nanos::from_secs(2) {
        thread.wait(Nanos::from_micros(300), Nanos::from_micros(300), None);
    }
    let resumed = thread.now + REST_MAX;
    while thread.now < resumed {
        thread.wait(Nanos::from_micros(20), Nanos::from_micros(5), None);
    }
    let before = thread.polling.counts();
    for _ in 0..1_000 {
        thread.wait(Nanos::from_micros(20), Nanos::from_micros(5), None);
    }
    let counts = thread.polling.counts();
    assert!(counts.found >= before.found + 990, "{before:?} {counts:?}");
    assert_eq!(thread.polling.rest, Nanos::ZERO);
}

/// A program that takes the core from the working thread shows in no look.
#[test]
fn a_shared_core_is_polled_rarely() {
    let mut thread = Thread::usual();
    let begun = thread.now;
    let mut waits = 0;
    while thread.now < begun + Nanos::from_secs(4) {
        thread.wait(Nanos::from_micros(20), Nanos::from_micros(5), None);
        waits += 1;
        if waits % 100 == 0 {
            thread.now += Nanos::from_millis(3);
            thread.preemptions += 1;
        }
    }
    let counts = thread.polling.counts();
    assert!(counts.found < counts.slept / 5, "{counts:?}");
    assert!(thread.checks < 4_000 / 5, "{} checks", thread.checks);
}

/// The network interrupts each poll, but no thread takes the core.
#[test]
fn interrupts_are_no_preemptions() {
    let mut thread = Thread::usual();
    let begun = thread.now;
    while thread.now < begun + Nanos::from_secs(1) {
        let stolen = Some((3, Nanos::from_micros(15)));
        thread.wait(Nanos::from_micros(60), Nanos::from_micros(5), stolen);
        thread.preemptions = 0;
    }
    let counts = thread.polling.counts();
    assert!(counts.found > 4 * counts.slept, "{counts:?}");
    assert!(thread.checks < 1_000 / 4, "{} checks", thread.checks);
}

/// Without the kernel's count, each interruption is a preemption.
#[test]
fn without_a_count_each_interruption_begins_a_rest() {
    let cost = SleepCost::new(Nanos::from_micros(16), Nanos::ZERO);
    let mut polling = Polling::new(cost, None);
    let mut now = Nanos::from_secs(1);
    for _ in 0..10 {
        now = polling.rest_until.max(now) + Nanos::from_millis(1);
        assert_eq!(polling.begin(now), Next::Look);
        now += Nanos::from_micros(30);
        let look = Look {
            now,
            until: Nanos::MAX,
            any: false,
        };
        assert_eq!(polling.look(look, || None), Next::Sleep);
        assert!(polling.rest_until > now);
    }
    assert_eq!(polling.rest, REST_MAX);
}

#[test]
fn the_cost_of_a_sleep_is_followed() {
    let mut thread = Thread::usual();
    thread.late = Nanos::from_micros(4);
    let before = thread.polling.cost;
    while thread.now < Nanos::from_secs(21) {
        thread.wait(Nanos::from_micros(300), Nanos::from_micros(300), None);
    }
    let after = thread.polling.cost;
    assert!(after.late < Nanos::from_micros(5), "{before:?} {after:?}");
    // A thread that did not run for another reason has not slept.
    thread.polling.cost.follow(Nanos::from_millis(4));
    assert_eq!(thread.polling.cost, after);
}

#[test]
fn an_epoch_ends_rests_of_the_time_before() {
    let mut thread = Thread::usual();
    thread.polling.start_rest(thread.now, REST_SHARED);
    thread.polling.start_anew();
    thread.now = Nanos::ZERO;
    let counts = thread.polling.counts();
    for _ in 0..100 {
        thread.wait(Nanos::from_micros(20), Nanos::from_micros(5), None);
    }
    let found = thread.polling.counts().found - counts.found;
    assert!(found > 90, "{found}");
}

/// A wait whose time is over neither sleeps nor counts as one in vain.
#[test]
fn a_poll_ends_with_its_wait() {
    let mut thread = Thread::usual();
    thread.allow();
    assert_eq!(thread.polling.begin(thread.now), Next::Look);
    let look = Look {
        now: thread.now + LOOK,
        until: thread.now + LOOK,
        any: false,
    };
    assert_eq!(thread.polling.look(look, || Some(0)), Next::Return);
    assert_eq!(thread.polling.run, 0);
    assert_eq!(thread.polling.counts().slept, 0);
}
