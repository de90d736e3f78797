//! Searches against simulated targets, in virtual time: a second is an interval.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod search;
mod servers;
mod target;
