//! The figures of a run as metrics, in the forms that monitoring systems take.
//!
//! Knows the names of the metrics and each form's rules. Must not know sockets or clocks: bytes are
//! given back, and the time is an argument. Start reading at [`Books`], then [`Snapshot`].
//!
//! [`Books`] name the figures of a run's `Reading`, a [`Snapshot`] has all metrics at one moment,
//! and each form is a file that turns it into bytes. `session` serves and pushes these bytes.

mod books;
mod catalogue;
mod distribution;
mod exposition;
mod label_sets;
mod push;
mod scalar;
mod snapshot;

pub use books::Books;
pub use distribution::{BOUNDS, Bound, Distribution, Exponential, ExponentialBucket};
pub use exposition::{Exposition, negotiate};
pub use push::{Coding, Push, PushRequest, Series};
pub use snapshot::{Family, Label, MetricKind, Point, Snapshot, Unit, Value};
