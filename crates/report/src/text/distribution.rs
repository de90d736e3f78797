//! The shape of the latency: bars over buckets that grow with the value.

use super::{main_latency, unseen};
use crate::bar::bar;
use crate::line::{Ink, Line};
use crate::page::Page;
use crate::quantity::{count, enumerated, share_tenths};
use crate::style::{Style, Unicode};
use drumfire_measure::{Histogram, Summary};

/// Steps within a decade, from coarse to fine, in hundredths of its start: from the fourth on
/// Renard's preferred numbers (ISO 3 and ISO 497), whose ratios are nearly equal.
const SERIES: [&[u64]; 7] = [
    &[100],
    &[100, 300],
    &[100, 200, 500],
    &[100, 150, 250, 400, 600],
    &[100, 120, 150, 200, 250, 300, 400, 500, 600, 800],
    &[
        100, 110, 120, 140, 160, 180, 200, 220, 250, 280, 300, 350, 400, 450, 500, 550, 600, 700,
        800, 900,
    ],
    &[
        100, 106, 112, 118, 125, 132, 140, 150, 160, 170, 180, 190, 200, 212, 224, 236, 250, 265,
        280, 300, 315, 335, 355, 375, 400, 425, 450, 475, 500, 530, 560, 600, 630, 670, 710, 750,
        800, 850, 900, 950,
    ],
];
/// No finer series is taken than one that gives this many rows.
const ROWS_MAX: usize = 14;
/// No bar is longer.
const BAR_MAX: usize = 60;
/// From this width on rows have their count, and from the next the quantiles that they hold.
const COUNTS_FROM: usize = 50;
const MARKS_FROM: usize = 70;
/// Values outside these quantiles share the first and the last row.
const BODY: (f64, f64) = (0.001, 0.999);
/// Quantiles marked beside the row that holds them.
const MARKS: [(&str, f64); 4] = [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999)];

/// Values below `bound` and not below the row before; the last row has no bound.
#[derive(Debug, PartialEq, Eq)]
struct Row {
    bound: Option<u64>,
    count: u64,
}

/// Prints the bars.
pub(super) fn print(summary: &Summary, page: &mut Page<'_>) {
    let (name, histogram) = main_latency(summary);
    if histogram.count() == 0 {
        return;
    }
    let heading = match name {
        "response" => "Response time",
        _ => "Service time",
    };
    let mut parts = vec![format!("{} ok", count(summary.total.counts.ok))];
    parts.extend(unseen(summary));
    let note = format!("  of {}", enumerated(&parts));
    let rows = rows(histogram);
    let lines = bars(&rows, histogram, page.style, page.block_room());
    page.block(Line::of(heading, Ink::Bold).with(note, Ink::Dim), lines);
    page.explain(
        "How the answers spread: each row counts those that took less than its bound and not less \
         than the bound above. Two humps mean two kinds of answers; a long tail means that some \
         users wait much longer than most.",
    );
}

/// Ten to fourteen rows where the values spread enough.
fn rows(histogram: &Histogram) -> Vec<Row> {
    let low = histogram.quantile_unchecked(BODY.0).0;
    let high = histogram.quantile_unchecked(BODY.1).0;
    // However long the times are whose end was not seen, the body keeps its shape.
    let high = high.min(histogram.longest_exact().map_or(low, |longest| longest.0));
    let mut candidates = SERIES.iter().map(|series| bounds(series, low, high));
    let bounds = candidates
        .rfind(|bounds| bounds.len() < ROWS_MAX)
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

/// The steps of a series above `low`, up to the first above `high`.
fn bounds(series: &[u64], low: u64, high: u64) -> Vec<u64> {
    let mut bounds = Vec::new();
    let decades = (0..18).map(|exponent| 10_u64.pow(exponent));
    for step in decades.flat_map(|decade| series.iter().map(move |step| step * decade)) {
        let bound = step / 100;
        if step % 100 != 0 || bound <= low {
            continue;
        }
        bounds.push(bound);
        if bound > high {
            break;
        }
    }
    bounds
}

/// The rows as bars with their share, their count, and the quantiles that lie in them.
fn bars(rows: &[Row], histogram: &Histogram, style: &Style, room: usize) -> Vec<Line> {
    let total = histogram.count();
    let largest = rows.iter().map(|row| row.count).max().unwrap_or(0);
    let counts = count(largest).len();
    let marks = marks(rows, histogram);
    let marks_room = marks.iter().map(|marks| marks.len() + 2).max().unwrap_or(0);
    let beside = match room {
        ..COUNTS_FROM => 0,
        COUNTS_FROM..MARKS_FROM => counts + 2,
        _ => counts + 2 + marks_room,
    };
    let bar_room = room.saturating_sub(10 + 2 + 9 + beside).min(BAR_MAX);
    let mut lines = Vec::new();
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

/// The range of a row, by its own bound and that of the row above.
fn label(bound: Option<u64>, above: Option<u64>, style: &Style) -> String {
    let text = |bound| bound_text(bound, style.unicode);
    match (bound, above) {
        (Some(bound), _) => format!("< {}", text(bound)),
        (None, Some(above)) => format!("{} {}", style.glyph("≥", ">="), text(above)),
        (None, None) => "all".to_owned(),
    }
}

/// For each row the quantiles whose rank lies in it, where the count supports them.
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

/// A bound in its shortest form: `1.5 ms`, `200 µs`, `90 s`.
fn bound_text(nanos: u64, unicode: Unicode) -> String {
    let micro = if unicode == Unicode::On { "µs" } else { "us" };
    let units = [
        ("s", 1_000_000_000),
        ("ms", 1_000_000),
        (micro, 1_000),
        ("ns", 1),
    ];
    let (name, length) = units
        .into_iter()
        .find(|(_, length)| nanos >= *length)
        .unwrap_or(("ns", 1));
    format!("{} {name}", nanos as f64 / length as f64)
}
