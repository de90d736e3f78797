//! Two runs, or two sets of runs, beside each other: their numbers, and pictures of both.
//!
//! The server of runs makes the page of two runs ([`compare`]), which has no verdict. `drumfire
//! compare --html` writes the page of a [`comparison()`], with its answer. Each run's number is
//! computed by its own summary and its own model; only the ratio of both is computed here.

use super::{Document, Part, Place, data, forest, part, pictures_of, section};
use crate::answers::answers;
use crate::comparison::{self, answer, headline, listed, to_decide};
use crate::figure::{BesideSide, beside};
use crate::grid::{Cell, Column, Grid, Row};
use crate::markup::Markup;
use crate::quantity::{count, latency, rate, share};
use crate::section::{Body, Section};
use crate::style::Unicode;
use crate::{calendar, secret};
use drumfire_compare::{Against, Answer, Compared, Comparison, Terms};
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

/// The least shift that matters on the page of two runs, as `drumfire compare` has it.
const LEAST: f64 = 0.02;

/// The parts of the page of two runs, in the order in which they are read: their names, the shifts
/// if the runs can be compared, their numbers, and the pictures that both have ([`beside`]). Links
/// are relative to the page of all runs.
#[must_use]
pub fn compare(base: &Compared, candidate: &Compared) -> Vec<Part> {
    let both = [base, candidate].map(Compared::summary);
    let terms = Terms {
        least: LEAST,
        any_target: true,
    };
    let compared = Comparison::of_sets(from_ref(base), from_ref(candidate), terms);
    let mut parts = vec![part("about", |out| {
        out.open("header", &[("id", "about")]);
        out.element("h1", &[], "Two runs");
        runs(out, both, true);
        match &compared {
            Ok(_) => out.element("p", &[("class", "dim")], CHANCE),
            Err(why) => out.element("p", &[("class", "dim")], &format!("Not comparable: {why}.")),
        }
        out.close("header");
    })];
    parts.extend(
        compared
            .ok()
            .map(|of| part("forest", |out| forest::print(out, &of))),
    );
    let kind = Compared::latency_kind([base, candidate]);
    parts.extend(numbers(both, kind).as_ref().map(section::part));
    pictures(&mut parts, from_ref(base), from_ref(candidate));
    parts
}

/// The parts of the page of a comparison, as a file has it: the answer, the shifts as a picture, both
/// sides, the table of figures, and the pictures of both; of one pair the numbers of both runs too.
#[must_use]
pub fn comparison(of: &Comparison, base: &[Compared], candidate: &[Compared]) -> Vec<Part> {
    let mut parts = vec![part("about", |out| about(out, of, base, candidate))];
    if !of.is_pair() {
        parts.push(part("answers", |out| tiles(out, of)));
    }
    parts.push(part("forest", |out| forest::print(out, of)));
    parts.retain(|part| !part.html.is_empty());
    parts.push(section::part(&comparison::section(of)));
    if let ([base], [candidate]) = (base, candidate) {
        let both = [base, candidate];
        let kind = Compared::latency_kind(both);
        let numbers = numbers(both.map(Compared::summary), kind);
        parts.extend(numbers.as_ref().map(section::part));
    }
    pictures(&mut parts, base, candidate);
    parts.push(part("sides", |out| names(out, of)));
    parts
}

/// Appends the figures that decide, what would decide the others, and both sides.
fn tiles(out: &mut Markup, of: &Comparison) {
    out.open("section", &[("id", "answers")]);
    out.open("ul", &[("class", "answers")]);
    let mut tile = |class: &str, title: &str, words: &[String]| {
        out.open("li", &[("class", class)]);
        out.element("strong", &[], title);
        for words in words {
            out.element("p", &[("class", "dim")], words);
        }
        out.close("li");
    };
    let found = [
        (Answer::Worse, "is-bad", "worse"),
        (Answer::Better, "is-good", "better"),
    ];
    for (which, class, title) in found {
        if let Some(figures) = listed(of, which) {
            tile(class, title, &[figures]);
        }
    }
    let equal = of
        .rows
        .iter()
        .filter(|row| row.answer == Some(Answer::Equal));
    let equal: Vec<&str> = equal.map(|row| row.figure.name()).collect();
    if !equal.is_empty() {
        tile("is-good", "equal", &[equal.join(", ")]);
    }
    let undecided = of.undecided();
    if !undecided.is_empty() {
        let names: Vec<&str> = undecided.iter().map(|(figure, _)| figure.name()).collect();
        let to_decide = to_decide(of).map(|words| format!("To decide: {words}."));
        let words: Vec<String> = [names.join(", ")].into_iter().chain(to_decide).collect();
        tile("is-fair", "undecided", &words);
    }
    for (name, side) in [("base", &of.base), ("candidate", &of.candidate)] {
        let cells = comparison::side(side).into_iter();
        let words: Vec<String> = cells.map(|cell| cell.text(Unicode::On)).collect();
        tile("is-open", name, &words);
    }
    out.close("ul");
    out.close("section");
}

