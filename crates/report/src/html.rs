//! A run as one page of HTML: the answers first, then six numbers, then the pictures, each with its
//! numbers as a table; tables of pools, steps, stages, failures and the slowest requests; the whole
//! report as text; and what the run was made from, with its data to take away.
//!
//! The page is a file of its own. It loads nothing and runs nothing, and its content security policy
//! says so to the browser: a text that a server has chosen stays a text ([`crate::markup`]) even where
//! a mistake of ours let it out. It follows the reader's preference for dark or light, prints, and is
//! read aloud in the order in which it is read.
//!
//! A part is a function that appends to the page; [`page`] is their order.

mod answers;
mod grid;
mod numbers;
mod origin;
mod table;
mod tables;

pub use origin::Origin;

use crate::figure::svg::{STYLE as PICTURES, draw};
use crate::figure::{Figure, figures};
use crate::markup::Markup;
use crate::style::{Color, Style, Unicode};
use crate::{Naming, calendar, secret, text};
use drumfire_measure::Summary;

/// The width of the report as text, in columns.
const COLUMNS: u16 = 110;

/// Nothing may be loaded, run, framed or sent from the page.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; \
                      base-uri 'none'; form-action 'none'";

/// The page's own colours and measures.
const SHEET: &str = include_str!("html/page.css");

/// The page of a run whose books are closed.
#[must_use]
pub fn page(summary: &Summary, origin: &Origin<'_>) -> Vec<u8> {
    let naming = origin.naming;
    let mut out = Markup::default();
    out.raw("<!doctype html>\n");
    out.open("html", &[("lang", "en")]);
    head(&mut out, summary);
    out.open("body", &[]);
    out.open("main", &[]);
    header(&mut out, summary);
    answers::print(&mut out, summary, naming);
    numbers::print(&mut out, summary);
    for figure in figures(summary) {
        picture(&mut out, &figure);
    }
    tables::print(&mut out, summary);
    whole(&mut out, summary, naming);
    origin::print(&mut out, summary, origin);
    out.close("main");
    out.close("body");
    out.close("html");
    out.finish().into_bytes()
}

fn head(out: &mut Markup, summary: &Summary) {
    out.open("head", &[]);
    out.empty("meta", &[("charset", "utf-8")]);
    let policy = ("http-equiv", "Content-Security-Policy");
    out.empty("meta", &[policy, ("content", POLICY)]);
    let width = "width=device-width, initial-scale=1";
    out.empty("meta", &[("name", "viewport"), ("content", width)]);
    out.empty(
        "meta",
        &[("name", "color-scheme"), ("content", "light dark")],
    );
    out.element("title", &[], &format!("drumfire: {}", target(summary)));
    out.open("style", &[]);
    out.raw(PICTURES);
    out.raw(SHEET);
    out.close("style");
    out.close("head");
}

/// The target, the time and the run's name.
fn header(out: &mut Markup, summary: &Summary) {
    out.open("header", &[]);
    out.element("h1", &[], &target(summary));
    let started = calendar::rfc3339_seconds(summary.info.started_at_unix_ns);
    let facts = format!("drumfire · {started} · run {}", summary.info.id);
    out.element("p", &[("class", "dim")], &facts);
    out.close("header");
}

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
    out.element("h2", &[], "The whole report");
    out.open("pre", &[("tabindex", "0")]);
    out.lines(&text::summary(summary, &style));
    out.close("pre");
    out.open("details", &[]);
    out.element("summary", &[], "The same, with how to read it");
    out.open("pre", &[("tabindex", "0")]);
    out.lines(&text::summary_explained(summary, &style));
    out.close("pre");
    out.close("details");
    out.close("section");
}
