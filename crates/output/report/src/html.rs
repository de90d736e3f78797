//! A run as a page of HTML, in the order of a reader's questions: the answers, the numbers, the
//! failures and the steps that caused them, pictures with their numbers as tables, the other
//! sections of the report, drumfire's own figures, and the origin of the run with its data.
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
mod origin;
mod picture;
mod program;
mod runs;
mod section;
mod steps;
mod table;
mod tiles;

pub use back::{ToList, back};
pub use capacity::{capacity, capacity_page, capacity_title};
pub use compare::{compare, comparison, comparison_page};
pub use control::{RunPhase, RunProgress, control, progress};
pub use document::{Document, Place};
pub use history::history;
pub use origin::Origin;
pub use runs::{ListView, StoredRun, runs};

use crate::figure::{self, Figure, Pictures};
use crate::markup::Markup;
use crate::plan_name::plan_name;
use crate::quantity::span;
use crate::section::{PageExtent, RunSection};
use crate::style::{Color, Style, Unicode};
use crate::untrusted::foreign;
use crate::{Naming, calendar, secret, text};
use drumfire_measure::{DriftFinding, Movement, Summary, Validity};
use picture::Rank;

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

/// The sections that show where failures and slow requests come from. They stand before the
/// pictures, and all others after them.
const CAUSES: [RunSection; 9] = [
    RunSection::Errors,
    RunSection::Drift,
    RunSection::Steps,
    RunSection::Messages,
    RunSection::Answers,
    RunSection::Scenarios,
    RunSection::Iterations,
    RunSection::Pools,
    RunSection::Stages,
];

/// The figures of drumfire itself.
const OWN: [&str; 2] = ["lag", "memory"];

/// The places to which the line of links leads, with their words.
const PLACES: [(&str, &str); 9] = [
    ("answers", "Answers"),
    ("failures", "Errors"),
    ("steps", "Steps"),
    ("rate", "Pictures"),
    ("times", "Latency"),
    ("report", "Report"),
    ("own", "drumfire itself"),
    ("plan", "Plan"),
    ("downloads", "Data"),
];

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

/// The title of a run's page, with the name of its plan or its target, unescaped.
#[must_use]
pub fn title(summary: &Summary) -> String {
    let name = plan_name(summary.info.name.as_deref());
    format!("drumfire: {}", name.unwrap_or_else(|| target(summary)))
}

/// The parts of the page of a run, in the order of reading. A part that has nothing to show is left
/// out.
///
/// The ids are the same for every run, so that a server can compare the parts of two moments by
/// their ids.
#[must_use]
pub fn parts(summary: &Summary, origin: &Origin<'_>) -> Vec<Part> {
    let pictures = Pictures::new(summary);
    parts_of(summary, origin, &pictures, pictures.all())
}

/// The parts of the page of a run with these of its figures.
fn parts_of(
    summary: &Summary,
    origin: &Origin<'_>,
    pictures: &Pictures<'_>,
    mut figures: Vec<Figure>,
) -> Vec<Part> {
    let mut parts = vec![
        part("about", |out| about(out, summary)),
        part("answers", |out| answers::print(out, summary, origin)),
    ];
    if !summary.thresholds.is_empty() {
        parts.push(part("thresholds", |out| answers::thresholds(out, summary)));
    }
    parts.push(part("numbers", |out| {
        tiles::print(out, summary, pictures.rows());
    }));
    let before_links = parts.len();
    if let Some(against) = origin.against {
        // The tail of the baseline is in the same picture.
        let tail = figures.iter_mut().find(|figure| figure.name == "tail");
        if let Some(of_run) = tail {
            *of_run = figure::tail(summary, Some(against.baseline()));
        }
        parts.push(compare::against(against));
    }
    let extent = PageExtent::page(origin.naming);
    let of = |section: RunSection| match section {
        // The answers have a part of their own.
        RunSection::Verdict => None,
        RunSection::Steps => steps::part(summary, &extent),
        section => Some(section::part(&section.section(summary, &extent)?)),
    };
    let is_steady = |of: &DriftFinding| of.movement == Movement::Steady;
    let is_steady = summary.drift.iter().all(is_steady);
    let is_cause = |section: &RunSection| {
        CAUSES.contains(section) && !(is_steady && *section == RunSection::Drift)
    };
    parts.extend(CAUSES.into_iter().filter(is_cause).filter_map(of));
    let (own, of_run): (Vec<_>, Vec<_>) = figures.iter().partition(|of| OWN.contains(&of.name));
    parts.extend(pictures_of(&of_run));
    let others = RunSection::ALL.into_iter();
    let mut others: Vec<_> = others.filter(|section| !is_cause(section)).collect();
    others.sort_by_key(|section| place(*section));
    parts.extend(others.into_iter().filter_map(of));
    parts.push(part("report", |out| whole(out, summary, origin.naming)));
    parts.push(part("own", |out| itself(out, summary, &own)));
    parts.extend(origin::parts(summary, origin));
    parts.push(part("data", |out| data::print(out, &figures)));
    let links = part("links", |out| links(out, &parts));
    parts.insert(before_links, links);
    parts
}

