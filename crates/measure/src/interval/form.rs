//! An interval in our own binary form: version, number, span, health, and the figures of each pool.
//!
//! The number and the span come first, so that a log can be sorted and made coarser without
//! decoding the rest ([`span`]). The sums are not part of the form: they are computed again.

use crate::codec::{CodecError, Input, put};
use crate::figures::form as figures;
use crate::histogram::form::{encode_histogram, read_histogram};
use crate::{Interval, PoolInfo, WorkerHealth};
use drumfire_units::Nanos;
use std::ops::Range;

/// The version of the form.
pub(crate) const VERSION: u64 = 1;

/// The bytes of an interval that is summed up.
pub(crate) fn encode(interval: &Interval) -> Vec<u8> {
    let mut out = Vec::new();
    put(&mut out, VERSION);
    put(&mut out, interval.index);
    put(&mut out, interval.start.0);
    put(&mut out, interval.end.0);
    encode_health(&interval.health, &mut out);
    let pools = interval.pools();
    put(&mut out, pools.len() as u64);
    for pool in pools {
        figures::encode(pool, &mut out);
    }
    out
}

/// Reads an interval of a run with these pools into one of the same.
pub(crate) fn read(
    interval: &mut Interval,
    bytes: &[u8],
    pools: &[PoolInfo],
) -> Result<(), CodecError> {
    let mut input = Input::new(bytes);
    input.version(VERSION)?;
    interval.index = input.number()?;
    (interval.start, interval.end) = (Nanos(input.number()?), Nanos(input.number()?));
    read_health(&mut interval.health, &mut input)?;
    if input.length()? != pools.len() {
        return Err(CodecError::Malformed("an interval of other pools"));
    }
    for (index, pool) in pools.iter().enumerate() {
        let figures = interval.pool_mut(index);
        figures::read(figures, &mut input, pool.into())?;
    }
    input.end()
}

/// The span of an interval, from the beginning of its bytes: a reader that looks for a time need
/// not decode the rest.
pub(crate) fn span(bytes: &[u8]) -> Result<Range<Nanos>, CodecError> {
    let mut input = Input::new(bytes);
    input.version(VERSION)?;
    let _index = input.number()?;
    Ok(Nanos(input.number()?)..Nanos(input.number()?))
}

fn encode_health(health: &WorkerHealth, out: &mut Vec<u8>) {
    put(out, health.cpu.0);
    put(out, health.wall.0);
    put(out, health.run_queue_delay.0);
    put(out, health.busiest_share_ppm.into());
    put(out, health.memory);
    encode_histogram(&health.loop_turn, out);
    encode_histogram(&health.wake_lateness, out);
    put(out, health.stamps.taken);
    put(out, health.stamps.missing);
    put(out, health.stamps.refused);
    encode_histogram(&health.handling, out);
    put(out, health.departures.taken);
    put(out, health.departures.missing);
    put(out, health.departures.refused);
    put(out, health.departures.passed);
    encode_histogram(&health.leaving, out);
}

fn read_health(health: &mut WorkerHealth, input: &mut Input<'_>) -> Result<(), CodecError> {
    health.cpu = Nanos(input.number()?);
    health.wall = Nanos(input.number()?);
    health.run_queue_delay = Nanos(input.number()?);
    health.busiest_share_ppm = input.small()?;
    health.memory = input.number()?;
    read_histogram(&mut health.loop_turn, input)?;
    read_histogram(&mut health.wake_lateness, input)?;
    health.stamps.taken = input.number()?;
    health.stamps.missing = input.number()?;
    health.stamps.refused = input.number()?;
    read_histogram(&mut health.handling, input)?;
    health.departures.taken = input.number()?;
    health.departures.missing = input.number()?;
    health.departures.refused = input.number()?;
    health.departures.passed = input.number()?;
    read_histogram(&mut health.leaving, input)
}
