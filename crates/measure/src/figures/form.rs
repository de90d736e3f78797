//! The figures of a pool in our own binary form: the fields of the pool, and the series of its
//! steps that were used.
//!
//! | what | form |
//! |---|---|
//! | intended, dropped | numbers |
//! | series | how many are used, then for each: unused ones before it, and the series |
//! | first byte, that of bad answers, lag, waiting, failed | histograms |
//! | warm-up | its counts |
//! | leniencies | counts by name |
//! | the change of exchanges under way, its sign in the last bit | a number |
//! | interim, retried, held back, the streams allowed (0: none said, else one more) | numbers |
//! | iterations, where the run says that the pool has them | intended, dropped, pending, completed, failed, timed out, in flight, two histograms |
//! | scenarios, where the run names them | of each the same as of iterations |
//! | messages | sent, unsent, received, two histograms |
//! | connections | opened, closed by name, four histograms, addresses, the change of those that are open in the warm-up, pauses before dials |
//! | addresses | how many, then for each in order: its text, opened, carried; opened and carried of all others |
//! | messages of failures | how many, then for each: outcome, text, count |
//!
//! Which series there are is not in the bytes: the decoder is given the facts of the pool, and
//! bytes of a run with other steps are malformed. Sums are not in them either. They are made again,
//! which costs a merge for each step and makes it impossible to store sums that contradict their
//! parts.
//!
//! Figures must be summed up before they are encoded. A decoder notices where they were not: the
//! waiting times are then fewer than the requests.
//!
//! [`encode`] and [`read`] are called for each pool of an interval, in the order of the run's
//! facts, which must be read first. Their parts are read in the order of the table and have no
//! length of their own: one that is wrong makes all behind it wrong, so that any mistake ends the
//! decoding.

use crate::codec::{CodecError, Input, put, put_named, put_signed, put_text};
use crate::errors::ErrorTable;
use crate::histogram::form::{encode_histogram, read_histogram};
use crate::series::SeriesMut;
use crate::{
    AddressCounts, AddressRow, Addresses, Bytes, Closing, Connections, Counts, Figures, HeldBack,
    Histogram, Iterations, Leniency, Messages, Outcome, OutcomeCounts, PoolSeries, StatusCounts,
    Step,
};
use std::net::SocketAddr;

/// Appends figures that are summed up.
pub(crate) fn encode(figures: &Figures, out: &mut Vec<u8>) {
    put(out, figures.counts.intended);
    put(out, figures.counts.dropped);
    encode_series(figures, out);
    let latency = &figures.latency;
    for histogram in [
        &latency.first_byte,
        &latency.first_byte_bad,
        &latency.lag,
        &latency.waiting,
        &latency.failed,
    ] {
        encode_histogram(histogram, out);
    }
    for count in figures.warmup.all() {
        put(out, count);
    }
    let leniencies = Leniency::ALL.iter().map(|leniency| leniency.name());
    put_named(out, leniencies.zip(figures.leniencies));
    put_signed(out, figures.under_way);
    put(out, figures.interim);
    put(out, figures.retried);
    put(out, figures.held_back.requests);
    let allowed = figures.held_back.allowed;
    put(out, allowed.map_or(0, |allowed| u64::from(allowed) + 1));
    if let Some(iterations) = &figures.iterations {
        encode_iterations(iterations, out);
    }
    for scenario in &figures.scenarios {
        encode_iterations(scenario, out);
    }
    encode_messages(&figures.messages, out);
    encode_connections(&figures.connections, out);
    let errors: Vec<_> = figures.error_table().messages().collect();
    put(out, errors.len() as u64);
    for (outcome, text, count) in errors {
        put_text(out, outcome.name());
        put_text(out, text);
        put(out, count);
    }
}

