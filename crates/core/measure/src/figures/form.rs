//! The stored form of a pool's figures: the fields of the pool, and the series of its used steps.
//!
//! | field | form |
//! |---|---|
//! | intended, dropped | numbers |
//! | series | the number of used series, then for each: the number of unused ones before it, and the series |
//! | first byte, first byte of failures, lag, waiting, failed | histograms |
//! | warm-up, leniencies, exchanges under way, interim, retried, held back | their own forms |
//! | iterations | if the facts of the run have them |
//! | scenarios | iterations of each scenario in the facts of the run |
//! | messages | their own form |
//! | messages by step | if there are messages and several steps: the number of steps with messages, then for each: the number of steps without messages before it, and the form of messages |
//! | connections | their own form |
//! | messages of failures | their number, then for each: outcome, cause, text, count |
//!
//! The bytes do not contain the list of series: the decoder receives the facts of the pool, and
//! refuses bytes of a run with other steps. Sums are not stored either but computed again, which
//! costs one merge per step and excludes sums that contradict their parts. Only the sum of the
//! messages is stored, too, so that a run without messages by step has the form that it always had.
//!
//! Sum figures up before you encode them. A decoder notices if they were not: there are then fewer
//! waiting times than requests.
//!
//! [`encode`] and [`read`] are called for each pool of an interval, in the order of the facts of
//! the run, which must be read first.

use crate::errors::ErrorTable;
use crate::form::ByName;
use crate::form::{self, Form, FormError, Input, push_number, put_text};
use crate::series::SeriesMut;
use crate::{
    ByteCounts, Counts, Figures, Histogram, Iterations, Leniency, Messages, OutcomeCounts,
    PoolSeries, StatusCounts, Step,
};

/// Appends figures that are summed up.
pub(crate) fn encode(figures: &Figures, out: &mut Vec<u8>) {
    push_number(out, figures.counts.intended);
    push_number(out, figures.counts.dropped);
    encode_series(figures, out);
    let latency = &figures.latency;
    form::write(&latency.first_byte, out);
    form::write(&latency.first_byte_bad, out);
    form::write(&latency.lag, out);
    form::write(&latency.waiting, out);
    form::write(&latency.failed, out);
    form::write(&figures.warmup, out);
    ByName::<Leniency>::write(&figures.leniencies, out);
    form::write(&figures.under_way, out);
    form::write(&figures.interim, out);
    form::write(&figures.retried, out);
    form::write(&figures.held_back, out);
    if let Some(iterations) = &figures.iterations {
        form::write(iterations, out);
    }
    for scenario in &figures.scenarios {
        form::write(scenario, out);
    }
    form::write(&figures.messages, out);
    encode_messages(figures, out);
    form::write(&figures.connections, out);
    let errors: Vec<_> = figures.error_table().messages().collect();
    push_number(out, errors.len() as u64);
    for (kind, text, count) in errors {
        form::write(&kind, out);
        put_text(out, text);
        push_number(out, count);
    }
}

/// Reads the figures of a pool with these series into figures of the same series, whose memory is
/// reused. Only the counts of several steps are summed up; [`Figures::sum_up`] computes the other
/// sums. After an error, the figures are arbitrary.
pub(crate) fn read(
    figures: &mut Figures,
    input: &mut Input<'_>,
    series: PoolSeries<'_>,
) -> Result<(), FormError> {
    // Answers are stored after all pools, and only if there are any.
    figures.llm_parts_mut().0.reset();
    figures.counts = Counts::default();
    figures.counts.intended = input.number()?;
    figures.counts.dropped = input.number()?;
    read_series(figures, input)?;
    let latency = &mut figures.latency;
    form::read_into(&mut latency.first_byte, input)?;
    form::read_into(&mut latency.first_byte_bad, input)?;
    form::read_into(&mut latency.lag, input)?;
    form::read_into(&mut latency.waiting, input)?;
    form::read_into(&mut latency.failed, input)?;
    figures.warmup = form::read(input)?;
    figures.leniencies = ByName::<Leniency>::read(input)?;
    figures.under_way = form::read(input)?;
    figures.interim = form::read(input)?;
    figures.retried = form::read(input)?;
    figures.held_back = form::read(input)?;
    if series.iterations {
        form::read_into(figures.iterations.get_or_insert_default(), input)?;
    }
    for scenario in &mut figures.scenarios {
        form::read_into(scenario, input)?;
    }
    form::read_into(&mut figures.messages, input)?;
    read_messages(figures, input)?;
    form::read_into(&mut figures.connections, input)?;
    read_errors(figures.error_table_mut(), input)?;
    figures.sum_up_counts();
    let began = figures.counts.sent.saturating_add(figures.counts.pending);
    if figures.latency.waiting.count() < began {
        return Err(FormError::Malformed("figures were not summed up"));
    }
    Ok(())
}

