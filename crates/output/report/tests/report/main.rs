//! Real summaries through every format: golden pages, the JSON schema, and what holds for all.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on fails by a panic"
)]

mod capacity;
mod comparison;
mod csv;
mod failures;
mod fixture;
mod history;
mod hlog;
mod interval_lines;
mod json;
mod junit;
mod markdown;
mod names;
mod pages;
mod progress_line;
mod request_rows;
mod run_list;
mod sparks;
mod text;
