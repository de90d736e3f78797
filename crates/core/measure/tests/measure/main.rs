//! The guarantees of recording, merging and judging.

mod allocation;
mod answers;
mod asked;
mod commands;
mod digest;
mod drift;
mod events;
mod form;
mod histogram;
mod iterations;
mod llm;
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
