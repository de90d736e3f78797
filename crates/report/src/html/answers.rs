//! The three answers with their reasons, and the thresholds: what a reader sees first.

use crate::answers::{Answer, Grade, answers, rule};
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

pub(super) fn print(out: &mut Markup, summary: &Summary, naming: Naming) {
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
        answer(out, colour, &text, &sentences(reasons, naming));
    }
    out.close("ul");
    thresholds(out, summary);
    out.close("section");
}

/// The reasons with their remedies, escaped.
fn sentences(reasons: &[Reason], naming: Naming) -> Vec<String> {
    let reasons = reasons.iter();
    reasons
        .map(|reason| foreign(&sentence(reason, naming), Unicode::On))
        .collect()
}

fn answer(out: &mut Markup, colour: &str, text: &str, reasons: &[String]) {
    out.open("li", &[("class", colour)]);
    out.element("strong", &[], text);
    for reason in reasons {
        out.element("p", &[("class", "dim")], reason);
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
        let rule = foreign(&rule(threshold), Unicode::On);
        out.element("strong", &[], &format!("{mark} {rule}"));
        let measured = foreign(&threshold.actual_text, Unicode::On);
        out.element("p", &[("class", "dim")], &measured);
        out.close("li");
    }
    out.close("ul");
}
