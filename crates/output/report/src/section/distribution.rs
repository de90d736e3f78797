//! The shape of the latency: bars over buckets that grow with the value.
//!
//! Rows are equally wide on a scale of ratios: two modes, such as hits and misses of a cache, stand
//! apart whatever their distance in milliseconds. Bounds are round numbers (10^(k/n)), so that two
//! runs with about the same times have the same rows.

use super::{Cell, Column, Grid, PageExtent, Section, unseen};
use crate::line::Ink;
use crate::quantity::{count, enumerated, latency};
use crate::style::Unicode;
use drumfire_measure::{Histogram, LatencyKind, Summary};
use drumfire_units::Nanos;

/// The numbers of rows per decade. The finest that fits is used.
const PER_DECADE: [u32; 15] = [1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 40, 60, 80, 120];
/// The maximum number of rows.
const ROWS_MAX: usize = 14;
/// The number of rows to aim at if there are few times.
const ROWS_FEW: usize = 4;
/// Values outside these quantiles share the first and the last row, so that one stalled request
/// does not make all others a single bar. With fewer than a thousand values, the greatest is
/// outside.
const BODY: (f64, f64) = (0.001, 0.999);
/// The quantiles whose names stand beside their row.
const MARKS: [(&str, f64); 4] = [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999)];

/// Values below `bound` and not below the bound of the previous row. The last row has no bound. Rows
/// have no gap, so that their counts add up to the count of the histogram.
#[derive(Debug, PartialEq, Eq)]
struct Row {
    bound: Option<u64>,
    count: u64,
}

/// The bars. The remark counts the requests, also those whose end is unknown; they are at the time
/// that was seen.
pub(super) fn section(summary: &Summary, _: &PageExtent) -> Option<Section> {
    let histogram = summary.latency();
    if histogram.count() == 0 {
        return None;
    }
    let title = match summary.latency_kind() {
        LatencyKind::Response => "Response time",
        LatencyKind::Service => "Service time",
    };
    let mut counted = vec![format!("{} ok", count(summary.total.counts.ok))];
    counted.extend(unseen(summary));
    let of = format!("Requests counted: {}.", enumerated(&counted));
    let explanation = "Each row counts the requests below its bound and not below the bound above. \
                       Each bound is the same multiple of the one before. Two humps mean two kinds \
                       of responses; a long tail means that some users wait much longer than most.";
    let section = Section::table("distribution", title, grid(histogram), explanation)?;
    Some(section.remarked([of]))
}

/// The rows with their bars, shares, counts, and the names of the quantiles in them.
fn grid(histogram: &Histogram) -> Grid {
    let rows = rows(histogram);
    let total = histogram.count();
    let largest = rows.iter().map(|row| row.count).max().unwrap_or(0);
    let bounds = std::iter::once(None).chain(rows.iter().map(|row| row.bound));
    let marks = marks(&rows, histogram).into_iter();
    let cells = rows
        .iter()
        .zip(bounds)
        .zip(marks)
        .map(|((row, above), marks)| {
            vec![
                Cell::new(label(row.bound, above))
                    .numbered(row.bound.or(above).map(|bound| bound as f64))
                    .inked(Ink::Dim),
                Cell::bar(row.count, largest),
                Cell::share_tenths(row.count, total),
                Cell::count(row.count).inked(Ink::Dim),
                Cell::new(marks).inked(Ink::Bold),
            ]
            .into()
        });
    let columns = vec![
        Column::numbers("", 0),
        Column::bars(60),
        Column::numbers("share", 0),
        Column::numbers("count", 1),
        Column::words("", 2),
    ];
    Grid::new(columns, cells)
}

/// The rows of a histogram: about twice the square root of the count, and at most [`ROWS_MAX`].
///
/// The body lies between the quantiles of [`BODY`], and ends with the longest time whose end was
/// seen. The scale is the finest of [`PER_DECADE`] that covers the body with these rows. A bucket
/// counts in the row of its upper bound.
fn rows(histogram: &Histogram) -> Vec<Row> {
    let count = histogram.count();
    let low = histogram.quantile_unchecked(BODY.0).0;
    let all_but_one = (count as f64 - 1.0) / count as f64;
    let high = histogram.quantile_unchecked(BODY.1.min(all_but_one)).0;
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
        // Quantiles use the upper bound of a bucket, too.
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
    // One more than the maximum, so that the caller sees that the scale is too fine.
    for bound in (first..).map(step).filter(|bound| *bound > low) {
        bounds.push(bound);
        if bound > high || bounds.len() >= ROWS_MAX {
            break;
        }
    }
    bounds.dedup();
    bounds
}

/// The range of a row, by its own bound and the bound of the row above.
fn label(bound: Option<u64>, above: Option<u64>) -> String {
    let text = |bound| latency(Nanos(bound), Unicode::On);
    match (bound, above) {
        (Some(bound), _) => format!("< {}", text(bound)),
        (None, Some(above)) => format!("≥ {}", text(above)),
        (None, None) => "all".to_owned(),
    }
}

/// The names of the supported quantiles whose rank lies in each row. The table of latencies has the
/// same ranks.
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
