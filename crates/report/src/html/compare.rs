//! Two runs laid over each other: their numbers beside each other, and pictures of both.
//!
//! One pair of runs gets no verdict, and the page says so: two runs of the same program differ too.
//!
//! The page has parts of the same kinds as that of one run, in the same frame. Each run's number is
//! computed by its own summary and its own model; only the ratio of the two is computed here, and
//! only where both are known and the base's is above 0. Whether the two plans are alike is for the
//! reader to see: nothing is refused here.
//!
//! The server of runs in a browser makes this page from two summaries that it has read back. It has
//! no `control` and follows neither run: one that still goes on is compared as it is when the page
//! is asked for.

use super::grid::{self, Cell, Grid};
use super::{Part, data, part, picture};
use crate::answers::answers;
use crate::figure::beside;
use crate::markup::Markup;
use crate::quantity::{count, latency, rate, share};
use crate::style::Unicode;
use crate::{calendar, secret};
use drumfire_measure::Summary;

/// The quantiles of the table: name and q.
const QUANTILES: [(&str, f64); 6] = [
    ("p50", 0.5),
    ("p90", 0.9),
    ("p95", 0.95),
    ("p99", 0.99),
    ("p99.9", 0.999),
    ("slowest", 1.0),
];

/// The parts of the page of two runs, in the order in which they are read: their names, their
/// numbers, and the pictures that both have ([`beside`]). Links are relative to the page of all
/// runs.
#[must_use]
pub fn compare(base: &Summary, candidate: &Summary) -> Vec<Part> {
    let mut parts = vec![part("about", |out| about(out, base, candidate))];
    parts.extend(grid::part(&numbers(base, candidate)));
    let figures = beside(base, candidate);
    for figure in &figures {
        parts.push(part(figure.name, |out| picture(out, figure)));
    }
    parts.push(part("data", |out| data::print(out, &figures)));
    parts
}

/// Appends the heading, a line for each run with its answers, and the caution that one pair can
/// differ by chance.
fn about(out: &mut Markup, base: &Summary, candidate: &Summary) {
    out.open("header", &[("id", "about")]);
    out.element("h1", &[], "Two runs");
    for (name, run) in [("Base", base), ("Candidate", candidate)] {
        let target = secret::excerpt(&run.info.target);
        let started = calendar::rfc3339_seconds(run.info.started_at_unix_ns);
        let words: Vec<String> = answers(run).map(|answer| answer.text).into();
        let words = words.join(" · ");
        out.open("p", &[]);
        out.element("strong", &[], name);
        out.text(&format!(" {target} · {started} · run "));
        let link = format!("run/{}/", run.info.id);
        out.element("a", &[("href", &link)], &run.info.id);
        out.text(&format!(" · {words}"));
        out.close("p");
    }
    let note = "One pair of runs: what differs here can be chance. Equal programs differ from run to \
                run as well.";
    out.element("p", &[("class", "dim")], note);
    out.close("header");
}

/// A row for each number of both runs. Each value is paired with its text, since the ratio is that
/// of the values and not of the rounded texts.
fn numbers(base: &Summary, candidate: &Summary) -> Grid {
    let both = [base, candidate];
    let mut rows = vec![
        row(
            "requests",
            both.map(|run| {
                let sent = run.total.counts.sent;
                Some((sent as f64, count(sent)))
            }),
        ),
        row(
            "rate",
            both.map(|run| {
                let achieved = run.achieved_per_s();
                Some((achieved, rate(achieved)))
            }),
        ),
        row(
            "failed",
            both.map(|run| {
                let counts = &run.total.counts;
                Some((counts.failed as f64, share(counts.failed, counts.sent)))
            }),
        ),
    ];
    for (name, q) in QUANTILES {
        rows.push(row(
            name,
            both.map(|run| {
                let times = run.model().latency(&run.total.latency);
                let time = times.quantile(q)?;
                Some((time.0 as f64, latency(time, Unicode::On)))
            }),
        ));
    }
    Grid {
        id: "compared",
        title: "Numbers",
        heads: ["", "base", "candidate", "candidate to base"]
            .map(str::to_owned)
            .to_vec(),
        rows,
        explanation: "Times are response times in the open model and service times in the closed \
                      one, of ok responses and of timeouts. The last column has the candidate's \
                      number as a multiple of the base's.",
    }
}

/// The cells of a row: name, both texts, and the candidate's value as a multiple of the base's,
/// with three decimals. A value that either run lacks is a dash, and so is the ratio then.
fn row(name: &str, both: [Option<(f64, String)>; 2]) -> Vec<Cell> {
    let ratio = match &both {
        [Some((base, _)), Some((candidate, _))] if *base > 0.0 => {
            Some(format!("{:.3}", candidate / base))
        }
        _ => None,
    };
    let shown = both.map(|number| Cell::number(number.map(|(_, text)| text)));
    let mut cells = vec![Cell::Text(name.to_owned())];
    cells.extend(shown);
    cells.push(Cell::number(ratio));
    cells
}
