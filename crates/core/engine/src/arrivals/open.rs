//! The open model: arrivals by a schedule, independent of the target.
//!
//! Two cursors pass over the same share of the schedule. `course` points at the first arrival that
//! is still to be sent or dropped, and lags while room is missing. `ahead` passes over arrivals as
//! they become due, only to count them. So an interval contains the requests that became due in it,
//! whether or not they were sent.
//!
//! Each cursor has the number of its next request (`following`, `counted`): the shard's index and
//! every `of`-th after it. With the policy "skip" an arrival is replaced by a later one of any
//! worker, which needs a third cursor over the whole schedule ([`Whole`]).
//!
//! No rate is too high: late arrivals are skipped by arithmetic, not one by one
//! ([`Open::drop_late`]), and arrivals that wait at the end are handed over in [`PENDING_PORTIONS`]
//! portions, for any number of arrivals.

use super::{Arrival, Bounds, Tally};
use crate::id::Shard;
use crate::limits::PENDING_PORTIONS;
use drumfire_plan::LatePolicy;
use drumfire_schedule::{Course, CourseChange, Due, Next, Schedule};
use drumfire_units::Nanos;

/// One worker's share of a schedule, and of the schedules that replace it by orders.
#[derive(Debug)]
pub(crate) struct Open {
    /// At the next arrival that is neither sent nor dropped.
    course: Course,
    /// Ahead of `course`, after all arrivals that are due, only to count them.
    ahead: Course,
    late: LatePolicy,
    /// The arrivals of all workers; used if a later arrival replaces a late one.
    whole: Option<Whole>,
    /// The time from which on no request starts.
    end: Nanos,
    /// The end of the warm-up.
    measure_from: Nanos,
    /// The arrivals that became due since the last tally, from `measure_from` on.
    intended: u64,
    /// The arrivals of the warm-up that became due since the last tally.
    early: u64,
    /// The part of `intended` that the late policy dropped.
    dropped: u64,
    /// The number of workers to which request numbers are dealt.
    of: u64,
    /// The number of requests of the whole load: requests with smaller numbers are sent.
    limit: u64,
    /// Whether starting has ended; due arrivals are then pending.
    stopped: bool,
    /// The number of the next request: the shard's index and every `of`-th after it, over all
    /// pieces, including unlimited pieces, which have no scheduled arrivals.
    following: u64,
    /// The number of the next request to count.
    counted: u64,
}

/// A cursor over the arrivals of all workers, to find out whether an arrival is the last that is
/// due.
#[derive(Debug)]
struct Whole {
    course: Course,
    /// The number of arrivals that have become due.
    due: u64,
}

impl Whole {
    /// The number of all arrivals that are due before `end`.
    fn due_before(&mut self, end: Nanos) -> u64 {
        self.due += self.course.skip_before(end);
        self.due
    }
}

impl Open {
    /// A worker's share within the run's bounds.
    pub(crate) fn new(schedule: &Schedule, late: LatePolicy, shard: Shard, bounds: Bounds) -> Self {
        let Bounds {
            end,
            limit,
            measure_from,
        } = bounds;
        let course = Course::new(schedule.clone(), shard.index, shard.of).limit(limit);
        Self {
            ahead: course.clone(),
            whole: (late == LatePolicy::Skip && shard.of > 1).then(|| Whole {
                course: Course::new(schedule.clone(), 0, 1).limit(limit),
                due: 0,
            }),
            course,
            late,
            end,
            measure_from,
            intended: 0,
            early: 0,
            dropped: 0,
            of: u64::from(shard.of),
            limit,
            stopped: false,
            following: u64::from(shard.index),
            counted: u64::from(shard.index),
        }
    }

    /// Passes over every arrival that is due before `from` without counting it. Later arrivals have
    /// the same numbers and times as in a share that begins with the run.
    pub(crate) fn begin_from(&mut self, from: Nanos) {
        let passed = self.course.skip_before(from);
        numbered(&mut self.following, passed, self.of, self.limit);
        let passed = self.ahead.skip_before(from);
        numbered(&mut self.counted, passed, self.of, self.limit);
        if let Some(whole) = &mut self.whole {
            whole.due_before(from);
        }
    }

    /// Changes the law from a time on that is not over yet.
    pub(crate) fn change(&mut self, at: Nanos, change: &CourseChange) {
        self.course.change(at, change.clone());
        self.ahead.change(at, change.clone());
        if let Some(whole) = &mut self.whole {
            whole.course.change(at, change.clone());
        }
    }

