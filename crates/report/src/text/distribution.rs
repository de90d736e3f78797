//! The shape of the latency: bars over buckets that grow with the value.

use super::main_latency;
use crate::bar::bar;
use crate::line::{Ink, Line};
use crate::page::Page;
use crate::quantity::{count, share_tenths};
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
/// What lies outside these quantiles shares the first and the last row.
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
    let note = format!("  of {} ok", count(histogram.count()));
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
    for (bucket, _, count) in histogram.buckets() {
        let at = rows.partition_point(|row| row.bound.is_some_and(|bound| bound <= bucket));
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
    let spare = match room {
        ..50 => 0,
        50..70 => 2 + counts,
        _ => 2 + counts + 2 + 13,
    };
    let bar_room = room.saturating_sub(10 + 2 + 9 + spare).min(BAR_MAX);
    let mut below = 0;
    let mut lines = Vec::new();
    for (index, row) in rows.iter().enumerate() {
        let before = index.checked_sub(1).and_then(|at| rows[at].bound);
        let label = match (row.bound, before) {
            (Some(bound), _) => format!("< {}", bound_text(bound, style.unicode)),
            (None, Some(bound)) => {
                format!(
                    "{} {}",
                    style.glyph("≥", ">="),
                    bound_text(bound, style.unicode)
                )
            }
            (None, None) => "all".to_owned(),
        };
        let mut line = Line::of(format!("{label:>10}  "), Ink::Dim);
        let bar = bar(row.count, largest, bar_room, style);
        let padding = bar_room - bar.chars().count();
        line.push(bar, Ink::Plain);
        line.space(padding);
        line.push(format!("{:>9}", share_tenths(row.count, total)), Ink::Plain);
        if room >= 50 {
            line.push(format!("  {:>counts$}", count(row.count)), Ink::Dim);
        }
        if room >= 70 {
            line.push(
                format!("  {}", marks(below, row.count, histogram)),
                Ink::Bold,
            );
        }
        below += row.count;
        lines.push(line);
    }
    lines
}

/// The quantiles whose rank lies among the `count` values that follow the `below` smallest.
fn marks(below: u64, count: u64, histogram: &Histogram) -> String {
    let total = histogram.count() as f64;
    let here = |q: f64| {
        let rank = (q * total - 1e-6).ceil(); // 0.999 has no exact binary form
        rank > below as f64 && rank <= (below + count) as f64 && histogram.quantile(q).is_some()
    };
    let names = MARKS
        .iter()
        .filter(|(_, q)| here(*q))
        .map(|(name, _)| *name);
    names.collect::<Vec<_>>().join(" ")
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
