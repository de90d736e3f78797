//! A request that an iteration never reaches, because a condition or a number of passes before it
//! could not be computed.
//!
//! The request counts as due and failed at the time at which the iteration ended, with the reason.
//! An iteration has no record of reasons, and thresholds on failures apply to requests.

use crate::blame::data_outcome;
use drumfire_measure::{Leniencies, Particulars, Sample};
use drumfire_plan::DataError;
use drumfire_units::Nanos;

/// A request that was prevented.
#[derive(Debug)]
pub(crate) struct Prevented {
    /// The request's index in the pool's list.
    pub(crate) request: u32,
    arrival: u64,
    /// The reason why the request is not sent.
    pub(crate) reason: DataError,
}

impl Prevented {
    /// A request, by its index in the pool's list, of the iteration of the arrival with this
    /// number, and the reason why it is not sent.
    pub(super) const fn new(request: u32, arrival: u64, reason: DataError) -> Self {
        Self {
            request,
            arrival,
            reason,
        }
    }

    /// The record of the request, counted in this step. The iteration ended at `at`, and the
    /// request took no time.
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

    /// The facts that the record does not contain.
    pub(crate) const fn particulars(&self, at: Nanos) -> Particulars {
        Particulars {
            arrival: self.arrival,
            began: at,
            written: Nanos::MAX,
        }
    }
}
