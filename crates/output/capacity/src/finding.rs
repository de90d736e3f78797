//! The result of a search, filled while its run is active.

use crate::{Answer, Stage, Trend, Why};
use drumfire_measure::{Histogram, Objective, form};
use drumfire_units::Nanos;

/// A search and its result.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The id of the search's run.
    pub run: String,
    /// The target of the run.
    pub target: String,
    /// The answer.
    pub answer: Answer,
    /// The objectives, in their order.
    pub objectives: Vec<Objective>,
    /// The rates that were tried.
    pub knee: Vec<KneeRow>,
    /// The stages of the search in order of time. Neighbours differ.
    pub course: Vec<CourseStage>,
    /// What bounds the rate; `None` if nothing was found.
    pub bottleneck: Option<Bottleneck>,
    /// The most frequent failure, if any.
    pub failure: Option<String>,
    /// The generator's problems, if it could not measure the target.
    pub reasons: Vec<String>,
    /// Whether the search was ended early.
    pub is_cut_short: bool,
}

/// What bounds the rate at which the objectives are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bottleneck {
    /// The target: the time since sending the requests already exceeds the objective.
    Target,
    /// The connections: requests waited for a free connection, and the target was not slow.
    Connections,
    /// Failures: the target refused requests, or its answers failed a check.
    Failures,
}

/// The requests at one rate.
#[derive(Clone, Debug, PartialEq)]
pub struct KneeRow {
    /// The stage of the search.
    pub stage: Stage,
    /// The mean requested rate, per second.
    pub rate: f64,
    /// The time for which the rate was requested.
    pub span: Nanos,
    /// The requests that ended.
    pub ended: u64,
    /// The times to which the objectives apply; response times without such an objective.
    pub times: Histogram,
    /// For each objective, the share of the requests beyond the objective.
    pub shares: Vec<f64>,
}

/// A stage of the search's course.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CourseStage {
    /// The stage.
    pub stage: Stage,
    /// The time of the run at which the stage began.
    pub start: Nanos,
    /// The lowest requested rate, per second.
    pub low: f64,
    /// The highest requested rate, per second.
    pub high: f64,
}

form! {
    struct Finding {
        run, target, answer, objectives, knee, course, bottleneck, failure, reasons, is_cut_short,
    }
}
form! { enum Bottleneck { 0 => Target, 1 => Connections, 2 => Failures } }
form! { struct KneeRow { stage, rate, span, ended, times, shares } }
form! { struct CourseStage { stage, start, low, high } }
form! {
    enum Stage { 0 => Climb, 1 => Refine, 2 => Drain, 3 => Hold, 4 => Confirm, 5 => Over }
}

impl Finding {
    /// Adds an interval, which began at this time of the run, to the course. The rate is the
    /// requested one, per second.
    pub fn add_to_course(&mut self, stage: Stage, start: Nanos, rate: f64) {
        match self.course.last_mut() {
            Some(last) if last.stage == stage => {
                last.low = last.low.min(rate);
                last.high = last.high.max(rate);
            }
            _ => self.course.push(CourseStage {
                stage,
                start,
                low: rate,
                high: rate,
            }),
        }
    }

    /// The rows of the knee by ascending rate, without drains: their queue is from another rate.
    #[must_use]
    pub fn knee_rows(&self) -> Vec<&KneeRow> {
        let mut rows: Vec<&KneeRow> = self.knee.iter().collect();
        rows.retain(|row| row.stage != Stage::Drain && row.ended > 0);
        rows.sort_by(|one, other| one.rate.total_cmp(&other.rate));
        rows
    }

    /// The index of the objective that bounds the rate, or of the first objective.
    #[must_use]
    pub const fn bounding(&self) -> usize {
        match &self.answer {
            Answer::Found(capacity) => capacity.slo,
            Answer::Unknown {
                why: Why::Independent { slo, .. } | Why::Missed { slo, .. },
                ..
            } => *slo,
            _ => 0,
        }
    }

    /// The quantile of the objective that bounds the rate; 0.99 if the objective has no time.
    #[must_use]
    pub fn quantile(&self) -> f64 {
        let timed = self.objectives.get(self.bounding());
        let timed = timed.filter(|objective| objective.bound.is_some());
        timed.map_or(0.99, |objective| 1.0 - objective.share)
    }

    /// The finding with all texts rewritten, to mask secrets in them.
    #[must_use]
    pub fn with_texts(mut self, rewrite: &dyn Fn(&str) -> String) -> Self {
        let objectives = self.objectives.iter_mut();
        let texts = [&mut self.run, &mut self.target].into_iter();
        let texts = texts.chain(objectives.map(|objective| &mut objective.expression));
        let texts = texts.chain(&mut self.failure).chain(&mut self.reasons);
        texts.for_each(|text| *text = rewrite(text));
        self
    }

    /// The expressions of all objectives, in a list.
    #[must_use]
    pub fn wanted(&self) -> String {
        let all: Vec<&str> = self.objectives.iter().map(|it| &*it.expression).collect();
        all.join(", ")
    }

    /// The expression of one objective.
    #[must_use]
    pub fn expression(&self, slo: usize) -> &str {
        self.objectives.get(slo).map_or("", |it| &it.expression)
    }

    /// How the target changed during the search, if it did.
    #[must_use]
    pub const fn trend(&self) -> Option<Trend> {
        match &self.answer {
            Answer::Found(capacity) => capacity.trend,
            Answer::Unknown { why, .. } => match why {
                Why::Missed { trend, .. } => *trend,
                Why::Slower(trend) => Some(*trend),
                _ => None,
            },
            _ => None,
        }
    }
}
