//! The stored form of an interval: version, number, span, health, the workers' waits if any were
//! counted, the figures of each pool, and the answers of language models if there are any.
//!
//! The number and the span come first, so that a log can be sorted and merged without decoding the
//! rest ([`span`]). Sums are not stored but computed again. The waits follow a 0 in place of the
//! number of pools, of which there is at least one, so that intervals without waits have the form
//! that they always had. Answers follow at the end for the same reason.

use crate::figures::form as figures;
use crate::form::{self, FormError, Input, VERSION, push_number};
use crate::{Interval, PoolInfo};
use drumfire_units::Nanos;
use std::ops::Range;

/// The bytes of an interval, which must be summed up.
pub(crate) fn encode(interval: &Interval) -> Vec<u8> {
    let mut out = Vec::new();
    push_number(&mut out, VERSION);
    push_number(&mut out, interval.index);
    push_number(&mut out, interval.start.0);
    push_number(&mut out, interval.end.0);
    form::write(&interval.health, &mut out);
    if interval.health.waits.any() {
        push_number(&mut out, 0);
        form::write(&interval.health.waits, &mut out);
    }
    let pools = interval.pools();
    push_number(&mut out, pools.len() as u64);
    for pool in pools {
        figures::encode(pool, &mut out);
    }
    if pools.iter().any(|pool| pool.llm().is_some()) {
        pools
            .iter()
            .for_each(|pool| figures::encode_llm(pool, &mut out));
    }
    out
}

/// Reads an interval of a run with these pools into an interval of the same pools.
pub(crate) fn read(
    interval: &mut Interval,
    bytes: &[u8],
    pools: &[PoolInfo],
) -> Result<(), FormError> {
    let mut input = Input::new(bytes);
    input.version(VERSION)?;
    interval.index = input.number()?;
    (interval.start, interval.end) = (Nanos(input.number()?), Nanos(input.number()?));
    form::read_into(&mut interval.health, &mut input)?;
    let mut count = input.length()?;
    if count == 0 {
        let waits = &mut interval.health.waits;
        form::read_into(waits, &mut input)?;
        form::check(
            waits,
            |waits| waits.any(),
            "waits of which none was counted",
        )?;
        count = input.length()?;
    }
    if count != pools.len() {
        return Err(FormError::Malformed("an interval of other pools"));
    }
    for (index, pool) in pools.iter().enumerate() {
        let figures = interval.pool_mut(index);
        figures::read(figures, &mut input, pool.into())?;
    }
    if !input.is_empty() {
        let mut any = false;
        for index in 0..pools.len() {
            any |= figures::read_llm(interval.pool_mut(index), &mut input)?;
        }
        form::check(&any, |any| *any, "answers of which none was counted")?;
    }
    input.finish()
}

/// The span of an interval, from the first of its bytes.
pub(crate) fn span(bytes: &[u8]) -> Result<Range<Nanos>, FormError> {
    let mut input = Input::new(bytes);
    input.version(VERSION)?;
    let _index = input.number()?;
    Ok(Nanos(input.number()?)..Nanos(input.number()?))
}
