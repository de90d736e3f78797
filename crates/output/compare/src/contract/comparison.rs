//! A comparison of runs.

use super::Named;
use crate::answer::Answer;
use crate::round::{RoundForm, RoundsEnd};
use drumfire_measure::TargetState;
#[cfg(test)]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The comparison of a base and a candidate, written by drumfire compare and drumfire ab. Times are
/// in nanoseconds, shares from 0 to 1, rates in 1/s. Later versions only add fields: ignore unknown
/// fields.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Document {
    /// The name and version of this format.
    #[cfg_attr(test, schemars(extend("const" = super::COMPARISON_SCHEMA)))]
    pub schema: String,
    /// The answer for all figures: worse if any figure is worse, otherwise better if any is better,
    /// and equal if all are equal. Null for a single pair of runs, which never has an answer.
    pub answer: Option<Named<Answer>>,
    /// The smallest shift that matters; a smaller shift counts as equal.
    pub least: f64,
    /// The confidence of the answer: equal sides are called different in at most the rest of all
    /// comparisons. The interval of a figure has its own confidence.
    pub confidence: f64,
    /// One side: its runs in order of time.
    pub base: Side,
    /// One side: its runs in order of time.
    pub candidate: Side,
    /// The facts of the plans in which the runs differ, except those that are refused and the
    /// authority of the target. Empty if there are none.
    pub differences: Vec<Differing>,
    /// The experiment that made the runs; null if the runs were given to drumfire compare.
    pub rounds: Option<Experiment>,
    /// The figures that all runs have. A figure that any run lacks is left out.
    pub figures: Vec<Figure>,
    /// Reasons to trust the answers less, in plain words.
    pub cautions: Vec<String>,
}

/// One side: its runs in order of time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Side {
    /// The target of the first run, without secrets.
    pub target: String,
    /// The names of the runs, oldest first.
    pub runs: Vec<String>,
    /// The state of the target in each run, in the order of runs.
    pub target_states: Vec<Named<TargetState>>,
}

/// A fact in which the runs differ.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Differing {
    /// The key of the setting, as in `run.plan` of a summary; also path, tls, `tls_verified`, spin,
    /// `adaptive_wait` and version.
    pub key: String,
    /// The values of the base's runs, each once; none if the plan lacks the setting.
    pub base: Vec<String>,
    /// The values of the candidate's runs, each once.
    pub candidate: Vec<String>,
}

/// The experiment that made the runs; null if the runs were given to drumfire compare.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Experiment {
    /// The planned number of rounds.
    pub planned: usize,
    /// The number of completed rounds, each with a run of both sides.
    pub made: usize,
    /// Whether the runs of a round were made in turn or at the same time.
    pub form: Named<RoundForm>,
    /// Why the experiment ended: all rounds were made, an answer was shown, a signal arrived, or
    /// too many rounds had a run that can't be compared.
    pub ended: Named<RoundsEnd>,
    /// The runs that can't be compared. Their rounds were made again, except the last one if the
    /// experiment ended for it.
    pub unsound: Vec<Unsound>,
}

/// A run that cannot be compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Unsound {
    /// The number of the round.
    pub round: usize,
    /// The side of the run.
    pub side: String,
    /// Why it can't be compared, in plain words.
    pub reason: String,
}

/// A figure of both sides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Figure {
    /// A quantile of the model's latency, the share of failed requests, or the rate. A single pair
    /// of runs also has deciles and p99.9.
    pub name: String,
    /// The unit of both values.
    pub unit: String,
    /// The median of the runs of the base.
    pub base: f64,
    /// The median of the runs of the candidate.
    pub candidate: f64,
    /// The candidate's value divided by the base's, minus 1; for failures, the difference of the
    /// shares.
    pub shift: f64,
    /// The lower and the upper end of the interval of the shift, at the level at which the figure
    /// is tested beside the others: it excludes 0 exactly if the difference is improbable. Null if
    /// there are too few runs for an interval, or if a run of a pair was read from JSON.
    pub interval: Option<(f64, f64)>,
    /// The confidence of the interval. Null without an interval.
    #[serde(default)]
    pub interval_confidence: Option<f64>,
    /// The number of rounds, or of runs of each side, with which runs of this spread would show or
    /// exclude the smallest shift that matters. Null if it is above 60 or unknown.
    #[serde(default)]
    pub needed: Option<usize>,
    /// The probability that equal sides differ this much, corrected for the number of figures and
    /// of looks. Null for a single pair.
    pub p: Option<f64>,
    /// The smallest shift that four of five experiments with this spread find. Null for runs that
    /// no experiment made.
    pub detectable: Option<f64>,
    /// The answer for the figure. Null for a single pair.
    pub answer: Option<Named<Answer>>,
}
