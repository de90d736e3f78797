//! The promises of the store: every prefix of a run is a run, and what is whole comes back.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod folder;
mod followers;
mod listing;
mod prefixes;
mod recordings;
mod runs;
