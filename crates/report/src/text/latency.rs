//! The table of latencies: a row for each kind, a column for each quantile that is supported.
//!
//! A quantile that the number of samples can't support is a dash, and a note says how many it
//! takes. A figure that requests without an end may have made too small is marked `≥`.
//!
//! The first row is *the* latency. The others explain it: response time is waiting, lag and service
//! time together, so that a slow first row with a fast second one points at connections or at the
//! generator.

use super::unseen;
use crate::latency_rows::LatencyRow;
use crate::line::{Ink, Line};
use crate::page::Page;
use crate::quantity::{count, counted, enumerated, latency_f64, quantile};
use crate::style::Style;
use crate::table::{Column, Table};
use drumfire_measure::{Histogram, LatencyKind, Model, Summary, count_needed};
use drumfire_units::Nanos;

/// The columns of quantiles: heading, quantile, and the order in which the column gives way. The
/// median and p99 never do, for one alone says little.
const QUANTILES: [(&str, f64, u8); 5] = [
    ("p50", 0.5, 0),
    ("p90", 0.9, 2),
    ("p95", 0.95, 4),
    ("p99", 0.99, 0),
    ("p99.9", 0.999, 1),
];

/// Prints the table and the notes on it; a run in which nothing was measured says so in a row, so
/// that an empty table is not taken for a fault of the page.
pub(super) fn print(summary: &Summary, page: &mut Page<'_>) {
    let rows = rows(summary);
    if rows.is_empty() {
        page.part("Latency", [Line::of("nothing was measured", Ink::Dim)]);
        return;
    }
    let quantiles = quantiles(&rows);
    let mut table = Table::new(columns(&quantiles));
    for (index, (name, histogram)) in rows.iter().enumerate() {
        let ink = if index == 0 { Ink::Bold } else { Ink::Plain };
        table.row(cells(name, histogram, &quantiles, ink, page.style));
    }
    let lines = table.lines(page.style.width());
    page.lines(lines);
    print_asides(summary, page);
    page.explain(match (summary.model(), summary.latency_kind()) {
        (Model::Open, _) => {
            "Response time is what a user sees: from when the request was due to its end. Service \
             time starts when the request was sent. Waiting is time without a free connection, \
             caused by the target. Lag is the generator's own lateness. A p99 of 20 ms means that \
             99 of 100 requests took 20 ms or less."
        }
        (Model::Closed, LatencyKind::Response) => {
            "Response time is what a user sees: from when the user was ready to send the request to \
             its end. Service time starts when the request was sent. Waiting is time without a free \
             connection or stream. Lag is the generator's own lateness. A p99 of 20 ms means that \
             99 of 100 requests took 20 ms or less."
        }
        (Model::Closed, LatencyKind::Service) => {
            "Service time runs from when a request was sent to its end. Lag is the generator's own \
             lateness. A p99 of 20 ms means that 99 of 100 requests took 20 ms or less."
        }
    });
}

/// The kinds of latency that have samples, the main one first. Gaps between messages are left out
/// where all are zero.
fn rows(summary: &Summary) -> Vec<(&'static str, &Histogram)> {
    let of_requests = LatencyRow::of(summary).into_iter();
    let mut rows: Vec<_> = of_requests.map(|row| (row.name, row.times)).collect();
    rows.push(("failed", &summary.total.latency.failed));
    if let Some(iterations) = &summary.total.iterations {
        rows.push(("iteration", &iterations.time));
    }
    rows.push(("1st message", &summary.total.messages.first));
    rows.push(("message gap", &summary.total.messages.gap));
    // Messages that come in one packet have no gap, and where all do, nothing is to be seen.
    let lasts = |name: &str, times: &Histogram| name != "message gap" || times.max() > Nanos::ZERO;
    rows.retain(|(name, times)| times.count() > 0 && lasts(name, times));
    rows
}

/// The quantiles up to p99, and p99.9 where any row supports it: a column of dashes would say
/// nothing, but p99 must be seen to be missing.
fn quantiles(rows: &[(&str, &Histogram)]) -> Vec<(&'static str, f64, u8)> {
    let supported = |q: f64| rows.iter().any(|(_, times)| times.quantile(q).is_some());
    let shown = QUANTILES.into_iter();
    shown
        .filter(|(_, q, _)| *q < 0.999 || supported(*q))
        .collect()
}

