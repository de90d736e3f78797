//! The stored form of samples, many in one byte string.
//!
//! | field | form |
//! |---|---|
//! | intended | number |
//! | due, sent, first byte, end | each as its distance from the one before, modulo 2^64 |
//! | bytes sent and received, status, step, leniencies | numbers |
//! | outcome | its name; in a list of kept samples, its number among the outcomes so far, and after a new number its name |
//!
//! Distances are small because the times follow each other, except for a first byte that never
//! arrived.

use super::{Kept, Particulars, Sample};
use crate::Outcome;
use crate::form::{self, Form, FormError, Input, push_number};
use drumfire_units::Nanos;

impl Form for Sample {
    fn write(value: &Self, out: &mut Vec<u8>) {
        write_times(value, out);
        form::write(&value.outcome, out);
    }

    fn read(input: &mut Input<'_>) -> Result<Self, FormError> {
        read_sample(input, form::read)
    }
}

/// A list of kept samples, in which the name of each outcome occurs once.
#[derive(Debug)]
pub(crate) struct KeptForm;

impl Form<Vec<Kept>> for KeptForm {
    fn write(all: &Vec<Kept>, out: &mut Vec<u8>) {
        let mut outcomes = Outcomes::default();
        push_number(out, all.len() as u64);
        for kept in all {
            let Kept {
                sample,
                particulars,
                detail,
                answer,
                pool,
            } = kept;
            write_times(sample, out);
            outcomes.write(sample.outcome, out);
            let Particulars {
                arrival,
                began,
                written,
            } = *particulars;
            push_number(out, arrival);
            put_distance(out, sample.intended, began);
            put_distance(out, began, written);
            form::write(detail, out);
            form::write(answer, out);
            form::write(pool, out);
        }
    }

    fn read(input: &mut Input<'_>) -> Result<Vec<Kept>, FormError> {
        let mut outcomes = Outcomes::default();
        let length = input.length()?;
        let one = |_| {
            let sample = read_sample(input, |input| outcomes.read(input))?;
            let arrival = input.number()?;
            let began = distant(input, sample.intended)?;
            let written = distant(input, began)?;
            Ok(Kept {
                sample,
                particulars: Particulars {
                    arrival,
                    began,
                    written,
                },
                detail: form::read(input)?,
                answer: form::read(input)?,
                pool: form::read(input)?,
            })
        };
        (0..length).map(one).collect()
    }
}

/// The outcomes of a list so far, in the order of their numbers.
#[derive(Default)]
struct Outcomes(Vec<Outcome>);

impl Outcomes {
    fn write(&mut self, outcome: Outcome, out: &mut Vec<u8>) {
        let known = self.0.iter().position(|other| *other == outcome);
        push_number(out, known.unwrap_or(self.0.len()) as u64);
        if known.is_none() {
            form::write(&outcome, out);
            self.0.push(outcome);
        }
    }

    fn read(&mut self, input: &mut Input<'_>) -> Result<Outcome, FormError> {
        let number: usize = form::read(input)?;
        if let Some(outcome) = self.0.get(number) {
            return Ok(*outcome);
        }
        let outcome = form::read(input)?;
        if number != self.0.len() || self.0.contains(&outcome) {
            return Err(FormError::Malformed("the outcome of a sample"));
        }
        self.0.push(outcome);
        Ok(outcome)
    }
}

/// Appends a sample without its outcome.
fn write_times(sample: &Sample, out: &mut Vec<u8>) {
    let Sample {
        intended,
        due,
        sent,
        first_byte,
        end,
        bytes_sent,
        outcome: _,
        leniencies,
        bytes_received,
        status,
        step,
    } = sample;
    push_number(out, intended.0);
    put_distance(out, *intended, *due);
    put_distance(out, *due, *sent);
    put_distance(out, *sent, *first_byte);
    put_distance(out, *sent, *end);
    form::write(bytes_sent, out);
    form::write(bytes_received, out);
    form::write(status, out);
    form::write(step, out);
    form::write(leniencies, out);
}

fn read_sample(
    input: &mut Input<'_>,
    outcome: impl FnOnce(&mut Input<'_>) -> Result<Outcome, FormError>,
) -> Result<Sample, FormError> {
    let intended = form::read(input)?;
    let due = distant(input, intended)?;
    let sent = distant(input, due)?;
    Ok(Sample {
        intended,
        due,
        sent,
        first_byte: distant(input, sent)?,
        end: distant(input, sent)?,
        bytes_sent: form::read(input)?,
        bytes_received: form::read(input)?,
        status: form::read(input)?,
        step: form::read(input)?,
        leniencies: form::read(input)?,
        outcome: outcome(input)?,
    })
}

/// Appends a time as its distance from another one, modulo 2^64, because the other one may be
/// later.
fn put_distance(out: &mut Vec<u8>, from: Nanos, to: Nanos) {
    push_number(out, to.0.wrapping_sub(from.0));
}

/// Reads what [`put_distance`] wrote.
fn distant(input: &mut Input<'_>, from: Nanos) -> Result<Nanos, FormError> {
    Ok(Nanos(from.0.wrapping_add(input.number()?)))
}
