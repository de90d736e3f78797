//! The table of latencies: a row for each kind of time, a column for each quantile.
//!
//! The first row is *the* latency. The others explain it: response time consists of waiting, lag
//! and service time.

use super::requests::are_events;
use super::{Body, Cell, Column, Facts, Grid, PageExtent, Section, unseen};
use crate::line::Ink;
use crate::quantity::{count, counted, enumerated, latency_f64, share_of};
use crate::style::Unicode;
use drumfire_measure::{Histogram, LatencyKind, LlmFigures, Model, Summary, count_needed};
use drumfire_units::Nanos;

/// The columns: heading, quantile, and the order in which a column gives way on a narrow terminal.
/// The median, p99 and the maximum stay, because a quantile hides the maximum.
const QUANTILES: [(&str, f64, u8); 5] = [
    ("p50", 0.5, 0),
    ("p90", 0.9, 2),
    ("p95", 0.95, 4),
    ("p99", 0.99, 0),
    ("p99.9", 0.999, 1),
];

/// The share of the time to the first token from which the wait before the request is mentioned.
const SHOWN_WAIT: f64 = 0.01;

/// The table, and remarks on its marks. A run without samples has a sentence instead.
pub(super) fn section(summary: &Summary, _: &PageExtent) -> Option<Section> {
    let rows = rows(summary);
    if rows.is_empty() {
        let nothing = Cell::new("nothing was measured").inked(Ink::Dim);
        let nothing = Body::Facts(Facts::items("Latency", vec![nothing]));
        return Section::new("times", "Latency", "", vec![nothing]);
    }
    let supports = |q: f64| rows.iter().any(|(_, times)| times.quantile(q).is_some());
    // A column of dashes is left out, except for p99, whose absence matters.
    let quantiles = QUANTILES.into_iter();
    let quantiles: Vec<_> = quantiles
        .filter(|(_, q, _)| *q < 0.999 || supports(*q))
        .collect();
    let mut columns = vec![
        Column::names("time"),
        Column::numbers("min", 5),
        Column::numbers("mean", 3),
    ];
    columns.extend(
        quantiles
            .iter()
            .map(|(name, _, early)| Column::numbers(name, *early)),
    );
    columns.push(Column::numbers("max", 0));
    let cells = rows.iter().enumerate().map(|(number, (name, times))| {
        let mut cells = vec![
            Cell::new(*name),
            Cell::quantile(times, 0.0),
            Cell::measured(times.mean(), latency_f64(times.mean(), Unicode::On)),
        ];
        cells.extend(quantiles.iter().map(|(_, q, _)| Cell::quantile(times, *q)));
        cells.push(Cell::quantile(times, 1.0));
        if number == 0 {
            cells = cells.into_iter().map(Cell::emphasized).collect();
        }
        cells.into()
    });
    let grid = Grid::new(columns, cells);
    let mut text = explanation(summary).to_owned();
    if summary.total.llm().is_some() {
        text.push_str(OF_ANSWERS);
    }
    let section = Section::table("times", "Latency", grid, text)?;
    Some(section.remarked(remarks(summary, &quantiles)))
}

/// How to read the times of answers.
const OF_ANSWERS: &str = " Of answers, `ttft` is the time to the first token, measured like the \
                          response time in the open model and like the service time in the closed \
                          model; `ttfv` the time to the first visible token; `tpot` the time per \
                          token after the first event; `gap` the time between two events with \
                          tokens; `itl` the same per token; `stall` the longest gap of an answer.";

/// How to read the times of this model.
fn explanation(summary: &Summary) -> &'static str {
    match (summary.model(), summary.latency_kind()) {
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
    }
}

/// The kinds of time that have samples, the main one first.
fn rows(summary: &Summary) -> Vec<(&'static str, &Histogram)> {
    let latency = &summary.total.latency;
    let (response, service) = (
        ("response", &latency.response_time),
        ("service", &latency.service_time),
    );
    let (waiting, lag) = (("waiting", &latency.waiting), ("lag", &latency.lag));
    let has_waited = summary.model() == Model::Open || latency.waiting.max() > Nanos::ZERO;
    let mut rows = match summary.latency_kind() {
        LatencyKind::Response => vec![response, service, waiting, lag],
        LatencyKind::Service if has_waited => vec![service, response, waiting, lag],
        // Without waiting, the response time is the service time.
        LatencyKind::Service => vec![service, lag],
    };
    rows.push(("failed", &latency.failed));
    let iterations = summary.total.iterations.iter();
    rows.extend(iterations.map(|of| ("iteration", &of.time)));
    let messages = &summary.total.messages;
    let (first, gap) = match are_events(summary, messages) {
        true => ("1st event", "event gap"),
        false => ("1st message", "message gap"),
    };
    rows.push((first, &messages.first));
    rows.push((gap, &messages.gap));
    if let Some(llm) = summary.total.llm() {
        rows.extend(answers(llm, summary.model()));
    }
    // Messages in one packet have no gap. If all gaps are zero, the row shows nothing.
    rows.retain(|(name, times)| times.count() > 0 && (*name != gap || times.max() > Nanos::ZERO));
    rows
}

