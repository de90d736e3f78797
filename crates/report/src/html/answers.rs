//! The three answers with their reasons, and the thresholds: what a reader sees first.

use crate::answers::{Answer, Grade, answers};
use crate::markup::Markup;
use crate::remedy::{Naming, sentence};
use crate::style::Unicode;
use crate::text::foreign;
use drumfire_measure::{Reason, Summary};

/// The colour of an answer, by how good it is.
const GOOD: &str = "is-good";
const FAIR: &str = "is-fair";
const BAD: &str = "is-bad";
const OPEN: &str = "is-open";

pub(super) fn print(out: &mut Markup, summary: &Summary) {
    out.open("ul", &[("class", "answers")]);
    for Answer {
        grade,
        text,
        reasons,
    } in answers(summary)
    {
        let colour = match grade {
            Grade::Good => GOOD,
            Grade::Fair => FAIR,
            Grade::Bad => BAD,
            Grade::Open => OPEN,
        };
        answer(out, colour, &text, reasons);
    }
    out.close("ul");
    thresholds(out, summary);
}

fn answer(out: &mut Markup, colour: &str, text: &str, reasons: &[Reason]) {
    out.open("li", &[("class", colour)]);
    out.element("strong", &[], text);
    for reason in reasons {
        let reason = foreign(&sentence(reason, Naming::Flags), Unicode::On);
        out.element("p", &[("class", "dim")], &reason);
    }
    out.close("li");
}

fn thresholds(out: &mut Markup, summary: &Summary) {
    if summary.thresholds.is_empty() {
        return;
    }
    out.element("h2", &[], "Thresholds");
    out.open("ul", &[("class", "answers")]);
    for threshold in &summary.thresholds {
        let (colour, mark) = match threshold.passed {
            true => (GOOD, "✓"),
            false => (BAD, "✗"),
        };
        out.open("li", &[("class", colour)]);
        let rule = foreign(&threshold.expression, Unicode::On);
        out.element("strong", &[], &format!("{mark} {rule}"));
        let measured = foreign(&threshold.actual_text, Unicode::On);
        out.element("p", &[("class", "dim")], &measured);
        out.close("li");
    }
    out.close("ul");
}
