//! A capacity as text for a terminal: the answer, what bounds it, its confirmation, and the knee as
//! a table with bars.
//!
//! [`facts`] and the sentence of the answer are shared with Markdown; the colours and
//! the table are the terminal's own. Texts of a target or a plan are escaped where they
//! are printed, in [`labelled`], and nowhere before: an escape would be escaped again.

use super::{allowed, bottleneck_words, sentence, short, why};
use crate::bar::bar;
use crate::line::{self, Ink, Line};
use crate::quantity::{count, in_letters, latency, quantile, share_of, span};
use crate::secret;
use crate::style::Style;
use crate::table::{Column, Table};
use crate::untrusted::Untrusted;
use drumfire_capacity::{Answer, Confirmation, Finding, KneeRow, Why};
use drumfire_measure::Histogram;
use drumfire_units::Nanos;

/// The column at which everything after a label begins.
const LABEL: usize = 13;
/// The columns of a row's bar.
const BAR: usize = 24;
/// A bar ends at this many times the bound: above, only the figure matters.
const BOUNDS: u64 = 4;

/// The answer, and a row for each rate that was tried.
///
/// A mark stands before an answer that the search has proven: a capacity that was confirmed, or
/// bounds that lie outside of what was asked. A search that was cut short, that was not confirmed
/// or that the generator limited has none.
#[must_use]
pub fn text(finding: &Finding, style: &Style) -> String {
    let mut out = String::new();
    let (mark, ink) = match &finding.answer {
        Answer::Found(capacity) if !finding.is_cut_short && capacity.confirmed().is_some() => {
            (style.glyph("✓ ", "+ "), Ink::Good)
        }
        Answer::Above(_) => (style.glyph("✓ ", "+ "), Ink::Good),
        Answer::Below(_)
        | Answer::Unknown {
            why: Why::Independent { .. },
            ..
        } => (style.glyph("✗ ", "x "), Ink::Bad),
        Answer::Found(_) | Answer::Generator { .. } | Answer::Unknown { .. } => ("", Ink::Warn),
    };
    let answer = format!("{mark}{}", sentence(finding));
    labelled("Capacity", &answer, ink, style, &mut out);
    for (label, words) in facts(finding) {
        labelled(label, &words, Ink::Plain, style, &mut out);
    }
    out.push('\n');
    for line in table(finding, style).lines(style.width()) {
        line.print(style, &mut out);
    }
    out
}

/// The facts beside the answer, each with its label, in the order in which a reader needs them:
/// the limit, the reasons for an answer that is none, the confirmation, and the run in which all
/// of it is stored.
pub(super) fn facts(finding: &Finding) -> Vec<(&'static str, String)> {
    let mut facts = Vec::new();
    if let Some(bottleneck) = finding.bottleneck {
        let words = bottleneck_words(bottleneck, finding.failure.as_deref());
        facts.push(("Limited by", words));
    }
    for reason in &finding.reasons {
        facts.push(("Reason", reason.clone()));
    }
    if let Answer::Found(capacity) = &finding.answer {
        let why = capacity.why.as_ref().unwrap_or(&Why::Ended);
        facts.push(match &capacity.confirmation {
            Some(confirmation) if confirmation.is_kept => {
                ("Confirmed", confirmation_words(finding, confirmation))
            }
            Some(confirmation) => (
                "Confirmed",
                format!("no: {}", confirmation_words(finding, confirmation)),
            ),
            None => ("Confirmed", format!("no: {}", why::words(finding, why))),
        });
        if let (Some(_), Some(why)) = (&capacity.confirmation, &capacity.why) {
            facts.push(("Reason", why::words(finding, why)));
        }
    }
    if let Some(trend) = finding.trend() {
        facts.push(("Trend", why::trend(trend)));
    }
    if finding.is_cut_short {
        let words = "the search was interrupted; the answer uses the data up to then";
        facts.push(("Cut short", words.to_owned()));
    }
    let target = secret::excerpt(&finding.target);
    facts.push(("Target", format!("{target}, run {}", finding.run)));
    facts
}

