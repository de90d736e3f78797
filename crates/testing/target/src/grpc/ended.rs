//! The end of a call before its method returns.

use super::status::Status;
use crate::stream::Gone;

/// The reason why a call ends before its method returns.
pub(crate) enum Ended {
    /// The call ends with a status.
    Status(Box<Status>),
    /// The call ends without a status: the client has disconnected, or the fault omits the status.
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
