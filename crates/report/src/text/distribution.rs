//! The shape of the latency: bars over buckets that grow with the value.
//!
//! Rows are equally wide on a scale of ratios, since times differ by factors: two modes, such as
//! hits and misses of a cache, then stand apart whatever their distance in milliseconds. Bounds are
//! round numbers of a scale (10^(k/n)), so that two runs of about the same times have the same rows
//! and can be laid beside each other.
//!
//! The scale is the finest that gives no more rows than the number of samples supports, over the
//! times between the quantiles of [`BODY`]; what lies outside shares the first and the last row, so
//! that one stalled request does not make all others a single bar.

use super::unseen;
use crate::bar::bar;
use crate::line::{Ink, Line};
use crate::page::Page;
use crate::quantity::{count, enumerated, latency, share_tenths};
use crate::style::Style;
use drumfire_measure::{Histogram, LatencyKind, Summary};
use drumfire_units::Nanos;

/// The numbers of rows to a decade, of which the finest that fits is taken. Bounds are at 10^(k/n):
/// each row is as wide as the others on a scale of ratios, so that the shape of the bars is that of
/// the times.
const PER_DECADE: [u32; 15] = [1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 40, 60, 80, 120];
/// The most rows.
const ROWS_MAX: usize = 14;
/// The fewest rows to aim at, however few the times are.
const ROWS_FEW: usize = 4;
/// The greatest length of a bar, in columns.
const BAR_MAX: usize = 60;
/// The width from which on rows have their count.
const COUNTS_FROM: usize = 50;
/// The width from which on rows have the quantiles that they hold.
const MARKS_FROM: usize = 70;
/// Values outside these quantiles share the first and the last row; of fewer than a thousand values
/// the greatest one is outside.
const BODY: (f64, f64) = (0.001, 0.999);
/// The least width of the column of counts: that of its heading.
const COUNTS_LEAST: usize = 5;
/// Quantiles marked beside the row that holds them.
const MARKS: [(&str, f64); 4] = [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999)];

/// Values below `bound` and not below the bound of the row before; the last row has no bound. Rows
/// follow each other without a gap, so that their counts add up to that of the histogram.
#[derive(Debug, PartialEq, Eq)]
struct Row {
    bound: Option<u64>,
    count: u64,
}

/// Prints the bars under a heading that says which requests they count. Those whose end was not
/// seen are among them, each at the time that was seen, and the heading has their number.
pub(super) fn print(summary: &Summary, page: &mut Page<'_>) {
    let histogram = summary.latency();
    if histogram.count() == 0 {
        return;
    }
    let heading = match summary.latency_kind() {
        LatencyKind::Response => "Response time",
        LatencyKind::Service => "Service time",
    };
    let mut parts = vec![format!("{} ok", count(summary.total.counts.ok))];
    parts.extend(unseen(summary));
    let note = format!("  of {}", enumerated(&parts));
    let rows = rows(histogram);
    let lines = bars(&rows, histogram, page.style, page.block_room());
    page.block(Line::of(heading, Ink::Bold).with(note, Ink::Dim), lines);
    page.explain(
        "Each row counts the requests below its bound and not below the bound above. Each bound is \
         the same multiple of the one before. Two humps mean two kinds of responses; a long tail \
         means that some users wait much longer than most.",
    );
}

/// The rows of a histogram: at most [`ROWS_MAX`], fewer where there are few values, for two samples
/// to a row have no shape.
///
/// The number aimed at is twice the square root of the count. The body lies between the quantiles
/// of [`BODY`], but reaches no further than the longest time whose end was seen. Of the scales in
/// [`PER_DECADE`] the finest is taken that needs fewer rows for it; each bucket then counts in the
/// row that holds its upper bound.
fn rows(histogram: &Histogram) -> Vec<Row> {
    let count = histogram.count();
    let low = histogram.quantile_unchecked(BODY.0).0;
    let all_but_one = (count as f64 - 1.0) / count as f64;
    let high = histogram.quantile_unchecked(BODY.1.min(all_but_one)).0;
    // However long the times are whose end was not seen, the body keeps its shape.
    let high = high.min(histogram.longest_exact().map_or(low, |longest| longest.0));
    let few = (2.0 * (count as f64).sqrt()) as usize;
    let most = few.clamp(ROWS_FEW, ROWS_MAX);
    let mut candidates = PER_DECADE.iter().map(|n| bounds(*n, low, high));
    let bounds = candidates
        .rfind(|bounds| bounds.len() < most)
        .unwrap_or_default();
    let mut rows: Vec<Row> = bounds
        .into_iter()
        .map(|bound| Row {
            bound: Some(bound),
            count: 0,
        })
        .collect();
    rows.push(Row {
        bound: None,
        count: 0,
    });
    for (_, high, count) in histogram.buckets() {
        // As quantiles do, a bucket stands for its upper bound, so that both agree.
        let value = high.min(histogram.max().0);
        let at = rows.partition_point(|row| row.bound.is_some_and(|bound| bound <= value));
        rows[at].count += count;
    }
    while rows.len() > 1 && rows.last().is_some_and(|row| row.count == 0) {
        rows.pop();
    }
    rows
}