/// Reads the figures of a pool with these series into figures of the same, whose memory is used
/// again. Of the sums of several steps only their counts are made: [`Figures::sum_up`] makes the
/// others. Behind an error the figures are any.
pub(crate) fn read(
    figures: &mut Figures,
    input: &mut Input<'_>,
    series: PoolSeries<'_>,
) -> Result<(), CodecError> {
    figures.counts = Counts::default();
    figures.counts.intended = input.number()?;
    figures.counts.dropped = input.number()?;
    read_series(figures, input)?;
    let latency = &mut figures.latency;
    for histogram in [
        &mut latency.first_byte,
        &mut latency.first_byte_bad,
        &mut latency.lag,
        &mut latency.waiting,
        &mut latency.failed,
    ] {
        read_histogram(histogram, input)?;
    }
    for count in figures.warmup.all_mut() {
        *count = input.number()?;
    }
    let names = Leniency::ALL.iter().map(|leniency| leniency.name());
    let counts = &mut figures.leniencies;
    counts.fill(0);
    input.named(names, |place, count| counts[place] = count)?;
    figures.under_way = input.signed()?;
    figures.interim = input.number()?;
    figures.retried = input.number()?;
    figures.held_back = decode_held_back(input)?;
    if series.iterations {
        read_iterations(figures.iterations.get_or_insert_default(), input)?;
    }
    for scenario in &mut figures.scenarios {
        read_iterations(scenario, input)?;
    }
    read_messages(&mut figures.messages, input)?;
    read_connections(&mut figures.connections, input)?;
    read_errors(figures.error_table_mut(), input)?;
    figures.sum_up_counts();
    let began = figures.counts.sent.saturating_add(figures.counts.pending);
    if figures.latency.waiting.count() < began {
        return Err(CodecError::Malformed("figures were not summed up"));
    }
    Ok(())
}

/// A series as it is encoded: borrowed from a step, or from the sums of a pool with a single one.
struct Series<'a> {
    counts: &'a Counts,
    bytes: Bytes,
    outcomes: &'a OutcomeCounts,
    status: &'a StatusCounts,
    response_time: &'a Histogram,
    service_time: &'a Histogram,
}

/// Appends the series of the steps in use; of a pool with one step, those are the sums.
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
    let used: Vec<_> = steps.filter(|(_, step)| !step.is_empty()).collect();
    put(out, used.len() as u64);
    let mut next = 0;
    for (place, step) in used {
        put(out, (place - next) as u64);
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

/// Reads the series of the steps into figures that have those steps. Where there is a single step,
/// the counts of arrivals, which were read before, are kept: a series knows only of requests that
/// ended.
fn read_series(figures: &mut Figures, input: &mut Input<'_>) -> Result<(), CodecError> {
    const MALFORMED: CodecError = CodecError::Malformed("an interval of other steps");
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
            return Err(CodecError::Malformed("a series without requests"));
        }
        next = place + 1;
    }
    Ok(())
}

/// Reads one series, what [`Series::encode`] wrote.
fn read_one(series: SeriesMut<'_>, input: &mut Input<'_>) -> Result<(), CodecError> {
    *series.outcomes = OutcomeCounts::default();
    let names = Outcome::ALL.iter().map(|outcome| outcome.name());
    input.named(names, |place, count| {
        series.outcomes.set(Outcome::ALL[place], count);
    })?;
    *series.counts = Counts::of_series(series.outcomes, input.number()?, input.number()?);
    *series.bytes = Bytes {
        sent: input.number()?,
        received: input.number()?,
    };
    read_statuses(series.status, input)?;
    read_histogram(series.response_time, input)?;
    read_histogram(series.service_time, input)
}

impl Series<'_> {
    /// Appends outcomes, pending, in flight, bytes, statuses and times. All other counts follow
    /// from these.
    fn encode(&self, out: &mut Vec<u8>) {
        let outcomes = Outcome::ALL.iter();
        let outcomes = outcomes.map(|outcome| (outcome.name(), self.outcomes.get(*outcome)));
        put_named(out, outcomes);
        put(out, self.counts.pending);
        put(out, self.counts.in_flight);
        put(out, self.bytes.sent);
        put(out, self.bytes.received);
        let statuses: Vec<_> = self.status.all().collect();
        put(out, statuses.len() as u64);
        let mut next = 0;
        for (status, count) in statuses {
            put(out, u64::from(status - next));
            put(out, count);
            next = status + 1;
        }
        encode_histogram(self.response_time, out);
        encode_histogram(self.service_time, out);
    }
}

/// Reads counts by status: each as its distance behind the one before, which is below the table's
/// length.
fn read_statuses(statuses: &mut StatusCounts, input: &mut Input<'_>) -> Result<(), CodecError> {
    const MALFORMED: CodecError = CodecError::Malformed("counts by status");
    statuses.reset();
    let mut next = 0_u64;
    for _ in 0..input.length()? {
        let status = next.checked_add(input.number()?).ok_or(MALFORMED)?;
        let count = input.number()?;
        let place = usize::try_from(status).map_err(|_| MALFORMED)?;
        if count == 0 || place >= StatusCounts::LENGTH {
            return Err(MALFORMED);
        }
        statuses.add(place, count);
        next = status + 1;
    }
    Ok(())
}

