//! Plain counts: of requests, of bytes, of outcomes. All of them merge by addition.

use crate::Outcome;

/// How many requests there were, by what became of them.
///
/// A sample is counted when it ends, so in an [`Interval`](crate::Interval) `sent` is exactly
/// `ok + failed`. A finished [`Summary`](crate::Summary) adds what was in flight at the end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Requests that the schedule called for.
    pub intended: u64,
    /// Requests that were sent.
    pub sent: u64,
    /// Exchanges that met the plan's expectation.
    pub ok: u64,
    /// Exchanges that did not, in any way.
    pub failed: u64,
    /// Requests due but never sent, because the late policy says so.
    pub dropped: u64,
    /// Those of `failed` whose time was up.
    pub timed_out: u64,
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

    /// Adds `other`.
    pub fn merge(&mut self, other: &Self) {
        self.intended += other.intended;
        self.sent += other.sent;
        self.ok += other.ok;
        self.failed += other.failed;
        self.dropped += other.dropped;
        self.timed_out += other.timed_out;
    }

    /// Exchanges that ended, in any way.
    #[must_use]
    pub const fn finished(&self) -> u64 {
        self.ok + self.failed
    }
}

/// Bytes on the wire, as written to and read from connections (within TLS).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bytes {
    /// Written.
    pub sent: u64,
    /// Read.
    pub received: u64,
}

impl Bytes {
    /// Adds `other`.
    pub fn merge(&mut self, other: &Self) {
        self.sent += other.sent;
        self.received += other.received;
    }
}

/// How often each [`Outcome`] was seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutcomeCounts([u64; Outcome::COUNT]);

impl Default for OutcomeCounts {
    fn default() -> Self {
        Self([0; Outcome::COUNT])
    }
}

impl OutcomeCounts {
    /// Counts one.
    #[inline]
    pub(crate) fn record(&mut self, outcome: Outcome) {
        self.0[outcome as usize] += 1;
    }

    /// How often `outcome` was seen.
    #[must_use]
    pub const fn get(&self, outcome: Outcome) -> u64 {
        self.0[outcome as usize]
    }

    /// Every failure that was seen at least once, in the order of [`Outcome::ALL`].
    pub fn failures(&self) -> impl Iterator<Item = (Outcome, u64)> + '_ {
        Outcome::ALL
            .iter()
            .zip(&self.0)
            .filter(|(outcome, count)| **outcome != Outcome::Ok && **count > 0)
            .map(|(outcome, count)| (*outcome, *count))
    }

    /// Adds `other`.
    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            *mine += theirs;
        }
    }
}
