//! A capacity as JSON, for scripts. Rates are per second, times in nanoseconds, shares from 0 to 1.

use crate::secret;
use drumfire_capacity::{Answer, Bottleneck, Finding, KneeRow, Why};
use serde::Serialize;

/// The name and version of the form.
pub const SCHEMA: &str = "drumfire.capacity.v1";

/// The document. `answer` is one of `found`, `below`, `above`, `generator`, `open` and `none`. An
/// unknown value is `null`.
#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    run: &'a str,
    target: String,
    answer: &'static str,
    /// The estimate; for `below`, `above` and `generator`, the rate of the answer.
    rate_per_s: Option<f64>,
    /// The ends of the interval that contains the capacity with the probability `confidence`.
    low_per_s: Option<f64>,
    high_per_s: Option<f64>,
    confidence: f64,
    /// The highest rate that a step kept and the lowest that a step missed, in a search without an
    /// answer.
    kept_per_s: Option<f64>,
    missed_per_s: Option<f64>,
    /// The objective that bounds the rate.
    slo: Option<&'a str>,
    /// `target`, `connections`, `failures` or `generator`; `null` if unknown.
    limited_by: Option<&'static str>,
    /// Why there is no answer, or no confirmed one: `not_recovered`, `behind`, `independent`,
    /// `missed`, `slower`, `unproven`, `too_short`, `time`.
    why: Option<&'static str>,
    /// `slower` or `faster`, if the target became so during the search.
    trend: Option<&'static str>,
    cut_short: bool,
    /// The time for which the load was held, in seconds.
    held_s: Option<f64>,
    confirmation: Option<Confirmed>,
    slos: Vec<Wanted<'a>>,
    knee: Vec<Row>,
    reasons: &'a [String],
}

/// The last confirmation. `shares` are beyond each objective, in the order of `slos`; `made` is the
/// number of confirmations, each at a lower rate.
#[derive(Serialize)]
struct Confirmed {
    kept: bool,
    rate_per_s: f64,
    shares: Vec<f64>,
    requests: u64,
    made: u32,
}

/// An objective: the maximum share of requests beyond the bound. An objective on failures has no
/// bound.
#[derive(Serialize)]
struct Wanted<'a> {
    expression: &'a str,
    share: f64,
    bound_ns: Option<u64>,
}

/// A rate that was tried. A quantile is `null` if too few requests ended.
#[derive(Serialize)]
struct Row {
    stage: &'static str,
    rate_per_s: f64,
    duration_ns: u64,
    ended: u64,
    p50_ns: Option<u64>,
    p99_ns: Option<u64>,
    shares: Vec<f64>,
}

/// The finding as one JSON object, indented, with a line feed at its end.
#[must_use]
pub fn json(finding: &Finding) -> Vec<u8> {
    crate::json::bytes(&document(finding))
}

fn document(finding: &Finding) -> Document<'_> {
    let found = match &finding.answer {
        Answer::Found(capacity) => Some(capacity),
        _ => None,
    };
    let (answer, rate, kept, missed) = match &finding.answer {
        Answer::Found(capacity) => ("found", Some(capacity.rate), None, None),
        Answer::Below(rate) => ("below", Some(*rate), None, None),
        Answer::Above(rate) => ("above", Some(*rate), None, None),
        Answer::Generator { rate, kept } => ("generator", Some(*rate), *kept, None),
        Answer::Unknown {
            why: Why::Ended,
            kept,
            missed,
        } => ("open", None, *kept, *missed),
        Answer::Unknown { kept, missed, .. } => ("none", None, *kept, *missed),
    };
    let why = match &finding.answer {
        Answer::Found(capacity) => capacity.why.as_ref(),
        Answer::Unknown { why, .. } => Some(why),
        _ => None,
    };
    let limited_by = finding.bottleneck.map(|it| match it {
        Bottleneck::Target => "target",
        Bottleneck::Connections => "connections",
        Bottleneck::Failures => "failures",
    });
    let is_generator = matches!(finding.answer, Answer::Generator { .. });
    Document {
        schema: SCHEMA,
        run: &finding.run,
        target: secret::excerpt(&finding.target),
        answer,
        rate_per_s: rate,
        low_per_s: found.map(|it| it.low),
        high_per_s: found.map(|it| it.high),
        confidence: 0.9,
        kept_per_s: kept,
        missed_per_s: missed,
        slo: found.map(|it| finding.expression(it.slo)),
        limited_by: limited_by.or_else(|| is_generator.then_some("generator")),
        why: why.and_then(name_of),
        trend: finding.trend().map(|trend| match trend.is_slower() {
            true => "slower",
            false => "faster",
        }),
        cut_short: finding.is_cut_short,
        held_s: found.map(|it| it.held),
        confirmation: found.and_then(|it| {
            let confirmation = it.confirmation.as_ref()?;
            Some(Confirmed {
                kept: confirmation.is_kept,
                rate_per_s: confirmation.rate,
                shares: confirmation.shares.clone(),
                requests: confirmation.requests as u64,
                made: confirmation.made,
            })
        }),
        slos: finding.objectives.iter().map(Wanted::of).collect(),
        knee: finding.knee_rows().into_iter().map(Row::of).collect(),
        reasons: &finding.reasons,
    }
}
/// The name of a reason; `None` if the run was ended from outside.
const fn name_of(why: &Why) -> Option<&'static str> {
    match why {
        Why::Ended => None,
        Why::NotRecovered { .. } => Some("not_recovered"),
        Why::Behind { .. } => Some("behind"),
        Why::Independent { .. } => Some("independent"),
        Why::Missed { .. } => Some("missed"),
        Why::Slower(_) => Some("slower"),
        Why::Unproven => Some("unproven"),
        Why::TooShort { .. } => Some("too_short"),
        Why::Time { .. } => Some("time"),
    }
}

impl<'a> Wanted<'a> {
    fn of(objective: &'a drumfire_measure::Objective) -> Self {
        Self {
            expression: &objective.expression,
            share: objective.share,
            bound_ns: objective.bound.map(|bound| bound.0),
        }
    }
}

impl Row {
    fn of(row: &KneeRow) -> Self {
        Self {
            stage: row.stage.name(),
            rate_per_s: row.rate,
            duration_ns: row.span.0,
            ended: row.ended,
            p50_ns: row.times.quantile(0.5).map(|time| time.0),
            p99_ns: row.times.quantile(0.99).map(|time| time.0),
            shares: row.shares.clone(),
        }
    }
}
