//! A table of a part of the page: names on the left, numbers on the right.
//!
//! A table of a run is made as a [`Grid`], by a function that looks at the summary alone, and
//! printed by [`part`], which alone knows the markup. A table without rows is no part. Texts in
//! cells are escaped by the markup; what a table says of the target is escaped for a terminal
//! before, as in the page of text.

use super::Part;
use crate::figure::Spark;
use crate::markup::Markup;

/// A cell.
pub(super) enum Cell {
    /// A text, which may be anyone's; in the first column the name of the row.
    Text(String),
    /// A number of failures, or a word on one, which stands out.
    Bad(String),
    /// A picture, with its name for readers of screens.
    Spark(Spark, String),
}

impl Cell {
    /// A number that there may be none of.
    pub(super) fn number(text: Option<String>) -> Self {
        Self::Text(text.unwrap_or_else(|| "–".to_owned()))
    }

    /// A number of failures.
    pub(super) fn failures(count: u64, text: String) -> Self {
        match count {
            0 => Self::Text(text),
            _ => Self::Bad(text),
        }
    }
}

/// A table with its heading, and how to read it. Each row has as many cells as there are heads, the
/// first of them the row's name.
pub(super) struct Grid {
    /// The id of the part, which no other part of the page has.
    pub(super) id: &'static str,
    /// The heading, which also names the scrollable region for readers of screens.
    pub(super) title: &'static str,
    /// The headings of the columns.
    pub(super) heads: Vec<String>,
    /// The rows from the top.
    pub(super) rows: Vec<Vec<Cell>>,
    /// The sentence that says how to read it, folded beneath.
    pub(super) explanation: &'static str,
}

/// The part of a table; none where it has no row.
pub(super) fn part(grid: &Grid) -> Option<Part> {
    let has_rows = !grid.rows.is_empty();
    has_rows.then(|| super::part(grid.id, |out| print(out, grid)))
}

/// Appends the table in a region that scrolls by itself, so that a wide table does not widen the
/// page.
fn print(out: &mut Markup, grid: &Grid) {
    out.open("section", &[("id", grid.id)]);
    out.element("h2", &[], grid.title);
    let scroll = [("class", "scroll"), ("tabindex", "0")];
    let named = [("role", "region"), ("aria-label", grid.title)];
    out.open("div", &[scroll, named].concat());
    out.open("table", &[("class", "grid")]);
    out.open("thead", &[]);
    out.open("tr", &[]);
    for head in &grid.heads {
        out.element("th", &[("scope", "col")], head);
    }
    out.close("tr");
    out.close("thead");
    out.open("tbody", &[]);
    grid.rows.iter().for_each(|row| print_row(out, row));
    out.close("tbody");
    out.close("table");
    out.close("div");
    explain(out, grid.explanation);
    out.close("section");
}

/// Appends a row; its first text is its heading.
fn print_row(out: &mut Markup, row: &[Cell]) {
    out.open("tr", &[]);
    for (number, cell) in row.iter().enumerate() {
        match cell {
            Cell::Text(text) if number == 0 => out.element("th", &[("scope", "row")], text),
            Cell::Text(text) => out.element("td", &[], text),
            Cell::Bad(text) => out.element("td", &[("class", "is-bad")], text),
            Cell::Spark(spark, name) => {
                out.open("td", &[]);
                spark.draw(out, name);
                out.close("td");
            }
        }
    }
    out.close("tr");
}

/// Appends how to read a part, folded.
pub(super) fn explain(out: &mut Markup, explanation: &str) {
    out.open("details", &[]);
    out.element("summary", &[], "How to read this");
    out.element("p", &[], explanation);
    out.close("details");
}