/// The times of answers. The first visible token has a row only if it differs from the first token.
fn answers(llm: &LlmFigures, model: Model) -> Vec<(&'static str, &Histogram)> {
    let mut rows = vec![("ttft", llm.ttft_of(model))];
    if is_apart(&llm.ttft, &llm.ttfv) {
        rows.push(("ttfv", &llm.ttfv));
    }
    rows.extend([("tpot", &llm.tpot)]);
    if llm.gap.max() > Nanos::ZERO {
        rows.extend([("gap", &llm.gap), ("itl", &llm.itl), ("stall", &llm.stall)]);
    }
    rows
}

/// Whether two distributions differ in their count, or by more than a hundredth in their mean.
fn is_apart(one: &Histogram, other: &Histogram) -> bool {
    one.count() != other.count() || (one.mean() - other.mean()).abs() > one.mean() / 100.0
}

/// Sentences on missing quantiles, lower bounds, times beyond the histogram's range, and the closed
/// model. Each is about the first row, and there only if the table has its mark.
fn remarks(summary: &Summary, quantiles: &[(&str, f64, u8)]) -> Vec<String> {
    let main = summary.latency();
    let mut remarks = Vec::new();
    if summary.model() == Model::Closed && main.count() > 0 {
        let hidden = match summary.latency_kind() {
            LatencyKind::Service => {
                "Closed model: users wait their turn, so queues stay hidden. -r shows them."
            }
            LatencyKind::Response => {
                "Closed model: users wait for answers, so a slow target gets fewer requests."
            }
        };
        remarks.push(hidden.to_owned());
    }
    if let Some(llm) = summary.total.llm() {
        remarks.extend(start_of_ttft(llm, summary.model()));
    }
    let unsupported = quantiles
        .iter()
        .filter(|(_, q, _)| main.quantile(*q).is_none());
    let needs: Vec<_> = unsupported
        .map(|(name, q, _)| format!("{name} needs {}", count(count_needed(*q))))
        .collect();
    if main.count() > 0 && !needs.is_empty() {
        let samples = counted(main.count(), "sample");
        let are = if main.count() == 1 { "is" } else { "are" };
        remarks.push(format!("– {samples} {are} too few: {}.", needs.join(", ")));
    }
    let mut unseen = unseen(summary);
    let iterations = summary.total.iterations.as_ref();
    let in_flight = iterations.map_or(0, |iterations| iterations.counts.in_flight);
    if in_flight > 0 {
        unseen.push(format!("{} in flight", counted(in_flight, "iteration")));
    }
    if !unseen.is_empty() {
        let unseen = enumerated(&unseen);
        remarks.push(format!(
            "≥ at least: {unseen}, end unknown; the mean is a lower bound too."
        ));
    }
    let beyond = main.beyond() + summary.total.latency.failed.beyond();
    if beyond > 0 {
        let beyond = counted(beyond, "sample");
        remarks.push(format!(
            "{beyond} above the histogram's limit of 1 h, counted as 1 h."
        ));
    }
    remarks
}

/// The start from which the time to the first token counts, and the share of it that a request
/// waited before it was sent.
fn start_of_ttft(llm: &LlmFigures, model: Model) -> Option<String> {
    let (ttft, service) = (llm.ttft.mean(), llm.ttft_service.mean());
    if llm.ttft.count() == 0 {
        return None;
    }
    if model == Model::Closed {
        return Some("ttft counts from the first write of a request.".to_owned());
    }
    let waited = 1.0 - service / ttft.max(1.0);
    let share = match waited >= SHOWN_WAIT {
        true => format!(
            "; on average, {} of it passed before the request was sent",
            share_of(waited)
        ),
        false => String::new(),
    };
    Some(format!("ttft counts from when a request was due{share}."))
}
