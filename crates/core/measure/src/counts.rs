//! Counts of requests, bytes and outcomes. All merge by addition.
//!
//! The pool counts a request as intended when it becomes due; the worker that sees its end counts
//! the end. In between it is pending, in flight or dropped, and [`Counts::conservation`] holds
//! after every merge of a whole run: intended = sent + dropped + pending, and sent = ok + failed +
//! in flight.

use crate::Outcome;
use crate::form;
use crate::form::ByName;

/// Requests by their result: the parts add up to the intended requests.
///
/// Always `sent = ok + failed + in_flight`, because an exchange is counted when it ends, or when
/// the run's drain ends. Over a whole run also `intended = sent + dropped + pending`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Requests that the schedule made due.
    pub intended: u64,
    /// Requests that were sent.
    pub sent: u64,
    /// Exchanges that met the plan's expectation.
    pub ok: u64,
    /// Exchanges that ended in any other way.
    pub failed: u64,
    /// Requests that were due and not sent because of the late policy.
    pub dropped: u64,
    /// The requests of `failed` that timed out.
    pub timed_out: u64,
    /// Requests that were due, and neither sent nor dropped when the run ended.
    pub pending: u64,
    /// Exchanges that were sent, and had not ended at the end of the drain.
    pub in_flight: u64,
}

form! {
    struct Counts { intended, sent, ok, failed, dropped, timed_out, pending, in_flight }
}

impl Counts {
    /// Counts one finished exchange.
    #[inline]
    pub(crate) fn record(&mut self, outcome: Outcome) {
        self.sent += 1;
        if outcome == Outcome::Ok {
            self.ok += 1;
        } else {
            self.failed += 1;
            self.timed_out += u64::from(outcome.is_timeout());
        }
    }

    /// Counts one exchange that was running at the end of the drain.
    pub(crate) fn record_in_flight(&mut self) {
        self.sent += 1;
        self.in_flight += 1;
    }

    /// Adds `other`.
    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.all_mut().into_iter().zip(other.all()) {
            *mine = mine.saturating_add(theirs);
        }
    }

    /// Every count, in the order of the fields.
    #[must_use]
    pub const fn all(&self) -> [u64; 8] {
        [
            self.intended,
            self.sent,
            self.ok,
            self.failed,
            self.dropped,
            self.timed_out,
            self.pending,
            self.in_flight,
        ]
    }

    /// All counts, mutable, in the order of [`Self::all`].
    pub(crate) const fn all_mut(&mut self) -> [&mut u64; 8] {
        [
            &mut self.intended,
            &mut self.sent,
            &mut self.ok,
            &mut self.failed,
            &mut self.dropped,
            &mut self.timed_out,
            &mut self.pending,
            &mut self.in_flight,
        ]
    }

    /// The counts of a decoded series, which follow from its outcomes, its pending requests and its
    /// requests in flight.
    pub(crate) fn of_series(outcomes: &OutcomeCounts, pending: u64, in_flight: u64) -> Self {
        let add = |sum: u64, (_, count): (Outcome, u64)| sum.saturating_add(count);
        let failed = outcomes.failures().fold(0, add);
        let timeouts = outcomes.failures();
        let timeouts = timeouts.filter(|(outcome, _)| outcome.is_timeout());
        let ok = outcomes.get(Outcome::Ok);
        let sent = ok.saturating_add(failed).saturating_add(in_flight);
        Self {
            intended: sent.saturating_add(pending),
            sent,
            ok,
            failed,
            dropped: 0,
            timed_out: timeouts.fold(0, add),
            pending,
            in_flight,
        }
    }

    /// Accounts for due requests without a record: at most `under_way` of them count as in flight,
    /// the others as pending.
    pub(crate) fn break_off(&mut self, under_way: u64) {
        let accounted = self.sent.saturating_add(self.dropped);
        let accounted = accounted.saturating_add(self.pending);
        let missing = self.intended.saturating_sub(accounted);
        let in_flight = missing.min(under_way);
        self.sent = self.sent.saturating_add(in_flight);
        self.in_flight = self.in_flight.saturating_add(in_flight);
        self.pending = self.pending.saturating_add(missing - in_flight);
    }

    /// Checks that every request of a run is accounted for exactly. The sums are 128 bits wide,
    /// because counts may saturate.
    ///
    /// This need not hold for a span within a run: a request may become due in one interval and end
    /// in another.
    ///
    /// # Errors
    /// The counts that do not add up.
    pub fn conservation(&self) -> Result<(), String> {
        let Self {
            intended,
            sent,
            ok,
            failed,
            dropped,
            pending,
            in_flight,
            ..
        } = *self;
        let sum = |counts: [u64; 3]| counts.map(u128::from).iter().sum::<u128>();
        if u128::from(intended) != sum([sent, dropped, pending]) {
            return Err(format!(
                "{intended} intended is not {sent} sent + {dropped} dropped + {pending} pending"
            ));
        }
        if u128::from(sent) != sum([ok, failed, in_flight]) {
            return Err(format!(
                "{sent} sent is not {ok} ok + {failed} failed + {in_flight} in flight"
            ));
        }
        Ok(())
    }

    /// Exchanges that ended, with any outcome.
    #[must_use]
    pub const fn finished(&self) -> u64 {
        self.ok.saturating_add(self.failed)
    }
}