    /// Takes the next arrival that is due and not too late; in an unlimited piece, an arrival
    /// intended now. The caller must have room for it, because it cannot be put back.
    #[inline]
    pub(crate) fn take_due(&mut self, now: Nanos) -> Option<Arrival> {
        while !self.stopped && !self.is_counted_out() {
            let due = match self.course.peek() {
                Next::At(due) if due.at <= now && due.at < self.end => due,
                Next::At(_) => return None,
                Next::Unlimited { from, until } if from <= now && now < until.min(self.end) => {
                    return Some(self.take_unlimited(now));
                }
                Next::Unlimited { .. } | Next::End => {
                    if self.course.pass(now) {
                        continue;
                    }
                    return None;
                }
            };
            if self.late != LatePolicy::Queue && self.drop_late(due.at, now) {
                continue;
            }
            self.course.advance();
            let arrival = Arrival {
                index: self.following,
                intended: due.at,
                ready: due.at,
                user: None,
            };
            self.following += self.of;
            if self.late == LatePolicy::Queue || self.still_wanted(arrival, now) {
                return Some(arrival);
            }
        }
        None
    }

    /// Drops all late arrivals at once, from the one due at `due` on; returns whether there were
    /// any. At some rates, dropping them one by one would never end.
    fn drop_late(&mut self, due: Nanos, now: Nanos) -> bool {
        // Arrivals of the warm-up are passed first and not counted.
        let is_measured = due >= self.measure_from;
        let bound = if is_measured {
            self.end
        } else {
            self.end.min(self.measure_from)
        };
        let passed = match self.late {
            LatePolicy::Queue => 0,
            LatePolicy::Drop(after) => self.course.skip_before(bound.min(now - after)),
            LatePolicy::Skip => {
                let end = bound.min(now + Nanos(1));
                self.course.skip_to_last_before(end, u64::MAX) + self.give_way(end)
            }
        };
        let dropped = numbered(&mut self.following, passed, self.of, self.limit);
        if is_measured {
            self.dropped += dropped;
        }
        passed > 0
    }

    /// Skips this worker's next arrival, due before `end`, if another worker's arrival was due
    /// after it. Returns the number of arrivals skipped.
    fn give_way(&mut self, end: Nanos) -> u64 {
        let Some(whole) = &mut self.whole else {
            return 0;
        };
        match self.course.peek() {
            Next::At(due) if due.at < end && due.index + 1 < whole.due_before(end) => {
                self.course.advance();
                1
            }
            _ => 0,
        }
    }

    /// Whether late arrivals may be dropped.
    pub(crate) const fn drops(&self) -> bool {
        !matches!(self.late, LatePolicy::Queue)
    }

    /// Drops the arrivals that are too late by now, so that the next one is still wanted.
    pub(crate) fn drop_all_late(&mut self, now: Nanos) {
        if self.late == LatePolicy::Queue {
            return;
        }
        while let Next::At(due) = self.course.peek()
            && due.at <= now
            && due.at < self.end
            && self.drop_late(due.at, now)
        {}
    }

    /// Whether an arrival should still be sent; a late one is counted as dropped.
    pub(crate) fn still_wanted(&mut self, arrival: Arrival, now: Nanos) -> bool {
        let wanted = match self.late {
            LatePolicy::Queue => true,
            LatePolicy::Drop(after) => now - arrival.intended <= after,
            // A tick is valid until the next one is due.
            LatePolicy::Skip => {
                while self.course.pass(now) {}
                let next = self.course.peek();
                let is_last =
                    !matches!(next, Next::At(next) if next.at <= now && next.at < self.end);
                let end = self.end.min(now + Nanos(1));
                let whole = self.whole.as_mut();
                is_last && whole.is_none_or(|whole| whole.due_before(end) <= arrival.index + 1)
            }
        };
        self.dropped += u64::from(!wanted && arrival.intended >= self.measure_from);
        wanted
    }

    /// The due time of the next arrival, or the time at which a change may bring one.
    pub(crate) fn next_due(&self) -> Nanos {
        let due = match self.course.peek() {
            _ if self.stopped || self.is_counted_out() => Nanos::MAX,
            Next::At(Due { at, .. }) => at,
            Next::Unlimited { from, .. } => from,
            // The next arrival is known only after the change.
            Next::End => self.course.next_change(),
        };
        if due < self.end { due } else { Nanos::MAX }
    }

    /// Whether no further arrival will come, as far as is known now; a change may add some.
    pub(crate) fn is_exhausted(&self) -> bool {
        match self.course.peek() {
            _ if self.stopped || self.is_counted_out() => true,
            Next::At(Due { at, .. }) => at >= self.end,
            Next::Unlimited { from, .. } => from >= self.end,
            Next::End => self.course.is_exhausted(),
        }
    }

