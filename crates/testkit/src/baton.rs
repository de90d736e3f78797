//! The common virtual time of a run's workers, each of which has a thread and a driver.
//!
//! From [`Runner::enter`], the start of the run, one thread runs at a time: the one whose time is
//! least, and of equal times the one with the lowest number. A driver calls [`Runner::sleep`] for
//! every step of its time; a thread that runs may shorten another's sleep by [`Runner::wake`]. So
//! whatever workers exchange happens in the order of virtual time, and is the same in every run.

use drumfire_units::Nanos;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// The right to run, which the threads of a run pass on.
pub(crate) struct Baton {
    state: Mutex<State>,
    passed: Condvar,
}

struct State {
    members: Vec<Member>,
    /// The member that runs; none before all have entered.
    running: Option<usize>,
    /// When it began to run.
    now: Nanos,
}

/// One worker's driver; times count from the run's start.
#[derive(Clone, Copy)]
struct Member {
    phase: Phase,
    /// When another's wake reaches it; [`Nanos::MAX`] without one.
    woken_at: Nanos,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// It opens connections, in a time of its own.
    Outside,
    /// It sleeps until then, or runs.
    Inside(Nanos),
    Gone,
}

impl Baton {
    /// For this many drivers, all of which will enter or leave.
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

    /// Lets a driver's time pass until `until`, or until a wake reaches it; gives the time then.
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

    /// Ends a driver's sleep a `way` from now, or keeps its next from lasting longer.
    fn wake(&self, member: usize, way: Nanos) {
        let mut state = self.lock();
        let at = state.now + way;
        let woken = &mut state.members[member];
        woken.woken_at = woken.woken_at.min(at);
    }

    /// A driver is gone: the others go on without it.
    fn leave(&self, member: usize) {
        let mut state = self.lock();
        state.members[member].phase = Phase::Gone;
        state.pass();
        self.passed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A test that has failed in one thread must not keep the others waiting.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One worker's driver and the baton that it shares.
#[derive(Clone)]
pub(crate) struct Runner {
    baton: Arc<Baton>,
    member: usize,
}

impl Runner {
    /// The driver with this number.
    pub(crate) fn new(baton: &Arc<Baton>, member: usize) -> Self {
        let baton = Arc::clone(baton);
        Self { baton, member }
    }

    /// Starts the driver's run: returns when all have started and it is this one's turn.
    pub(crate) fn enter(&self) {
        self.sleep(Nanos::ZERO);
    }

    /// Lets the driver's time pass until `until`, or until a wake reaches it; gives the time then.
    pub(crate) fn sleep(&self, until: Nanos) -> Nanos {
        self.baton.sleep(self.member, until)
    }

    /// Ends the driver's sleep a `way` from now, or keeps its next from lasting longer.
    pub(crate) fn wake(&self, way: Nanos) {
        self.baton.wake(self.member, way);
    }

    /// The driver is gone: the others go on without it.
    pub(crate) fn leave(&self) {
        self.baton.leave(self.member);
    }
}

impl State {
    /// Lets the member run whose time is least, once all have entered.
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