/// Bytes on the wire, written to and read from connections (inside TLS).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ByteCounts {
    /// Written.
    pub sent: u64,
    /// Read.
    pub received: u64,
}

form! { struct ByteCounts { sent, received } }

impl ByteCounts {
    /// Adds `other`.
    pub fn merge(&mut self, other: &Self) {
        self.sent = self.sent.saturating_add(other.sent);
        self.received = self.received.saturating_add(other.received);
    }
}

/// The number of exchanges with each [`Outcome`], by its index: recording is one addition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutcomeCounts([u64; Outcome::COUNT]);

form! { struct OutcomeCounts(counts as ByName<Outcome>) }

impl Default for OutcomeCounts {
    fn default() -> Self {
        Self([0; Outcome::COUNT])
    }
}

/// The most frequent kind of failure of several exchanges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PrevailingFailure {
    /// The kind.
    pub outcome: Outcome,
    /// The exchanges that failed in this way.
    pub count: u64,
    /// The number of kinds of failure, at least 1.
    pub kinds: usize,
}

impl OutcomeCounts {
    /// Counts one exchange.
    #[inline]
    pub(crate) fn record(&mut self, outcome: Outcome) {
        self.0[outcome as usize] += 1;
    }

    /// The exchanges that ended with `outcome`.
    #[must_use]
    pub const fn get(&self, outcome: Outcome) -> u64 {
        self.0[outcome as usize]
    }

    /// Every failure with a count above 0, in the order of [`Outcome::ALL`].
    pub fn failures(&self) -> impl Iterator<Item = (Outcome, u64)> + '_ {
        Outcome::ALL
            .iter()
            .zip(&self.0)
            .filter(|(outcome, count)| **outcome != Outcome::Ok && **count > 0)
            .map(|(outcome, count)| (*outcome, *count))
    }

    /// The most frequent kind of failure, and how many kinds there are; of equally frequent kinds,
    /// the first in the order of [`Outcome::ALL`]. Exchanges that the end of the run cut off are left
    /// out. `None` without failures.
    #[must_use]
    pub fn prevailing(&self) -> Option<PrevailingFailure> {
        let failures = self.failures();
        let kinds: Vec<_> = failures
            .filter(|(outcome, _)| *outcome != Outcome::LocalCancelled)
            .collect();
        let (outcome, count) = *kinds.iter().rev().max_by_key(|(_, count)| *count)?;
        Some(PrevailingFailure {
            outcome,
            count,
            kinds: kinds.len(),
        })
    }

    /// Adds `other`.
    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            *mine = mine.saturating_add(*theirs);
        }
    }
}
