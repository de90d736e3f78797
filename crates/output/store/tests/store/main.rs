//! The guarantees of the store: every prefix of a run is a run, and a complete run is read back
//! unchanged.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod folder;
mod followers;
mod listing;
mod prefixes;
mod recordings;
mod runs;
