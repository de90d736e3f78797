//! A capacity as JSON, for scripts. Rates are per second, times in nanoseconds, shares from 0 to 1.

use crate::secret;
use drumfire_capacity::{Answer, Bottleneck, Finding, KneeRow, Why};
use drumfire_compare::contract::CAPACITY_SCHEMA;
use drumfire_compare::contract::capacity::{
    self, Confirmation, Document, Limit, Objective, Row, Trend,
};

/// The finding as one JSON object, indented, with a line feed at its end.
#[must_use]
pub fn json(finding: &Finding) -> Vec<u8> {
    crate::json::bytes(&document(finding))
}

fn document(finding: &Finding) -> Document {
    use capacity::Answer as Found;

    let found = match &finding.answer {
        Answer::Found(capacity) => Some(capacity),
        _ => None,
    };
    let (answer, rate, kept, missed) = match &finding.answer {
        Answer::Found(capacity) => (Found::Found, Some(capacity.rate), None, None),
        Answer::Below(rate) => (Found::Below, Some(*rate), None, None),
        Answer::Above(rate) => (Found::Above, Some(*rate), None, None),
        Answer::Generator { rate, kept } => (Found::Generator, Some(*rate), *kept, None),
        Answer::Unknown {
            why: Why::Ended,
            kept,
            missed,
        } => (Found::Open, None, *kept, *missed),
        Answer::Unknown { kept, missed, .. } => (Found::None, None, *kept, *missed),
    };
    let why = match &finding.answer {
        Answer::Found(capacity) => capacity.why.as_ref(),
        Answer::Unknown { why, .. } => Some(why),
        _ => None,
    };
    let limited_by = finding.bottleneck.map(|it| match it {
        Bottleneck::Target => Limit::Target,
        Bottleneck::Connections => Limit::Connections,
        Bottleneck::Failures => Limit::Failures,
    });
    let is_generator = matches!(finding.answer, Answer::Generator { .. });
    Document {
        schema: CAPACITY_SCHEMA.to_owned(),
        run: finding.run.clone(),
        target: secret::excerpt(&finding.target),
        answer,
        rate_per_s: rate,
        low_per_s: found.map(|it| it.low),
        high_per_s: found.map(|it| it.high),
        confidence: 0.9,
        kept_per_s: kept,
        missed_per_s: missed,
        slo: found.map(|it| finding.expression(it.slo).to_owned()),
        limited_by: limited_by.or_else(|| is_generator.then_some(Limit::Generator)),
        why: why.and_then(reason),
        trend: finding.trend().map(|trend| match trend.is_slower() {
            true => Trend::Slower,
            false => Trend::Faster,
        }),
        cut_short: finding.is_cut_short,
        held_s: found.map(|it| it.held),
        confirmation: found.and_then(|it| {
            let confirmation = it.confirmation.as_ref()?;
            Some(Confirmation {
                kept: confirmation.is_kept,
                rate_per_s: confirmation.rate,
                shares: confirmation.shares.clone(),
                requests: confirmation.requests as u64,
                made: confirmation.made,
            })
        }),
        slos: finding.objectives.iter().map(objective).collect(),
        knee: finding.knee_rows().into_iter().map(row).collect(),
        reasons: finding.reasons.clone(),
    }
}

/// The reason of the contract; `None` if the run was ended from outside.
const fn reason(why: &Why) -> Option<capacity::Why> {
    match why {
        Why::Ended => None,
        Why::NotRecovered { .. } => Some(capacity::Why::NotRecovered),
        Why::Behind { .. } => Some(capacity::Why::Behind),
        Why::Independent { .. } => Some(capacity::Why::Independent),
        Why::Missed { .. } => Some(capacity::Why::Missed),
        Why::Slower(_) => Some(capacity::Why::Slower),
        Why::Unproven => Some(capacity::Why::Unproven),
        Why::TooShort { .. } => Some(capacity::Why::TooShort),
        Why::Time { .. } => Some(capacity::Why::Time),
    }
}

fn objective(of: &drumfire_measure::Objective) -> Objective {
    Objective {
        expression: of.expression.clone(),
        share: of.share,
        bound_ns: of.bound.map(|bound| bound.0),
    }
}

fn row(of: &KneeRow) -> Row {
    Row {
        stage: of.stage.name().to_owned(),
        rate_per_s: of.rate,
        duration_ns: of.span.0,
        ended: of.ended,
        p50_ns: of.times.quantile(0.5).map(|time| time.0),
        p99_ns: of.times.quantile(0.99).map(|time| time.0),
        shares: of.shares.clone(),
    }
}
