//! A run as one page of HTML: the answers first, then six numbers, then the pictures, each with its
//! numbers as a table; tables of pools, steps, stages, failures and the slowest requests; the whole
//! report as text; and what the run was made from, with its data to take away.
//!
//! The page is a file of its own. It loads nothing and runs no program but its own (`web/`), and its
//! content security policy says so to the browser: a text that a server has chosen stays a text
//! ([`crate::markup`]) even where a mistake of ours let it out. Everything is there without the
//! program, which adds a cursor, zoom and sorting. The page follows the reader's preference for dark
//! or light, prints, and is read aloud in the order in which it is read.
//!
//! A page is a [`Document`] of [`Part`]s, each an element with an id of its own, so that a page of a
//! run that goes on can be given those anew that have changed. [`parts`] is their order.

mod answers;
mod compare;
mod control;
mod data;
mod document;
mod history;
mod numbers;
mod origin;
mod program;
mod runs;
mod section;
mod table;

pub use compare::{compare, comparison, comparison_page};
pub use control::{control, progress};
pub use document::{Document, Place};
pub use history::history;
pub use origin::Origin;
pub use runs::{StoredRun, runs};

use crate::figure::svg::draw;
use crate::figure::{self, Figure, figures};
use crate::markup::Markup;
use crate::section::Extent;
use crate::style::{Color, Style, Unicode};
use crate::{Naming, calendar, secret, text};
use drumfire_measure::Summary;

/// The width of the report as text, in columns.
const COLUMNS: u16 = 110;

/// A part of a page: one element, whose id it has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The id, which no other part of the page has.
    pub id: &'static str,
    /// The element as markup, from its first tag to its last, with everything in it escaped
    /// already.
    pub html: String,
}

/// The page of a run whose books are closed, as the bytes of a file that stands alone.
#[must_use]
pub fn page(summary: &Summary, origin: &Origin<'_>) -> Vec<u8> {
    let document = Document {
        title: &title(summary),
        place: Place::File,
        parts: &parts(summary, origin),
    };
    document.print()
}

/// The title of a run's page, which names the target. It has no escapes yet: [`Document`] prints it
/// as a text.
#[must_use]
pub fn title(summary: &Summary) -> String {
    format!("drumfire: {}", target(summary))
}

/// The parts of the page of a run, in the order in which they are read. A part that has nothing to
/// show is left out.
///
/// Ids do not depend on the run's content but for what is there, so that the server of a run under
/// way compares the parts of two moments by their ids and sends those whose markup has changed.
#[must_use]
pub fn parts(summary: &Summary, origin: &Origin<'_>) -> Vec<Part> {
    let naming = origin.naming;
    let mut parts = vec![
        part("about", |out| about(out, summary)),
        part("answers", |out| answers::print(out, summary, origin)),
        part("numbers", |out| numbers::print(out, summary)),
    ];
    let mut figures = figures(summary);
    if let Some(against) = origin.against {
        // The tail lies over that of the baseline.
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
    let extent = Extent::page(naming);
    let sections = text::Part::ALL
        .iter()
        .filter(|part| **part != text::Part::Verdict);
    let sections = sections.filter_map(|part| part.section(summary, &extent));
    parts.extend(sections.map(|section| section::part(&section)));
    parts.push(part("report", |out| whole(out, summary, naming)));
    parts.extend(origin::parts(summary, origin));
    parts.push(part("data", |out| data::print(out, &figures)));
    parts
}

/// A part whose element is appended by `print`.
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

/// The target as a text without secrets, cut where it is long.
fn target(summary: &Summary) -> String {
    secret::excerpt(&summary.info.target)
}

/// A picture, and its numbers behind it.
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

/// Everything else that there is to say, as the terminal has it.
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
