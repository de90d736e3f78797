//! What recording, merging and judging promise.

mod allocation;
mod answers;
mod histogram;
mod merge;
mod reference;
mod samples;
mod summary;
mod thresholds;
mod timeouts;
mod unfinished;
mod verdict;
