//! Mistakes in the settings of a run's metrics.

use drumfire_document::{Place, Text};
use drumfire_units::system_words;
use std::fmt;
use std::io;

/// Why the metrics of a run cannot be served or pushed as configured. Each variant has the place of
/// the setting, so that a caller can point to it.
#[derive(Debug)]
pub enum MeteringError {
    /// The address of the page cannot be listened on.
    Listen {
        /// The address.
        address: Text,
        /// The reason.
        error: io::Error,
    },
    /// A receiver's URL or header field is wrong.
    Receiver {
        /// The place of the setting.
        place: Place,
        /// The mistake.
        reason: String,
    },
    /// Header fields without a receiver.
    NoReceiver {
        /// The place of the first field.
        place: Place,
    },
    /// The time for which the page stays is invalid.
    Linger {
        /// The place of the setting.
        place: Place,
        /// The mistake.
        reason: String,
    },
    /// A time for which a page stays, without a page.
    NoPage {
        /// The place of the setting.
        place: Place,
    },
}

impl fmt::Display for MeteringError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Listen { address, error } => {
                let (place, shown) = (&address.place, address.value.escape_debug());
                let why = why_not_listening(error);
                write!(f, "{place}: can't listen on `{shown}`: {why}")
            }
            Self::Receiver { place, reason } | Self::Linger { place, reason } => {
                write!(f, "{place}: {reason}")
            }
            Self::NoReceiver { place } => write!(f, "{place}: no receiver is set"),
            Self::NoPage { place } => write!(f, "{place}: no metrics page is served"),
        }
    }
}

/// Why an address cannot be listened on, with a remedy if another process uses it.
#[must_use]
pub fn why_not_listening(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::AddrInUse => "another process uses this address; stop it, choose another \
                                     port, or use port 0 to pick a free one"
            .to_owned(),
        _ => system_words(error),
    }
}

impl std::error::Error for MeteringError {}
