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
//! is asked for. `drumfire compare --html` writes a page with the comparison itself above the same
//! pictures ([`comparison()`]), of one pair or of sets.

use super::grid::{self, Cell, Grid};
use super::{Document, Part, Place, data, part, picture};
use crate::answers::answers;
use crate::comparison::{Cells, answer, cells, difference, remarks, words};
use crate::figure::{BesideSide, beside};
use crate::line::Ink;
use crate::markup::Markup;
use crate::quantity::{count, latency, rate, share};
use crate::style::{Color, Style, Unicode};
use crate::{calendar, secret};
use drumfire_compare::{Against, Compared, Comparison};
use drumfire_measure::{Histogram, LatencyKind, Summary};
use std::slice::from_ref;

/// The caution of a page without a verdict.
const CHANCE: &str = "One pair of runs: differences can be chance. The same program differs from run to \
                      run, too.";

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
pub fn compare(base: &Compared, candidate: &Compared) -> Vec<Part> {
    let both = [base, candidate].map(Compared::summary);
    let mut parts = vec![part("about", |out| {
        out.open("header", &[("id", "about")]);
        out.element("h1", &[], "Two runs");
        runs(out, both, true);
        out.element("p", &[("class", "dim")], CHANCE);
        out.close("header");
    })];
    let kind = Compared::latency_kind([base, candidate]);
    parts.extend(grid::part(&numbers(both, kind)));
    pictures(&mut parts, from_ref(base), from_ref(candidate));
    parts
}

/// The parts of the page of a comparison, as a file has it: the answer, both sides, the table of
/// figures, and the pictures of both; of one pair the numbers of both runs too.
#[must_use]
pub fn comparison(of: &Comparison, base: &[Compared], candidate: &[Compared]) -> Vec<Part> {
    let mut parts = vec![part("about", |out| about(out, of, base, candidate))];
    parts.extend(grid::part(&figures(of)));
    if let ([base], [candidate]) = (base, candidate) {
        let both = [base, candidate];
        let kind = Compared::latency_kind(both);
        parts.extend(grid::part(&numbers(both.map(Compared::summary), kind)));
    }
    pictures(&mut parts, base, candidate);
    parts
}

/// The page of a comparison as the bytes of a file that stands alone.
#[must_use]
pub fn comparison_page(of: &Comparison, base: &[Compared], candidate: &[Compared]) -> Vec<u8> {
    let document = Document {
        title: "drumfire: comparison",
        place: Place::File,
        parts: &comparison(of, base, candidate),
    };
    document.print()
}

/// The part of a run's page on its baseline: what it was, the table of figures, and the caution.
pub(super) fn against(of: &Against) -> Part {
    let style = Style::new(u16::MAX, Color::Off, Unicode::On);
    let (sentence, _) = answer(&of.comparison, &style);
    let base = words(&of.comparison.base, &style);
    part("baseline", |out| {
        out.open("section", &[("id", "baseline")]);
        out.element("h2", &[], "Comparison with the baseline");
        out.element("p", &[], &format!("Baseline: {base}"));
        out.element("p", &[("class", "dim")], &sentence);
        if let Some(sentence) = difference(&of.comparison, &style) {
            out.element("p", &[], &sentence);
        }
        for remark in remarks(&of.comparison, &style) {
            out.element("p", &[("class", "dim")], &remark);
        }
        if let Some(table) = grid::part(&figures(&of.comparison)) {
            out.raw(&table.html);
        }
        out.close("section");
    })
}

/// Appends the pictures of both sides, with their data; none where a side has no run.
fn pictures(parts: &mut Vec<Part>, base: &[Compared], candidate: &[Compared]) {
    let kind = Compared::latency_kind(base.iter().chain(candidate));
    let figures = match (side(base, kind), side(candidate, kind)) {
        (Some(base), Some(candidate)) => beside(&base, &candidate),
        _ => Vec::new(),
    };
    for figure in &figures {
        parts.push(part(figure.name, |out| picture(out, figure)));
    }
    parts.push(part("data", |out| data::print(out, &figures)));
}

/// A side as pictures show it: all its requests, and over time the run whose median latency is in
/// the middle.
fn side(runs: &[Compared], kind: LatencyKind) -> Option<BesideSide<'_>> {
    let times = |run: &Compared| kind.of(&run.summary().total.latency).clone();
    let mut ordered: Vec<&Compared> = runs.iter().collect();
    ordered.sort_by_key(|run| times(run).quantile_unchecked(0.5));
    let middle = ordered.get(ordered.len().saturating_sub(1) / 2)?;
    let mut latency = Histogram::small();
    let (mut ok, mut endless) = (0, 0);
    for run in runs {
        latency.merge(&times(run));
        let counts = &run.summary().total.counts;
        ok += counts.ok;
        endless += counts.dropped + counts.pending + counts.in_flight;
    }
    Some(BesideSide {
        run: middle.summary(),
        rows: middle.rows(),
        kind,
        latency,
        ok,
        failures: runs.iter().flat_map(Compared::failures).collect(),
        endless,
    })
}

