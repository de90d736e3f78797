//! The summary as Markdown (CommonMark with the tables of GitHub): for comments, wikis and the
//! summary of a step of a pipeline.
//!
//! It has what the first screen of the text has, as tables that a reader can copy: answers,
//! thresholds, the six numbers, latencies, steps and failures. Every letter of a foreign text that
//! Markdown gives a meaning stands behind a backslash, and its control characters are spelled out.
//!
//! [`summary`] appends the sections in the order of reading. Each of them is a table made by
//! `table`, which leaves out what has no row, or the list of answers; no section looks at another.
//! Cells are escaped where they are made: numbers and names of our own have nothing to escape.
//!
//! Marks are characters and no pictures or colours, which a comment could not load. Nothing folds
//! and nothing is wrapped: the reader's own page does both.

use crate::answers::{Grade, answers, rule};
use crate::latency_rows::LatencyRow;
use crate::quantity::{count, quantile, rate, sent_or_begun, share};
use crate::remedy::{Naming, sentence};
use crate::secret;
use crate::style::Unicode;
use crate::text::foreign;
use drumfire_measure::{Histogram, LatencyKind, Step, Summary};

/// The quantiles of each latency, in Markdown and in the page's tables.
pub(crate) const QUANTILES: [(&str, f64); 5] = [
    ("p50", 0.5),
    ("p90", 0.9),
    ("p99", 0.99),
    ("p99.9", 0.999),
    ("max", 1.0),
];
/// The mark of an answer that is as it should be, and of a threshold that holds.
const GOOD: &str = "✅";
/// The mark of an answer in between, and of one that can't be given.
const FAIR: &str = "⚠️";
/// The mark of the worst answer, and of a threshold that does not hold.
const BAD: &str = "❌";
/// The letters that Markdown gives a meaning within a line.
const MEANT: &str = r"\`*_{}[]<>#|~&";
/// The most kinds of failures, and the most steps: GitHub refuses a comment or a summary beyond a
/// greatest length as a whole.
const ROWS: usize = 20;

/// The summary of a run whose books are closed, with settings named as the run's caller knows them.
#[must_use]
pub fn summary(summary: &Summary, naming: Naming) -> Vec<u8> {
    let mut out = String::new();
    out.push_str(&format!(
        "## {}\n\n",
        escaped(&secret::excerpt(&summary.info.target))
    ));
    print_answers(&mut out, summary, naming);
    thresholds(&mut out, summary);
    numbers(&mut out, summary);
    latencies(&mut out, summary);
    steps(&mut out, summary);
    failures(&mut out, summary);
    out.into_bytes()
}

/// The three answers, each with its reasons beneath.
fn print_answers(out: &mut String, summary: &Summary, naming: Naming) {
    for answer in answers(summary) {
        let mark = match answer.grade {
            Grade::Good => GOOD,
            Grade::Fair | Grade::Open => FAIR,
            Grade::Bad => BAD,
        };
        out.push_str(&format!("- {mark} **{}**\n", answer.text));
        for reason in answer.reasons {
            let reason = sentence(reason, naming);
            out.push_str(&format!("  - {}\n", escaped(&reason)));
        }
    }
    out.push('\n');
}

/// Appends a row for each threshold: its mark, its rule, and the figure that was measured.
fn thresholds(out: &mut String, summary: &Summary) {
    let rows = summary.thresholds.iter().map(|threshold| {
        vec![
            mark(threshold.passed).to_owned(),
            escaped(&rule(threshold)),
            escaped(&threshold.actual_text),
        ]
    });
    table(out, &["", "threshold", "measured"], rows.collect());
}

