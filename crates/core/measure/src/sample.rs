//! The record of one finished exchange.
//!
//! The engine makes exactly one sample per exchange, for any end, and every figure of a run follows
//! from samples and from arrivals that never became one. Its times are ordered: intended ≤ due ≤
//! sent ≤ end, so the differences below are never negative. A sample has no text and no reference,
//! and fits in a cache line. Additional data for outputs of every sample is in [`Kept`], which
//! costs nothing for other plans.
//!
//! docs/design/01-time-and-blame.md#lag-and-waiting has the reason why `due` separates waiting from
//! lag.

pub(crate) mod form;

use crate::{Detail, KeptAnswer, Leniencies, Outcome};
use drumfire_units::Nanos;

/// One exchange, recorded once, after it has ended. Times count from the run's start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// The request's intended start.
    pub intended: Nanos,
    /// The later of `intended` and the moment when a connection was free to take the request. The
    /// time before is waiting, caused by the target; the time until `sent` is our own lag.
    pub due: Nanos,
    /// The time just before the first write was passed to the kernel. If nothing was written
    /// because no connection could be opened, the end: all of the time is then waiting and lag.
    pub sent: Nanos,
    /// The arrival of the response's first byte; [`Nanos::MAX`] if none arrived.
    pub first_byte: Nanos,
    /// The end of the exchange, with any outcome.
    pub end: Nanos,
    /// Bytes written to the connection.
    pub bytes_sent: u32,
    /// The outcome of the exchange.
    pub outcome: Outcome,
    /// The accepted violations in the response.
    pub leniencies: Leniencies,
    /// Bytes read from the connection.
    pub bytes_received: u64,
    /// The final status; 0 if none arrived.
    pub status: u16,
    /// The step: an index into the plan's distinct step names.
    pub step: u16,
}

/// Facts of an exchange that no figure uses, for outputs with a row for every sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Particulars {
    /// The number of the iteration's arrival within the run, from 0.
    pub arrival: u64,
    /// The time at which the exchange was given to a connection, or began to wait for one to be
    /// opened.
    pub began: Nanos,
    /// The time at which the last byte of the request was passed to the kernel; [`Nanos::MAX`] if
    /// it was not.
    pub written: Nanos,
}

/// A sample that is passed on individually, if the plan keeps every sample. It has a separate
/// channel, and is not in the intervals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// The sample.
    pub sample: Sample,
    /// Further facts of the exchange.
    pub particulars: Particulars,
    /// The detail of a failure, in addition to its outcome: bounded, but otherwise as received from
    /// the server or the system.
    pub detail: Option<Box<Detail>>,
    /// The answer, if the response was read as one of a language model.
    pub answer: Option<Box<KeptAnswer>>,
    /// The number of the pool in the plan, from 0.
    pub pool: u16,
}

const _: () = assert!(size_of::<Sample>() <= 64, "a sample fits a cache line");

impl Sample {
    /// `end − intended`: the time that a user of the target waited.
    #[inline]
    #[must_use]
    pub fn response_time(&self) -> Nanos {
        self.end - self.intended
    }

    /// `end − sent`.
    #[inline]
    #[must_use]
    pub fn service_time(&self) -> Nanos {
        self.end - self.sent
    }

    /// `due − intended`: the wait for a free connection.
    #[inline]
    #[must_use]
    pub fn waiting(&self) -> Nanos {
        self.due - self.intended
    }

    /// Whether the exchange was given to a connection. If not, it ended while its connection was
    /// opened, and has no service time.
    #[inline]
    #[must_use]
    pub fn was_sent(&self) -> bool {
        self.sent < self.end || self.bytes_sent > 0
    }

    /// `sent − due`: our own lateness.
    #[inline]
    #[must_use]
    pub fn lag(&self) -> Nanos {
        self.sent - self.due
    }
}