fn decode_held_back(input: &mut Input<'_>) -> Result<HeldBack, CodecError> {
    let requests = input.number()?;
    let allowed = match input.number()?.checked_sub(1) {
        None => None,
        Some(allowed) => {
            let allowed = u32::try_from(allowed);
            Some(allowed.map_err(|_| CodecError::Malformed("a number of streams"))?)
        }
    };
    Ok(HeldBack { requests, allowed })
}

/// Appends the counts that do not follow from others, and the times.
fn encode_iterations(iterations: &Iterations, out: &mut Vec<u8>) {
    let counts = &iterations.counts;
    for count in [
        counts.intended,
        counts.dropped,
        counts.pending,
        counts.ok,
        counts.failed,
        counts.timed_out,
        counts.in_flight,
    ] {
        put(out, count);
    }
    encode_histogram(&iterations.time, out);
    encode_histogram(&iterations.failed, out);
}

fn read_iterations(iterations: &mut Iterations, input: &mut Input<'_>) -> Result<(), CodecError> {
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
    iterations.counts = counts;
    read_histogram(&mut iterations.time, input)?;
    read_histogram(&mut iterations.failed, input)
}

fn encode_messages(messages: &Messages, out: &mut Vec<u8>) {
    put(out, messages.sent);
    put(out, messages.unsent);
    put(out, messages.received);
    encode_histogram(&messages.first, out);
    encode_histogram(&messages.gap, out);
}

fn read_messages(messages: &mut Messages, input: &mut Input<'_>) -> Result<(), CodecError> {
    messages.sent = input.number()?;
    messages.unsent = input.number()?;
    messages.received = input.number()?;
    read_histogram(&mut messages.first, input)?;
    read_histogram(&mut messages.gap, input)
}

fn encode_connections(connections: &Connections, out: &mut Vec<u8>) {
    put(out, connections.opened);
    let names = Closing::ALL.iter().map(|closing| closing.name());
    put_named(out, names.zip(connections.closed));
    put(out, connections.tls_resumed);
    for histogram in connections.histograms() {
        encode_histogram(histogram, out);
    }
    encode_addresses(&connections.addresses, out);
    put_signed(out, connections.open_before);
    put(out, connections.pauses);
}

fn read_connections(
    connections: &mut Connections,
    input: &mut Input<'_>,
) -> Result<(), CodecError> {
    connections.opened = input.number()?;
    let closed = &mut connections.closed;
    closed.fill(0);
    let names = Closing::ALL.iter().map(|closing| closing.name());
    input.named(names, |place, count| closed[place] = count)?;
    connections.tls_resumed = input.number()?;
    for histogram in connections.histograms_mut() {
        read_histogram(histogram, input)?;
    }
    connections.addresses = decode_addresses(input)?;
    connections.open_before = input.signed()?;
    connections.pauses = input.number()?;
    Ok(())
}

fn encode_addresses(addresses: &Addresses, out: &mut Vec<u8>) {
    put(out, addresses.rows().len() as u64);
    for row in addresses.rows() {
        put_text(out, &row.address.to_string());
        encode_address(row.counts, out);
    }
    encode_address(addresses.others(), out);
}

fn encode_address(counts: AddressCounts, out: &mut Vec<u8>) {
    put(out, counts.opened);
    put(out, counts.carried);
}

fn decode_addresses(input: &mut Input<'_>) -> Result<Addresses, CodecError> {
    let malformed = || CodecError::Malformed("addresses of connections");
    let mut addresses = Addresses::default();
    for _ in 0..input.length()? {
        let text = input.text()?;
        let address: SocketAddr = text.parse().map_err(|_| malformed())?;
        let counts = decode_address(input)?;
        let is_canonical = address.to_string() == text;
        if !is_canonical || !addresses.push(AddressRow { address, counts }) {
            return Err(malformed());
        }
    }
    let others = decode_address(input)?;
    addresses
        .set_others(others)
        .then_some(addresses)
        .ok_or_else(malformed)
}

fn decode_address(input: &mut Input<'_>) -> Result<AddressCounts, CodecError> {
    Ok(AddressCounts {
        opened: input.number()?,
        carried: input.number()?,
    })
}

fn read_errors(errors: &mut ErrorTable, input: &mut Input<'_>) -> Result<(), CodecError> {
    errors.reset();
    for _ in 0..input.length()? {
        let outcome = input.outcome()?;
        let (text, count) = (input.text()?, input.number()?);
        if !errors.push(outcome, text, count) {
            return Err(CodecError::Malformed("messages of failures"));
        }
    }
    Ok(())
}
