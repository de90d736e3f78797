//! A mistake in the bytes of a message, with its place.

use crate::wire::WireFault;

/// A mistake, and the numbers of the fields on the path to it, innermost first.
pub(crate) struct Fault {
    pub(crate) reason: WireFault,
    pub(crate) path: Vec<u32>,
}

impl From<WireFault> for Box<Fault> {
    #[cold]
    fn from(reason: WireFault) -> Self {
        let path = Vec::new();
        Self::new(Fault { reason, path })
    }
}

/// The fault from the point of view of an enclosing message.
#[cold]
pub(crate) fn within(number: u32, mut fault: Box<Fault>) -> Box<Fault> {
    // If there are many levels, only the innermost are named.
    const LEVELS: usize = 8;
    if fault.path.len() < LEVELS {
        fault.path.push(number);
    }
    fault
}
