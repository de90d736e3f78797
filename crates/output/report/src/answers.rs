//! The three answers of a run: whether its numbers can be trusted, whether its load was kept, and
//! how the target did. All formats print them in these words. `measure` has judged before.

use crate::quantity::share_of;
use drumfire_measure::{Reason, Summary, TargetState, ThresholdResult, Validity};

/// The grade of an answer, by which formats choose a mark and a colour. A CI system calls the worst
/// grade a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Grade {
    /// The best answer, without reasons.
    Good,
    /// An answer in between, with its reasons.
    Fair,
    /// The worst answer, with its reasons.
    Bad,
    /// No answer: the load and the target of a run that sent nothing.
    Open,
}

impl Grade {
    /// The mark that stands before an answer of this grade.
    pub(crate) const fn mark(self) -> &'static str {
        match self {
            Self::Good => "✓",
            Self::Fair => "!",
            Self::Bad => "✗",
            Self::Open => "?",
        }
    }
}

/// One answer: its words, and the reasons why it is not the best one.
pub(crate) struct Answer<'a> {
    /// The question that it answers: `run`, `load` or `target`.
    pub(crate) subject: &'static str,
    pub(crate) grade: Grade,
    pub(crate) text: String,
    pub(crate) reasons: &'a [Reason],
}

/// The three answers, the most important first. If the target failed, it comes first, because
/// reasons about the generator explain little then.
pub(crate) fn answers(summary: &Summary) -> [Answer<'_>; 3] {
    let validity = summary.verdict.validity;
    let run = Answer {
        subject: "run",
        grade: match validity {
            Validity::Valid => Grade::Good,
            Validity::Suspect => Grade::Fair,
            Validity::Invalid => Grade::Bad,
        },
        text: format!("run {}", validity.name()),
        reasons: &summary.verdict.reasons,
    };
    let load = Answer {
        subject: "load",
        grade: match summary.load.kept {
            None => Grade::Open,
            Some(true) => Grade::Good,
            Some(false) => Grade::Bad,
        },
        text: match summary.load.kept {
            None => "load not judged".to_owned(),
            Some(true) => "load kept".to_owned(),
            // The share in rules and JSON: of iterations, if a rate is one of iterations.
            Some(false) => format!("load {} sent", share_of(summary.load.sent_share)),
        },
        reasons: &summary.load.reasons,
    };
    let state = summary.target.state;
    let target = Answer {
        subject: "target",
        grade: match state {
            TargetState::Ok => Grade::Good,
            TargetState::Unknown => Grade::Open,
            TargetState::Behind | TargetState::Degraded => Grade::Fair,
            TargetState::Failed => Grade::Bad,
        },
        text: target_words(state),
        reasons: &summary.target.reasons,
    };
    match state {
        TargetState::Failed => [target, run, load],
        _ => [run, load, target],
    }
}

/// The answer on the target, without its reasons.
pub(crate) fn target_words(state: TargetState) -> String {
    match state {
        TargetState::Behind => "target falls behind".to_owned(),
        _ => format!("target {}", state.name()),
    }
}

/// A threshold as it was written. A condition that ends the run has `abort on` before it.
pub(crate) fn rule(threshold: &ThresholdResult) -> String {
    match threshold.is_condition {
        true => format!("abort on {}", threshold.expression),
        false => threshold.expression.clone(),
    }
}