    /// Whether this worker's part of the run's count of requests is used up.
    pub(crate) fn is_counted_out(&self) -> bool {
        self.following >= self.limit
    }

    /// The end of the schedule itself; its last requests may still wait then.
    pub(crate) fn schedule_end(&self) -> Nanos {
        self.course.end().unwrap_or(Nanos::MAX)
    }

    /// The end of the load's time if the run's count ended it: the start of the first request
    /// beyond the count. 0 for random arrivals, since the start would need a pass over all earlier
    /// arrivals.
    pub(crate) fn counted_end(&self) -> Nanos {
        let left_out = if self.course.is_random() {
            None
        } else {
            self.course.start_of(self.limit)
        };
        left_out.map_or(Nanos::ZERO, |at| {
            at.min(self.course.next_change()).min(self.end)
        })
    }

    /// Lets no request start whose time is at `end` or later.
    pub(crate) fn end_at(&mut self, end: Nanos) {
        self.end = self.end.min(end);
    }

    /// Starts no request whose time is `end` or later; arrivals that are already due are not taken
    /// either.
    pub(crate) fn stop(&mut self, end: Nanos) {
        self.end_at(end);
        self.stopped = true;
    }

    /// The arrivals that became due before `end`, since the last call, and those that were dropped.
    pub(crate) fn tally(&mut self, end: Nanos) -> Tally {
        let end = end.min(self.end);
        let early = self.ahead.skip_before(end.min(self.measure_from));
        self.early += numbered(&mut self.counted, early, self.of, self.limit);
        let due = self.ahead.skip_before(end);
        self.intended += numbered(&mut self.counted, due, self.of, self.limit);
        Tally {
            intended: std::mem::take(&mut self.intended),
            early: std::mem::take(&mut self.early),
            dropped: std::mem::take(&mut self.dropped),
        }
    }

    /// Hands over the arrivals that were due before the end and still wait, in at most about
    /// [`PENDING_PORTIONS`] portions: the last arrival of each and the number of arrivals it stands
    /// for. The size of a portion and `round` are coprime, so that the last arrivals select every
    /// request of the list in turn.
    pub(crate) fn pending(&self, round: u64, mut hand_over: impl FnMut(Arrival, u64)) {
        let waiting = self.counted.saturating_sub(self.following) / self.of;
        let portion = (waiting / PENDING_PORTIONS + 1..)
            .find(|portion| are_coprime(*portion, round))
            .unwrap_or(1);
        let mut rest = self.course.clone();
        let mut number = self.following;
        let (mut last, mut count) = (None, 0);
        let early = rest.skip_before(self.end.min(self.measure_from));
        numbered(&mut number, early, self.of, self.limit);
        loop {
            // Only the last arrival of a portion is computed.
            let room = self.limit.saturating_sub(number).div_ceil(self.of);
            let before_last = (portion - count - 1).min(room.saturating_sub(1));
            let passed = rest.skip_to_last_before(self.end, before_last);
            count += passed;
            number += passed * self.of;
            match rest.peek() {
                Next::At(due) if due.at < self.end && number < self.limit => {
                    count += 1;
                    last = Some(Arrival {
                        index: number,
                        intended: due.at,
                        ready: due.at,
                        user: None,
                    });
                    number += self.of;
                    rest.advance();
                }
                Next::Unlimited { .. } | Next::End if rest.pass(self.end) => {}
                _ => break,
            }
            if count == portion
                && let Some(last) = last.take()
            {
                hand_over(last, std::mem::take(&mut count));
            }
        }
        if let Some(last) = last {
            hand_over(last, count);
        }
    }

    /// Takes an arrival of an unlimited piece: intended now, since a connection has room for it.
    fn take_unlimited(&mut self, now: Nanos) -> Arrival {
        let index = self.following;
        self.following += self.of;
        self.counted += self.of;
        match now >= self.measure_from {
            true => self.intended += 1,
            false => self.early += 1,
        }
        Arrival {
            index,
            intended: now,
            ready: now,
            user: None,
        }
    }
}

/// Whether no number above 1 divides both (Euclid's algorithm).
fn are_coprime(mut a: u64, mut b: u64) -> bool {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a == 1
}

/// Numbers `count` arrivals from `next` on in steps of `of`, as long as the numbers are below
/// `limit`. Returns how many arrivals received a number.
fn numbered(next: &mut u64, count: u64, of: u64, limit: u64) -> u64 {
    let count = count.min(limit.saturating_sub(*next).div_ceil(of));
    *next += count * of;
    count
}
