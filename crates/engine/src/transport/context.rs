//! The parts that the transport borrows from its owner: the driver, the handler to which wires
//! report, and the timers.

use crate::timers::Timers;

/// The parts that the transport borrows for a call.
pub(crate) struct Context<'a, I, H> {
    pub(crate) io: &'a mut I,
    pub(crate) handler: &'a mut H,
    pub(crate) timers: &'a mut Timers,
}
