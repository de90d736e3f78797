//! When: exact arrival laws.
//!
//! Compiles a [`drumfire_plan::Sequence`] into arithmetic on an arrival's number n and a time t,
//! and divides it into segments whose union is the whole. Must not know I/O, clocks or bytes.
//! Start reading at [`Schedule`]; a worker walks a [`Segment`] of it, or a [`Course`] where the law
//! may be changed on the way.
//!
//! # The rule
//! Every piece of a sequence counts its own arrivals from 0. With N(t) the integral of the rate
//! since the piece's start, arrival n happens at the exact instant x where N(x) = n, and is due
//! at x rounded down to a whole nanosecond: the greatest t with N(t) ≤ n. A piece of duration d
//! has the arrivals with n < N(d), so that all of them are due strictly before its end, and the
//! next piece begins exactly at the sum of the durations before it. Nothing is accumulated: the
//! comparison N(t) ≤ n is made in integers of up to 256 bits for each arrival (`const` advances
//! by quotient and remainder, which is the same value).
//!
//! Of `stairs`, arrivals are counted from 1 over all its steps, and one may be due at its end.

mod course;
mod curve;
mod error;
mod exponential;
mod level;
mod piece;
mod ratio;
mod schedule;
mod segment;
mod sine;
mod stairs;
mod wide;

pub use course::{Course, CourseChange};
pub use error::{RANDOM_RATE_MAX, ScheduleError};
pub use schedule::Schedule;
pub use segment::{Due, Next, Segment, share};
