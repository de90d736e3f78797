//! The promises of recording, merging and judging.

mod allocation;
mod answers;
mod asked;
mod codec;
mod commands;
mod digest;
mod drift;
mod events;
mod histogram;
mod iterations;
mod merge;
mod reference;
mod samples;
mod settling;
mod stages;
mod summary;
mod thresholds;
mod timeline;
mod timeouts;
mod unfinished;
mod verdict;