/// Appends the answers of each step; only the sum of a pool with a single step.
pub(crate) fn encode_llm(figures: &Figures, out: &mut Vec<u8>) {
    let one = [figures.llm()];
    let of_steps: Vec<_> = figures.steps.iter().map(Step::llm).collect();
    let all = if of_steps.is_empty() {
        &one[..]
    } else {
        &of_steps
    };
    let used = all.iter().enumerate();
    let used: Vec<_> = used
        .filter_map(|(place, answers)| Some((place, (*answers)?)))
        .collect();
    push_number(out, used.len() as u64);
    let mut next = 0;
    for (place, answers) in used {
        push_number(out, (place - next) as u64);
        next = place + 1;
        form::write(answers, out);
    }
}

/// Reads the answers of each step into figures that were read before and have none. Returns whether
/// there were any.
pub(crate) fn read_llm(figures: &mut Figures, input: &mut Input<'_>) -> Result<bool, FormError> {
    const MALFORMED: FormError = FormError::Malformed("the answers of steps");
    let (sum, steps) = figures.llm_parts_mut();
    let count = input.length()?;
    let mut next = 0_usize;
    for _ in 0..count {
        let unused = usize::try_from(input.number()?).map_err(|_| MALFORMED)?;
        let place = next.checked_add(unused).ok_or(MALFORMED)?;
        let answers = match steps.is_empty() {
            true if place == 0 => sum.get_mut(),
            true => return Err(MALFORMED),
            false => steps.get_mut(place).ok_or(MALFORMED)?.llm.get_mut(),
        };
        form::read_into(answers, input)?;
        if !answers.any() {
            return Err(MALFORMED);
        }
        next = place + 1;
    }
    for step in steps.iter() {
        sum.merge(&step.llm);
    }
    Ok(count > 0)
}

/// A series to be encoded, borrowed from a step or from the sums of a pool with a single step.
struct Series<'a> {
    counts: &'a Counts,
    bytes: ByteCounts,
    outcomes: &'a OutcomeCounts,
    status: &'a StatusCounts,
    response_time: &'a Histogram,
    service_time: &'a Histogram,
}

/// Appends the series of the used steps. The sums are the series of a pool with a single step.
fn encode_series(figures: &Figures, out: &mut Vec<u8>) {
    if figures.steps.is_empty() {
        let sums = Series {
            counts: &figures.counts,
            bytes: figures.bytes,
            outcomes: figures.outcomes(),
            status: figures.status_counts(),
            response_time: &figures.latency.response_time,
            service_time: &figures.latency.service_time,
        };
        return sums.encode(out);
    }
    let steps = figures.steps.iter().enumerate();
    let used: Vec<_> = steps.filter(|(_, step)| step.has_requests()).collect();
    push_number(out, used.len() as u64);
    let mut next = 0;
    for (place, step) in used {
        push_number(out, (place - next) as u64);
        next = place + 1;
        let series = Series {
            counts: &step.counts,
            bytes: step.bytes,
            outcomes: &step.errors,
            status: &step.status,
            response_time: &step.response_time,
            service_time: &step.service_time,
        };
        series.encode(out);
    }
}

/// Appends the messages of several steps, whose sum was appended before.
fn encode_messages(figures: &Figures, out: &mut Vec<u8>) {
    if figures.steps.is_empty() || !figures.messages.any() {
        return;
    }
    let steps = figures.steps.iter().enumerate();
    let used = steps.filter_map(|(place, step)| Some((place, step.messages()?)));
    let used: Vec<_> = used.collect();
    push_number(out, used.len() as u64);
    let mut next = 0;
    for (place, messages) in used {
        push_number(out, (place - next) as u64);
        next = place + 1;
        form::write(messages, out);
    }
}

