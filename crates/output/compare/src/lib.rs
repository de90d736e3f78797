//! Compares runs: sets, pairs, experiments and histories.
//!
//! Knows which runs may be compared, and what the difference of their figures proves. Must not know
//! the presentation of an answer: no colours, tables or pages. Start reading at [`Comparison`].
//!
//! - [`Compared`] is a run, stored or from the JSON of its summary. The JSON has its end and its
//!   coverage as typed fields, so both kinds of runs are refused for the same reasons; no text of a
//!   run is interpreted.
//! - [`Comparison`] tests a base against a candidate, and [`Baseline`] is a run that is checked
//!   before the load and compared after it.
//! - [`History`] searches the runs of one plan for changes.
//! - [`ToolComparison`] puts results of vLLM, AIPerf and GuideLLM beside each other.
//! - [`contract`] has the JSON documents of summaries, comparisons and histories.
//! - [`plan_facts`] lists the facts of a plan as keys and texts, which compare runs from JSON.

mod answer;
mod baseline;
mod compared;
mod comparison;
pub mod contract;
mod differences;
mod figure;
mod history;
pub mod plan_facts;
mod round;
mod tool_result;

pub use answer::{Answer, CONFIDENCE};
pub use baseline::{Against, Baseline};
pub use compared::Compared;
pub use comparison::{Comparison, Row, Runs, Terms};
pub use differences::Difference;
pub use figure::Figure;
pub use history::{Change, HISTORY_MAX, HISTORY_MIN, History, Track};
pub use round::{ROUNDS_MAX, ROUNDS_MIN, RoundForm, Rounds, RoundsEnd, UnsoundRound};

pub use tool_result::{Tool, ToolComparison, ToolMeasure, ToolResult, ToolRow, ToolStatistic};

pub use drumfire_stats::RUNS_MAX;

/// A count with its noun, in the plural with `s`.
fn counted(count: u64, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", drumfire_units::rounded::count(count))
}
