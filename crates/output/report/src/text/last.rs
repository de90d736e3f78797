//! The answer in one line, in the words of the page's head: for the end of a page that is longer than
//! its terminal, and for scripts.

use crate::line::{Ink, Line, flow};
use crate::quantity::{count, quantile, rate, sent_or_begun};
use crate::section::verdict;
use crate::style::Style;
use drumfire_measure::{Outcome, Summary};

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
    items.push(failures(summary));
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
    items.push(failures(summary));
    items.extend(cause(summary));
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

/// The most common kind of failure.
fn cause(summary: &Summary) -> Option<Line> {
    let kinds: Vec<(Outcome, u64)> = summary.total.outcomes().failures().collect();
    let (kind, _) = kinds.iter().max_by_key(|(_, count)| *count)?;
    let words = match kinds.len() {
        1 => kind.name().to_owned(),
        _ => format!("most {}", kind.name()),
    };
    Some(Line::single(words, Ink::Bad))
}

/// The number of failures, in the colour of bad news where there are any.
fn failures(summary: &Summary) -> Line {
    let failed = summary.total.counts.failed;
    let ink = if failed > 0 { Ink::Bad } else { Ink::Plain };
    Line::single(format!("{} failed", count(failed)), ink)
}