/// Appends the counts and the rate in one row; the rate that was asked for only where there is one.
fn numbers(out: &mut String, summary: &Summary) {
    let counts = &summary.total.counts;
    let mut cells = vec![
        count(counts.sent),
        count(counts.ok),
        format!(
            "{} ({})",
            count(counts.failed),
            share(counts.failed, counts.sent)
        ),
        count(counts.dropped),
        rate(summary.achieved_per_s()),
    ];
    let begun = sent_or_begun(summary.total.without_data());
    let mut heads = vec![begun, "ok", "failed", "dropped", "achieved"];
    if let Some(asked) = summary.intended_per_s() {
        cells.push(rate(asked));
        heads.push("asked");
    }
    table(out, &heads, vec![cells]);
}

/// Appends a row for each kind of latency that has samples, *the* latency first.
fn latencies(out: &mut String, summary: &Summary) {
    let rows = LatencyRow::of(summary).into_iter();
    let rows = rows.map(|row| times_row(row.words().to_owned(), row.times));
    table(out, &times_heads("latency"), rows.collect());
}

/// Appends a row for each step with its number of requests, where there are several. Of many steps
/// the first ones of the plan are shown.
fn steps(out: &mut String, summary: &Summary) {
    let of_pools = summary.pools().flat_map(|(pool, figures)| {
        let kind = pool.model.latency_kind(&figures.latency);
        let steps = summary.steps_of(pool, figures).into_iter();
        steps.map(move |step| (kind, step))
    });
    let steps: Vec<(LatencyKind, Step)> = of_pools.collect();
    if steps.len() < 2 {
        return;
    }
    let rows = steps.iter().take(ROWS).map(|(kind, step)| {
        let name = format!("{} ({})", escaped(&step.name), count(step.counts.sent));
        times_row(name, kind.of_step(step))
    });
    table(out, &times_heads("step (requests)"), rows.collect());
}

/// Appends a row for each kind of failure and message, the most frequent first.
fn failures(out: &mut String, summary: &Summary) {
    let errors = summary.total.errors();
    let rows = errors.iter().take(ROWS).map(|error| {
        vec![
            count(error.count),
            error.outcome.name().to_owned(),
            escaped(&error.detail.to_string()),
        ]
    });
    table(out, &["requests", "failure", "message"], rows.collect());
}

/// The headings of a table of times, the first of which names the rows.
fn times_heads(first: &'static str) -> Vec<&'static str> {
    let quantiles = QUANTILES.iter().map(|(name, _)| *name);
    std::iter::once(first).chain(quantiles).collect()
}

/// A row of a table of times; a quantile that the count can't support is a dash.
fn times_row(name: String, times: &Histogram) -> Vec<String> {
    let value = |q| quantile(times, q, Unicode::On).unwrap_or_else(|| "–".to_owned());
    let values = QUANTILES.iter().map(|(_, q)| value(*q));
    std::iter::once(name).chain(values).collect()
}

/// The mark of a threshold.
const fn mark(is_good: bool) -> &'static str {
    if is_good { GOOD } else { BAD }
}

/// A table whose cells are escaped; nothing where it has no row.
pub(crate) fn table(out: &mut String, heads: &[&str], rows: Vec<Vec<String>>) {
    if rows.is_empty() {
        return;
    }
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let heads: Vec<String> = heads.iter().map(|head| (*head).to_owned()).collect();
    out.push_str(&line(&heads));
    out.push_str(&line(&vec!["---".to_owned(); heads.len()]));
    rows.iter().for_each(|row| out.push_str(&line(row)));
    out.push('\n');
}

/// A text that others wrote, which means nothing to Markdown, nor to GitHub's search for users.
pub(crate) fn escaped(text: &str) -> String {
    let text = foreign(text, Unicode::On);
    let mut out = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let mut is_named = || letters.peek().is_some_and(|next| next.is_alphanumeric());
        match letter {
            // GitHub looks for names of users in what was rendered, where no escape is left: only
            // code keeps it from them.
            '@' if is_named() => out.push_str("`@`"),
            _ if MEANT.contains(letter) => out.extend(['\\', letter]),
            _ => out.push(letter),
        }
    }
    out
}