/// Appends the answer, both sides, and what makes the answer less than it seems.
fn about(out: &mut Markup, of: &Comparison, base: &[Compared], candidate: &[Compared]) {
    let style = Style::new(u16::MAX, Color::Off, Unicode::On);
    let (sentence, ink) = answer(of, &style);
    let class = match ink {
        Ink::Bad => "is-bad",
        _ => "",
    };
    out.open("header", &[("id", "about")]);
    out.element("h1", &[], "Comparison");
    out.open("p", &[]);
    out.element("strong", &[("class", class)], &sentence);
    out.close("p");
    match (base, candidate) {
        // Of a set the runs are only counted: a line for each would push the table off the screen.
        ([base], [candidate]) => runs(out, [base, candidate].map(Compared::summary), false),
        _ => {
            for (name, side) in ["Base", "Candidate"].iter().zip([&of.base, &of.candidate]) {
                out.open("p", &[]);
                out.element("strong", &[], name);
                out.text(&format!(" {}", words(side, &style)));
                out.close("p");
            }
            let note = "The tail and the outcomes below cover all requests of a side. Over time, each side is \
                        shown by the run with the middle median.";
            out.element("p", &[("class", "dim")], note);
        }
    }
    if let Some(sentence) = difference(of, &style) {
        out.element("p", &[], &sentence);
    }
    for remark in remarks(of, &style) {
        out.element("p", &[("class", "dim")], &remark);
    }
    out.close("header");
}

/// `is_linked` on the pages of a server, where each run has a page; a file stands alone, and links
/// would lead nowhere.
///
/// Appends a line for each run with its answers.
fn runs(out: &mut Markup, both: [&Summary; 2], is_linked: bool) {
    for (name, run) in ["Base", "Candidate"].iter().zip(both) {
        let target = secret::excerpt(&run.info.target);
        let started = calendar::rfc3339_seconds(run.info.started_at_unix_ns);
        let words: Vec<String> = answers(run).map(|answer| answer.text).into();
        let words = words.join(" · ");
        out.open("p", &[]);
        out.element("strong", &[], name);
        out.text(&format!(" {target} · {started} · run "));
        match is_linked {
            true => {
                let link = format!("run/{}/", run.info.id);
                out.element("a", &[("href", &link)], &run.info.id);
            }
            false => out.text(&run.info.id),
        }
        out.text(&format!(" · {words}"));
        out.close("p");
    }
}

/// The figures of a comparison, as the terminal has them.
fn figures(of: &Comparison) -> Grid {
    let Cells { heads, rows } = cells(of, &Style::new(u16::MAX, Color::Off, Unicode::On));
    let row = |cells: Vec<String>| {
        // The answer is the last column; of a pair it is another word, which is never this one.
        let is_worse = cells.last().is_some_and(|answer| answer == "worse");
        let cells = cells.into_iter().enumerate();
        let cell = |(number, text): (usize, String)| match is_worse && number > 0 {
            true => Cell::Bad(text),
            false => Cell::Text(text),
        };
        cells.map(cell).collect()
    };
    Grid {
        id: "figures",
        title: "Figures",
        heads: heads.into_iter().map(str::to_owned).collect(),
        rows: rows.into_iter().map(row).collect(),
        explanation: "The value of each run; for sets, the median of their runs. The shift of a time or a rate is \
                      candidate / base − 1; the shift of failures is a difference. The interval contains the \
                      shift with 95 % confidence. p is the probability that equal sets differ this much, for all \
                      figures together. One pair of runs has neither p nor an answer: its intervals cover only \
                      chance within the runs.",
    }
}

/// A row for each number of both runs. Each value is paired with its text, since the ratio is that
/// of the values and not of the rounded texts.
fn numbers(both: [&Summary; 2], kind: LatencyKind) -> Grid {
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
                let time = kind.of(&run.total.latency).quantile(q)?;
                Some((time.0 as f64, latency(time, Unicode::On)))
            }),
        ));
    }
    Grid {
        id: "compared",
        title: "Numbers",
        heads: ["", "base", "candidate", "candidate / base"]
            .map(str::to_owned)
            .to_vec(),
        rows,
        explanation: "Times are response times; in the closed model, where users do not wait for \
                      connections, service times. They are of ok responses and timeouts. The last column is the candidate's \
                      number divided by the base's.",
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
