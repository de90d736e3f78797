//! The six numbers that people look for first: the same for every run, with a dash for an unknown
//! one.

use crate::markup::Markup;
use crate::quantity::{count, quantile, rate, sent_or_begun, share};
use crate::style::Unicode;
use drumfire_measure::Summary;

/// Appends the part `numbers`: a list of names and values. Two values have the number beside them
/// with which they are to be compared.
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
