//! The page of all runs: the newest ones, fifty at a time, with a search, filters, and a choice of
//! two runs to compare.
//!
//! Links are relative to the page, and the server keeps nothing of a reader's choices: the search,
//! the filters and the page are in the address. Without its program the page has everything. Then
//! the older one of the two ticked runs is the base; the program makes it the one ticked first, and
//! keeps ticks from page to page.
//!
//! A row has two lines at any width. Narrow windows have fewer columns: their cells contain what
//! the columns that are left out have, in elements of the classes `b` (windows of medium width) and
//! `c` (phones). Cells and elements of the class `a` are for wide windows.

use super::back::encoded;
use super::{Part, part};
use crate::calendar::rfc3339_seconds;
use crate::figure::Spark;
use crate::grid::Cell;
use crate::line::Ink;
use crate::markup::Markup;
use crate::quantity::{counted, span};
use crate::run_list::{Listed, ago, failed, findings, rate, subject, time};
use crate::style::Unicode;
use crate::untrusted::foreign;
use drumfire_measure::Digest;
use drumfire_units::Nanos;

/// The number of letters at the end of a long target that are always shown.
const TARGET_TAIL: usize = 14;
/// The number of letters of a target that is shown whole.
const TARGET_SHORT: usize = 24;
/// The length of a tag that is never cut, and the part at the end of a longer one that stays.
const TAG_SHORT: usize = 12;
const TAG_TAIL: usize = 5;

/// A run that is stored, as the server finds it in the folder of runs.
#[derive(Clone, Debug)]
pub struct StoredRun<'a> {
    /// Its row in a list.
    pub listed: Listed<'a>,
    /// p99 of the runs of the same plan up to this one, the oldest on the left; `None` where there
    /// are too few.
    pub spark: Option<Spark>,
}

/// The part of the list that a page shows, and the choices that led to it.
#[derive(Clone, Copy, Debug, Default)]
pub struct ListView<'a> {
    /// The search, empty without one.
    pub search: &'a str,
    /// Whether only runs that did not succeed are listed.
    pub only_failed: bool,
    /// The run to whose plan the list is limited.
    pub plan: Option<&'a str>,
    /// The number of the page, from 1.
    pub page: usize,
    /// The number of runs on earlier pages.
    pub skipped: usize,
    /// The number of runs that search and filters admit.
    pub admitted: usize,
    /// The number of all stored runs.
    pub all: usize,
    /// The current time, in nanoseconds since 1970-01-01 00:00 UTC.
    pub now_unix_ns: u64,
}

