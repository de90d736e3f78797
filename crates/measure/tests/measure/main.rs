//! What recording, merging and judging promise.

mod allocation;
mod histogram;
mod merge;
mod samples;
mod summary;
mod thresholds;
mod verdict;
