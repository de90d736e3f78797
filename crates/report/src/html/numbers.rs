//! The six numbers that people ask for first.
//!
//! They are the same for every run, so that a reader finds each in its place; one that is not known
//! is a dash. Beside two of them stands the number that they are to be compared with: the rate that
//! was asked for, and the count behind a share.

use crate::markup::Markup;
use crate::quantity::{count, quantile, rate, sent_or_begun, share};
use crate::style::Unicode;
use drumfire_measure::Summary;

/// Appends the part `numbers`: a list of names and values. Times are those of the run's model,
/// rounded as in the terminal; the slowest is the greatest time of them, and a lower bound is
/// marked.
pub(super) fn print(out: &mut Markup, summary: &Summary) {
    let counts = &summary.total.counts;
    let times = summary.latency();
    let time = |q| quantile(times, q, Unicode::On).unwrap_or_else(|| "–".to_owned());
    let asked = summary
        .intended_per_s()
        .map(|asked| format!("of {} asked", rate(asked)));
    let failed = share(counts.failed, counts.sent);
    let begun = sent_or_begun(summary.total.without_data());
    let numbers = [
        ("Requests", count(counts.sent), Some(begun.to_owned())),
        ("Rate", rate(summary.achieved_per_s()), asked),
        (
            "Failed",
            failed,
            Some(format!("{} requests", count(counts.failed))),
        ),
        ("Median", time(0.5), None),
        ("p99", time(0.99), None),
        ("Slowest", time(1.0), None),
    ];
    out.open("dl", &[("id", "numbers"), ("class", "numbers")]);
    for (name, value, aside) in numbers {
        out.open("div", &[]);
        out.element("dt", &[], name);
        out.open("dd", &[]);
        out.text(&value);
        if let Some(aside) = aside {
            out.raw(" ");
            out.element("span", &[], &aside);
        }
        out.close("dd");
        out.close("div");
    }
    out.close("dl");
}
