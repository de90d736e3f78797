//! A mistake in the bytes of a message, with its place.

use crate::wire::Reason;

/// A mistake, and the numbers of the fields that lead to it, the innermost first.
pub(crate) struct Fault {
    pub(crate) reason: Reason,
    pub(crate) path: Vec<u32>,
}

impl From<Reason> for Box<Fault> {
    #[cold]
    fn from(reason: Reason) -> Self {
        let path = Vec::new();
        Self::new(Fault { reason, path })
    }
}

/// The same fault, seen from a message further out.
#[cold]
pub(crate) fn within(number: u32, mut fault: Box<Fault>) -> Box<Fault> {
    // Of many levels those next to the fault are named.
    const LEVELS: usize = 8;
    if fault.path.len() < LEVELS {
        fault.path.push(number);
    }
    fault
}
