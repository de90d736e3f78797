//! The record of one finished exchange.
//!
//! The engine makes exactly one sample for each exchange, whatever its end, and every figure of a
//! run follows from samples and from arrivals that never became one. Its times are ordered:
//! intended ≤ due ≤ sent ≤ end, so that the differences below are never negative. A sample has no
//! text and no reference, and fits a cache line; what outputs of every sample need beyond it stands
//! in [`Kept`], which only plans that ask for it pay for.
//!
//! docs/design/01-time-and-blame.md#lag-and-waiting has the reason why `due` separates waiting from
//! lag.

pub(crate) mod form;

use crate::{Detail, Leniencies, Outcome};
use drumfire_units::Nanos;

/// One exchange, made once, when it has ended in any way. Times count from the run's start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// The request's start by the schedule.
    pub intended: Nanos,
    /// The later of `intended` and the moment a connection was free to take the request. What lies
    /// between is waiting that the target caused; what follows until `sent` is our own lag.
    pub due: Nanos,
    /// Just before the first write was handed to the kernel. Where nothing was written since no
    /// connection could be opened for it, its end: all of its time is waiting and lag.
    pub sent: Nanos,
    /// The arrival of the response's first byte; [`Nanos::MAX`] where none came.
    pub first_byte: Nanos,
    /// The end of the exchange, in whichever way.
    pub end: Nanos,
    /// Bytes written to the connection.
    pub bytes_sent: u32,
    /// The outcome of the exchange.
    pub outcome: Outcome,
    /// The forgiven mistakes of the response.
    pub leniencies: Leniencies,
    /// Bytes read from the connection.
    pub bytes_received: u64,
    /// The final status; 0 where none came.
    pub status: u16,
    /// Its step: an index into the plan's distinct step names.
    pub step: u16,
}

/// Facts of an exchange that no figure is made of, for outputs that have a row for every sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Particulars {
    /// The number of its iteration's arrival within the run, from 0.
    pub arrival: u64,
    /// The time at which it was given to a connection, or began to wait for one that was to be
    /// opened.
    pub began: Nanos,
    /// The time at which the last byte of the request was handed to the kernel; [`Nanos::MAX`]
    /// where it was not.
    pub written: Nanos,
}

/// A sample that is handed on as it is, where the plan asks for every one. It goes beside the
/// intervals on a channel of its own, and is in no interval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// The sample.
    pub sample: Sample,
    /// Facts of the exchange beside it.
    pub particulars: Particulars,
    /// The detail of a failure, beyond its outcome: bounded, but otherwise as the server or the
    /// system gave it.
    pub detail: Option<Box<Detail>>,
    /// The number of its pool in the plan, from 0.
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

    /// Whether the exchange came to a connection. One that ended while its connection was opened
    /// did not, and has no service time.
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