/// The confirmation in words: the rate that was held, and for each objective the share of
/// requests beyond its bound, beside the share that it allows.
fn confirmation_words(finding: &Finding, confirmation: &Confirmation) -> String {
    let each = confirmation.shares.iter().zip(&finding.objectives);
    let each = each.map(|(share, objective)| {
        format!(
            "{} beyond {}, {} allowed",
            share_of(*share),
            objective.expression,
            allowed(objective.share)
        )
    });
    let shares: Vec<String> = each.collect();
    let rate = short(confirmation.rate);
    let requests = count(confirmation.requests as u64);
    let made = match confirmation.made {
        1 => String::new(),
        made => format!(" (the last of {made} attempts, each at a lower rate)"),
    };
    format!("{rate}, {requests} requests: {}{made}", shares.join("; "))
}

/// The knee: rates and the times of requests.
///
/// The quantile of the table and its bars is that of the objective that bounds the capacity; rates at
/// which more than its share lies beyond the bound are in the colour of what is bad. A rate with
/// too few requests for the quantile has its greatest time instead, behind `≤`: the quantile can't
/// be above it.
fn table(finding: &Finding, style: &Style) -> Table {
    let shown = finding.bounding();
    let q = finding.quantile();
    let name: &'static str = match q {
        q if (q - 0.99).abs() < 1e-9 => "p99",
        q if (q - 0.95).abs() < 1e-9 => "p95",
        q if (q - 0.9).abs() < 1e-9 => "p90",
        q if (q - 0.999).abs() < 1e-9 => "p99.9",
        _ => "tail",
    };
    let mut table = Table::new([
        Column::numbers("rate", 0),
        Column::names("stage"),
        Column::numbers("time", 4),
        Column::numbers("requests", 3),
        Column::numbers("p50", 2),
        Column::numbers(name, 0),
        Column::numbers("beyond", 0),
        Column::names(""),
    ]);
    let rows = finding.knee_rows();
    let tail = |row: &KneeRow| at_most(&row.times, q);
    let most = rows.iter().filter_map(|row| tail(row)).max();
    let bound = finding.objectives.get(shown).and_then(|it| it.bound);
    // Without a limit one step into overload would make all other bars a dot.
    let whole = match (most, bound) {
        (Some(most), Some(bound)) => most.0.min(BOUNDS * bound.0.max(1)),
        (most, _) => most.map_or(1, |most| most.0),
    };
    let unknown = style.glyph("–", "-");
    for row in rows {
        let share = row.shares.get(shown).copied().unwrap_or_default();
        let limit = finding.objectives.get(shown).map_or(1.0, |it| it.share);
        let ink = if share > limit { Ink::Bad } else { Ink::Plain };
        let time = |q| quantile(&row.times, q, style.unicode);
        let length = tail(row).map_or(0, |tail| tail.0);
        table.row(vec![
            Line::of(short(row.rate), Ink::Bold),
            Line::of(row.stage.name(), Ink::Dim),
            Line::of(span(row.span, style.unicode), Ink::Dim),
            Line::plain(count(row.ended)),
            Line::plain(time(0.5).unwrap_or_else(|| unknown.to_owned())),
            Line::of(
                time(q).unwrap_or_else(|| match tail(row) {
                    Some(tail) => format!(
                        "{} {}",
                        style.glyph("≤", "<="),
                        latency(tail, style.unicode)
                    ),
                    None => unknown.to_owned(),
                }),
                ink,
            ),
            Line::of(share_of(share), ink),
            Line::of(bar(length, whole, BAR, style), ink),
        ]);
    }
    table
}
/// A quantile, or the greatest time where the count supports none.
fn at_most(times: &Histogram, q: f64) -> Option<Nanos> {
    (!times.is_empty()).then(|| times.quantile(q).unwrap_or_else(|| times.max()))
}

/// Prints a sentence behind a label, over as many lines as it needs. Control characters in it become
/// visible escapes, and letters outside of ASCII are replaced where the style has none.
fn labelled(label: &str, words: &str, ink: Ink, style: &Style, out: &mut String) {
    let words = Untrusted::new(words).escaped(style.unicode);
    let words = in_letters(&words, style.unicode);
    line::labelled((label, LABEL), &words, ink, style, out);
}
