//! Ends of a call before its method has one.

use super::status::Status;
use crate::stream::Gone;

/// Why a call is over before its method is.
pub(crate) enum Ended {
    /// It has a status.
    Status(Box<Status>),
    /// None: the client is gone, or the fault was to leave it out.
    Gone,
}

impl From<Status> for Ended {
    fn from(status: Status) -> Self {
        Self::Status(Box::new(status))
    }
}

impl From<Gone> for Ended {
    fn from(_: Gone) -> Self {
        Self::Gone
    }
}

impl From<h2::Error> for Ended {
    fn from(_: h2::Error) -> Self {
        Self::Gone
    }
}
