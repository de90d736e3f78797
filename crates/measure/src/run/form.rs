//! The facts of a run in our own binary form: version, then each field of [`RunInfo`] in order.
//! Intervals can be read only with them, so they travel first.
//!
//! A decoded run has at least one pool and an interval of some length, on which grids of time rely.

use crate::asked::form as asked;
use crate::codec::stages::{decode_stages, encode_stages};
use crate::codec::{CodecError, Input, put, put_text, threshold};
use crate::{ArrivalClock, Model, PoolInfo, RunInfo};
use drumfire_plan::{Growth, Warmup};
use drumfire_units::Nanos;
use std::sync::Arc;

/// The version of the form, its first number.
const VERSION: u64 = 1;

/// The clocks, in the order of their numbers.
const CLOCKS: [ArrivalClock; 3] = [
    ArrivalClock::Program,
    ArrivalClock::Kernel,
    ArrivalClock::Wire,
];

/// The bytes of what is known of a run.
pub(crate) fn encode(info: &RunInfo) -> Vec<u8> {
    let mut out = Vec::new();
    put(&mut out, VERSION);
    put_text(&mut out, &info.id);
    put(&mut out, info.started_at_unix_ns);
    put(&mut out, info.seed);
    put_text(&mut out, &info.version);
    put(&mut out, info.threads.into());
    put(&mut out, info.threads_planned.into());
    put(&mut out, info.pools.len() as u64);
    for pool in &info.pools {
        encode_pool(pool, &mut out);
    }
    put(&mut out, info.interval.0);
    put(&mut out, u64::from(info.warmup == Warmup::Auto));
    put(&mut out, info.warmup.span().0);
    put(
        &mut out,
        info.tls_verified.map_or(0, |is| 1 + u64::from(is)),
    );
    put(&mut out, info.spin.into());
    let clock = CLOCKS.iter().position(|clock| *clock == info.clock);
    put(&mut out, clock.unwrap_or_default() as u64);
    put(&mut out, info.thresholds.len() as u64);
    for rule in &info.thresholds {
        threshold::encode(rule, &mut out);
    }
    put(&mut out, info.notes.len() as u64);
    for note in &info.notes {
        put_text(&mut out, note);
    }
    put_text(&mut out, &info.target);
    out
}

/// Reads the bytes of [`encode`].
pub(crate) fn decode(bytes: &[u8]) -> Result<RunInfo, CodecError> {
    let mut input = Input::new(bytes);
    let input = &mut input;
    input.version(VERSION)?;
    let info = RunInfo {
        id: text(input)?,
        started_at_unix_ns: input.number()?,
        seed: input.number()?,
        version: text(input)?,
        threads: input.small()?,
        threads_planned: input.small()?,
        pools: input.several(decode_pool)?,
        interval: Nanos(input.number()?),
        warmup: warmup(input)?,
        tls_verified: match input.number()? {
            0 => None,
            1 => Some(false),
            2 => Some(true),
            _ => return Err(CodecError::Malformed("whether certificates are verified")),
        },
        spin: input.flag()?,
        clock: clock(input)?,
        thresholds: input.several(threshold::decode)?,
        notes: input.several(text)?,
        target: text(input)?,
    };
    input.end()?;
    if info.pools.is_empty() {
        return Err(CodecError::Malformed("a run without pools"));
    }
    if info.interval == Nanos::ZERO {
        return Err(CodecError::Malformed("an interval without length"));
    }
    Ok(info)
}

fn clock(input: &mut Input<'_>) -> Result<ArrivalClock, CodecError> {
    const UNKNOWN: CodecError = CodecError::Malformed("an unknown clock");
    let number = usize::try_from(input.number()?).ok();
    let clock = number.and_then(|number| CLOCKS.get(number));
    clock.copied().ok_or(UNKNOWN)
}

fn warmup(input: &mut Input<'_>) -> Result<Warmup, CodecError> {
    match (input.flag()?, Nanos(input.number()?)) {
        (false, span) => Ok(Warmup::Span(span)),
        (true, Nanos::ZERO) => Ok(Warmup::Auto),
        (true, _) => Err(CodecError::Malformed(
            "a warm-up that is found has a length",
        )),
    }
}

fn encode_pool(pool: &PoolInfo, out: &mut Vec<u8>) {
    put_text(out, &pool.name);
    put(out, u64::from(pool.model == Model::Closed));
    put(out, pool.steps.len() as u64);
    for step in &pool.steps {
        put_text(out, step);
    }
    put(out, pool.intended_rate.is_some().into());
    if let Some(rate) = pool.intended_rate {
        put(out, rate.to_bits());
    }
    put(out, pool.connections.into());
    put(out, u64::from(pool.growth == Growth::AsNeeded));
    put(out, pool.streams.into());
    put(out, pool.users.map_or(0, |users| u64::from(users) + 1));
    put(out, pool.iterations.into());
    put(out, pool.scenarios.len() as u64);
    for scenario in &pool.scenarios {
        put_text(out, scenario);
    }
    encode_stages(&pool.stages, out);
    put(out, pool.asked.is_some().into());
    if let Some(of_plan) = &pool.asked {
        asked::encode(of_plan, out);
    }
}

fn decode_pool(input: &mut Input<'_>) -> Result<PoolInfo, CodecError> {
    let name = text(input)?;
    let model = if input.flag()? {
        Model::Closed
    } else {
        Model::Open
    };
    let steps = input.several(|input| Ok(Arc::from(input.text()?)))?;
    let intended_rate = input.flag()?.then(|| input.number()).transpose()?;
    let intended_rate = intended_rate.map(f64::from_bits);
    if intended_rate.is_some_and(|rate| !rate.is_finite()) {
        return Err(CodecError::Malformed("a rate that is not a number"));
    }
    Ok(PoolInfo {
        name,
        model,
        steps,
        intended_rate,
        connections: input.small()?,
        growth: match input.flag()? {
            true => Growth::AsNeeded,
            false => Growth::Ahead,
        },
        streams: input.small()?,
        users: match input.number()?.checked_sub(1) {
            None => None,
            Some(users) => {
                Some(u32::try_from(users).map_err(|_| CodecError::Malformed("a number of users"))?)
            }
        },
        iterations: input.flag()?,
        scenarios: input.several(|input| Ok(Arc::from(input.text()?)))?,
        stages: decode_stages(input)?,
        asked: input.flag()?.then(|| asked::decode(input)).transpose()?,
    })
}

/// A text of its own, out of the bytes.
fn text(input: &mut Input<'_>) -> Result<String, CodecError> {
    input.text().map(str::to_owned)
}
