//! One worker's share of a run's arrivals. The law may change during the run.

use crate::{Due, Next, Schedule, Segment};
use drumfire_units::Nanos;
use std::collections::VecDeque;

/// The number of arrivals of a random law between two marks.
const MARK_EVERY: u32 = 1_024;

/// A change at a time of the run.
#[derive(Clone, Debug)]
pub enum CourseChange {
    /// Another law replaces the current one; the new law's time starts at 0.
    Follow(Schedule),
    /// The law's time stops. No effect if it is already stopped.
    Pause,
    /// The law's time continues. No effect if it is not stopped.
    Resume,
}

/// A cursor on one worker's arrivals of a whole run.
///
/// # The rule
/// Each law has its own time, which starts when the law takes effect and stops during pauses. An
/// arrival at time l of its schedule is due in the run at l, plus the law's start, plus all pauses
/// since then. A change takes effect at its time. An arrival due before that time stays due. An
/// arrival due at that time or later is dropped (`Follow`), or due after the resumption with its
/// remaining wait (`Pause`). A law that follows during a pause starts at the resumption. A law
/// without an end ends when the previous law would have ended, if that law has an end.
///
/// Arrivals are numbered over all laws, and each worker has the arrivals n ≡ worker (mod of).
/// Therefore each worker counts all workers' arrivals before a change: by one inversion for each
/// piece, or by drawing the arrivals of a random law.
///
/// A change may be added at any time before it is passed ([`Course::pass`]). All workers must get
/// the same changes.
#[derive(Clone, Debug)]
pub struct Course {
    schedule: Schedule,
    segment: Segment,
    worker: u32,
    of: u32,
    limit: u64,
    /// The run's time at which the law's time was 0, plus all pauses of the law.
    origin: Nanos,
    /// The number of the law's first arrival.
    base: u64,
    /// The start of the current pause.
    paused_at: Option<Nanos>,
    /// The changes not passed yet, ascending.
    changes: VecDeque<Pending>,
    mark: Mark,
}

/// A change and its time.
#[derive(Clone, Debug)]
struct Pending {
    at: Nanos,
    change: CourseChange,
}

/// A place in a random law from which all workers' arrivals can be drawn again. A segment does not
/// keep the arrivals of other workers that it draws.
#[derive(Clone, Debug, Default)]
struct Mark {
    /// A copy at an arrival that was taken.
    segment: Option<Segment>,
    /// The number of arrivals until the next mark.
    wait: u32,
}

impl Course {
    /// The share of worker `worker`, from 0, of `of` workers, in a run that starts with this
    /// schedule.
    ///
    /// # Panics
    /// If `worker` is not below `of`.
    #[must_use]
    pub fn new(schedule: Schedule, worker: u32, of: u32) -> Self {
        Self {
            segment: schedule.segment(worker, of),
            schedule,
            worker,
            of,
            limit: u64::MAX,
            origin: Nanos::ZERO,
            base: 0,
            paused_at: None,
            changes: VecDeque::new(),
            mark: Mark::default(),
        }
    }

    /// Ends the whole run, not only this share, after `total` arrivals. Call before the first
    /// arrival is taken. Requests of an unlimited piece are not arrivals.
    #[must_use]
    pub fn limit(mut self, total: u64) -> Self {
        self.limit = total;
        self.segment = self.segment.limit(total);
        self
    }

    /// Adds a change. Changes at the same time take effect in the order in which they are added.
    pub fn change(&mut self, at: Nanos, change: CourseChange) {
        let place = self.changes.partition_point(|pending| pending.at <= at);
        self.changes.insert(place, Pending { at, change });
    }

    /// The time of the next change; [`Nanos::MAX`] without a pending change.
    #[inline]
    #[must_use]
    pub fn next_change(&self) -> Nanos {
        self.changes
            .front()
            .map_or(Nanos::MAX, |pending| pending.at)
    }

    /// The time when the law ends. `None` if the law has no end, is paused, or changes at that time
    /// or earlier.
    #[must_use]
    pub fn end(&self) -> Option<Nanos> {
        let end = self.origin + self.schedule.duration()?;
        (self.paused_at.is_none() && end < self.next_change()).then_some(end)
    }

    /// Whether this share is complete: all its arrivals in the law are taken, and the law is neither
    /// paused nor going to change.
    #[must_use]
    pub fn is_exhausted(&self) -> bool {
        let is_changed = match self.schedule.duration() {
            Some(duration) => self.next_change() <= self.origin + duration,
            None => self.next_change() != Nanos::MAX,
        };
        self.paused_at.is_none() && !is_changed && self.peek() == Next::End
    }

    /// The time when arrival `n` of the whole run is due if nothing changes; `None` if the law does
    /// not have it. The cost is the same as for [`Schedule::start_of`].
    #[must_use]
    pub fn start_of(&self, n: u64) -> Option<Nanos> {
        let start = self.schedule.start_of(n.checked_sub(self.base)?)?;
        Some(self.origin + start)
    }

    /// Whether the law is random; [`Self::start_of`] then draws all earlier arrivals.
    #[must_use]
    pub fn is_random(&self) -> bool {
        self.schedule.is_random()
    }

