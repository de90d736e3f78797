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

/// Appends a section as an element with its id.
pub(super) fn print(out: &mut Markup, section: &Section) {
    out.open("section", &[("id", section.id)]);
    out.element("h2", &[], section.title);
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
                print_table(out, section.title, &[("class", "grid")], grid);
            }
            Body::Text(name, lines) => {
                out.open("details", &[]);
                out.element("summary", &[], name);
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
    if !section.explanation.is_empty() {
        explain(out, &section.explanation);
    }
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
    for row in &grid.rows {
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
                print_cell(out, number, names[number], column, key.as_deref());
            }
        }
        out.close("tr");
    }
    out.close("tbody");
    out.close("table");
    out.close("div");
}

/// Appends a cell with its key. The first cell of a row is its heading.
fn print_cell(out: &mut Markup, number: usize, cell: &Cell, column: &Column, key: Option<&str>) {
    if let Some((spark, name)) = cell.as_spark() {
        out.open("td", &[]);
        spark.draw(out, name);
        out.close("td");
        return;
    }
    let text = cell.text(Unicode::On);
    let key: Vec<(&str, &str)> = key.iter().map(|key| ("data-n", *key)).collect();
    match number {
        0 => {
            out.open("th", &[&[("scope", "row")], &key[..]].concat());
            match cell.link() {
                Some(link) => out.element("a", &[("href", link)], &text),
                None => out.text(&text),
            }
            out.close("th");
        }
        _ => {
            let class = match cell.ink {
                Ink::Bad => class(cell),
                _ => words(column),
            };
            out.element("td", &[class, &key[..]].concat(), &text);
        }
    }
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
        Kind::Names | Kind::Words | Kind::Prose => &[("class", "words")],
        Kind::Numbers | Kind::Bars(_) | Kind::Sparks => &[],
    }
}

/// Appends how to read a part, folded.
pub(super) fn explain(out: &mut Markup, explanation: &str) {
    out.open("details", &[]);
    out.element("summary", &[], "How to read this");
    out.element("p", &[], explanation);
    out.close("details");
}
