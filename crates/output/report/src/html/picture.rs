//! A figure on a page: its title, its question and its unit as text of the page, the picture, its
//! legend and note, and its numbers in a folded table. All type has the sizes of the page, whatever
//! the width of the picture.

use super::table;
use crate::figure::svg::{self, along, class, degrees, in_legend, numbered, question};
use crate::figure::{Figure, Plot};
use crate::markup::Markup;

/// The place of a figure on a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rank {
    /// A part of the page, with its own cursor and table.
    Part,
    /// A part with the names of its numbered marks, which the figures after it share.
    First,
    /// The last part of an odd number, which takes a row of its own.
    Last,
    /// A figure within another part.
    Inner,
    /// A static picture of a step: no other part refers to it.
    Still,
}

/// Appends a figure.
pub(super) fn print(out: &mut Markup, figure: &Figure, rank: Rank) {
    match rank {
        Rank::Still => out.open("figure", &[]),
        Rank::Last => out.open("figure", &[("id", figure.name), ("class", "broad")]),
        _ => out.open("figure", &[("id", figure.name)]),
    }
    out.open("figcaption", &[]);
    let heading = match rank {
        Rank::Part | Rank::First | Rank::Last => "h2",
        Rank::Inner | Rank::Still => "h3",
    };
    out.element(heading, &[], &figure.title);
    let along = along(figure).map_or_else(String::new, |along| format!(" by {along}"));
    let question = format!("{}{along}", question(figure));
    out.element("p", &[("class", "dim")], &question);
    out.close("figcaption");
    match rank {
        Rank::Still => svg::draw_still(out, figure),
        _ => svg::draw(out, figure),
    }
    legend(out, &figure.plot);
    if let Plot::Heat(heat) = &figure.plot {
        shades(out, heat.counted);
    }
    let marks = numbered(figure);
    if rank == Rank::First && !marks.is_empty() {
        out.element("p", &[("class", "dim")], &marks.join(" · "));
    }
    let note = figure.note.as_ref();
    if let Some(note) = note.filter(|_| !matches!(figure.plot, Plot::Nothing(_))) {
        out.element("p", &[("class", "dim")], note);
    }
    if rank != Rank::Still && !matches!(figure.plot, Plot::Nothing(_)) {
        out.open("details", &[]);
        out.element("summary", &[], "Numbers");
        table::print(out, figure);
        out.close("details");
    }
    out.close("figure");
}

/// Appends the names of the series, each after a piece of its line. The page's program has buttons
/// in its place.
fn legend(out: &mut Markup, plot: &Plot) {
    let series = in_legend(plot);
    if series.is_empty() {
        return;
    }
    out.open("p", &[("class", "legend")]);
    for series in series {
        out.open("span", &[("class", "entry")]);
        let sign = [
            ("class", "sign"),
            ("viewBox", "0 0 18 8"),
            ("aria-hidden", "true"),
        ];
        out.open("svg", &sign);
        let line = format!("line {}", class(series.role));
        out.empty("path", &[("class", &line), ("d", "M0 4h18")]);
        out.close("svg");
        out.text(series.name);
        out.close("span");
    }
    out.close("p");
}

/// Appends the degrees of darkness of a heat map, from few of what is counted to many.
fn shades(out: &mut Markup, counted: &str) {
    out.open("p", &[("class", "shades dim")]);
    out.element("span", &[], "few");
    let row = [("viewBox", "0 0 96 10"), ("aria-hidden", "true")];
    out.open("svg", &[&[("class", "sign")], &row[..]].concat());
    for (number, opacity) in degrees().enumerate() {
        let d = format!("M{} 0h12v10h-12z", number * 12);
        let attributes = [("class", "bar good"), ("opacity", &*opacity), ("d", &d)];
        out.empty("path", &attributes);
    }
    out.close("svg");
    out.element("span", &[], &format!("many {counted}"));
    out.close("p");
}
