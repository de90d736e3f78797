//! The page of all runs: those that go on, and a table of those that are stored, of which two can
//! be laid over each other.
//!
//! Without its program the page has everything but the search. Links are relative to the page.
//!
//! A row has the cells of the list in the terminal ([`listing`]) behind a pair of buttons: one run
//! is chosen as the base and one as the candidate, and the form's address is the page that compares
//! them. Runs come in the order in which they are to be shown; nothing is sorted or read here.
//!
//! A server makes the page anew for each request: [`runs`] gives its two parts, of which the second
//! is missing while no run is stored. The choice of two runs and the words in the search are the
//! reader's, and live in the page; the server keeps nothing of them.
//!
//! Whatever a run's record has of others (its name, its target, its labels, the reason for which it
//! can't be read) is masked and escaped by `listing` or [`foreign`] before it comes to a cell.

use super::{Part, part};
use crate::figure::Spark;
use crate::line::{Ink, Line};
use crate::listing::{self, Listed};
use crate::markup::Markup;
use crate::style::{Style, Unicode};
use crate::text::foreign;

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

/// The headings of the table: the two choices, then the columns of the terminal's list, with the
/// spark beside p99. A row has a cell for each, in this order; the reason for which a record can't
/// be read takes the place of the ten from `lasted` to p99.
const HEADS: [&str; 16] = [
    "base",
    "candidate",
    "id",
    "began",
    "lasted",
    "target",
    "run",
    "load",
    "answers",
    "rules",
    "exit",
    "rate",
    "failed",
    "p99",
    "p99 of this plan",
    "tags",
];

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
    for head in HEADS {
        out.element("th", &[("scope", "col")], head);
    }
    out.close("tr");
    out.close("thead");
    out.open("tbody", &[]);
    stored.iter().for_each(|run| row(out, run));
    out.close("tbody");
    out.close("table");
    out.close("div");
    out.open("p", &[("class", "screen")]);
    out.element("button", &[], "Compare");
    out.close("p");
    out.close("form");
    out.close("section");
}

/// Appends a run: the two choices, its name as a link to its page, and the cells of the terminal's
/// list. One whose record can't be read keeps its row, with the reason across the columns of its
/// figures.
fn row(out: &mut Markup, run: &StoredRun<'_>) {
    let listed = &run.listed;
    let style = Style::default();
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
    out.element("td", &[], listed.began);
    match listed.run {
        Ok(digest) => {
            for line in listing::cells(digest, listed.exit, &style, listing::TARGET_MOST) {
                cell(out, &line);
            }
        }
        Err(why) => {
            let why = foreign(why, Unicode::On);
            out.element("td", &[("colspan", "10"), ("class", "is-bad")], &why);
        }
    }
    out.open("td", &[]);
    if let Some(spark) = &run.spark {
        out.open("a", &[("href", &format!("history?run={}", listed.id))]);
        spark.draw(out, "p99 of this plan, up to this run");
        out.close("a");
    }
    out.close("td");
    cell(out, &listing::labels(listed, &style));
    out.close("tr");
}

/// A cell of the table in the terminal, whose words are escaped already. A bad result stands out;
/// the other inks say what the words say, and are left to the terminal.
fn cell(out: &mut Markup, line: &Line) {
    let is_bad = line.pieces().any(|(_, ink)| ink == Ink::Bad);
    let class = [("class", "is-bad")];
    out.element("td", if is_bad { &class } else { &[] }, &line.text());
}
