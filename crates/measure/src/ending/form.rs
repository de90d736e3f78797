//! The end of a run in our own binary form: version, measured span, then each field of [`Ending`]
//! in order.
//!
//! Bodies of failures and slow requests stand in the order in which their lists keep them. A
//! decoder adds each to an empty list and compares the result with what it read, so that every
//! bound and order of those types holds of bytes from elsewhere too.
//!
//! The ending stands behind a run's intervals, in a log and in a stream. What it has can't be made
//! again from them: the span, what the machine did, the judgements of thresholds at their windows,
//! and what was kept of single exchanges.

use crate::codec::stop_reason::{decode_reason, encode_reason};
use crate::codec::{CodecError, Input, put, put_optional, put_text};
use crate::transcript::form::{decode_excerpt, encode_excerpt};
use crate::{
    Certainty, Doubt, Ending, FailedBodies, FailedBody, LatencyKind, LoadEnd, SlowRequest, Slowest,
    ThresholdResult,
};
use drumfire_units::Nanos;

/// The version of the form, its first number.
const VERSION: u64 = 1;

/// The certainties of a figure, in the order of their numbers.
const CERTAINTIES: [Certainty; 3] = [Certainty::Exact, Certainty::AtLeast, Certainty::AtMost];

/// The bytes of an ending.
pub(crate) fn encode(ending: &Ending) -> Vec<u8> {
    let mut out = Vec::new();
    put(&mut out, VERSION);
    put(&mut out, ending.duration.0);
    put(&mut out, ending.steal_share.to_bits());
    put_optional(&mut out, ending.connections_max);
    put(&mut out, ending.thresholds.len() as u64);
    for threshold in &ending.thresholds {
        put_text(&mut out, &threshold.expression);
        put(&mut out, threshold.is_condition.into());
        put(&mut out, threshold.passed.into());
        put_optional(&mut out, threshold.actual.map(f64::to_bits));
        let certainty = CERTAINTIES.iter().position(|c| *c == threshold.certainty);
        put(&mut out, certainty.unwrap_or_default() as u64);
        put_text(&mut out, &threshold.actual_text);
        put_optional(&mut out, threshold.ended_run_at.map(|at| at.0));
    }
    put(&mut out, ending.notes.len() as u64);
    for note in &ending.notes {
        put_text(&mut out, note);
    }
    let bodies: Vec<_> = ending.failed_bodies.iter().collect();
    put(&mut out, bodies.len() as u64);
    for body in bodies {
        encode_body(body, &mut out);
    }
    for kind in LatencyKind::ALL {
        put(&mut out, ending.slowest.by(kind).count() as u64);
        for slow in ending.slowest.by(kind) {
            encode_slow(slow, &mut out);
        }
    }
    put(&mut out, ending.load_end.reason.is_some().into());
    if let Some(reason) = ending.load_end.reason {
        encode_reason(reason, &mut out);
    }
    put_optional(&mut out, ending.load_end.at.map(|at| at.0));
    put(&mut out, ending.doubts.len() as u64);
    for doubt in &ending.doubts {
        put_text(&mut out, &doubt.text);
        put(&mut out, doubt.unknown.to_bits());
    }
    out
}

/// Reads the bytes of [`encode`].
pub(crate) fn decode(bytes: &[u8]) -> Result<Ending, CodecError> {
    let mut input = Input::new(bytes);
    let input = &mut input;
    input.version(VERSION)?;
    let ending = Ending {
        duration: Nanos(input.number()?),
        steal_share: share(input)?,
        connections_max: input.optional()?,
        thresholds: input.several(threshold)?,
        notes: input.several(|input| input.text().map(str::to_owned))?,
        failed_bodies: bodies(input)?,
        slowest: slowest(input)?,
        load_end: load_end(input)?,
        doubts: input.several(doubt)?,
    };
    input.end()?;
    Ok(ending)
}