/// Reads the series of the steps into figures that have those steps. With a single step, the counts
/// of arrivals, which were read before, are kept: a series counts only requests that ended.
fn read_series(figures: &mut Figures, input: &mut Input<'_>) -> Result<(), FormError> {
    const MALFORMED: FormError = FormError::Malformed("an interval of other steps");
    if figures.steps.is_empty() {
        let Counts {
            intended, dropped, ..
        } = figures.counts;
        read_one(figures.sums_mut(), input)?;
        (figures.counts.intended, figures.counts.dropped) = (intended, dropped);
        return Ok(());
    }
    figures.steps.iter_mut().for_each(Step::reset);
    let mut next = 0_usize;
    for _ in 0..input.length()? {
        let unused = usize::try_from(input.number()?).map_err(|_| MALFORMED)?;
        let place = next.checked_add(unused).ok_or(MALFORMED)?;
        let step = figures.steps.get_mut(place).ok_or(MALFORMED)?;
        read_one(step.series_mut(), input)?;
        if step.counts.intended == 0 {
            return Err(FormError::Malformed("a series without requests"));
        }
        next = place + 1;
    }
    Ok(())
}

/// Reads the messages of several steps, which are empty before, and whose sum was read before.
fn read_messages(figures: &mut Figures, input: &mut Input<'_>) -> Result<(), FormError> {
    const MALFORMED: FormError = FormError::Malformed("the messages of steps");
    if figures.steps.is_empty() || !figures.messages.any() {
        return Ok(());
    }
    let mut sum = Messages::small();
    let mut next = 0_usize;
    for _ in 0..input.length()? {
        let unused = usize::try_from(input.number()?).map_err(|_| MALFORMED)?;
        let place = next.checked_add(unused).ok_or(MALFORMED)?;
        let step = figures.steps.get_mut(place).ok_or(MALFORMED)?;
        let messages = step.messages.get_mut();
        let read = form::read_into(messages, input);
        if !messages.any() {
            // A step without records is not reset again.
            messages.reset();
            return read.and(Err(MALFORMED));
        }
        read?;
        sum.merge(messages);
        next = place + 1;
    }
    match sum == figures.messages {
        true => Ok(()),
        false => Err(MALFORMED),
    }
}

/// Reads one series, which [`Series::encode`] wrote.
fn read_one(series: SeriesMut<'_>, input: &mut Input<'_>) -> Result<(), FormError> {
    *series.outcomes = form::read(input)?;
    *series.counts = Counts::of_series(series.outcomes, input.number()?, input.number()?);
    *series.bytes = form::read(input)?;
    form::read_into(series.status, input)?;
    form::read_into(series.response_time, input)?;
    form::read_into(series.service_time, input)
}

impl Series<'_> {
    /// Appends outcomes, pending, in flight, bytes, statuses and times. All other counts follow
    /// from these.
    fn encode(&self, out: &mut Vec<u8>) {
        form::write(self.outcomes, out);
        push_number(out, self.counts.pending);
        push_number(out, self.counts.in_flight);
        form::write(&self.bytes, out);
        form::write(self.status, out);
        form::write(self.response_time, out);
        form::write(self.service_time, out);
    }
}

/// The counts that do not follow from others, and the times.
impl Form for Iterations {
    fn write(value: &Self, out: &mut Vec<u8>) {
        let counts = &value.counts;
        for count in [
            counts.intended,
            counts.dropped,
            counts.pending,
            counts.ok,
            counts.failed,
            counts.timed_out,
            counts.in_flight,
        ] {
            push_number(out, count);
        }
        form::write(&value.time, out);
        form::write(&value.failed, out);
    }

    fn read(input: &mut Input<'_>) -> Result<Self, FormError> {
        let mut iterations = Self::default();
        Self::read_into(&mut iterations, input)?;
        Ok(iterations)
    }

    fn read_into(value: &mut Self, input: &mut Input<'_>) -> Result<(), FormError> {
        let mut counts = Counts {
            intended: input.number()?,
            dropped: input.number()?,
            pending: input.number()?,
            ok: input.number()?,
            failed: input.number()?,
            timed_out: input.number()?,
            in_flight: input.number()?,
            ..Counts::default()
        };
        counts.sent = counts.finished().saturating_add(counts.in_flight);
        value.counts = counts;
        form::read_into(&mut value.time, input)?;
        form::read_into(&mut value.failed, input)
    }
}

fn read_errors(errors: &mut ErrorTable, input: &mut Input<'_>) -> Result<(), FormError> {
    errors.reset();
    for _ in 0..input.length()? {
        let kind = form::read(input)?;
        let (text, count) = (input.text()?, input.number()?);
        if !errors.push(kind, text, count) {
            return Err(FormError::Malformed("messages of failures"));
        }
    }
    Ok(())
}
