//! Places a plan's work on one machine.
//!
//! Knows how cores, file descriptors and local addresses limit the open settings of a plan. Must
//! not know how these facts of a machine are read, or how a run works. Start reading at [`fit()`].
//!
//! A plan means the same on every machine. [`fit()`] converts it to a [`Placement`] for one
//! machine, with the number of threads for `Threads::AsMany` and the limits on connections, or
//! returns the reasons why this machine cannot run the plan. A run uses both the plan and the
//! placement; `drumfire check` prints them separately.

mod clamp;
mod fit;
mod late_begin;
mod machine;
mod part;
mod placement;

pub use clamp::Clamp;
pub use fit::{Unfit, fit};
pub use late_begin::{LateBegin, LateBeginReason, late_begin};
pub use machine::{DESCRIPTORS_SPARE, Machine};
pub use part::Part;
pub use placement::Placement;
