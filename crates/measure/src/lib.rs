//! What happened: samples, histograms, intervals, summaries, health, thresholds.
//!
//! Knows how to record, merge and judge. Must not know I/O or clocks: every time is an argument.
//! Start reading at [`Sample`], then [`Interval`], then [`Summary`].

mod leniency;
mod outcome;
mod sample;

pub use leniency::{Leniencies, Leniency};
pub use outcome::{Blame, Outcome};
pub use sample::Sample;
