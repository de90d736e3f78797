//! What users wait for.

use crate::errand::{Errand, Outcome};
use drumfire_units::Nanos;

/// A call of a script that takes time.
#[derive(Debug)]
pub(crate) enum Ask {
    /// Requests, which run at the same time.
    Http(Vec<Errand>),
    /// A pause.
    Sleep(Nanos),
    /// The end of the run, with a reason. The user is not continued.
    Abort(String),
}

/// The answer to an [`Ask`].
#[derive(Debug)]
pub(crate) enum Answer {
    /// The results of the requests, in their order.
    Http(Vec<Outcome>),
    /// The pause is over.
    Woken,
}
