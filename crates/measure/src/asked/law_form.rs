//! Rates and the laws of loads in our own binary form: a number for the kind of each piece, then
//! its parameters; and the numbers of users over time.
//!
//! There are two forms of a law, which differ only in a trace. [`encode`] has every time of it, for
//! a command that must be obeyed elsewhere exactly; [`encode_asked`] has their number, for the
//! facts of a run. A decoder takes only what a plan could have had: times in order, and no rate
//! whose span is zero, by which later code divides.

use crate::codec::{CodecError, Input, put};
use crate::{AskedLaw, AskedSequence};
use drumfire_plan::{Law, Sequence, Users};
use drumfire_units::{Nanos, Rate};

/// The kinds of pieces by their numbers, which stand in stored runs: none is ever given to another
/// kind.
const CONST: u64 = 0;
const LINE: u64 = 1;
const STEP: u64 = 2;
const ONCE: u64 = 3;
const UNLIMITED: u64 = 4;
const SINE: u64 = 5;
const TRACE: u64 = 6;
const STAIRS: u64 = 7;

/// Appends the pieces of a law, with every time of a trace.
pub(crate) fn encode(sequence: &Sequence, out: &mut Vec<u8>) {
    put(out, sequence.0.len() as u64);
    for piece in &sequence.0 {
        encode_piece(piece, out);
    }
}

/// Reads what [`encode`] wrote.
pub(crate) fn decode(input: &mut Input<'_>) -> Result<Sequence, CodecError> {
    let pieces = input.several(|input| match input.number()? {
        TRACE => decode_trace(input),
        kind => decode_piece(kind, input),
    })?;
    Ok(Sequence(pieces))
}

/// Appends a number of users over time.
pub(crate) fn encode_users(users: &Users, out: &mut Vec<u8>) {
    put(out, users.changes().len() as u64);
    for (at, count) in users.changes() {
        put(out, at.0);
        put(out, (*count).into());
    }
}

/// Reads what [`encode_users`] wrote.
pub(crate) fn decode_users(input: &mut Input<'_>) -> Result<Users, CodecError> {
    let changes = input.several(|input| Ok((nanos(input)?, input.small()?)))?;
    Users::changing(changes).ok_or(CodecError::Malformed("users are out of order"))
}

/// Appends the pieces of a law, of traces the number of their times.
pub(crate) fn encode_asked(sequence: &AskedSequence, out: &mut Vec<u8>) {
    put(out, sequence.0.len() as u64);
    for piece in &sequence.0 {
        match piece {
            AskedLaw::Trace { times } => encode_count(*times, out),
            AskedLaw::Law(Law::Trace { times }) => encode_count(times.len() as u64, out),
            AskedLaw::Law(law) => encode_piece(law, out),
        }
    }
}

/// Reads what [`encode_asked`] wrote.
pub(crate) fn decode_asked(input: &mut Input<'_>) -> Result<AskedSequence, CodecError> {
    let pieces = input.several(|input| match input.number()? {
        TRACE => Ok(AskedLaw::Trace {
            times: input.number()?,
        }),
        kind => decode_piece(kind, input).map(AskedLaw::Law),
    })?;
    Ok(AskedSequence(pieces))
}

fn encode_count(times: u64, out: &mut Vec<u8>) {
    put(out, TRACE);
    put(out, times);
}

/// Appends a piece.
fn encode_piece(law: &Law, out: &mut Vec<u8>) {
    match law {
        Law::Const { rate, duration } => {
            put(out, CONST);
            put_rates(out, [rate]);
            put(out, duration.0);
        }
        Law::Line { from, to, duration } => {
            put(out, LINE);
            put_rates(out, [from, to]);
            put(out, duration.0);
        }
        Law::Step {
            from,
            to,
            by,
            duration,
        } => {
            put(out, STEP);
            put_rates(out, [from, to, by]);
            put(out, duration.0);
        }
        Law::Once { count } => {
            put(out, ONCE);
            put(out, *count);
        }
        Law::Unlimited { duration } => {
            put(out, UNLIMITED);
            put(out, duration.0);
        }
        Law::Sine {
            mean,
            amplitude,
            period,
            duration,
        } => {
            put(out, SINE);
            put_rates(out, [mean, amplitude]);
            put(out, period.0);
            put(out, duration.0);
        }
        Law::Trace { times } => {
            encode_count(times.len() as u64, out);
            times.iter().for_each(|time| put(out, time.0));
        }
        Law::Stairs { steps } => {
            put(out, STAIRS);
            put(out, steps.len() as u64);
            for (rate, duration) in steps.iter() {
                put_rates(out, [rate]);
                put(out, duration.0);
            }
        }
    }
}

/// The rest of a trace with its times.
fn decode_trace(input: &mut Input<'_>) -> Result<Law, CodecError> {
    let times = input.several(nanos)?;
    match times.is_sorted() {
        true => Ok(Law::Trace {
            times: times.into(),
        }),
        false => Err(CodecError::Malformed(
            "the times of a trace are out of order",
        )),
    }
}

/// The piece of this kind, which is no trace.
fn decode_piece(kind: u64, input: &mut Input<'_>) -> Result<Law, CodecError> {
    Ok(match kind {
        CONST => Law::Const {
            rate: rate(input)?,
            duration: nanos(input)?,
        },
        LINE => Law::Line {
            from: rate(input)?,
            to: rate(input)?,
            duration: nanos(input)?,
        },
        STEP => Law::Step {
            from: rate(input)?,
            to: rate(input)?,
            by: rate(input)?,
            duration: nanos(input)?,
        },
        ONCE => Law::Once {
            count: input.number()?,
        },
        UNLIMITED => Law::Unlimited {
            duration: nanos(input)?,
        },
        SINE => Law::Sine {
            mean: rate(input)?,
            amplitude: rate(input)?,
            period: nanos(input)?,
            duration: nanos(input)?,
        },
        STAIRS => Law::Stairs {
            steps: input
                .several(|input| Ok((rate(input)?, nanos(input)?)))?
                .into(),
        },
        _ => return Err(CodecError::Malformed("an unknown law")),
    })
}

fn put_rates<const N: usize>(out: &mut Vec<u8>, rates: [&Rate; N]) {
    for rate in rates {
        put(out, rate.events);
        put(out, rate.per.0);
    }
}

fn rate(input: &mut Input<'_>) -> Result<Rate, CodecError> {
    let rate = Rate {
        events: input.number()?,
        per: nanos(input)?,
    };
    match rate.per {
        Nanos::ZERO => Err(CodecError::Malformed("a rate with a period of zero")),
        _ => Ok(rate),
    }
}

fn nanos(input: &mut Input<'_>) -> Result<Nanos, CodecError> {
    input.number().map(Nanos)
}
