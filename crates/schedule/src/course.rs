//! One worker's share of a run's arrivals, whose law may be changed while the run goes on.

use crate::{Due, Next, Schedule, Segment};
use drumfire_units::Nanos;
use std::collections::VecDeque;

/// Arrivals of a random law between two marks.
const MARK_EVERY: u32 = 1_024;

/// A change at a time of the run.
#[derive(Clone, Debug)]
pub enum CourseChange {
    /// Another law takes the place of the one before; its own time begins at 0.
    Follow(Schedule),
    /// The law's time stops. Nothing where it stands already.
    Pause,
    /// The law's time goes on. Nothing where it does.
    Resume,
}

/// A cursor on one worker's arrivals of a whole run.
///
/// # The rule
/// A law has a time of its own, which begins when the law takes over and stands still in pauses. An
/// arrival at l of its schedule is due in the run at l, plus the law's beginning, plus the pauses
/// since. A change holds from its time on: an arrival due before it stays due, one due then or
/// later is never due (`Follow`) or after the resumption, as long as it had still to wait
/// (`Pause`). A law that follows in a pause begins with the resumption. One that runs on ends when
/// the law before it would have, where that has an end.
///
/// Arrivals are numbered over all laws, and each worker has those with n ≡ worker (mod of). So a
/// worker counts all workers' arrivals before a change, by one inversion for each piece; those of a
/// random law are drawn.
///
/// A change may be given at any time before it is passed ([`Course::pass`]). All workers must be
/// given the same.
#[derive(Clone, Debug)]
pub struct Course {
    schedule: Schedule,
    segment: Segment,
    worker: u32,
    of: u32,
    limit: u64,
    /// When the law's time was 0, all its pauses added.
    origin: Nanos,
    /// The number of the law's first arrival.
    base: u64,
    /// Since when the law's time stands.
    paused_at: Option<Nanos>,
    /// The changes that are not passed yet, ascending.
    changes: VecDeque<Pending>,
    mark: Mark,
}

/// A change and its time.
#[derive(Clone, Debug)]
struct Pending {
    at: Nanos,
    change: CourseChange,
}

/// A place in a random law from which all workers' arrivals can be drawn again: those between two
/// of ours are lost once ours are known.
#[derive(Clone, Debug, Default)]
struct Mark {
    /// At an arrival that has been taken.
    segment: Option<Segment>,
    /// Arrivals until the next mark is made.
    wait: u32,
}

impl Course {
    /// The share of worker number `worker`, from 0, of `of` workers, in a run that begins with this
    /// schedule.
    ///
    /// # Panics
    /// When `worker` is not below `of`.
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

    /// Ends the run, not only this share of it, after `total` arrivals; to be called before the
    /// first is taken. Requests of an unlimited piece are no arrivals.
    #[must_use]
    pub fn limit(mut self, total: u64) -> Self {
        self.limit = total;
        self.segment = self.segment.limit(total);
        self
    }

    /// Adds a change. Of several at one time the one added last comes last.
    pub fn change(&mut self, at: Nanos, change: CourseChange) {
        let place = self.changes.partition_point(|pending| pending.at <= at);
        self.changes.insert(place, Pending { at, change });
    }

    /// When the next change comes; [`Nanos::MAX`] is never.
    #[inline]
    #[must_use]
    pub fn next_change(&self) -> Nanos {
        self.changes
            .front()
            .map_or(Nanos::MAX, |pending| pending.at)
    }

    /// When the law ends, if nothing that is known changes that before: `None` where it runs on,
    /// stands still, or is changed.
    #[must_use]
    pub fn end(&self) -> Option<Nanos> {
        let end = self.origin + self.schedule.duration()?;
        (self.paused_at.is_none() && end < self.next_change()).then_some(end)
    }

    /// Whether nothing of this share comes any more: the law has no further arrival for it, and
    /// neither stands still nor is changed.
    #[must_use]
    pub fn is_exhausted(&self) -> bool {
        let is_changed = match self.schedule.duration() {
            Some(duration) => self.next_change() <= self.origin + duration,
            None => self.next_change() != Nanos::MAX,
        };
        self.paused_at.is_none() && !is_changed && self.peek() == Next::End
    }

    /// The law's arrival with this number of the whole run would be due then, if nothing changed.
    /// Costs as [`Schedule::start_of`] does.
    #[must_use]
    pub fn start_of(&self, n: u64) -> Option<Nanos> {
        let start = self.schedule.start_of(n.checked_sub(self.base)?)?;
        Some(self.origin + start)
    }

    /// Whether the law is random, so that [`Self::start_of`] walks over all arrivals before.
    #[must_use]
    pub fn is_random(&self) -> bool {
        self.schedule.is_random()
    }

    /// The next arrival before the next change; [`Next::End`] if there is none.
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

    /// Goes on from an arrival to what follows.
    #[inline]
    pub fn advance(&mut self) {
        if let Next::At(_) = self.segment.peek() {
            if self.schedule.is_random() {
                self.mark.note(&self.segment);
            }
            self.segment.advance();
        }
    }

    /// Passes the end of an unlimited piece, or a change without arrivals before it, if it is over
    /// at `now`. Returns whether there was one.
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

    /// Passes over this share's arrivals that are due before `end`, and over everything else that
    /// is over then. Gives the number of arrivals passed.
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

    /// Passes over this share's arrivals that are due before `end` and before any change, within the
    /// current piece of the law, but for the last of them, and over no more than `at_most`. Gives
    /// their number. Nothing is passed of a random law.
    pub fn skip_to_last_before(&mut self, end: Nanos, at_most: u64) -> u64 {
        match self.peek() {
            Next::At(due) if due.at < end => {
                let until = end.min(self.next_change()) - self.origin;
                self.segment.skip_to_last_before(until, at_most)
            }
            _ => 0,
        }
    }

    /// Passes over arrivals due before `end` by the law's time.
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
                // Below `of`, which is one.
                let index = u32::try_from(index).unwrap_or_default();
                let segment = schedule.segment(index, self.of);
                self.segment = segment.limit(self.limit - self.base);
                self.schedule = schedule;
                self.mark = Mark::default();
            }
        }
    }

    /// The number of all workers' arrivals before `t`, by the law's own time.
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
    /// Notes that the arrival at which a segment stands is taken.
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
