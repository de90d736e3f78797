//! When requests start: exact arrival laws.
//!
//! Compiles a [`drumfire_plan::Sequence`] into arithmetic on an arrival's number n and a time t,
//! and divides it into segments whose union is the whole schedule. Must not know I/O, clocks or
//! bytes. Start reading at [`Schedule`]; a worker iterates over a [`Segment`] of it, or over a
//! [`Course`] if the law may change during the run.
//!
//! # The rule
//! Each piece of a sequence counts its arrivals from 0. With N(t) as the integral of the rate since
//! the start of the piece, arrival n happens at the exact time x with N(x) = n. It is due at x
//! rounded down to a whole nanosecond: the largest t with N(t) ≤ n. A piece with duration d has the
//! arrivals with n < N(d), so all of them are due strictly before its end, and the next piece
//! starts exactly at the sum of the previous durations. Nothing is accumulated: for each arrival,
//! N(t) ≤ n is compared with integers of up to 256 bits (`const` advances by quotient and
//! remainder, with the same result).
//!
//! The arrivals of `stairs` are counted from 1 over all its steps, and one may be due at its end.

mod course;
mod curve;
mod error;
mod exponential;
mod gamma;
mod gaps;
mod level;
mod piece;
mod ratio;
mod schedule;
mod segment;
mod sine;
mod stairs;
mod wide;

pub use course::{Course, CourseChange};
pub use error::{GAMMA_RATE_MAX, RANDOM_RATE_MAX, ScheduleError};
pub use schedule::Schedule;
pub use segment::{Due, Next, Segment, share};
