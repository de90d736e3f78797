//! The page of all runs: those that go on, and a table of those that are stored, of which two can be
//! laid over each other.
//!
//! Without its program the page has everything but the search. Links are relative to the page.

use super::{Part, part};
use crate::figure::Spark;
use crate::listing::Listed;
use crate::markup::Markup;
use crate::quantity::{latency, latency_at_least, rate, share, share_of, span};
use crate::secret;
use crate::style::Unicode;
use crate::text::foreign;
use drumfire_measure::{Digest, TargetState, Validity};

/// A run that is stored.
#[derive(Clone, Debug)]
pub struct StoredRun<'a> {
    /// Its row in a list.
    pub listed: Listed<'a>,
    /// Whether it goes on.
    pub is_live: bool,
    /// p99 of the runs of the same plan up to this one.
    pub spark: Option<Spark>,
}

/// The headings of the table, from the run's answers on.
const HEADS: [&str; 13] = [
    "base",
    "candidate",
    "run",
    "began",
    "lasted",
    "target",
    "answers",
    "rules",
    "rate",
    "failed",
    "p99",
    "p99 of this plan",
    "tags and note",
];

/// The parts of the page, the newest run first.
#[must_use]
pub fn runs(stored: &[StoredRun<'_>]) -> Vec<Part> {
    let head = part("about", |out| {
        out.open("header", &[("id", "about")]);
        out.element("h1", &[], "Runs");
        let count = match stored.len() {
            0 => "no run is stored yet".to_owned(),
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
    out.element("button", &[], "Lay the two over each other");
    out.close("p");
    out.close("form");
    out.close("section");
}

fn row(out: &mut Markup, run: &StoredRun<'_>) {
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
        out.element("strong", &[("class", "live")], "goes on");
    }
    out.close("th");
    out.element("td", &[], listed.began);
    match listed.run {
        Ok(digest) => figures(out, digest),
        Err(why) => {
            let why = foreign(why, Unicode::On);
            out.element("td", &[("colspan", "7"), ("class", "is-bad")], &why);
        }
    }
    out.open("td", &[]);
    if let Some(spark) = &run.spark {
        spark.draw(out, "p99 of the runs of this plan up to this one");
    }
    out.close("td");
    let labels = match listed.labels {
        Ok(labels) => {
            let words = labels.tags.iter().map(String::as_str);
            let words: Vec<&str> = words.chain([labels.note]).collect();
            foreign(words.join(" ").trim(), Unicode::On)
        }
        Err(why) => foreign(why, Unicode::On),
    };
    out.element("td", &[], &labels);
    out.close("tr");
}

/// The cells from the run's length to its p99.
fn figures(out: &mut Markup, run: &Digest) {
    let unicode = Unicode::On;
    let mut cell = |text: &str, is_bad: bool| match is_bad {
        true => out.element("td", &[("class", "is-bad")], text),
        false => out.element("td", &[], text),
    };
    cell(&span(run.duration, unicode), false);
    cell(&foreign(&secret::url(&run.target), unicode), false);
    let is_good = run.validity == Validity::Valid
        && run.load_kept
        && !matches!(
            run.target_state,
            TargetState::Failed | TargetState::Degraded
        );
    let validity = match run.is_whole {
        true => run.validity.name(),
        false => "cut off",
    };
    let load = match run.load_kept {
        true => "kept".to_owned(),
        false => format!("{} sent", share_of(run.sent_share)),
    };
    let state = run.target_state.name();
    let answers = format!("run {validity} · load {load} · target {state}");
    cell(&answers, !is_good);
    match (run.thresholds_failed, run.thresholds) {
        (_, 0) => cell("", false),
        (0, all) => cell(&format!("✓ {all}"), false),
        (failed, all) => cell(&format!("✗ {failed} of {all}"), true),
    }
    cell(&rate(run.achieved_per_s), false);
    let failed = match run.failed {
        0 => "0 %".to_owned(),
        failed => share(failed, run.requests),
    };
    cell(&failed, run.failed > 0);
    let p99 = match (run.p99, run.p99_is_at_least) {
        (None, _) => "–".to_owned(),
        (Some(p99), false) => latency(p99, unicode),
        (Some(p99), true) => latency_at_least(p99, unicode),
    };
    cell(&p99, false);
}