/// The bounds 10^(k/n) above `low`, up to the first above `high`.
fn bounds(per_decade: u32, low: u64, high: u64) -> Vec<u64> {
    let step = |k: i32| 10_f64.powf(f64::from(k) / f64::from(per_decade)).round() as u64;
    let exponent = (low.max(1) as f64).log10() * f64::from(per_decade);
    let first = (exponent.floor() as i32).max(0);
    let mut bounds = Vec::new();
    // One more than are ever taken, so that a scale that is too fine shows itself.
    for bound in (first..).map(step).filter(|bound| *bound > low) {
        bounds.push(bound);
        if bound > high || bounds.len() >= ROWS_MAX {
            break;
        }
    }
    bounds.dedup();
    bounds
}

/// The rows as bars with their share, their count, and the quantiles that lie in them. On a narrow
/// page marks give way first and counts next; the bars keep at least their label and their share.
fn bars(rows: &[Row], histogram: &Histogram, style: &Style, room: usize) -> Vec<Line> {
    let total = histogram.count();
    let largest = rows.iter().map(|row| row.count).max().unwrap_or(0);
    let counts = count(largest).len().max(COUNTS_LEAST);
    let marks = marks(rows, histogram);
    let marks_room = marks.iter().map(|marks| marks.len() + 2).max().unwrap_or(0);
    let beside = match room {
        ..COUNTS_FROM => 0,
        COUNTS_FROM..MARKS_FROM => counts + 2,
        _ => counts + 2 + marks_room,
    };
    let bar_room = room.saturating_sub(10 + 2 + 9 + beside).min(BAR_MAX);
    let mut lines = vec![headings(bar_room, counts, room)];
    for (index, (row, marks)) in rows.iter().zip(marks).enumerate() {
        let above = index.checked_sub(1).and_then(|at| rows[at].bound);
        let label = label(row.bound, above, style);
        let mut line = Line::of(format!("{label:>10}  "), Ink::Dim);
        let mut bar = Line::plain(bar(row.count, largest, bar_room, style));
        bar.space(bar_room.saturating_sub(bar.width()));
        line.append(bar);
        line.push(format!("{:>9}", share_tenths(row.count, total)), Ink::Plain);
        if room >= COUNTS_FROM {
            line.push(format!("  {:>counts$}", count(row.count)), Ink::Dim);
        }
        if room >= MARKS_FROM {
            line.push(format!("  {marks}"), Ink::Bold);
        }
        lines.push(line);
    }
    lines
}

/// The headings of the columns beside the bars.
fn headings(bar_room: usize, counts: usize, room: usize) -> Line {
    let mut line = Line::new();
    line.space(12 + bar_room);
    line.push(format!("{:>9}", "share"), Ink::Dim);
    if room >= COUNTS_FROM {
        line.push(format!("  {:>counts$}", "count"), Ink::Dim);
    }
    line
}

/// The range of a row, by its own bound and that of the row above.
fn label(bound: Option<u64>, above: Option<u64>, style: &Style) -> String {
    let text = |bound| latency(Nanos(bound), style.unicode);
    match (bound, above) {
        (Some(bound), _) => format!("< {}", text(bound)),
        (None, Some(above)) => format!("{} {}", style.glyph("≥", ">="), text(above)),
        (None, None) => "all".to_owned(),
    }
}

/// The names of the quantiles whose rank lies in each row, where the count supports them. Ranks are
/// those of the quantiles in the table above, so that both name the same row.
fn marks(rows: &[Row], histogram: &Histogram) -> Vec<String> {
    let total = histogram.count() as f64;
    let supported = MARKS
        .iter()
        .filter(|(_, q)| histogram.quantile(*q).is_some());
    // 0.999 has no exact binary form, so a rank may come out a hair above its integer.
    let ranks: Vec<_> = supported
        .map(|(name, q)| (*name, (q * total - 1e-6).ceil()))
        .collect();
    let mut below = 0;
    let mut marks = Vec::new();
    for row in rows {
        let (from, to) = (below as f64, (below + row.count) as f64);
        let here = ranks.iter().filter(|(_, rank)| from < *rank && *rank <= to);
        marks.push(here.map(|(name, _)| *name).collect::<Vec<_>>().join(" "));
        below += row.count;
    }
    marks
}
