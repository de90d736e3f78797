//! The search for a target's capacity: the maximum rate at which the target keeps its service level
//! objectives.
//!
//! Knows rates, shares of requests beyond a bound, and the elapsed time. Must not know the
//! requests, the source of a rate, or the words of an answer. Start reading at [`Search`]; its
//! result is a [`Finding`].
//!
//! `measure` compares an interval with an objective; `session` turns acts into commands.
//!
//! A [`Search`] is a machine without I/O: it takes an [`Observation`] of each interval of a run,
//! and returns the next [`Act`]. It brackets the capacity by steps, holds the load at which the
//! share of requests beyond the objective is as large as allowed, and confirms a rate just below.
//! The reasons are in `docs/design/08-comparing-and-capacity.md#capacity`.

mod answer;
mod bracket;
mod confirm;
mod drain;
mod estimate;
mod finding;
mod hold;
mod medians;
mod observation;
mod samples;
mod saturation;
mod search;
mod step;
mod terms;

pub use answer::{Answer, Capacity, Confirmation, Trend, Why};
pub use finding::{Bottleneck, CourseStage, Finding, KneeRow};
pub use observation::{Observation, Tally};
pub use search::{Act, Progress, Search, Stage};
pub use terms::{Slo, Terms};
