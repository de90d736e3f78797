//! The answer in one line, for the end of a page that is longer than its terminal.

use super::main_latency;
use super::verdict::{answers, thresholds_line};
use crate::line::{Ink, Line, flow};
use crate::quantity::{count, quantile, rate};
use crate::style::Style;
use drumfire_measure::Summary;

/// The three answers, the thresholds, the rate, the latency and the failures, in a line or two. A
/// long page ends with them, so that a terminal shows them without being scrolled.
#[must_use]
pub fn last_lines(summary: &Summary, style: &Style) -> String {
    let mut items: Vec<Line> = answers(summary, style)
        .into_iter()
        .map(|answer| answer.line)
        .collect();
    items.extend(thresholds_line(&summary.thresholds, style));
    items.push(Line::of(rate(summary.achieved_per_s()), Ink::Bold));
    let (_, times) = main_latency(summary);
    let greatest = [("p99", 0.99), ("p50", 0.5), ("max", 1.0)];
    let shown = greatest.into_iter().find_map(|(name, q)| {
        let time = quantile(times, q, style.unicode)?;
        Some(Line::plain(format!("{name} {time}")))
    });
    items.extend(shown.filter(|_| times.count() > 0));
    let failed = summary.total.counts.failed;
    let ink = if failed > 0 { Ink::Bad } else { Ink::Plain };
    items.push(Line::of(format!("{} failed", count(failed)), ink));
    let mut out = String::new();
    for line in flow(items, style.glyph(" · ", ", "), style.width()) {
        line.print(style, &mut out);
    }
    out
}
