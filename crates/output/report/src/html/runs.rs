//! The page of all runs: a table of the stored ones. Two of them can be chosen and compared.
//!
//! Links are relative to the page. Without its program the page has everything but the search. A row
//! has the cells of [`listing`] after the two choices, with a link at the id and a spark after p99.
//! The server keeps nothing of a reader's choices.

use super::{Part, part};
use crate::figure::Spark;
use crate::grid::{Cell, Row};
use crate::line::Ink;
use crate::markup::Markup;
use crate::run_list::{self, Listed};
use crate::style::Unicode;
use crate::untrusted::foreign;

/// The name of the column of sparks.
const SPARK: &str = "p99 of this plan";
/// The name of the column before the sparks.
const BEFORE_SPARK: &str = "p99";

/// A run that is stored, as the server finds it in the folder of runs.
#[derive(Clone, Debug)]
pub struct StoredRun<'a> {
    /// Its row in a list.
    pub listed: Listed<'a>,
    /// Whether the run goes on, so that its page follows it.
    pub is_live: bool,
    /// p99 of the runs of the same plan up to this one, the oldest on the left; `None` where there
    /// are too few.
    pub spark: Option<Spark>,
}

/// The parts of the page, in the order of `stored`: the heading with their number, and the table
/// where there is any run.
#[must_use]
pub fn runs(stored: &[StoredRun<'_>]) -> Vec<Part> {
    let head = part("about", |out| {
        out.open("header", &[("id", "about")]);
        out.element("h1", &[], "Runs");
        let count = match stored.len() {
            0 => "no stored runs yet".to_owned(),
            1 => "1 stored run".to_owned(),
            count => format!("{count} stored runs"),
        };
        out.element("p", &[("class", "dim")], &format!("drumfire · {count}"));
        out.close("header");
    });
    match stored.is_empty() {
        true => vec![head],
        false => vec![head, part("list", |out| list(out, stored))],
    }
}

/// Appends the search field, the table, and the button that opens the two chosen runs. The field is
/// of use only with the page's program, which hides rows by their text; the form works without, for
/// a chosen pair is a plain address with two names in it.
fn list(out: &mut Markup, stored: &[StoredRun<'_>]) {
    out.open("section", &[("id", "list")]);
    out.open("p", &[("class", "screen")]);
    out.open("label", &[]);
    out.text("Search ");
    let search = [("type", "search"), ("data-filter", "runs")];
    out.empty("input", &[&search[..], &[("autocomplete", "off")]].concat());
    out.close("label");
    out.close("p");
    out.open("form", &[("method", "get"), ("action", "compare")]);
    let scroll = [("class", "scroll tall"), ("tabindex", "0")];
    let named = [("role", "region"), ("aria-label", "Runs")];
    out.open("div", &[scroll, named].concat());
    out.open("table", &[("id", "runs")]);
    out.open("thead", &[]);
    out.open("tr", &[]);
    let listed: Vec<Listed<'_>> = stored.iter().map(|run| run.listed).collect();
    let grid = run_list::whole(&listed);
    let heads: Vec<&str> = grid.columns.iter().map(|column| column.heading).collect();
    let scope = [("scope", "col")];
    for head in ["base", "candidate"].iter().chain(&heads) {
        out.element("th", &scope, head);
        if *head == BEFORE_SPARK {
            out.element("th", &scope, SPARK);
        }
    }
    out.close("tr");
    out.close("thead");
    out.open("tbody", &[]);
    for (run, cells) in stored.iter().zip(&grid.rows) {
        row(out, run, &heads, cells);
    }
    out.close("tbody");
    out.close("table");
    out.close("div");
    out.open("p", &[("class", "screen")]);
    out.element("button", &[], "Compare");
    out.close("p");
    out.close("form");
    out.close("section");
}

/// Appends a run: the two choices, its id as a link to its page, and the cells of the list. If the
/// record can't be read, the reason stands across the columns of its figures.
fn row(out: &mut Markup, run: &StoredRun<'_>, heads: &[&str], row: &Row) {
    let listed = &run.listed;
    out.open("tr", &[]);
    for side in ["base", "candidate"] {
        out.open("td", &[]);
        let name = format!("{side}: {}", listed.id);
        let choice = [("type", "radio"), ("name", side), ("value", listed.id)];
        out.empty("input", &[&choice[..], &[("aria-label", &name)]].concat());
        out.close("td");
    }
    out.open("th", &[("scope", "row")]);
    out.element("a", &[("href", &format!("run/{}/", listed.id))], listed.id);
    if run.is_live {
        out.element("strong", &[("class", "live")], "running");
    }
    out.close("th");
    let mut cells = heads.iter().zip(&row.cells).skip(1);
    if let Err(why) = listed.run {
        cell(out, &row.cells[1]);
        let why = foreign(why, Unicode::On);
        let span = (heads.len() - 3).to_string();
        out.element("td", &[("colspan", &span), ("class", "is-bad")], &why);
        spark(out, run);
        cells = heads.iter().zip(&row.cells).skip(heads.len() - 1);
    }
    for (head, of) in cells {
        cell(out, of);
        if *head == BEFORE_SPARK {
            spark(out, run);
        }
    }
    out.close("tr");
}

/// Appends the spark as a link to the history of the plan; an empty cell without one.
fn spark(out: &mut Markup, run: &StoredRun<'_>) {
    out.open("td", &[]);
    if let Some(spark) = &run.spark {
        let link = format!("history?run={}", run.listed.id);
        out.open("a", &[("href", &link)]);
        spark.draw(out, "p99 of this plan, up to this run");
        out.close("a");
    }
    out.close("td");
}

/// Appends a cell. A bad result stands out; the other inks repeat what the words say.
fn cell(out: &mut Markup, cell: &Cell) {
    let class: &[_] = match cell.ink {
        Ink::Bad => &[("class", "is-bad")],
        _ => &[],
    };
    out.element("td", class, &cell.text(Unicode::On));
}