/// The parts of the page, in the order of `stored`: the heading with their number, the search, and
/// the table if the page has any run.
#[must_use]
pub fn runs(stored: &[StoredRun<'_>], view: &ListView<'_>) -> Vec<Part> {
    let head = part("about", |out| {
        out.open("header", &[("id", "about")]);
        out.element("h1", &[], "Runs");
        let count = match view.all {
            0 => "no stored runs yet".to_owned(),
            all => counted(all as u64, "stored run"),
        };
        out.element("p", &[("class", "dim")], &format!("drumfire · {count}"));
        out.close("header");
    });
    match view.all {
        0 => vec![head],
        _ => vec![head, part("list", |out| list(out, stored, view))],
    }
}

/// Appends the search, the table and the pages.
fn list(out: &mut Markup, stored: &[StoredRun<'_>], view: &ListView<'_>) {
    out.open("section", &[("id", "list")]);
    find(out, view);
    if stored.is_empty() {
        out.element("p", &[], "No stored run matches.");
    } else {
        let form = [("id", "choice"), ("method", "get"), ("action", "compare")];
        out.open("form", &form);
        table(out, stored, view.now_unix_ns);
        out.open("div", &[("class", "bar screen")]);
        out.element("button", &[], "Compare");
        let hint = "Tick two runs: first the base, then the candidate.";
        out.element("span", &[("class", "dim"), ("role", "status")], hint);
        pages(out, stored.len(), view);
        out.close("div");
        out.close("form");
    }
    out.close("section");
}

/// Appends the form of the search and the filters. Its program sends it when a filter is changed.
fn find(out: &mut Markup, view: &ListView<'_>) {
    let form = [
        ("class", "find screen"),
        ("method", "get"),
        ("action", "./"),
    ];
    out.open("form", &[&form[..], &[("role", "search")]].concat());
    out.open("label", &[]);
    out.text("Search ");
    let field = [("type", "search"), ("name", "q"), ("autocomplete", "off")];
    let search = foreign(view.search, Unicode::On);
    let hint = ("placeholder", "name, target, tag, note or id");
    out.empty(
        "input",
        &[&field[..], &[("value", &*search), hint]].concat(),
    );
    out.close("label");
    filter(out, "failed", "1", "only failed", view.only_failed);
    if let Some(plan) = view.plan {
        let plan = foreign(plan, Unicode::On);
        filter(
            out,
            "plan",
            &plan,
            &format!("only the plan of {plan}"),
            true,
        );
    }
    out.element("button", &[], "Find");
    out.close("form");
}

/// Appends a filter as a box to tick.
fn filter(out: &mut Markup, name: &str, value: &str, label: &str, is_on: bool) {
    out.open("label", &[]);
    let field = [("type", "checkbox"), ("name", name), ("value", value)];
    let checked: &[_] = if is_on { &[("checked", "")] } else { &[] };
    out.empty("input", &[&field[..], checked].concat());
    out.text(&format!(" {label}"));
    out.close("label");
}

/// Appends the place of the page in the list, with links to its neighbours.
fn pages(out: &mut Markup, shown: usize, view: &ListView<'_>) {
    out.open("nav", &[("aria-label", "Pages")]);
    if view.page > 1 {
        let newer = address(view, view.page - 1);
        let link = [("href", &*newer), ("rel", "prev"), ("data-keep", "")];
        out.element("a", &link, "← Newer");
    }
    let last = view.skipped + shown;
    let place = format!("{} to {last} of {}", view.skipped + 1, view.admitted);
    out.element("span", &[("class", "dim")], &place);
    if last < view.admitted {
        let older = address(view, view.page + 1);
        let link = [("href", &*older), ("rel", "next"), ("data-keep", "")];
        out.element("a", &link, "Older →");
    }
    out.close("nav");
}

/// The address of a page with the same search and filters.
fn address(view: &ListView<'_>, page: usize) -> String {
    let mut address = format!("./?page={page}");
    if !view.search.is_empty() {
        address.push_str(&format!("&q={}", encoded(view.search)));
    }
    if view.only_failed {
        address.push_str("&failed=1");
    }
    if let Some(plan) = view.plan {
        address.push_str(&format!("&plan={}", encoded(plan)));
    }
    address
}

/// Appends the table.
fn table(out: &mut Markup, stored: &[StoredRun<'_>], now_unix_ns: u64) {
    out.open("table", &[("id", "runs")]);
    out.open("thead", &[]);
    out.open("tr", &[]);
    for (class, head) in [
        ("tick", "compare"),
        ("what", "run"),
        ("when a", "began"),
        ("result ab", "result"),
        ("n ab", "rate"),
        ("n a", "failed"),
        ("n a", "p50"),
        ("n time", "p99"),
        ("trail a", "p99 of this plan"),
    ] {
        out.element("th", &[("scope", "col"), ("class", class)], head);
    }
    out.close("tr");
    out.close("thead");
    out.open("tbody", &[]);
    for run in stored {
        out.open("tr", &[]);
        row(out, run, now_unix_ns);
        out.close("tr");
    }
    out.close("tbody");
    out.close("table");
}

/// Appends the cells of a run.
fn row(out: &mut Markup, run: &StoredRun<'_>, now_unix_ns: u64) {
    let listed = &run.listed;
    out.open("td", &[("class", "tick")]);
    if listed.run.is_ok() {
        let name = format!("compare {}", listed.id);
        let field = [("type", "checkbox"), ("name", "run"), ("value", listed.id)];
        out.empty("input", &[&field[..], &[("aria-label", &name)]].concat());
        out.element("span", &[("class", "side")], "");
    }
    out.close("td");
    let age = listed.run.ok().map(|run| {
        let age = now_unix_ns.saturating_sub(run.started_at_unix_ns);
        ago(Nanos(age), listed.began)
    });
    what(out, listed, age.as_deref());
    when(out, listed, age.as_deref());
    result(out, listed);
    match listed.run {
        Ok(digest) => numbers(out, digest),
        Err(_) => {
            for class in ["n ab", "n a", "n a", "n time"] {
                out.element("td", &[("class", class)], "");
            }
        }
    }
    trail(out, run);
}

/// Appends the name of the plan and the target as a link to the page of the run, and below them the
/// labels. If the record is unreadable, the id and the reason replace them.
fn what(out: &mut Markup, listed: &Listed<'_>, age: Option<&str>) {
    out.open("th", &[("scope", "row"), ("class", "what")]);
    let link = format!("run/{}/", encoded(listed.id));
    let what = listed.run.map(subject);
    let what = what.unwrap_or_else(|_| listed.id.to_owned());
    let what = foreign(&what, Unicode::On);
    let title = [("href", &*link), ("title", &*what), ("class", "cut")];
    out.open("a", &title);
    let (head, tail) = halves(&what);
    out.element("span", &[("class", "head")], head);
    if !tail.is_empty() {
        out.element("span", &[], tail);
    }
    out.close("a");
    out.open("div", &[("class", "under")]);
    if let Err(why) = listed.run {
        out.element("span", &[("class", "is-bad")], &foreign(why, Unicode::On));
    } else {
        if let Some((words, ink)) = findings(listed).first() {
            let class = format!("c {}", class(*ink));
            out.element("span", &[("class", &class)], &marked(words, *ink));
        }
        if let Some(age) = age {
            out.element("span", &[("class", "bc")], age);
        }
        out.element("code", &[("class", "ab")], listed.id);
    }
    match listed.labels {
        Ok(labels) => {
            for tag in labels.tags {
                chip(out, tag);
            }
            if !labels.note.is_empty() {
                out.element(
                    "span",
                    &[("title", &foreign(labels.note, Unicode::On))],
                    labels.note,
                );
            }
        }
        Err(_) => out.element("span", &[("class", "is-bad")], "labels unreadable"),
    }
    out.close("div");
    out.close("th");
}

/// Appends a tag. A narrow window cuts the middle of a long one: the tags of an experiment differ at
/// their ends.
fn chip(out: &mut Markup, tag: &str) {
    let length = tag.chars().count();
    let tail = tag.char_indices().nth(length.saturating_sub(TAG_TAIL));
    match tail.filter(|_| length > TAG_SHORT) {
        Some((at, _)) => {
            let (head, tail) = tag.split_at(at);
            out.open("span", &[("class", "chip cut"), ("title", tag)]);
            out.element("span", &[("class", "head")], head);
            out.element("span", &[], tail);
            out.close("span");
        }
        None => out.element("span", &[("class", "chip")], tag),
    }
}

/// A target without its scheme as two parts, of which a narrow window cuts the end of the first.
fn halves(target: &str) -> (&str, &str) {
    let bare = target.split_once("://").map_or(target, |(_, bare)| bare);
    let length = bare.chars().count();
    if length <= TARGET_SHORT {
        return (bare, "");
    }
    let tail = bare.char_indices().nth(length - TARGET_TAIL);
    bare.split_at(tail.map_or(bare.len(), |(at, _)| at))
}

/// Appends the age of a run and its length.
fn when(out: &mut Markup, listed: &Listed<'_>, age: Option<&str>) {
    out.open("td", &[("class", "when a")]);
    if let (Ok(run), Some(age)) = (listed.run, age) {
        let stamp = rfc3339_seconds(run.started_at_unix_ns);
        let times = [("datetime", &*stamp), ("title", listed.began)];
        out.element("time", &times, age);
        let is_active = listed.unfinished.is_some_and(|of| of.is_active);
        let length = match is_active {
            true => String::new(),
            false => span(run.duration, Unicode::On),
        };
        out.element("div", &[("class", "under")], &length);
    }
    out.close("td");
}

/// Appends the gravest finding, and below it the others.
fn result(out: &mut Markup, listed: &Listed<'_>) {
    out.open("td", &[("class", "result ab")]);
    let findings = findings(listed);
    let mut findings = findings
        .iter()
        .map(|(words, ink)| (marked(words, *ink), *ink));
    if let Some((words, ink)) = findings.next() {
        out.element("span", &[("class", class(ink))], &words);
    }
    let mut others: Vec<String> = findings.map(|(words, _)| words).collect();
    if let Ok(Digest {
        thresholds: all @ 1..,
        thresholds_failed: 0,
        ..
    }) = listed.run
    {
        others.push(counted(*all, "rule"));
    }
    out.element("div", &[("class", "under")], &others.join(" · "));
    out.close("td");
}

/// Appends the rate, the failures and the latencies.
fn numbers(out: &mut Markup, run: &Digest) {
    let failures = failed(run);
    let failures = (failures.text(Unicode::On), class(failures.ink));
    let named_failures = |out: &mut Markup| {
        let text = format!("{} failed", failures.0);
        out.element("span", &[("class", failures.1)], &text);
    };
    let missing = || Cell::missing().text(Unicode::On);
    let [p50, p99] = [run.latency.p50, run.latency.p99].map(|of| of.map(time));
    out.open("td", &[("class", "n ab")]);
    out.text(&rate(run).text(Unicode::On));
    out.open("div", &[("class", "under b")]);
    named_failures(out);
    out.close("div");
    out.close("td");
    let of_wide = format!("n a {}", failures.1);
    out.element("td", &[("class", &of_wide)], &failures.0);
    let median = p50.clone().unwrap_or_else(missing);
    out.element("td", &[("class", "n a")], &median);
    out.open("td", &[("class", "n time")]);
    match (&p99, &p50) {
        (Some(p99), _) => out.text(p99),
        // The column of p50 has it already.
        (None, Some(p50)) => {
            out.element("span", &[("class", "a")], &missing());
            out.element("span", &[("class", "bc")], &format!("p50 {p50}"));
        }
        (None, None) => out.text(&missing()),
    }
    let below = p50
        .filter(|_| p99.is_some())
        .map(|p50| format!("p50 {p50}"));
    out.element("div", &[("class", "under b")], &below.unwrap_or_default());
    out.open("div", &[("class", "under c")]);
    named_failures(out);
    out.close("div");
    out.close("td");
}

/// Appends the spark as a link to the trend of the plan, and a link to the runs of the plan.
fn trail(out: &mut Markup, run: &StoredRun<'_>) {
    out.open("td", &[("class", "trail a")]);
    let id = encoded(run.listed.id);
    if let Some(spark) = &run.spark {
        let link = format!("history?run={id}");
        out.open("a", &[("href", &link)]);
        spark.draw(out, "p99 of this plan, up to this run");
        out.close("a");
    }
    if run.listed.run.is_ok_and(|run| run.plan.is_some()) {
        let link = format!("./?plan={id}");
        out.open("div", &[("class", "under")]);
        out.element("a", &[("href", &link), ("data-keep", "")], "only this plan");
        out.close("div");
    }
    out.close("td");
}

/// Words with a mark that repeats their colour.
fn marked(words: &str, ink: Ink) -> String {
    let mark = match ink {
        Ink::Good => "✓ ",
        Ink::Warn => "! ",
        Ink::Bad if !words.starts_with('✗') => "✗ ",
        Ink::Bold => "● ",
        _ => "",
    };
    format!("{mark}{words}")
}

/// The class of a colour.
const fn class(ink: Ink) -> &'static str {
    match ink {
        Ink::Good => "is-good",
        Ink::Warn => "is-fair",
        Ink::Bad => "is-bad",
        Ink::Bold => "is-live",
        _ => "is-plain",
    }
}
