//! What scripts of k6 configure and what they are judged by: options, scenarios, metrics and thresholds.
//!
//! The facts are k6 v2.2's: which source of options wins, what a shortcut such as `vus` and `duration` means,
//! how a threshold reads, and how a percentile is computed. This crate sends nothing and runs nothing, and must not
//! know plans or engines of JavaScript. Start
//! reading at [`Options`], then [`Threshold`].

mod duration;
mod error;
mod executor;
mod metric;
mod options;
mod scenario;
mod starts;
mod threshold;

pub use duration::parse as parse_duration;
pub use error::OptionsError;
pub use executor::{Executor, Stage, Users};
pub use metric::{Kind, Sink, Values};
pub use options::{Layer, Options};
pub use scenario::Scenario;
pub use starts::{Arrivals, Change, changes};
pub use threshold::{Method, Relation, Selection, Threshold, ThresholdRule};