fn load_end(input: &mut Input<'_>) -> Result<LoadEnd, CodecError> {
    Ok(LoadEnd {
        reason: input.flag()?.then(|| decode_reason(input)).transpose()?,
        at: input.optional()?.map(Nanos),
    })
}

fn doubt(input: &mut Input<'_>) -> Result<Doubt, CodecError> {
    const RANGE: CodecError = CodecError::Malformed("a share outside 0 to 1");
    let (text, unknown) = (input.text()?.to_owned(), share(input)?);
    match (0.0..=1.0).contains(&unknown) {
        true => Ok(Doubt { text, unknown }),
        false => Err(RANGE),
    }
}

fn share(input: &mut Input<'_>) -> Result<f64, CodecError> {
    let share = f64::from_bits(input.number()?);
    match share.is_finite() {
        true => Ok(share),
        false => Err(CodecError::Malformed("a share that is not a number")),
    }
}

fn threshold(input: &mut Input<'_>) -> Result<ThresholdResult, CodecError> {
    Ok(ThresholdResult {
        expression: input.text()?.to_owned(),
        is_condition: input.flag()?,
        passed: input.flag()?,
        actual: input.optional()?.map(f64::from_bits),
        certainty: certainty(input)?,
        actual_text: input.text()?.to_owned(),
        ended_run_at: input.optional()?.map(Nanos),
    })
}

fn certainty(input: &mut Input<'_>) -> Result<Certainty, CodecError> {
    const UNKNOWN: CodecError = CodecError::Malformed("the certainty of a figure");
    let number = usize::try_from(input.number()?).ok();
    let certainty = number.and_then(|number| CERTAINTIES.get(number));
    certainty.copied().ok_or(UNKNOWN)
}

/// Appends the body of a failure.
pub(crate) fn encode_body(body: &FailedBody, out: &mut Vec<u8>) {
    put_text(out, body.outcome.name());
    put(out, body.status.into());
    put(out, body.pool as u64);
    put(out, body.step.into());
    put(out, body.end.0);
    encode_excerpt(&body.body, out);
}

fn encode_slow(slow: &SlowRequest, out: &mut Vec<u8>) {
    put_text(out, &slow.trace);
    put(out, slow.pool.into());
    put(out, slow.step.into());
    put_text(out, slow.outcome.name());
    put(out, slow.status.into());
    put(out, slow.intended.0);
    put(out, slow.response_time.0);
    put_optional(out, slow.service_time.map(|time| time.0));
}

fn slowest(input: &mut Input<'_>) -> Result<Slowest, CodecError> {
    const ORDER: CodecError = CodecError::Malformed("slow requests");
    let lists = [input.several(slow)?, input.several(slow)?];
    Slowest::of_lists(lists).ok_or(ORDER)
}

fn slow(input: &mut Input<'_>) -> Result<SlowRequest, CodecError> {
    Ok(SlowRequest {
        trace: input.text()?.to_owned(),
        pool: input.short()?,
        step: input.short()?,
        outcome: input.outcome()?,
        status: input.short()?,
        intended: Nanos(input.number()?),
        response_time: Nanos(input.number()?),
        service_time: input.optional()?.map(Nanos),
    })
}

fn bodies(input: &mut Input<'_>) -> Result<FailedBodies, CodecError> {
    const ORDER: CodecError = CodecError::Malformed("bodies of failures");
    let read = input.several(decode_body)?;
    let mut bodies = FailedBodies::default();
    for body in &read {
        bodies.add(body.clone());
    }
    match bodies.iter().eq(&read) {
        true => Ok(bodies),
        false => Err(ORDER),
    }
}

/// Reads what [`encode_body`] wrote.
pub(crate) fn decode_body(input: &mut Input<'_>) -> Result<FailedBody, CodecError> {
    Ok(FailedBody {
        outcome: input.outcome()?,
        status: input.short()?,
        pool: usize::from(input.short()?),
        step: input.short()?,
        end: Nanos(input.number()?),
        body: decode_excerpt(input)?,
    })
}
