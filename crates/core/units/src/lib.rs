//! Exact quantities for all other crates, and random numbers from a seed.
//!
//! Knows integers with a unit and their text forms, random sequences that are equal on every
//! platform, and the words for errors of the operating system. Must not know clocks, plans or I/O.
//! Start reading at [`Nanos`]; [`Rate`] is the other type with arithmetic. Data and tests use
//! [`Random`]; times use [`Xoshiro256`].
//!
//! The sequence of a seed never changes, because a seed makes a run reproducible. These types are
//! below `plan`, so that `net`, the target and the tests can use them without knowing plans.

mod nanos;
mod random;
mod rate;
pub mod rounded;
mod size;
mod system_words;
pub mod utf8;
mod xoshiro;

pub use nanos::{Nanos, ParseNanosError};
pub use random::Random;
pub use rate::{ParseRateError, Rate, rate_in_words};
pub use size::{ByteSize, ParseByteSizeError};
pub use system_words::system_words;
pub use xoshiro::Xoshiro256;
