//! A run as a page of HTML: the answers, six numbers, pictures with their numbers as tables, the
//! sections of the report, the whole report as text, and the origin of the run with its data.
//!
//! The page is one file. It loads nothing, and its content security policy allows only the page's
//! own program (`web/`), so that a text from a server stays a text even if an escape was forgotten.
//! The page is complete without the program, which adds a cursor, zoom and sorting.
//!
//! A page is a [`Document`] of [`Part`]s, which are elements with ids. A server replaces the
//! changed parts of a running test.

mod answers;
mod back;
mod capacity;
mod chart;
mod compare;
mod control;
mod data;
mod document;
mod forest;
mod history;
mod knee;
mod numbers;
mod origin;
mod program;
mod runs;
mod section;
mod table;

pub use back::{ToList, back};
pub use capacity::{capacity, capacity_page};
pub use compare::{compare, comparison, comparison_page};
pub use control::{RunPhase, RunProgress, control, progress};
pub use document::{Document, Place};
pub use history::history;
pub use origin::Origin;
pub use runs::{ListView, StoredRun, runs};

use crate::figure::svg::draw;
use crate::figure::{self, Figure, figures};
use crate::markup::Markup;
use crate::section::{PageExtent, RunSection};
use crate::style::{Color, Style, Unicode};
use crate::{Naming, calendar, secret, text};
use drumfire_measure::Summary;

/// The width of the report as text, in columns.
const COLUMNS: u16 = 110;

/// A part of a page: one element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The id of the element, which no other part of the page has.
    pub id: &'static str,
    /// The element as markup, with everything in it escaped.
    pub html: String,
}

/// The page of a finished run, as the bytes of a file.
#[must_use]
pub fn page(summary: &Summary, origin: &Origin<'_>) -> Vec<u8> {
    let document = Document {
        title: &title(summary),
        place: Place::File,
        parts: &parts(summary, origin),
    };
    document.print()
}

/// The title of a run's page, with the target, unescaped.
#[must_use]
pub fn title(summary: &Summary) -> String {
    format!("drumfire: {}", target(summary))
}

/// The parts of the page of a run, in the order of reading. A part that has nothing to show is left
/// out.
///
/// The ids are the same for every run, so that a server can compare the parts of two moments by
/// their ids.
#[must_use]
pub fn parts(summary: &Summary, origin: &Origin<'_>) -> Vec<Part> {
    parts_of(summary, origin, figures(summary))
}

/// The parts of the page of a run with these figures.
fn parts_of(summary: &Summary, origin: &Origin<'_>, mut figures: Vec<Figure>) -> Vec<Part> {
    let naming = origin.naming;
    let mut parts = vec![
        part("about", |out| about(out, summary)),
        part("answers", |out| answers::print(out, summary, origin)),
        part("numbers", |out| numbers::print(out, summary)),
    ];
    if let Some(against) = origin.against {
        // The tail of the baseline is in the same picture.
        let tail = figures.iter_mut().find(|figure| figure.name == "tail");
        if let Some(of_run) = tail {
            *of_run = figure::tail(summary, Some(against.baseline()));
        }
        parts.push(compare::against(against));
    }
    parts.extend(
        figures
            .iter()
            .map(|figure| part(figure.name, |out| picture(out, figure))),
    );
    // The answers and the plan have parts of their own.
    let extent = PageExtent::page(naming);
    let sections = RunSection::ALL
        .iter()
        .filter(|part| **part != RunSection::Verdict);
    let sections = sections.filter_map(|part| part.section(summary, &extent));
    parts.extend(sections.map(|section| section::part(&section)));
    parts.push(part("report", |out| whole(out, summary, naming)));
    parts.extend(origin::parts(summary, origin));
    parts.push(part("data", |out| data::print(out, &figures)));
    parts
}

/// A part with the element that `print` appends.
fn part(id: &'static str, print: impl FnOnce(&mut Markup)) -> Part {
    let mut out = Markup::default();
    print(&mut out);
    Part {
        id,
        html: out.finish(),
    }
}

/// The target, the time and the run's name.
fn about(out: &mut Markup, summary: &Summary) {
    out.open("header", &[("id", "about")]);
    out.element("h1", &[], &target(summary));
    let started = calendar::rfc3339_seconds(summary.info.started_at_unix_ns);
    let facts = format!("drumfire · {started} · run {}", summary.info.id);
    out.element("p", &[("class", "dim")], &facts);
    out.close("header");
}

/// The target as a text without secrets, cut if it is long.
fn target(summary: &Summary) -> String {
    secret::excerpt(&summary.info.target)
}

/// A picture, with its numbers folded below it.
fn picture(out: &mut Markup, figure: &Figure) {
    out.open("figure", &[("id", figure.name)]);
    draw(out, figure);
    if let Some(note) = &figure.note {
        out.element("figcaption", &[("class", "dim")], note);
    }
    out.open("details", &[]);
    out.element("summary", &[], "Numbers");
    table::print(out, figure);
    out.close("details");
    out.close("figure");
}

/// The whole report as the terminal prints it.
fn whole(out: &mut Markup, summary: &Summary, naming: Naming) {
    let style = Style::new(COLUMNS, Color::Off, Unicode::On).naming(naming);
    out.open("section", &[("id", "report")]);
    out.element("h2", &[], "Full report");
    out.open("pre", &[("tabindex", "0")]);
    out.lines(&text::summary(summary, &style));
    out.close("pre");
    out.open("details", &[]);
    out.element("summary", &[], "With explanations");
    out.open("pre", &[("tabindex", "0")]);
    out.lines(&text::summary_explained(summary, &style));
    out.close("pre");
    out.close("details");
    out.close("section");
}
