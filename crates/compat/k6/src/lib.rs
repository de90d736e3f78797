//! What scripts of k6 configure, what they are judged by, what they report, and the libraries that they import.
//!
//! The facts are k6 v2.2's: which source of options wins, what a shortcut such as `vus` and `duration` means,
//! how a threshold reads, how a percentile is computed, and how results are written. This crate sends nothing
//! and runs nothing, and must not know plans or engines of JavaScript. Start reading at [`Options`], then
//! [`Threshold`]; for results at [`Registry`], which counts samples, then [`Summary`], [`JsonRows`] and
//! [`CsvRows`], which write them. [`library`] has the modules that need no network.

mod banner;
mod duration;
mod error;
mod executor;
#[cfg(test)]
mod golden;
mod inspect;
mod jslib;
mod metric;
mod metrics;
mod options;
mod rows;
mod scenario;
mod starts;
mod summary;
mod template;
mod threshold;

pub use banner::{Requirements, describe_scenarios};
pub use duration::parse as parse_duration;
pub use error::OptionsError;
pub use executor::{Executor, Stage, Users};
pub use inspect::{go_duration, inspect};
pub use jslib::library;
pub use metric::{Kind, Sink, Values};
pub use metrics::{
    Check, Contains, Detail, Group, Metric, MetricError, MetricId, Part, Registry, Sample, Section,
    Tags,
};
pub use options::{Layer, Options};
pub use rows::{CsvRows, CsvTarget, JsonRows, SYSTEM_TAGS, TimeFormat};
pub use scenario::Scenario;
pub use starts::{Arrivals, Change, changes};
pub use summary::{Colors, Mode, Origin, Output, Summary, Surroundings, TimeUnit, TrendStat};
pub use template::Template;
pub use threshold::{Method, Relation, Selection, Threshold, ThresholdRule};
