//! A law for each user apart, which begins when the user comes.
//!
//! The users are [`super::closed::Closed`]'s, which knows when one comes, goes and is free; here
//! stands the arrival of its law that each takes next. An arrival is due whether its user is free
//! or not: the number that are due is computed from the law, and never from those that were taken.
//! A bound on the number of requests is one of requests that are sent: arrivals that are dropped
//! use up none of it.
//!
//! The cost of a tally is one computation for each user, once an interval.

use super::numbers::Deal;
use super::{Arrival, Bounds};
use crate::id::UserId;
use drumfire_plan::LatePolicy;
use drumfire_schedule::Schedule;
use drumfire_units::Nanos;

/// The laws of one worker's users.
#[derive(Clone, Debug)]
pub(super) struct OwnRates {
    schedule: Schedule,
    late: LatePolicy,
    users: Vec<Course>,
    /// The arrivals that were taken by users that have gone; arrivals that such a user left are not
    /// due any more.
    gone: Due,
    /// Arrivals that were dropped, those before the start of measuring included.
    dropped: Due,
    /// The parts of both that earlier tallies have counted.
    counted_intended: u64,
    counted_early: u64,
    counted_dropped: u64,
    /// No arrival is due at this time or later.
    end: Nanos,
    measure_from: Nanos,
    /// The numbers of this worker's arrivals, and how many there are at most.
    pub(super) deal: Deal,
    room: u64,
}

/// The progress of one user in its law.
#[derive(Clone, Copy, Debug)]
struct Course {
    /// The moment at which its law's time was 0.
    start: Nanos,
    /// The number of arrivals that it has taken or dropped.
    passed: u64,
    is_here: bool,
}

/// A number of arrivals, and how many of them are of the warm-up.
#[derive(Clone, Copy, Debug, Default)]
struct Due {
    all: u64,
    early: u64,
}

impl OwnRates {
    pub(super) fn new(schedule: Schedule, late: LatePolicy, deal: Deal, bounds: Bounds) -> Self {
        Self {
            schedule,
            late,
            users: Vec::new(),
            gone: Due::default(),
            dropped: Due::default(),
            counted_intended: 0,
            counted_early: 0,
            counted_dropped: 0,
            end: bounds.end,
            measure_from: bounds.measure_from,
            deal,
            room: deal.below(bounds.limit),
        }
    }

    /// Begins a user's law at this time; returns when its first arrival is due.
    pub(super) fn come(&mut self, user: UserId, at: Nanos) -> Nanos {
        let course = Course {
            start: at,
            passed: 0,
            is_here: true,
        };
        match self.users.get_mut(user.index()) {
            Some(place) => *place = course,
            None => self.users.push(course),
        }
        self.next_due(user).unwrap_or(at)
    }

    /// Ends a user's law, with the arrivals that were due to it and not taken.
    pub(super) fn go(&mut self, user: UserId) {
        let Some(&course) = self.users.get(user.index()) else {
            return;
        };
        let early = self.count(course, self.measure_from);
        self.gone.all += course.passed;
        self.gone.early += early.min(course.passed);
        self.users[user.index()].is_here = false;
    }

    /// The due time of a user's next arrival; `None` where its law is over.
    pub(super) fn next_due(&self, user: UserId) -> Option<Nanos> {
        let course = self.users.get(user.index())?;
        let due = self.schedule.start_of(course.passed)?;
        Some(course.start + due)
    }

    /// Takes the next arrival of a user that is free, if it is due; returns its due time.
    pub(super) fn take_due(&mut self, user: UserId, now: Nanos) -> Option<Nanos> {
        let due = self.next_due(user).filter(|due| *due <= now)?;
        self.users[user.index()].passed += 1;
        Some(due)
    }

