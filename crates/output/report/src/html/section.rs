//! A section as a part of a page: its heading, its tables and facts, and how to read it.

use super::Part;
use crate::grid::{Cell, Column, Grid, Kind};
use crate::line::Ink;
use crate::markup::{Attributes, Markup};
use crate::section::{Body, Facts, Form, Section};
use crate::style::Unicode;

/// The part of a section.
pub(super) fn part(section: &Section) -> Part {
    super::part(section.id, |out| print(out, section))
}

/// The sections that take half of a wide page.
const HALVES: [&str; 9] = [
    "load",
    "requests",
    "times",
    "distribution",
    "slowest",
    "status",
    "drift",
    "transport",
    "rates",
];

/// The sections that take half of a page that is wide enough for tables of many columns.
const WIDE_HALVES: [&str; 2] = ["iterations", "pools"];

/// Appends a section as an element with its id.
pub(super) fn print(out: &mut Markup, section: &Section) {
    print_linked(out, section, &[], |_| {});
}

/// Appends a section whose tables link the names of their rows, and which ends with `more`.
pub(super) fn print_linked(
    out: &mut Markup,
    section: &Section,
    links: &[Option<String>],
    more: impl FnOnce(&mut Markup),
) {
    let half: &[_] = match section.id {
        id if HALVES.contains(&id) => &[("class", "half")],
        id if WIDE_HALVES.contains(&id) => &[("class", "wide-half")],
        _ => &[],
    };
    out.open("section", &[&[("id", section.id)], half].concat());
    out.element("h2", &[], section.title);
    if !section.explanation.is_empty() {
        explain(out, &section.explanation);
    }
    let (facts, others): (Vec<_>, Vec<_>) = section
        .bodies
        .iter()
        .partition(|body| matches!(body, Body::Facts(_)));
    if !facts.is_empty() {
        out.open("dl", &[("class", "lines")]);
        for body in facts {
            if let Body::Facts(facts) = body {
                print_facts(out, facts);
            }
        }
        out.close("dl");
    }
    for body in others {
        match body {
            Body::Table(grid) | Body::List(_, grid) => {
                print_rows(out, section.title, &[("class", "grid")], grid, links);
            }
            Body::Text(name, lines) => {
                out.open("details", &[("class", "inline")]);
                out.open("summary", &[]);
                print_cut(out, name);
                out.close("summary");
                out.open("pre", &[("tabindex", "0")]);
                out.lines(&lines.join("\n"));
                out.close("pre");
                out.close("details");
            }
            Body::Facts(_) => {}
        }
    }
    for remark in &section.remarks {
        out.element("p", &[("class", "dim")], remark);
    }
    more(out);
    out.close("section");
}

/// Appends facts: the label, then short items in one line, and sentences below each other.
fn print_facts(out: &mut Markup, facts: &Facts) {
    out.element("dt", &[], facts.label);
    if facts.form != Form::Items {
        for item in &facts.items {
            out.element("dd", class(item), &item.text(Unicode::On));
        }
        return;
    }
    out.open("dd", &[]);
    for (number, item) in facts.items.iter().enumerate() {
        if number > 0 {
            out.raw(" · ");
        }
        out.element("span", class(item), &item.text(Unicode::On));
    }
    out.close("dd");
}

/// Appends a table with these attributes in a region that scrolls, so that a wide table does not
/// widen the page. The page's program lets readers sort a table of the class `grid`.
pub(super) fn print_table(out: &mut Markup, title: &str, attributes: Attributes<'_>, grid: &Grid) {
    print_rows(out, title, attributes, grid, &[]);
}

