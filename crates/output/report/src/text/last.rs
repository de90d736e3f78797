//! The answer in one line, in the words of the page's head: for the end of a page that is longer than
//! its terminal, and for scripts.

use crate::failure_kind::failure_kinds;
use crate::line::{Ink, Line, flow};
use crate::quantity::{count, in_letters, quantile, rate, sent_or_begun};
use crate::section::verdict;
use crate::style::Style;
use crate::untrusted::foreign;
use drumfire_measure::Summary;
use std::cmp::Reverse;

/// The three answers, the thresholds, the rate, the latency and the failures, in a line or two. The
/// latency is the first of p99, p50 and the maximum that the number of samples supports.
#[must_use]
pub fn last_lines(summary: &Summary, style: &Style) -> String {
    let mut items = verdict(summary, style);
    items.push(Line::single(rate(summary.achieved_per_s()), Ink::Bold));
    let greatest = times(summary, ["p99", "p50", "max"], style)
        .into_iter()
        .next();
    items.extend(greatest);
    items.push(failures(summary, style));
    let mut out = String::new();
    for line in flow(items, style.glyph(" · ", ", "), style.width()) {
        line.print(style, &mut out);
    }
    out
}

/// The summary in one line, however long, with the number of requests and more of the latency: for
/// scripts and logs.
#[must_use]
pub fn one_line(summary: &Summary, style: &Style) -> String {
    let mut items = verdict(summary, style);
    let counts = &summary.total.counts;
    let begun = sent_or_begun(summary.total.without_data());
    items.push(Line::plain(format!("{} {begun}", count(counts.sent))));
    items.push(failures(summary, style));
    items.push(Line::single(rate(summary.achieved_per_s()), Ink::Bold));
    items.extend(times(summary, ["p50", "p90", "p99", "max"], style));
    let mut out = String::new();
    for line in flow(items, style.glyph(" · ", ", "), usize::MAX) {
        line.print_whole(style, &mut out);
    }
    out
}

/// The three answers and the thresholds.
pub(crate) fn verdict(summary: &Summary, style: &Style) -> Vec<Line> {
    let items = verdict::items(summary).into_iter();
    items.map(|item| item.line(style.unicode)).collect()
}

/// The latencies with these names that the number of samples supports.
fn times<const N: usize>(summary: &Summary, names: [&str; N], style: &Style) -> Vec<Line> {
    let times = summary.latency();
    let known = names.into_iter().filter_map(|name| {
        let time = quantile(times, quantile_of(name), style.unicode)?;
        Some(Line::plain(format!("{name} {time}")))
    });
    known.filter(|_| times.count() > 0).collect()
}

/// The quantile, from 0 to 1, with this name: `p99` is 0.99, `max` is 1.
fn quantile_of(name: &str) -> f64 {
    match name
        .strip_prefix('p')
        .and_then(|percent| percent.parse::<f64>().ok())
    {
        Some(percent) => percent / 100.0,
        None => 1.0,
    }
}

/// The number of failures with the most frequent kind, in the colour of bad news if there are any.
fn failures(summary: &Summary, style: &Style) -> Line {
    let failed = summary.total.counts.failed;
    let mut kinds = failure_kinds(summary, style.naming);
    kinds.sort_by_key(|kind| Reverse(kind.count));
    let text = match &kinds[..] {
        [] => return Line::plain(format!("{} failed", count(failed))),
        [only] => format!("{} failed: {}", count(failed), only.cause()),
        [first, ..] => format!("{} failed, most {}", count(failed), first.cause()),
    };
    Line::single(
        foreign(&in_letters(&text, style.unicode), style.unicode),
        Ink::Bad,
    )
}
