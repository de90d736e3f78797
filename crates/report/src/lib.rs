//! Plans, summaries and events to bytes: text for people, JSON and CSV for programs.
//!
//! Knows how results look. Must not know I/O, clocks or the engine: every function is pure, and the
//! caller writes its result. Text from outside passes [`untrusted::Untrusted`], secrets pass
//! [`secret`]. Start reading at [`style::Style`].
//!
//! The formats are in three groups, by what they are made from:
//!
//! - [`text`], [`json::summary`], [`csv::histogram`], [`html`], [`markdown`], [`junit`], [`hlog`],
//!   [`github`] and the pictures ([`figure`]) take a [`Summary`](drumfire_measure::Summary) whose
//!   books are closed; [`listing`], [`json::runs`] and [`history`] the digests of several.
//! - [`live`], [`interval`], [`json::interval()`] and [`csv::interval`] take the intervals of a run
//!   under way, one after the other. A caller that is late gives a merged interval and gets a
//!   coarser line.
//! - [`glance`] and [`text::rows`] take the books of a run under way as they would be closed now, for
//!   a screen, and give rows whose inks it draws ([`mod@line`]).
//! - [`outlook()`] takes a plan that was not run, and [`show`] exchanges in full.
//!
//! No format computes a figure. Those for people round it ([`style`] says in which letters);
//! those for programs print it whole, in nanoseconds, bytes and shares, and only ever gain fields.
//!
//! A text that a server, a file or another person's plan may have chosen is escaped and masked at
//! the last moment, in the function that prints it, so that no format depends on the care of
//! another.
//!
//! A report is made in three steps that no function of this crate joins. `measure` closes the books
//! and judges; a function here makes the bytes; the session masks the plan's secrets in them by
//! value ([`drumfire_plan::Secrets`]) and writes them. So a format needs neither the plan's secrets nor a file to
//! be tested, and an output is complete before any of it is written.
//!
//! A new format is a file with one function from a summary or a row to text or bytes. It takes its
//! numbers as texts from `quantity`, its answers from `answers`, its remedies from [`remedy()`],
//! and its table of steps from `step_rows`, where two formats would otherwise come to differ.

mod answers;
pub mod bar;
mod calendar;
pub mod capacity;
pub mod comparison;
mod connection_facts;
pub mod csv;
mod excerpt;
pub mod figure;
pub mod github;
pub mod glance;
pub mod history;
pub mod hlog;
pub mod html;
pub mod interval;
pub mod json;
pub mod junit;
mod latency_rows;
pub mod line;
pub mod listing;
pub mod live;
pub mod markdown;
mod markup;
mod named_file;
mod outlook;
mod page;
mod quantity;
mod remedy;
mod request_order;
mod request_rows;
pub mod show;
mod status;
mod step_rows;
pub mod style;
mod table;
pub mod text;
pub mod untrusted;

pub use drumfire_plan::secret;
pub use excerpt::{Spot, excerpt};
pub use named_file::NamedFile;
pub use outlook::outlook;
pub use remedy::{Naming, remedy, sentence};
pub use request_rows::{RequestRows, RowForm};
pub use status::reason_phrase;
