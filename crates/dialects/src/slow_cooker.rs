//! slow_cooker: a steady rate of HTTP requests for as long as one likes, with a line for each
//! interval.
//!
//! Knows slow_cooker's flags, its lines in both shapes, its summary, its CSV and its metrics. Its
//! differences from the original, with reasons, are in `docs/dialects/slow_cooker.md`.

mod failures;
mod metrics;
mod render;
mod table;
mod tally;

pub(crate) use render::Presentation;
