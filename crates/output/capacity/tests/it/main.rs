//! Searches of simulated targets, in virtual time: an interval lasts one second.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test may fail, and the long one prints a table"
)]

mod search;
mod servers;
mod target;
