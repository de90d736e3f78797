//! The three answers with their reasons, a failed teardown, and the thresholds. The words are those
//! of the terminal. Colours repeat what the words or marks mean.

use super::Origin;
use crate::answers::{Answer, Grade, answers, rule};
use crate::markup::Markup;
use crate::quantity::counted;
use crate::remedy::{Naming, sentence};
use crate::style::Unicode;
use crate::untrusted::foreign;
use drumfire_measure::{Reason, Summary, ThresholdResult};

/// The maximum number of reasons of an answer: a run has one for each of its pools.
const REASONS_MAX: usize = 3;
/// The maximum number of thresholds that are not folded.
const THRESHOLDS_MAX: usize = 5;
/// The class of a good answer, and of a threshold that holds.
const GOOD: &str = "is-good";
/// The class of an answer in between, such as a suspect run.
const FAIR: &str = "is-fair";
/// The class of the worst answer, and of a failed threshold.
const BAD: &str = "is-bad";
/// The class of an answer that can't be given: a load and a target without a request.
const OPEN: &str = "is-open";

/// Appends the part `answers`: an item for each answer, then the thresholds.
pub(super) fn print(out: &mut Markup, summary: &Summary, origin: &Origin<'_>) {
    out.open("section", &[("id", "answers")]);
    out.open("ul", &[("class", "answers")]);
    for Answer {
        grade,
        text,
        reasons,
        ..
    } in answers(summary)
    {
        let colour = match grade {
            Grade::Good => GOOD,
            Grade::Fair => FAIR,
            Grade::Bad => BAD,
            Grade::Open => OPEN,
        };
        let text = format!("{} {text}", grade.mark());
        answer(out, colour, &text, &sentences(reasons, origin.naming));
    }
    if let Some(message) = origin.teardown {
        let lines = message.lines();
        let lines: Vec<_> = lines.map(|line| foreign(line, Unicode::On)).collect();
        answer(out, BAD, "✗ teardown failed", &lines);
    }
    out.close("ul");
    out.close("section");
}

/// The first reasons with their remedies, escaped, and the number of the others.
fn sentences(reasons: &[Reason], naming: Naming) -> Vec<String> {
    let first = reasons.iter().take(REASONS_MAX);
    let sentences = first.map(|reason| foreign(&sentence(reason, naming), Unicode::On));
    let others = reasons.len().saturating_sub(REASONS_MAX);
    let words = format!(
        "{} in the full report",
        counted(others as u64, "more reason")
    );
    sentences.chain((others > 0).then_some(words)).collect()
}

/// Appends one answer, with each of its reasons in a paragraph.
fn answer(out: &mut Markup, colour: &str, text: &str, reasons: &[String]) {
    out.open("li", &[("class", colour)]);
    out.element("strong", &[], text);
    for reason in reasons {
        out.element("p", &[("class", "dim")], reason);
    }
    out.close("li");
}

/// Appends the part `thresholds`: an item for each threshold with the measured value, those that
/// failed first. Of many, the others are folded. There must be a threshold.
pub(super) fn thresholds(out: &mut Markup, summary: &Summary) {
    out.open("section", &[("id", "thresholds")]);
    out.element("h2", &[("class", "unseen")], "Thresholds");
    let mut all: Vec<&ThresholdResult> = summary.thresholds.iter().collect();
    all.sort_by_key(|threshold| threshold.passed);
    let (first, others) = all.split_at(all.len().min(THRESHOLDS_MAX));
    rules(out, first);
    if !others.is_empty() {
        let failed = others.iter().filter(|of| !of.passed).count();
        let words = match failed {
            0 => "passed".to_owned(),
            failed => format!("{failed} failed"),
        };
        let words = format!(
            "{}, {words}",
            counted(others.len() as u64, "more threshold")
        );
        out.open("details", &[("class", "whole")]);
        out.element("summary", &[], &words);
        rules(out, others);
        out.close("details");
    }
    out.close("section");
}

/// Appends thresholds as a list.
fn rules(out: &mut Markup, all: &[&ThresholdResult]) {
    out.open("ul", &[("class", "answers rules")]);
    for threshold in all {
        let (colour, mark) = match threshold.passed {
            true => (GOOD, "✓"),
            false => (BAD, "✗"),
        };
        out.open("li", &[("class", colour)]);
        let rule = foreign(&rule(threshold), Unicode::On);
        out.element("strong", &[], &format!("{mark} {rule}"));
        let measured = foreign(&threshold.actual_text, Unicode::On);
        out.element("p", &[("class", "dim")], &measured);
        out.close("li");
    }
    out.close("ul");
}
