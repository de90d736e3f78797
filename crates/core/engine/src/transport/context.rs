//! The parts that the transport borrows from its owner: the driver, the handler of wire events, and
//! the timers.
//!
//! Each call gets a new context. The handler is a type parameter instead of a trait object, because
//! its methods run for each response and are inlined into the wires.

use crate::timers::Timers;

/// The parts that the transport borrows for a call.
pub(crate) struct Context<'a, I, H> {
    pub(crate) io: &'a mut I,
    pub(crate) handler: &'a mut H,
    pub(crate) timers: &'a mut Timers,
}
