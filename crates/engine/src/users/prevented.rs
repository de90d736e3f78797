//! A request that an iteration never comes to, since a condition or a number of passes before it
//! could not be computed.
//!
//! It counts as due and failed at the time at which the iteration ended for it, with the reason: an
//! iteration has no book of reasons, and thresholds on failures are those of requests.

use crate::blame::data_outcome;
use drumfire_measure::{Leniencies, Particulars, Sample};
use drumfire_plan::DataError;
use drumfire_units::Nanos;

/// A request that was prevented.
#[derive(Debug)]
pub(crate) struct Prevented {
    /// The request's place in the pool's list.
    pub(crate) request: u32,
    arrival: u64,
    /// The reason for which it is not sent.
    pub(crate) reason: DataError,
}

impl Prevented {
    /// A request, by its place in the pool's list, of the iteration of an arrival of this number,
    /// and the reason for which it is not sent.
    pub(super) const fn new(request: u32, arrival: u64, reason: DataError) -> Self {
        Self {
            request,
            arrival,
            reason,
        }
    }

    /// The record of it, as a request of this step whose iteration ended then: it has taken no time.
    pub(crate) fn sample(&self, step: u16, at: Nanos) -> Sample {
        Sample {
            intended: at,
            due: at,
            sent: at,
            first_byte: Nanos::MAX,
            end: at,
            bytes_sent: 0,
            outcome: data_outcome(self.reason.cause),
            leniencies: Leniencies::default(),
            bytes_received: 0,
            status: 0,
            step,
        }
    }

    /// The facts beside its record.
    pub(crate) const fn particulars(&self, at: Nanos) -> Particulars {
        Particulars {
            arrival: self.arrival,
            began: at,
            written: Nanos::MAX,
        }
    }
}