/// Appends the names of the runs, by which other commands know them.
fn names(out: &mut Markup, of: &Comparison) {
    out.open("section", &[("id", "sides")]);
    out.element("h2", &[], "Runs");
    out.open("dl", &[("class", "lines")]);
    for (name, side) in [("Base", &of.base), ("Candidate", &of.candidate)] {
        out.element("dt", &[], name);
        out.element("dd", &[], &side.ids.join(" · "));
    }
    out.close("dl");
    let hint = "To see one of them, use `drumfire report RUN`, or `drumfire ui` for all of them.";
    out.element("p", &[("class", "dim")], hint);
    out.close("section");
}

/// The page of a comparison as the bytes of a file that stands alone.
#[must_use]
pub fn comparison_page(of: &Comparison, base: &[Compared], candidate: &[Compared]) -> Vec<u8> {
    let document = Document {
        title: &format!("drumfire: {}", headline(of).0),
        place: Place::File,
        parts: &comparison(of, base, candidate),
    };
    document.print()
}

/// The part of a run's page on its baseline.
pub(super) fn against(of: &Against) -> Part {
    part("baseline", |out| {
        out.open("section", &[("id", "baseline")]);
        out.element("h2", &[], "Comparison with the baseline");
        out.element("p", &[("class", "dim")], &answer(&of.comparison).0);
        section::print(out, &comparison::section(&of.comparison));
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
    parts.extend(pictures_of(&figures.iter().collect::<Vec<_>>()));
    parts.push(part("data", |out| data::print(out, &figures)));
}

/// A side as pictures show it: all its requests, and over time the run whose median latency is in
/// the middle.
fn side(runs: &[Compared], kind: LatencyKind) -> Option<BesideSide<'_>> {
    let times = |run: &Compared| kind.histogram(&run.summary().total.latency).clone();
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

/// Appends the answer, and for sets a note on the pictures.
fn about(out: &mut Markup, of: &Comparison, base: &[Compared], candidate: &[Compared]) {
    out.open("header", &[("id", "about")]);
    out.element("h1", &[], &headline(of).0);
    // The tiles have what is worse, better or equal.
    if matches!(of.answer(), Some(Answer::Open) | None) {
        let (words, _) = answer(of);
        let why = words.strip_prefix("undecided: ").unwrap_or(&words);
        out.element("p", &[], why);
    }
    match (base, candidate) {
        ([base], [candidate]) => runs(out, [base, candidate].map(Compared::summary), false),
        _ => {
            let note = "The tail and the outcomes below cover all requests of a side. Over time, each side is \
                        shown by the run with the middle median.";
            out.element("p", &[("class", "dim")], note);
        }
    }
    out.close("header");
}

/// Appends a line for each run with its answers. Runs are linked on the pages of a server, where each
/// run has a page.
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

/// A row for each number of both runs. Each value comes with its text, since the ratio is computed
/// from values that are not rounded.
fn numbers(both: [&Summary; 2], kind: LatencyKind) -> Option<Section> {
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
                let time = kind.histogram(&run.total.latency).quantile(q)?;
                Some((time.0 as f64, latency(time, Unicode::On)))
            }),
        ));
    }
    let columns = vec![
        Column::names(""),
        Column::numbers("base", 0),
        Column::numbers("candidate", 0),
        Column::numbers("candidate / base", 0),
    ];
    let explanation = "Times are response times; in the closed model, where users do not wait for \
                       connections, service times. They are of ok responses and timeouts. The last \
                       column is the candidate's number divided by the base's.";
    let bodies = vec![Body::Table(Grid::new(columns, rows))];
    Section::new("compared", "Numbers", explanation, bodies)
}

/// A row: the name, both texts, and the candidate's value as a multiple of the base's. If a run lacks
/// the value, it is a dash, and so is the ratio.
fn row(name: &str, both: [Option<(f64, String)>; 2]) -> Row {
    let ratio = match &both {
        [Some((base, _)), Some((candidate, _))] if *base > 0.0 => {
            let ratio = candidate / base;
            Cell::measured(ratio, format!("{ratio:.3}"))
        }
        _ => Cell::missing(),
    };
    let [base, candidate] =
        both.map(|number| number.map_or_else(Cell::missing, |(of, text)| Cell::measured(of, text)));
    vec![Cell::new(name), base, candidate, ratio].into()
}
