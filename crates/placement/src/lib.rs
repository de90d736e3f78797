//! Where a plan's work is done on one machine.
//!
//! Knows how cores, file descriptors and local addresses bound what a plan leaves open. Must not
//! know how a machine is asked for them, or how a run is carried out. Start reading at [`fit()`].
//!
//! A plan means the same on every machine. [`fit()`] turns it into a [`Placement`] for one machine,
//! with the number of threads for `Threads::AsMany` and the limits on connections, or returns the
//! reasons why this machine cannot run it. A run uses both; `drumfire check` prints them apart.

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