    /// The next arrival before the next change; [`Next::End`] if no arrival is left before it.
    #[inline]
    #[must_use]
    pub fn peek(&self) -> Next {
        if self.paused_at.is_some() {
            return Next::End;
        }
        let change = self.next_change();
        match self.segment.peek() {
            Next::At(due) if due.at + self.origin < change => Next::At(Due {
                index: self.base + due.index,
                at: self.origin + due.at,
            }),
            Next::Unlimited { from, until } if from + self.origin < change => Next::Unlimited {
                from: self.origin + from,
                until: change.min(self.origin + until),
            },
            _ => Next::End,
        }
    }

    /// Moves from an arrival to the next event.
    #[inline]
    pub fn advance(&mut self) {
        if let Next::At(_) = self.segment.peek() {
            if self.schedule.is_random() {
                self.mark.note(&self.segment);
            }
            self.segment.advance();
        }
    }

    /// Passes the end of an unlimited piece, or a change without arrivals before it, if its time is
    /// at or before `now`. Returns whether one was passed.
    pub fn pass(&mut self, now: Nanos) -> bool {
        let change = self.next_change();
        if self.paused_at.is_none() {
            match self.segment.peek() {
                Next::At(due) if due.at + self.origin < change => return false,
                Next::Unlimited { until, .. } if until + self.origin < change => {
                    let is_over = until + self.origin <= now;
                    if is_over {
                        self.segment.advance();
                    }
                    return is_over;
                }
                _ => {}
            }
        }
        let pending = self.changes.pop_front_if(|pending| pending.at <= now);
        let is_time = pending.is_some();
        if let Some(pending) = pending {
            self.take_change(pending);
        }
        is_time
    }

    /// Skips this share's arrivals that are due before `end`, and all changes and unlimited pieces
    /// that are over by then. Returns the number of skipped arrivals.
    pub fn skip_before(&mut self, end: Nanos) -> u64 {
        let mut passed = 0;
        loop {
            match self.peek() {
                Next::At(due) if due.at < end => {
                    let until = end.min(self.next_change()) - self.origin;
                    passed += self.skip_in_law(until);
                }
                Next::At(_) => return passed,
                _ if self.pass(end) => {}
                _ => return passed,
            }
        }
    }

    /// Skips at most `at_most` of this share's arrivals that are due before `end` and before any
    /// change, within the current piece of the law, but not the last of them. Returns the number of
    /// skipped arrivals: 0 for a random law.
    pub fn skip_to_last_before(&mut self, end: Nanos, at_most: u64) -> u64 {
        match self.peek() {
            Next::At(due) if due.at < end => {
                let until = end.min(self.next_change()) - self.origin;
                self.segment.skip_to_last_before(until, at_most)
            }
            _ => 0,
        }
    }

    /// Skips arrivals due before `end`, a time of the law.
    fn skip_in_law(&mut self, end: Nanos) -> u64 {
        if !self.schedule.is_random() {
            return self.segment.skip_before(end);
        }
        let mut passed = 0;
        while let Next::At(due) = self.segment.peek()
            && due.at < end
        {
            self.advance();
            passed += 1;
        }
        passed
    }

    fn take_change(&mut self, Pending { at, change }: Pending) {
        match change {
            CourseChange::Pause => {
                self.paused_at.get_or_insert(at);
            }
            CourseChange::Resume => {
                if let Some(paused_at) = self.paused_at.take() {
                    self.origin += at - paused_at;
                }
            }
            CourseChange::Follow(schedule) => {
                let stands_at = self.paused_at.unwrap_or(at) - self.origin;
                let schedule = match self.schedule.duration() {
                    Some(end) => schedule.ended_at(end - stands_at),
                    None => schedule,
                };
                let passed = self.count_before(stands_at);
                self.base = self.base.saturating_add(passed).min(self.limit);
                self.origin = at;
                self.paused_at = self.paused_at.map(|_| at);
                let (worker, of) = (u64::from(self.worker), u64::from(self.of));
                let index = (worker + of - self.base % of) % of;
                // Less than `of`, which is a `u32`.
                let index = u32::try_from(index).unwrap_or_default();
                let segment = schedule.segment(index, self.of);
                self.segment = segment.limit(self.limit - self.base);
                self.schedule = schedule;
                self.mark = Mark::default();
            }
        }
    }

    /// The number of all workers' arrivals before `t`, a time of the law.
    fn count_before(&self, t: Nanos) -> u64 {
        match &self.mark.segment {
            None => self.schedule.count_before(t),
            Some(segment) => {
                let mut whole = segment.whole();
                let before = match whole.peek() {
                    Next::At(due) => due.index,
                    Next::Unlimited { .. } | Next::End => 0,
                };
                before + whole.skip_before(t)
            }
        }
    }
}

impl Mark {
    /// Records that the arrival at a segment's position is taken.
    #[inline]
    fn note(&mut self, segment: &Segment) {
        match self.wait.checked_sub(1) {
            Some(wait) => self.wait = wait,
            None => {
                self.segment = Some(segment.clone());
                self.wait = MARK_EVERY;
            }
        }
    }
}
