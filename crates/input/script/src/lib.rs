//! Functions of a plan in JavaScript, for logic that plan data cannot express.
//!
//! Knows how a script is loaded, called, and stopped if it exceeds its limits. A script has no
//! files, no network and no clock: time and random numbers come from the request for which it is
//! called. Must not know protocols or connections. Start reading at [`Script`].
//!
//! Each thread has its own interpreter, with limits on memory, stack and steps.

mod error;
mod host;
mod interpreter;
mod script;
mod search;

pub use error::ScriptError;
pub use interpreter::{MEMORY_MAX, STACK_MAX, STEPS_MAX};
pub use script::Script;