/// The columns: the name, the extremes, the mean and the quantiles. The mean gives way before most
/// quantiles, since a few slow requests decide it. The greatest value stays on any width: it is the
/// one that a quantile hides.
fn columns(quantiles: &[(&'static str, f64, u8)]) -> Vec<Column> {
    let mut columns = vec![Column::names("Latency")];
    columns.extend([Column::numbers("min", 5), Column::numbers("mean", 3)]);
    let numbers = quantiles.iter();
    columns.extend(numbers.map(|(heading, _, early)| Column::numbers(heading, *early)));
    columns.push(Column::numbers("max", 0));
    columns
}

/// One row's cells: the name, the least time, the mean, the quantiles, the greatest time. A
/// quantile that the count cannot support is a dash.
fn cells(
    name: &str,
    histogram: &Histogram,
    quantiles: &[(&str, f64, u8)],
    ink: Ink,
    style: &Style,
) -> Vec<Line> {
    let quantile = |q| quantile_cell(histogram, q, ink, style);
    let mean = latency_f64(histogram.mean(), style.unicode);
    let mut cells = vec![Line::of(name, ink), quantile(0.0), Line::of(mean, ink)];
    cells.extend(quantiles.iter().map(|(_, q, _)| quantile(*q)));
    cells.push(quantile(1.0));
    cells
}

/// A quantile, marked where it is only a lower bound; a dash where the count does not support it.
///
/// Every table of the page has its quantiles from here, so that none shows one that the others
/// refuse.
pub(super) fn quantile_cell(histogram: &Histogram, q: f64, ink: Ink, style: &Style) -> Line {
    match quantile(histogram, q, style.unicode) {
        Some(text) => Line::of(text, ink),
        None => Line::of(style.glyph("–", "-"), Ink::Dim),
    }
}

/// Prints the notes that do not fit into the table: missing samples, lower bounds, times beyond the
/// range of the histogram, and the blindness of a closed model.
///
/// Each note is there only where the table has its mark. They are of the first row: that of another
/// row would have to name it.
fn print_asides(summary: &Summary, page: &mut Page<'_>) {
    let main = summary.latency();
    if summary.model() == Model::Closed && main.count() > 0 {
        page.aside(match summary.latency_kind() {
            LatencyKind::Service => {
                "Closed model: users wait their turn, so queues stay hidden. -r shows them."
            }
            LatencyKind::Response => {
                "Closed model: users wait for answers, so a slow target gets fewer requests."
            }
        });
    }
    let shown = quantiles(&rows(summary));
    let unsupported = shown.iter().filter(|(_, q, _)| main.quantile(*q).is_none());
    let needs: Vec<_> = unsupported
        .map(|(name, q, _)| format!("{name} needs {}", count(count_needed(*q))))
        .collect();
    if main.count() > 0 && !needs.is_empty() {
        let dash = page.style.glyph("–", "-");
        let samples = counted(main.count(), "sample");
        let are = if main.count() == 1 { "is" } else { "are" };
        page.aside(&format!(
            "{dash} {samples} {are} too few: {}.",
            needs.join(", ")
        ));
    }
    let latency = &summary.total.latency;
    let mut unseen = unseen(summary);
    let iterations = summary.total.iterations.as_ref();
    let in_flight = iterations.map_or(0, |iterations| iterations.counts.in_flight);
    if in_flight > 0 {
        unseen.push(format!("{} in flight", counted(in_flight, "iteration")));
    }
    if !unseen.is_empty() {
        page.aside(&format!(
            "{} at least: {}, end unknown; the mean is a lower bound too.",
            page.style.glyph("≥", ">="),
            enumerated(&unseen)
        ));
    }
    let beyond = main.beyond() + latency.failed.beyond();
    if beyond > 0 {
        page.aside(&format!(
            "{} above the histogram's limit of 1 h, counted as 1 h.",
            counted(beyond, "sample")
        ));
    }
}
