//! Samples in our own binary form, many in one byte string.
//!
//! | what | form |
//! |---|---|
//! | intended | number |
//! | due, sent, first byte, end | each as its distance from the one before, modulo 2^64 |
//! | bytes sent and received, status, step, leniencies | numbers |
//! | outcome | its number among those seen so far in the byte string; a new one is followed by its name |
//!
//! Distances are small where times follow each other, as they do but for a first byte that never
//! came. An outcome's name stands once, however many samples have it.

use super::{Kept, Particulars, Sample};
use crate::codec::{CodecError, Input, put, put_text};
use crate::{Leniencies, Outcome};
use drumfire_units::Nanos;

/// The outcomes that a byte string has named so far, in the order of their numbers. An encoder and
/// a decoder keep one for each byte string, and both end with the same list.
#[derive(Default)]
pub(crate) struct Outcomes(Vec<Outcome>);

impl Outcomes {
    fn encode(&mut self, outcome: Outcome, out: &mut Vec<u8>) {
        let known = self.0.iter().position(|other| *other == outcome);
        put(out, known.unwrap_or(self.0.len()) as u64);
        if known.is_none() {
            put_text(out, outcome.name());
            self.0.push(outcome);
        }
    }

    fn decode(&mut self, input: &mut Input<'_>) -> Result<Outcome, CodecError> {
        const MALFORMED: CodecError = CodecError::Malformed("the outcome of a sample");
        let number = usize::try_from(input.number()?).map_err(|_| MALFORMED)?;
        if let Some(outcome) = self.0.get(number) {
            return Ok(*outcome);
        }
        let outcome = input.outcome()?;
        if number != self.0.len() || self.0.contains(&outcome) {
            return Err(MALFORMED);
        }
        self.0.push(outcome);
        Ok(outcome)
    }
}

/// Appends samples that are handed on as they are.
pub(crate) fn encode_kept(all: &[Kept], out: &mut Vec<u8>) {
    let mut outcomes = Outcomes::default();
    put(out, all.len() as u64);
    for kept in all {
        encode_sample(&kept.sample, &mut outcomes, out);
        let Particulars {
            arrival,
            began,
            written,
        } = kept.particulars;
        put(out, arrival);
        put_distance(out, kept.sample.intended, began);
        put_distance(out, began, written);
        put(out, kept.detail.is_some().into());
        if let Some(detail) = &kept.detail {
            put_text(out, detail);
        }
        put(out, kept.pool.into());
    }
}

/// Reads what [`encode_kept`] wrote.
pub(crate) fn decode_kept(input: &mut Input<'_>) -> Result<Vec<Kept>, CodecError> {
    let mut outcomes = Outcomes::default();
    input.several(|input| {
        let sample = decode_sample(&mut outcomes, input)?;
        let arrival = input.number()?;
        let began = distant(input, sample.intended)?;
        Ok(Kept {
            sample,
            particulars: Particulars {
                arrival,
                began,
                written: distant(input, began)?,
            },
            detail: match input.flag()? {
                true => Some(input.text()?.into()),
                false => None,
            },
            pool: input.short()?,
        })
    })
}

/// Appends one sample.
pub(crate) fn encode_sample(sample: &Sample, outcomes: &mut Outcomes, out: &mut Vec<u8>) {
    let Sample {
        intended,
        due,
        sent,
        first_byte,
        end,
        bytes_sent,
        outcome,
        leniencies,
        bytes_received,
        status,
        step,
    } = *sample;
    put(out, intended.0);
    put_distance(out, intended, due);
    put_distance(out, due, sent);
    put_distance(out, sent, first_byte);
    put_distance(out, sent, end);
    put(out, bytes_sent.into());
    put(out, bytes_received);
    put(out, status.into());
    put(out, step.into());
    put(out, leniencies.0.into());
    outcomes.encode(outcome, out);
}

/// Reads what [`encode_sample`] wrote.
pub(crate) fn decode_sample(
    outcomes: &mut Outcomes,
    input: &mut Input<'_>,
) -> Result<Sample, CodecError> {
    let intended = Nanos(input.number()?);
    let due = distant(input, intended)?;
    let sent = distant(input, due)?;
    Ok(Sample {
        intended,
        due,
        sent,
        first_byte: distant(input, sent)?,
        end: distant(input, sent)?,
        bytes_sent: input.small()?,
        bytes_received: input.number()?,
        status: input.short()?,
        step: input.short()?,
        leniencies: Leniencies(input.short()?),
        outcome: outcomes.decode(input)?,
    })
}

/// Appends a time as its distance from an earlier one. That may be the later one all the same: the
/// distance is taken modulo 2^64, so that every pair of times comes back.
fn put_distance(out: &mut Vec<u8>, from: Nanos, to: Nanos) {
    put(out, to.0.wrapping_sub(from.0));
}

/// Reads what [`put_distance`] wrote.
fn distant(input: &mut Input<'_>, from: Nanos) -> Result<Nanos, CodecError> {
    Ok(Nanos(from.0.wrapping_add(input.number()?)))
}
