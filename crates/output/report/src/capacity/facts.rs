//! The facts beside a capacity, and the knee as a table with bars.

use super::{allowed, bottleneck_words, short, why};
use crate::grid::{Cell, Column, Grid};
use crate::line::Ink;
use crate::quantity::{count, latency, quantile, share_of};
use crate::secret;
use crate::section::{Body, Facts, Section};
use crate::style::Unicode;
use drumfire_capacity::{Answer, Confirmation, Finding, KneeRow, Why};
use drumfire_measure::Histogram;
use drumfire_units::Nanos;

/// The maximum number of letters of a bar.
const BAR: usize = 24;
/// A bar ends at this many times the bound: above, only the figure matters.
const BOUNDS: u64 = 4;

/// The facts with their labels, then a row for each rate that was tried.
pub(super) fn section(finding: &Finding) -> Section {
    let facts = facts(finding)
        .into_iter()
        .map(|(label, words)| Body::Facts(Facts::lines(label, vec![Cell::new(words)])));
    let target = vec![
        Cell::code(secret::excerpt(&finding.target)),
        Cell::foreign(format!("run {}", finding.run)),
    ];
    let target = Body::Facts(Facts::items("Target", target));
    let bodies = facts.chain([target, Body::Table(knee(finding))]).collect();
    Section {
        id: "knee",
        title: "Knee",
        explanation: String::new(),
        remarks: Vec::new(),
        bodies,
    }
}

/// The facts beside the answer, each with its label: the limit, the confirmation, and the reasons for
/// a missing answer.
fn facts(finding: &Finding) -> Vec<(&'static str, String)> {
    let mut facts = Vec::new();
    if let Some(bottleneck) = finding.bottleneck {
        facts.push(("Limited by", bottleneck_words(finding, bottleneck)));
    }
    facts.extend(confirmed(finding));
    facts.extend(circumstances(finding));
    facts
}

/// Whether a capacity was confirmed, with the reason if it was not; empty for any other answer.
pub(crate) fn confirmed(finding: &Finding) -> Vec<(&'static str, String)> {
    let Answer::Found(capacity) = &finding.answer else {
        return Vec::new();
    };
    let why = capacity.why.as_ref().unwrap_or(&Why::Ended);
    let mut facts = vec![match &capacity.confirmation {
        Some(confirmation) if confirmation.is_kept => {
            ("Confirmed", confirmation_words(finding, confirmation))
        }
        Some(confirmation) => ("Unconfirmed", confirmation_words(finding, confirmation)),
        None => ("Unconfirmed", why::words(finding, why)),
    }];
    if let (Some(_), Some(why)) = (&capacity.confirmation, &capacity.why) {
        facts.push(("Reason", why::words(finding, why)));
    }
    facts
}

/// What happened during the search and limits its answer.
pub(crate) fn circumstances(finding: &Finding) -> Vec<(&'static str, String)> {
    let reasons = finding.reasons.iter();
    let mut facts: Vec<(&str, String)> = reasons.map(|it| ("Reason", it.clone())).collect();
    if let Some(trend) = finding.trend() {
        facts.push(("Trend", why::trend(trend)));
    }
    if finding.is_cut_short {
        let words = "the search was interrupted; the answer uses the data up to then";
        facts.push(("Cut short", words.to_owned()));
    }
    facts
}

/// The confirmation: the rate that was held, and for each objective the share of requests beyond its
/// bound and the allowed share.
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
/// The quantile of the table and its bars is the one of the objective that bounds the capacity. Rates
/// at which more than its share lies beyond the bound are bad. A rate with too few requests for the
/// quantile has the maximum after `≤`, since the quantile can't be above it. Another objective may be
/// the one that a rate misses, such as one on failures, so each row has the share of the objective
/// that it misses most, with the name of that objective if there are several.
pub(crate) fn knee(finding: &Finding) -> Grid {
    let shown = finding.bounding();
    let q = finding.quantile();
    let name = quantile_name(q);
    let is_named = finding.objectives.len() > 1;
    let mut columns = vec![
        Column::numbers("rate", 0),
        Column::words("stage", 0),
        Column::numbers("time", 4),
        Column::numbers("requests", 3),
        Column::numbers("p50", 2),
        Column::numbers(name, 0),
        Column::numbers("beyond", 0),
    ];
    columns.extend(is_named.then(|| Column::words("objective", 1)));
    columns.push(Column::bars(BAR));
    let rows = finding.knee_rows();
    let tail = |row: &KneeRow| at_most(&row.times, q);
    let most = rows.iter().filter_map(|row| tail(row)).max();
    let bound = finding.objectives.get(shown).and_then(|it| it.bound);
    // Without a limit, one step into overload would make all other bars a dot.
    let whole = match (most, bound) {
        (Some(most), Some(bound)) => most.0.min(BOUNDS * bound.0.max(1)),
        (most, _) => most.map_or(1, |most| most.0),
    };
    let rows = rows.into_iter().map(|row| {
        let ink = |slo| match missed(finding, row, slo) > 1.0 {
            true => Ink::Bad,
            false => Ink::Plain,
        };
        let worst = most_missed(finding, row);
        let share = row.shares.get(worst).copied().unwrap_or_default();
        let most = tail(row).map(|tail| format!("≤ {}", latency(tail, Unicode::On)));
        let tail_words = quantile(&row.times, q, Unicode::On).or(most);
        let length = tail(row).map_or(0, |tail| tail.0);
        let mut cells = vec![
            Cell::new(short(row.rate)).inked(Ink::Bold),
            Cell::new(row.stage.name()).inked(Ink::Dim),
            Cell::span(row.span).inked(Ink::Dim),
            Cell::count(row.ended),
            Cell::quantile(&row.times, 0.5),
            Cell::optional(tail_words).inked(ink(shown)),
            Cell::new(share_of(share)).inked(ink(worst)),
        ];
        let name = || Cell::code(finding.expression(worst)).inked(ink(worst));
        cells.extend(is_named.then(name));
        cells.push(Cell::bar(length, whole).inked(ink(shown)));
        cells.into()
    });
    Grid::new(columns, rows)
}

/// The name of a quantile from 0 to 1 in the table and the picture of the knee.
pub(crate) fn quantile_name(q: f64) -> &'static str {
    match q {
        q if (q - 0.99).abs() < 1e-9 => "p99",
        q if (q - 0.95).abs() < 1e-9 => "p95",
        q if (q - 0.9).abs() < 1e-9 => "p90",
        q if (q - 0.999).abs() < 1e-9 => "p99.9",
        _ => "tail",
    }
}

/// The share of a row's requests beyond an objective, as a multiple of the allowed share.
pub(crate) fn missed(finding: &Finding, row: &KneeRow, slo: usize) -> f64 {
    let share = row.shares.get(slo).copied().unwrap_or_default();
    let allowed = finding.objectives.get(slo).map_or(1.0, |it| it.share);
    share / allowed
}

/// The objective that a row misses most; the one that bounds the capacity if it misses none more.
pub(crate) fn most_missed(finding: &Finding, row: &KneeRow) -> usize {
    let missed = |slo: &usize| missed(finding, row, *slo);
    let others = 0..finding.objectives.len();
    others.fold(finding.bounding(), |worst, slo| {
        match missed(&slo) > missed(&worst) {
            true => slo,
            false => worst,
        }
    })
}

/// A quantile, or the maximum if the count does not support the quantile.
pub(crate) fn at_most(times: &Histogram, q: f64) -> Option<Nanos> {
    (!times.is_empty()).then(|| times.quantile(q).unwrap_or_else(|| times.max()))
}
