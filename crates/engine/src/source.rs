//! Where requests come from: a schedule's arrivals, or users who have become free.

mod closed;
mod open;

pub(crate) use closed::Closed;
pub(crate) use open::Open;

use drumfire_units::Nanos;

/// One request that is to start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Arrival {
    /// Its number in the whole run, which says which request of the list it is.
    pub(crate) index: u64,
    /// When it starts by the schedule, or when its user became free.
    pub(crate) intended: Nanos,
}

/// One worker's source of requests.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "each worker has one")]
pub(crate) enum Source {
    Open(Open),
    Closed(Closed),
}

/// What became due and was not sent, within a span.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) intended: u64,
    pub(crate) dropped: u64,
}

impl Source {
    /// Takes the next request that may start now.
    #[inline]
    pub(crate) fn take(&mut self, now: Nanos) -> Option<Arrival> {
        match self {
            Self::Open(open) => open.take(now),
            Self::Closed(closed) => closed.take(now),
        }
    }

    /// Whether a request that has waited so long for a connection is still to be sent.
    pub(crate) fn still_wanted(&mut self, arrival: Arrival, now: Nanos) -> bool {
        match self {
            Self::Open(open) => open.still_wanted(arrival, now),
            Self::Closed(_) => true,
        }
    }

    /// A user's request has ended.
    #[inline]
    pub(crate) fn ended(&mut self, now: Nanos) {
        if let Self::Closed(closed) = self {
            closed.ended(now);
        }
    }

    /// When the next request becomes due; [`Nanos::MAX`] when none will by itself.
    #[inline]
    pub(crate) fn next_due(&self) -> Nanos {
        match self {
            Self::Open(open) => open.next_due(),
            Self::Closed(closed) => closed.next_due(),
        }
    }

    /// Whether no further request will come.
    pub(crate) fn is_exhausted(&self) -> bool {
        match self {
            Self::Open(open) => open.is_exhausted(),
            Self::Closed(closed) => closed.is_exhausted(),
        }
    }

    /// Whether the run's count of requests is used up, so that there is no end to wait for.
    pub(crate) fn is_counted_out(&self) -> bool {
        match self {
            Self::Open(open) => open.is_counted_out(),
            Self::Closed(closed) => closed.is_exhausted(),
        }
    }

    /// Lets no request start whose time is at `end` or later.
    pub(crate) fn stop(&mut self, end: Nanos) {
        match self {
            Self::Open(open) => open.stop(end),
            Self::Closed(closed) => closed.stop(),
        }
    }

    /// What became due before `end` and what was dropped, of arrivals due at or after the start
    /// of measuring, since this was last asked.
    pub(crate) fn tally(&mut self, end: Nanos) -> Tally {
        match self {
            Self::Open(open) => open.tally(end),
            Self::Closed(closed) => closed.tally(),
        }
    }
}
