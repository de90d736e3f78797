//! What the transport borrows from its worker.

use crate::timers::Timers;

/// The parts that the transport borrows for a call.
pub(crate) struct Context<'a, I, H> {
    pub(crate) io: &'a mut I,
    pub(crate) handler: &'a mut H,
    pub(crate) timers: &'a mut Timers,
}
