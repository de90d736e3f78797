//! Loads in which each user has its own law, which begins when the user comes.
//!
//! [`super::closed::Closed`] has the users and knows when one comes, goes and is free. This file
//! has the next arrival of each user's law. An arrival is due whether or not its user is free: the
//! number of due arrivals is computed from the law, not from the arrivals taken. A bound on the
//! number of requests bounds the requests sent: dropped arrivals do not count towards it.
//!
//! A tally costs one computation per user and interval.

use super::numbers::UserNumbers;
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
    users: Vec<UserCourse>,
    /// The arrivals that were taken by users that have left. The remaining arrivals of such a user
    /// are not due any more.
    gone: DueArrivals,
    /// Arrivals that were dropped, in the warm-up or later.
    dropped: DueArrivals,
    /// The parts of the totals that earlier tallies have counted.
    counted_intended: u64,
    counted_early: u64,
    counted_dropped: u64,
    /// No arrival is due at this time or later.
    end: Nanos,
    measure_from: Nanos,
    /// The numbers of this worker's arrivals, and the maximum count of them.
    pub(super) deal: UserNumbers,
    room: u64,
}

/// The progress of one user in its law.
#[derive(Clone, Copy, Debug)]
struct UserCourse {
    /// The time at which the user's law began, moved by the pauses of the load.
    start: Nanos,
    /// The number of arrivals that the user has taken or dropped.
    passed: u64,
    is_here: bool,
}

/// A number of arrivals, and the part of it in the warm-up.
#[derive(Clone, Copy, Debug, Default)]
struct DueArrivals {
    all: u64,
    early: u64,
}

impl OwnRates {
    pub(super) fn new(
        schedule: Schedule,
        late: LatePolicy,
        deal: UserNumbers,
        bounds: Bounds,
    ) -> Self {
        Self {
            schedule,
            late,
            users: Vec::new(),
            gone: DueArrivals::default(),
            dropped: DueArrivals::default(),
            counted_intended: 0,
            counted_early: 0,
            counted_dropped: 0,
            end: bounds.end,
            measure_from: bounds.measure_from,
            deal,
            room: deal.below(bounds.limit),
        }
    }

    /// Begins a user's law at `at`; returns when the first arrival is due.
    pub(super) fn come(&mut self, user: UserId, at: Nanos) -> Nanos {
        let course = UserCourse {
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

    /// Ends a user's law; arrivals that were due and not taken are discarded.
    pub(super) fn go(&mut self, user: UserId) {
        let Some(&course) = self.users.get(user.index()) else {
            return;
        };
        let early = self.count(course, self.measure_from);
        self.gone.all += course.passed;
        self.gone.early += early.min(course.passed);
        self.users[user.index()].is_here = false;
    }

    /// The due time of a user's next arrival; `None` if the user's law is over.
    pub(super) fn next_due(&self, user: UserId) -> Option<Nanos> {
        let course = self.users.get(user.index())?;
        let due = self.schedule.start_of(course.passed)?;
        Some(course.start + due)
    }

    /// Takes the next arrival of a free user, if it is due; returns the due time.
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
            // The last due arrival is not late.
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

    /// Moves the laws of all users by the length of a pause of the load.
    pub(super) fn move_on(&mut self, pause: Nanos) {
        for course in &mut self.users {
            course.start += pause;
        }
    }

    /// Sets the time from which on no arrival is due.
    pub(super) fn end_at(&mut self, end: Nanos) {
        self.end = self.end.min(end);
    }

    /// The end of the law of the user that came last; `None` if the law has no end.
    pub(super) fn last_end(&self) -> Option<Nanos> {
        let last = self.users.iter().map(|course| course.start).max()?;
        Some(last + self.schedule.duration()?)
    }

    /// The arrivals that became due before `end` since the last call, in the warm-up and measured,
    /// and the measured arrivals that were dropped.
    pub(super) fn tally(&mut self, end: Nanos) -> super::Tally {
        let end = end.min(self.end);
        let mut due = self.gone;
        for course in self.users.iter().filter(|course| course.is_here) {
            let all = self.count(*course, end);
            due.all += all;
            due.early += self.count(*course, self.measure_from).min(all);
        }
        let dropped = self.dropped.measured();
        // Arrivals that are sent or wait, as far as numbers suffice, and dropped arrivals.
        let sent = due.less(self.dropped).at_most(self.room);
        let intended = sent.measured() + dropped;
        let early = sent.early + self.dropped.early;
        super::Tally {
            intended: take_increase(&mut self.counted_intended, intended),
            early: take_increase(&mut self.counted_early, early),
            dropped: take_increase(&mut self.counted_dropped, dropped),
        }
    }

    /// Hands over the arrivals that are due and neither taken nor dropped. Each user gets one
    /// portion, with its last arrival and a count. `used` of this worker's numbers are used up.
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
    fn count(&self, course: UserCourse, t: Nanos) -> u64 {
        match t > course.start {
            true => self.schedule.count_before(t - course.start),
            false => 0,
        }
    }
}

impl DueArrivals {
    /// The arrivals outside of the warm-up.
    const fn measured(self) -> u64 {
        self.all - self.early
    }

    /// The part of these arrivals for which there is room.
    fn at_most(self, room: u64) -> Self {
        Self {
            all: self.all.min(room),
            early: self.early.min(room),
        }
    }

    /// The difference of these arrivals and others, at least 0.
    const fn less(self, others: Self) -> Self {
        Self {
            all: self.all.saturating_sub(others.all),
            early: self.early.saturating_sub(others.early),
        }
    }
}

/// The increase since the last call; `before` then includes it.
fn take_increase(before: &mut u64, now: u64) -> u64 {
    // When a user leaves, its waiting arrivals are not due any more, so `now` can fall.
    let new = now.saturating_sub(*before);
    *before += new;
    new
}