    /// Drops the arrivals of a free user that are too late.
    pub(super) fn drop_late(&mut self, user: UserId, now: Nanos) {
        let Some(&course) = self.users.get(user.index()) else {
            return;
        };
        let wanted_from = match self.late {
            LatePolicy::Queue => return,
            LatePolicy::Drop(after) => self.count(course, now - after),
            // The last one that is due is not late.
            LatePolicy::Skip => self.count(course, now + Nanos(1)).saturating_sub(1),
        };
        let dropped = wanted_from.saturating_sub(course.passed);
        if dropped > 0 {
            let passed = course.passed + dropped;
            let early = self.count(course, self.measure_from);
            self.dropped.all += dropped;
            self.dropped.early += early.min(passed).saturating_sub(course.passed);
            self.users[user.index()].passed = passed;
        }
    }

    /// Moves the laws of all users by a pause of the load, in which their time stood still.
    pub(super) fn move_on(&mut self, pause: Nanos) {
        for course in &mut self.users {
            course.start += pause;
        }
    }

    /// No arrival is due at `end` or later.
    pub(super) fn end_at(&mut self, end: Nanos) {
        self.end = self.end.min(end);
    }

    /// The end of the law of the user that came last, if it ends.
    pub(super) fn last_end(&self) -> Option<Nanos> {
        let last = self.users.iter().map(|course| course.start).max()?;
        Some(last + self.schedule.duration()?)
    }

    /// The arrivals that became due before `end`, those of the warm-up apart, and the measured ones
    /// that were dropped, since the last call.
    pub(super) fn tally(&mut self, end: Nanos) -> super::Tally {
        let end = end.min(self.end);
        let mut due = self.gone;
        for course in self.users.iter().filter(|course| course.is_here) {
            let all = self.count(*course, end);
            due.all += all;
            due.early += self.count(*course, self.measure_from).min(all);
        }
        let dropped = self.dropped.measured();
        // Those that are sent or wait, as far as there is room for them, and those that are dropped.
        let sent = due.less(self.dropped).at_most(self.room);
        let intended = sent.measured() + dropped;
        let early = sent.early + self.dropped.early;
        super::Tally {
            intended: take_increase(&mut self.counted_intended, intended),
            early: take_increase(&mut self.counted_early, early),
            dropped: take_increase(&mut self.counted_dropped, dropped),
        }
    }

    /// Hands over the arrivals that are due and neither taken nor dropped, user by user: the last
    /// one, and how many it stands for. Of this worker's numbers, `used` are used up.
    pub(super) fn pending(&self, mut used: u64, mut hand_over: impl FnMut(Arrival, u64)) {
        let here = (0..).zip(&self.users).filter(|(_, course)| course.is_here);
        for (id, course) in here {
            let waiting = self.count(*course, self.end).saturating_sub(course.passed);
            let waiting = waiting.min(self.room.saturating_sub(used));
            used += waiting;
            let early = self.count(*course, self.measure_from);
            let measured = waiting.min((course.passed + waiting).saturating_sub(early));
            let last = course.passed + waiting.saturating_sub(1);
            if measured > 0
                && let Some(due) = self.schedule.start_of(last)
            {
                let intended = course.start + due;
                let arrival = Arrival {
                    index: self.deal.number(used - 1),
                    intended,
                    ready: intended,
                    user: Some(UserId::new(id)),
                };
                hand_over(arrival, measured);
            }
        }
    }

    /// The number of a user's arrivals that are due before `t`.
    fn count(&self, course: Course, t: Nanos) -> u64 {
        match t > course.start {
            true => self.schedule.count_before(t - course.start),
            false => 0,
        }
    }
}

impl Due {
    /// The arrivals outside of the warm-up.
    const fn measured(self) -> u64 {
        self.all - self.early
    }

    /// The first of them.
    fn at_most(self, room: u64) -> Self {
        Self {
            all: self.all.min(room),
            early: self.early.min(room),
        }
    }

    /// These without some of them.
    const fn less(self, others: Self) -> Self {
        Self {
            all: self.all.saturating_sub(others.all),
            early: self.early.saturating_sub(others.early),
        }
    }
}

/// The increase since the last call, which is then counted.
fn take_increase(before: &mut u64, now: u64) -> u64 {
    // Arrivals of a user that goes are not due any more.
    let new = now.saturating_sub(*before);
    *before += new;
    new
}
