//! The figures of a run as metrics, in the formats of monitoring systems.
//!
//! Knows the names of the metrics and the rules of each format. Must not know sockets or clocks:
//! functions return bytes, and the time is an argument. Start reading at [`Books`], then
//! [`Snapshot`].
//!
//! [`Books`] assign names to the figures of a run's `Reading`, a [`Snapshot`] has all metrics at
//! one moment, and each format is a file that converts it to bytes. `session` serves and pushes
//! these bytes.

mod books;
mod catalogue;
mod distribution;
mod exposition;
mod label_sets;
mod push;
mod scalar;
mod server;
mod snapshot;

pub use books::Books;
pub use distribution::{
    BOUNDS, BucketBound, ExponentialBucket, ExponentialHistogram, TimeDistribution,
};
pub use exposition::{Exposition, negotiate};
pub use push::{Coding, Push, PushRequest, Series};
pub use server::ServerCounters;
pub use snapshot::{Family, Label, MetricKind, Point, Snapshot, Unit, Value};
