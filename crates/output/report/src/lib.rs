//! Plans, summaries and events to bytes: text for people, JSON and CSV for programs.
//!
//! Knows how results look. Must not know I/O, clocks or the engine: every function is pure, and the
//! caller writes its result. Text from outside passes [`untrusted::Untrusted`], secrets pass
//! [`secret`]. Start reading at [`style::Style`].
//!
//! What a run, a comparison, a history, a capacity or a list of runs has to show is built once, as
//! sections of typed tables and facts (`section`, `grid`). [`text`], [`html`] and [`markdown`] print
//! sections; [`figure`] describes the pictures in the same way.
//!
//! - From a finished [`Summary`](drumfire_measure::Summary): [`text`], [`html`], [`markdown`],
//!   [`junit`], [`github`], [`json::summary`], [`csv::histogram`], [`hlog`].
//! - From the intervals of a run, one after the other: [`progress_line`], [`interval_lines`], [`json::interval()`],
//!   [`csv::interval`].
//! - For the full screen, from a summary that was closed as if the run ended now: [`screen`],
//!   [`text::rows`].
//! - From stored runs: [`run_list`], [`json::runs`], [`history`], [`comparison`].
//! - From a plan before its run: [`plan_preview()`]; from single exchanges: [`show`].
//!
//! No format computes a figure. Those for people round it; those for programs print it whole, in
//! nanoseconds, bytes and shares, and only ever gain fields.
//!
//! Text that a server, a file or another person's plan may have chosen is masked and escaped by the
//! function that prints it. The session masks the plan's secrets by value in the result
//! ([`drumfire_plan::Secrets`]) and writes it, so that an output is complete before any of it is
//! written.

mod answers;
pub mod bar;
mod calendar;
pub mod capacity;
pub mod comparison;
pub mod csv;
mod failure_kind;
pub mod figure;
pub mod github;
mod grid;
pub mod history;
pub mod hlog;
pub mod html;
pub mod interval_lines;
pub mod json;
pub mod junit;
pub mod line;
pub mod markdown;
mod marked_line;
mod markup;
mod named_file;
mod page;
mod plan_name;
mod plan_preview;
pub mod progress_line;
mod quantity;
mod remedy;
mod request_order;
mod request_rows;
pub mod run_list;
pub mod screen;
mod section;
pub mod show;
mod status;
mod step_name;
pub mod style;
mod table;
pub mod text;
pub mod untrusted;
pub mod vllm;

pub use drumfire_plan::secret;
pub use marked_line::{Spot, marked_line};
pub use named_file::NamedFile;
pub use plan_preview::plan_preview;
pub use remedy::{Naming, remedy, sentence};
pub use request_rows::{RequestRows, RowAnswers, RowForm};
pub use status::reason_phrase;
