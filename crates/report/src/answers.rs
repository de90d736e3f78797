//! The three answers of a run: whether to believe it, whether its load was kept, and how the target
//! did.
//!
//! Text, page, Markdown, JUnit and annotations print them with marks of their own and in the same
//! words, from [`answers`]; `measure` has judged before, and nothing is judged here. [`rule`] does
//! the same for thresholds.

use crate::quantity::share_of;
use drumfire_measure::{Reason, Summary, TargetState, ThresholdResult, Validity};

/// The grade of an answer, by which formats choose a mark and a colour. The worst one is what a
/// strict reader, as a CI system, calls a failure; an answer in between fails nothing by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Grade {
    /// The best answer, which needs no reasons.
    Good,
    /// An answer in between, with its reasons.
    Fair,
    /// The worst answer, with its reasons.
    Bad,
    /// No answer, as on the target of a run that sent nothing.
    Open,
}

/// One answer: its words, and the reasons for which it is not the best one.
pub(crate) struct Answer<'a> {
    /// The question that it answers: `run`, `load` or `target`.
    pub(crate) subject: &'static str,
    pub(crate) grade: Grade,
    pub(crate) text: String,
    pub(crate) reasons: &'a [Reason],
}

/// The three answers in the order in which they matter. Where nothing was answered as expected, the
/// target comes first: reasons about the generator then explain little.
///
/// A load that was not kept is printed with the share that was sent in place of a word, since "not
/// kept" would leave open by how much.
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
            true => Grade::Good,
            false => Grade::Bad,
        },
        text: match summary.load.kept {
            true => "load kept".to_owned(),
            // The share that rules and JSON have: of iterations, where a rate asks for these.
            false => format!("load {} sent", share_of(summary.load.sent_share)),
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

/// A threshold as it was written: a rule as it is, and a condition that was not to come as one.
pub(crate) fn rule(threshold: &ThresholdResult) -> String {
    match threshold.is_condition {
        true => format!("abort on {}", threshold.expression),
        false => threshold.expression.clone(),
    }
}
