//! Exact quantities, what every other crate counts in, and the random numbers of a seed.
//!
//! Knows integers with a unit and their text forms, and sequences that are the same everywhere. Must
//! not know clocks, plans or I/O.
//! Start reading at [`Nanos`]; [`Rate`] is the other type with arithmetic of its own. [`Random`] is
//! what data and tests draw from, [`Xoshiro256`] what times do.
//!
//! The sequence of a seed never changes, because a seed repeats a run. These types are below
//! `plan`, so that `net`, the target and the tests can use them without knowing plans.

mod nanos;
mod random;
mod rate;
pub mod rounded;
mod size;
pub mod utf8;
mod xoshiro;

pub use nanos::{Nanos, ParseNanosError};
pub use random::Random;
pub use rate::{ParseRateError, Rate, rate_in_words};
pub use size::{ByteSize, ParseByteSizeError};
pub use xoshiro::Xoshiro256;
