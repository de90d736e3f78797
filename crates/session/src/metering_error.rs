//! Mistakes in the settings of a run's metrics.

use drumfire_document::{Place, Text};
use std::fmt;
use std::io;

/// The reason for which the metrics of a run can't be served or pushed as its outputs have it. Each
/// names the place of the setting, so that a caller can point at it.
#[derive(Debug)]
pub enum MeteringError {
    /// The address of the page can't be listened on.
    Listen {
        /// The address.
        address: Text,
        /// The reason.
        error: io::Error,
    },
    /// A receiver's URL or header field is wrong.
    Receiver {
        /// The place at which it was written.
        place: Place,
        /// The mistake.
        reason: String,
    },
    /// Header fields without a receiver to send them to.
    NoReceiver {
        /// The place at which the first of them was written.
        place: Place,
    },
    /// The time for which the page stays is wrong.
    Linger {
        /// The place at which it was written.
        place: Place,
        /// The mistake.
        reason: String,
    },
    /// A time without a page that could stay for it.
    NoPage {
        /// The place at which it was written.
        place: Place,
    },
}

impl fmt::Display for MeteringError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Listen { address, error } => {
                let (place, shown) = (&address.place, address.value.escape_default());
                write!(f, "{place}: can't listen on `{shown}`: {error}")
            }
            Self::Receiver { place, reason } | Self::Linger { place, reason } => {
                write!(f, "{place}: {reason}")
            }
            Self::NoReceiver { place } => write!(f, "{place}: no receiver is set"),
            Self::NoPage { place } => write!(f, "{place}: no metrics page is served"),
        }
    }
}

impl std::error::Error for MeteringError {}