/// Appends a table as [`print_table`], with a link at the name of each row that has one.
fn print_rows(
    out: &mut Markup,
    title: &str,
    attributes: Attributes<'_>,
    grid: &Grid,
    links: &[Option<String>],
) {
    let scroll = [("class", "scroll"), ("tabindex", "0")];
    let named = [("role", "region"), ("aria-label", title)];
    out.open("div", &[scroll, named].concat());
    out.open("table", attributes);
    out.open("thead", &[]);
    out.open("tr", &[]);
    // The pictures of the page have what bars show.
    let shown = |column: &Column| !matches!(column.kind, Kind::Bars(_));
    for column in grid.columns.iter().filter(|column| shown(column)) {
        // A column whose cells need no heading has none, which a screen reader passes over.
        if column.heading.is_empty() {
            out.element("td", &[], "");
            continue;
        }
        let attributes = [&[("scope", "col")], words(column)].concat();
        out.element("th", &attributes, column.heading);
    }
    out.close("tr");
    out.close("thead");
    out.open("tbody", &[]);
    let mut names: Vec<&Cell> = Vec::new();
    for (index, row) in grid.rows.iter().enumerate() {
        let link = links.get(index).and_then(Option::as_deref);
        out.open("tr", &[]);
        names.resize(row.cells.len(), &row.cells[0]);
        for (number, (cell, column)) in row.cells.iter().zip(&grid.columns).enumerate() {
            // Readers sort rows, so that a name is repeated in each of them.
            let is_name = number == 0 || row.is_below && column.kind == Kind::Words;
            if !(is_name && cell.is_empty()) {
                names[number] = cell;
            }
            if shown(column) {
                // Only the rows of a table with a class can be sorted.
                let key = key(names[number]).filter(|_| !attributes.is_empty());
                let key: Vec<_> = key.iter().map(|key| ("data-n", &**key)).collect();
                match number {
                    0 => print_name(out, names[number], &key, link.or_else(|| cell.link())),
                    _ => print_cell(out, names[number], column, &key),
                }
            }
        }
        out.close("tr");
    }
    out.close("tbody");
    out.close("table");
    out.close("div");
}

/// The number of letters of a name up to which it is never cut.
const NAME_WHOLE: usize = 24;
/// The number of letters at the end of a name that stay if it is cut: names of steps differ there.
const NAME_END: usize = 12;

/// Appends the first cell of a row, which is its heading. A long name is in two pieces, of which the
/// style sheet cuts the first; its title has the whole name.
fn print_name(out: &mut Markup, cell: &Cell, key: Attributes<'_>, link: Option<&str>) {
    let text = cell.text(Unicode::On);
    out.open("th", &[&[("scope", "row")], key].concat());
    if let Some(link) = link {
        out.open("a", &[("href", link)]);
    }
    print_cut(out, &text);
    if link.is_some() {
        out.raw("</a>");
    }
    out.close("th");
}

/// Appends a name that the style sheet cuts in the middle if there is no room for it.
pub(super) fn print_cut(out: &mut Markup, text: &str) {
    let letters = text.chars().count();
    if letters <= NAME_WHOLE {
        out.text(text);
        return;
    }
    let end = text.char_indices().nth(letters - NAME_END);
    let (head, tail) = text.split_at(end.map_or(0, |(at, _)| at));
    out.open("span", &[("class", "name"), ("title", text)]);
    out.open("span", &[]);
    out.text(head);
    out.raw("</span><span>");
    out.text(tail);
    out.raw("</span></span>");
}

/// Appends a cell with its key.
fn print_cell(out: &mut Markup, cell: &Cell, column: &Column, key: Attributes<'_>) {
    if let Some((spark, name)) = cell.as_spark() {
        out.open("td", &[]);
        spark.draw(out, name);
        out.close("td");
        return;
    }
    let text = cell.text(Unicode::On);
    let class: &[_] = match (cell.ink, column.kind) {
        (Ink::Bad, Kind::Names | Kind::Words) => &[("class", "words is-bad")],
        (Ink::Bad, Kind::Prose) => &[("class", "words prose is-bad")],
        (Ink::Bad, _) => class(cell),
        _ => words(column),
    };
    out.element("td", &[class, key].concat(), &text);
}

/// The number by which the page's program orders rows, with the digits of which texts show three;
/// empty for a cell without a value, and `None` for words.
fn key(cell: &Cell) -> Option<String> {
    match cell.is_missing() {
        true => Some(String::new()),
        false => cell.number().map(|number| format!("{number:.4e}")),
    }
}

/// The class of what stands out. The other inks repeat what the words say.
const fn class(cell: &Cell) -> &'static [(&'static str, &'static str)] {
    match cell.ink {
        Ink::Bad => &[("class", "is-bad")],
        _ => &[],
    }
}

/// The class of a column of words, which are aligned at the left.
const fn words(column: &Column) -> &'static [(&'static str, &'static str)] {
    match column.kind {
        Kind::Names | Kind::Words => &[("class", "words")],
        Kind::Prose => &[("class", "words prose")],
        Kind::Numbers | Kind::Bars(_) | Kind::Sparks => &[],
    }
}

/// Appends how to read a part, folded.
pub(super) fn explain(out: &mut Markup, explanation: &str) {
    out.open("details", &[("class", "how")]);
    out.element("summary", &[], "How to read this");
    out.element("p", &[], explanation);
    out.close("details");
}
