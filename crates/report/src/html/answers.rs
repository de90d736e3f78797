//! The three answers with their reasons, and the thresholds: what a reader sees first.

use crate::markup::Markup;
use crate::quantity::share_of;
use crate::remedy::{Naming, sentence};
use crate::style::Unicode;
use crate::text::foreign;
use drumfire_measure::{Reason, Summary, TargetState, Validity};

/// The colour of an answer, by how good it is.
const GOOD: &str = "is-good";
const FAIR: &str = "is-fair";
const BAD: &str = "is-bad";
const OPEN: &str = "is-open";

pub(super) fn print(out: &mut Markup, summary: &Summary) {
    out.open("ul", &[("class", "answers")]);
    let validity = summary.verdict.validity;
    let colour = match validity {
        Validity::Valid => GOOD,
        Validity::Suspect => FAIR,
        Validity::Invalid => BAD,
    };
    let run = format!("Run {}", validity.name());
    answer(out, colour, &run, &summary.verdict.reasons);
    let (colour, load) = match summary.load.kept {
        true => (GOOD, "Load kept".to_owned()),
        false => (
            BAD,
            format!("Load: {} sent", share_of(summary.load.sent_share)),
        ),
    };
    answer(out, colour, &load, &summary.load.reasons);
    let state = summary.target.state;
    let colour = match state {
        TargetState::Ok => GOOD,
        TargetState::Degraded => FAIR,
        TargetState::Failed => BAD,
        TargetState::Unknown => OPEN,
    };
    let target = format!("Target {}", state.name());
    answer(out, colour, &target, &summary.target.reasons);
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
