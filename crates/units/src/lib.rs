//! Exact quantities: what every other crate counts in.
//!
//! Knows integers with a unit and their text forms. Must not know clocks, plans or I/O.
//! Start reading at [`Nanos`]; [`Rate`] is the other type with arithmetic of its own.

mod nanos;
mod rate;
pub mod rounded;
mod size;

pub use nanos::{Nanos, ParseNanosError};
pub use rate::{ParseRateError, Rate, rate_in_words};
pub use size::{ByteSize, ParseByteSizeError};