/// The place of a section among those after the pictures. The distribution is as high as the sections
/// after it up to the drift, which stand beside it on a wide page.
const fn place(section: RunSection) -> u8 {
    match section {
        RunSection::Load | RunSection::Requests | RunSection::Tokens => 0,
        RunSection::Latency => 1,
        RunSection::Distribution => 2,
        RunSection::Status => 3,
        RunSection::Drift => 4,
        RunSection::Slowest => 5,
        _ => 6,
    }
}

/// The parts of the figures of a run, the first of which has the names of numbered marks.
fn pictures_of(figures: &[&Figure]) -> Vec<Part> {
    let of = |(number, figure): (usize, &&Figure)| {
        let rank = match number {
            0 => Rank::First,
            last if last + 1 == figures.len() && last % 2 == 0 => Rank::Last,
            _ => Rank::Part,
        };
        part(figure.name, |out| picture::print(out, figure, rank))
    };
    figures.iter().enumerate().map(of).collect()
}

/// The part of a figure that stands alone.
fn picture(figure: &Figure) -> Part {
    part(figure.name, |out| picture::print(out, figure, Rank::First))
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

/// The name of the plan, or else the target, as the heading; then the facts of the run.
fn about(out: &mut Markup, summary: &Summary) {
    let info = &summary.info;
    out.open("header", &[("id", "about")]);
    let target = target(summary);
    let name = plan_name(info.name.as_deref()).map(|name| foreign(&name, Unicode::On));
    out.element("h1", &[], name.as_deref().unwrap_or(&target));
    let target = name.is_some().then_some(target);
    let facts: Vec<String> = target.into_iter().chain(origin_facts(summary)).collect();
    out.element("p", &[("class", "dim")], &facts.join(" · "));
    out.close("header");
}

/// The time, the machine, the program and the id of a run. Unknown ones are left out.
fn origin_facts(summary: &Summary) -> impl Iterator<Item = String> {
    let info = &summary.info;
    let facts = [
        began(info.started_at_unix_ns),
        span(summary.end(), Unicode::On),
        foreign(&info.machine, Unicode::On),
        format!("drumfire {}", foreign(&info.version, Unicode::On)),
        format!("run {}", info.id),
    ];
    facts.into_iter().filter(|fact| !fact.is_empty())
}

/// A moment as people write it: `2026-01-31 23:59:59 UTC`.
fn began(unix_ns: u64) -> String {
    let text = calendar::rfc3339_seconds(unix_ns);
    text.replace('T', " ").replace('Z', " UTC")
}

/// Appends a line of links to the parts that are there.
fn links(out: &mut Markup, parts: &[Part]) {
    out.open(
        "nav",
        &[("id", "links"), ("aria-label", "Parts of this page")],
    );
    for (id, words) in PLACES {
        if parts.iter().any(|part| part.id == id) {
            out.element("a", &[("href", &format!("#{id}"))], words);
        }
    }
    out.close("nav");
}

/// The target as a text without secrets, cut if it is long.
fn target(summary: &Summary) -> String {
    secret::excerpt(&summary.info.target)
}

/// drumfire's own figures and facts, folded unless they may explain the numbers.
fn itself(out: &mut Markup, summary: &Summary, figures: &[&Figure]) {
    let opened: &[_] = match summary.verdict.validity {
        Validity::Valid => &[],
        Validity::Suspect | Validity::Invalid => &[("open", "")],
    };
    out.open("section", &[("id", "own")]);
    out.open("details", &[&[("class", "whole")], opened].concat());
    out.open("summary", &[]);
    out.element("h2", &[], "drumfire itself");
    out.close("summary");
    out.open("div", &[("class", "pair")]);
    for figure in figures {
        picture::print(out, figure, Rank::Inner);
    }
    out.close("div");
    origin::environment(out, summary);
    out.close("details");
    out.close("section");
}

/// The whole report as the terminal prints it, folded: the page has all of it in other forms.
fn whole(out: &mut Markup, summary: &Summary, naming: Naming) {
    let style = Style::new(COLUMNS, Color::Off, Unicode::On).naming(naming);
    out.open("section", &[("id", "report")]);
    out.open("details", &[("class", "whole")]);
    out.open("summary", &[]);
    out.element("h2", &[], "Full report");
    out.close("summary");
    out.open("pre", &[("tabindex", "0")]);
    out.lines(&text::summary(summary, &style));
    out.close("pre");
    out.open("details", &[]);
    out.element("summary", &[], "With explanations");
    out.open("pre", &[("tabindex", "0")]);
    out.lines(&text::summary_explained(summary, &style));
    out.close("pre");
    out.close("details");
    out.close("details");
    out.close("section");
}
