//! The common virtual time of a run's workers, each of which has a thread and a driver.
//!
//! From [`Runner::enter`], the start of the run, one thread runs at a time: the one with the
//! earliest time, and among equal times the one with the lowest number. A driver calls
//! [`Runner::sleep`] for every step of its time; a running thread may shorten another's sleep with
//! [`Runner::wake`]. Workers therefore interact in the order of virtual time, and in the same order
//! in every run.

use drumfire_units::Nanos;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// The right to run, which the threads of a run pass to each other.
pub(crate) struct Baton {
    state: Mutex<State>,
    passed: Condvar,
}

struct State {
    members: Vec<Member>,
    /// The running member; `None` before all members have entered.
    running: Option<usize>,
    /// The time at which it began to run.
    now: Nanos,
}

/// The state of one worker's driver; times count from the start of the run.
#[derive(Clone, Copy)]
struct Member {
    phase: Phase,
    /// The time at which another thread's wake takes effect; [`Nanos::MAX`] without a wake.
    woken_at: Nanos,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// The driver opens connections, in its own time.
    Outside,
    /// The driver sleeps until then, or runs.
    Inside(Nanos),
    Gone,
}

impl Baton {
    /// Creates a baton for this many drivers, each of which must enter or leave.
    pub(crate) fn new(count: usize) -> Self {
        let outside = Member {
            phase: Phase::Outside,
            woken_at: Nanos::MAX,
        };
        Self {
            state: Mutex::new(State {
                members: vec![outside; count],
                running: None,
                now: Nanos::ZERO,
            }),
            passed: Condvar::new(),
        }
    }

    /// Lets a driver's time pass until `until`, or until a wake takes effect; returns the time
    /// then.
    fn sleep(&self, member: usize, until: Nanos) -> Nanos {
        let mut state = self.lock();
        state.members[member].phase = Phase::Inside(until);
        state.pass();
        self.passed.notify_all();
        while state.running != Some(member) {
            state = self
                .passed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        let woken_at = std::mem::replace(&mut state.members[member].woken_at, Nanos::MAX);
        state.now = until.min(woken_at);
        state.now
    }

    /// Ends a driver's sleep after `way`, or limits its next sleep to that time.
    fn wake(&self, member: usize, way: Nanos) {
        let mut state = self.lock();
        let at = state.now + way;
        let woken = &mut state.members[member];
        woken.woken_at = woken.woken_at.min(at);
    }

    /// Removes a driver; the others continue without it.
    fn leave(&self, member: usize) {
        let mut state = self.lock();
        state.members[member].phase = Phase::Gone;
        state.pass();
        self.passed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // If a test has failed in one thread, the others must not wait forever.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One worker's driver and the shared baton.
#[derive(Clone)]
pub(crate) struct Runner {
    baton: Arc<Baton>,
    member: usize,
}

impl Runner {
    /// Creates the runner of the driver with this number.
    pub(crate) fn new(baton: &Arc<Baton>, member: usize) -> Self {
        let baton = Arc::clone(baton);
        Self { baton, member }
    }

    /// Starts the driver's run: returns after all have started, when it is this driver's turn.
    pub(crate) fn enter(&self) {
        self.sleep(Nanos::ZERO);
    }

    /// Lets the driver's time pass until `until`, or until a wake takes effect; returns the time
    /// then.
    pub(crate) fn sleep(&self, until: Nanos) -> Nanos {
        self.baton.sleep(self.member, until)
    }

    /// Ends the driver's sleep after `way`, or limits its next sleep to that time.
    pub(crate) fn wake(&self, way: Nanos) {
        self.baton.wake(self.member, way);
    }

    /// Removes the driver; the others continue without it.
    pub(crate) fn leave(&self) {
        self.baton.leave(self.member);
    }
}

impl State {
    /// Passes the right to run to the member with the earliest time, after all have entered.
    fn pass(&mut self) {
        let mut next: Option<(Nanos, usize)> = None;
        for (index, member) in self.members.iter().enumerate() {
            match member.phase {
                Phase::Outside => return self.running = None,
                Phase::Inside(until) => {
                    let at = (until.min(member.woken_at), index);
                    next = Some(next.map_or(at, |next| next.min(at)));
                }
                Phase::Gone => {}
            }
        }
        self.running = next.map(|(_, index)| index);
    }
}
