//! Any partition of the samples, merged in any order, equals the whole, bit for bit.

use crate::samples;
use drumfire_measure::{
    AnswerSample, Figures, Interval, IsFirst, IterationSample, Model, Outcome, PoolSeries, Sample,
};
use drumfire_plan::{EventClass, Finish, Slo, SloLimit, SloTime, TokenUsage};
use drumfire_units::Nanos;
use proptest::prelude::*;
use std::sync::Arc;

/// A record of one worker: a sample, a failure's detail, or a part that is not a sample.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) sample: Sample,
    detail: Option<u8>,
    pub(crate) extra: u64,
    pub(crate) worker: usize,
}

pub(crate) fn seen(steps: u16) -> impl Strategy<Value = Seen> {
    let detail = prop::option::of(any::<u8>());
    (
        samples::any_sample(steps),
        detail,
        0..1_000_000u64,
        0..6usize,
    )
        .prop_map(|(sample, detail, extra, worker)| Seen {
            sample,
            detail,
            extra,
            worker,
        })
}

pub(crate) fn record(interval: &mut Interval, seen: &Seen) {
    let extra = seen.extra;
    record_figures(&mut interval.total, seen);
    interval.health.cpu += Nanos(extra);
    interval.health.wall += Nanos(extra * 2);
    interval.health.run_queue_delay += Nanos(extra / 2);
    interval.health.loop_turn.record(Nanos(extra));
    interval.health.wake_lateness.record(Nanos(extra * 7));
    interval.health.handling.record(Nanos(extra * 3));
    interval.health.stamps.taken += extra;
    interval.health.stamps.missing += extra % 3;
    interval.health.stamps.refused += extra % 2;
    interval.health.leaving.record(Nanos(extra * 5));
    interval.health.departures.taken += extra / 3;
    interval.health.departures.missing += extra % 4;
    interval.health.departures.refused += extra % 5;
    interval.health.departures.passed += extra / 5;
    interval.health.waits.polled += Nanos(extra * 11);
    interval.health.waits.found += extra / 7;
    interval.health.waits.slept += extra % 7;
    let share = extra as u32; // below a million
    interval.health.busiest_share_ppm = interval.health.busiest_share_ppm.max(share);
    interval.health.memory = interval.health.memory.max(extra << 12);
}

/// Records `seen` into the figures of a pool.
pub(crate) fn record_figures(figures: &mut Figures, seen: &Seen) {
    let extra = seen.extra;
    figures.record(&seen.sample);
    figures.record_intended(extra % 3);
    figures.record_dropped(extra % 2);
    figures.connections.record_opened(Nanos(extra));
    let tls_handshake = &mut figures.connections.tls_handshake;
    tls_handshake.record(Nanos(extra * 2));
    figures.connections.tls_resumed += extra % 2;
    figures.connections.pauses += extra % 3;
    figures.interim += extra % 5;
    if extra.is_multiple_of(4) {
        figures.record_warmup(&seen.sample);
    }
    record_iteration(figures, seen);
    let messages = figures.messages_mut(seen.sample.step);
    messages.sent += extra;
    messages.received += 1;
    messages.record_unsent(extra % 11);
    let is_first = match extra.is_multiple_of(2) {
        true => IsFirst::Yes,
        false => IsFirst::No,
    };
    messages.record_streamed(is_first, Nanos(0), Nanos(extra));
    if extra.is_multiple_of(3) {
        record_answer(figures, seen);
    }
    if let (Some(detail), true) = (seen.detail, seen.sample.outcome != Outcome::Ok) {
        figures.record_error_detail(seen.sample.outcome, None, &format!("detail {detail}"));
    }
}

/// Records the sample as an answer of a language model.
fn record_answer(figures: &mut Figures, seen: &Seen) {
    let (extra, sample) = (seen.extra, &seen.sample);
    let llm = figures.llm_mut(sample.step);
    llm.record_event(EventClass::ALL[extra as usize % EventClass::ALL.len()]);
    llm.record_tokens(extra % 4);
    llm.record_gap(Nanos(extra % 5), Some(extra % 3));
    let number = extra as u32;
    let answer = AnswerSample {
        generates: true,
        first: (extra % 4 > 0).then_some(sample.end),
        first_visible: (extra % 4 > 1).then_some(sample.end),
        last: (extra % 4 > 0).then_some(sample.end + Nanos(extra)),
        stall: (extra % 2 > 0).then_some(Nanos(extra)),
        token_events: extra % 7,
        first_tokens: extra.is_multiple_of(5).then_some(2),
        counted: extra % 9,
        usage: TokenUsage {
            input: Some(number),
            cached: extra.is_multiple_of(2).then_some(number / 2),
            output: (extra % 3 > 0).then_some(number % 100),
            reasoning: Some(1),
        },
        asked: Some(number),
        finish: Some(Finish::ALL[extra as usize % Finish::ALL.len()]),
        is_complete: extra % 6 > 0,
    };
    let limits = [SloTime::Ttft, SloTime::Tpot].map(|time| SloLimit {
        time,
        inclusive: false,
        bound: Nanos(500_000),
    });
    let slos = limits.map(|limit| Slo(vec![limit]));
    llm.record(&answer, sample, Model::Open, &slos[..(extra % 3) as usize]);
    if extra % 5 == 1 {
        llm.record_in_flight(&answer, sample);
    }
}

/// Records the sample as an iteration, together with other iterations that have not ended.
fn record_iteration(figures: &mut Figures, seen: &Seen) {
    let extra = seen.extra;
    figures.record_iterations_intended(2 + extra % 5);
    figures.record_iterations_dropped(extra % 2);
    figures.record_iterations_pending(Nanos(extra), extra % 3);
    let sample = IterationSample {
        scenario: extra as u32 % 3,
        intended: seen.sample.intended,
        end: seen.sample.end,
        outcome: seen.sample.outcome,
    };
    figures.record_iteration(&sample);
    if extra.is_multiple_of(6) {
        figures.record_iteration_in_flight(&sample);
    }
}

pub(crate) fn names(count: u16) -> Vec<Arc<str>> {
    (0..count).map(|n| Arc::from(format!("step {n}"))).collect()
}

/// An empty interval of a pool with separate counts of iterations, also by scenario.
fn of_iterations(steps: &[Arc<str>]) -> Interval {
    Interval::of_pools([PoolSeries {
        steps,
        iterations: true,
        scenarios: &names(2),
    }])
}

/// The whole recorded at once, and the parts of six workers with a time span each.
fn whole_and_parts(all: &[Seen], steps: &[Arc<str>]) -> (Interval, Vec<Interval>) {
    let mut whole = of_iterations(steps);
    let mut parts = vec![of_iterations(steps); 6];
    for seen in all {
        record(&mut whole, seen);
        record(&mut parts[seen.worker], seen);
    }
    for (index, part) in (3..).zip(&mut parts) {
        part.index = index;
        part.start = Nanos::from_secs(index);
        part.end = Nanos::from_secs(index + 1);
    }
    (whole.index, whole.start, whole.end) = (3, Nanos::from_secs(3), Nanos::from_secs(9));
    (whole, parts)
}

/// There are more kinds of failures than messages are kept, each with a different message: in any
/// order, the same messages do not fit.
#[test]
fn outcomes_without_room_for_a_message_leave_nothing() {
    let failures = Outcome::ALL.iter().filter(|it| **it != Outcome::Ok);
    let failures: Vec<Outcome> = failures.copied().collect();
    assert!(failures.len() > drumfire_measure::MESSAGES);
    let of = |outcomes: &mut dyn Iterator<Item = &Outcome>| {
        let mut interval = Interval::new(&names(1));
        for outcome in outcomes {
            let figures = interval.pool_mut(0);
            figures.record_error_detail(*outcome, None, "only");
        }
        interval
    };
    let (there, back) = (of(&mut failures.iter()), of(&mut failures.iter().rev()));
    assert_eq!(there, back);
    let (first, last) = failures.split_at(drumfire_measure::MESSAGES);
    let mut parts = of(&mut last.iter());
    parts.merge(&of(&mut first.iter()));
    assert_eq!(parts, there);
}

fn merged(steps: &[Arc<str>], parts: &[Interval]) -> Interval {
    let mut sum = of_iterations(steps);
    for part in parts {
        sum.merge(part);
    }
    sum
}

proptest! {
    #![proptest_config(samples::cases(24))]

    #[test]
    fn the_run_is_the_sum_of_its_pools_whenever_it_is_made(
        all in prop::collection::vec((seen(3), 0..2usize), 0..100),
    ) {
        let (browse, buy) = (names(3), names(1));
        let empty = || Interval::of_pools([&browse[..], &buy[..]]);
        let mut parts = vec![empty(); 6];
        let mut alone = [Interval::new(&browse), Interval::new(&buy)];
        for (seen, pool) in &all {
            parts[seen.worker].pool_mut(*pool).record(&seen.sample);
            alone[*pool].pool_mut(0).record(&seen.sample);
        }
        let (mut late, mut early) = (empty(), empty());
        for part in &mut parts {
            late.merge(part);
            part.sum_up();
            part.sum_up();
            early.merge(part);
        }
        late.sum_up();
        prop_assert_eq!(&late, &early);
        for (pool, alone) in late.pools().iter().zip(&mut alone) {
            alone.sum_up();
            prop_assert_eq!(pool, &alone.total);
        }
        let sent: u64 = late.pools().iter().map(|pool| pool.counts.sent).sum();
        prop_assert_eq!((sent, sent), (late.total.counts.sent, all.len() as u64));
        let times = late.pools().iter().map(|pool| pool.latency.lag.sum());
        prop_assert_eq!(times.sum::<u128>(), late.total.latency.lag.sum());
    }

    #[test]
    fn every_partition_and_order_gives_the_whole(
        all in prop::collection::vec(seen(3), 0..300),
        order in Just([0, 1, 2, 3, 4, 5]).prop_shuffle(),
        cut in 0..=6usize,
    ) {
        let steps = names(3);
        let (mut whole, parts) = whole_and_parts(&all, &steps);
        let parts = order.map(|n| parts[n].clone());
        // Commutative: any order, one after the other.
        let in_line = merged(&steps, &parts);
        prop_assert_eq!(&in_line, &whole);
        // Associative: two groups first, then the groups.
        let (left, right) = parts.split_at(cut);
        let groups = [merged(&steps, left), merged(&steps, right)];
        let mut grouped = merged(&steps, &groups);
        prop_assert_eq!(&grouped, &whole);
        grouped.sum_up();
        whole.sum_up();
        prop_assert_eq!(&grouped, &whole);
        prop_assert_eq!(grouped.total.errors(), whole.total.errors());
        let q = grouped.total.latency.response_time.quantile_unchecked(0.9);
        prop_assert_eq!(q, whole.total.latency.response_time.quantile_unchecked(0.9));
    }

    #[test]
    fn errors_add_up_to_the_failures(all in prop::collection::vec(seen(1), 0..400)) {
        let mut interval = Interval::new(&names(1));
        all.iter().for_each(|seen| record(&mut interval, seen));
        let rows = interval.total.errors();
        let sum: u64 = rows.iter().map(|row| row.count).sum();
        prop_assert_eq!(sum, interval.total.counts.failed);
        prop_assert!(rows.is_sorted_by(|a, b| a.count >= b.count));
        prop_assert!(rows.len() <= drumfire_measure::MESSAGES + Outcome::COUNT);
        for row in &rows {
            prop_assert_eq!(Some(row.blame), row.outcome.blame());
        }
    }

    #[test]
    fn steps_add_up_to_the_total(
        all in prop::collection::vec(samples::any_sample(80), 0..300),
        kept in 2..90u16,
    ) {
        // Both kinds of histograms: for few steps, and for many.
        let mut interval = Interval::new(&names(kept));
        let mut alone = Interval::new(&names(1));
        for sample in &all {
            interval.total.record(sample);
            alone.total.record(sample);
        }
        interval.sum_up();
        alone.sum_up();
        let last = usize::from(kept) - 1;
        let others = all.iter().filter(|sample| usize::from(sample.step) >= last).count();
        prop_assert_eq!(interval.total.steps[last].counts.sent, others as u64);
        let (of_steps, sums) = (&interval.total, &alone.total);
        prop_assert_eq!(&of_steps.latency, &sums.latency);
        prop_assert_eq!((of_steps.counts, of_steps.bytes), (sums.counts, sums.bytes));
        prop_assert_eq!(of_steps.outcomes(), sums.outcomes());
        prop_assert_eq!(of_steps.status_counts(), sums.status_counts());
        let sent: u64 = interval.total.steps.iter().map(|step| step.counts.sent).sum();
        prop_assert_eq!(sent, all.len() as u64);
    }
}

#[test]
fn steps_beyond_the_bound_are_summed_as_other() {
    let steps = names(drumfire_measure::STEPS as u16 + 5);
    let mut interval = Interval::new(&steps);
    for step in 0..steps.len() as u16 {
        let sample = samples::ok(Nanos(0), Nanos(7));
        interval.total.record(&Sample { step, ..sample });
    }
    interval.sum_up();
    let other = interval.total.steps.last().expect("there are steps");
    assert_eq!((&*other.name, other.counts.sent), ("other", 5));
    assert_eq!(interval.total.steps.len(), drumfire_measure::STEPS + 1);
    assert_eq!(interval.total.counts.sent, steps.len() as u64);
}

#[test]
fn a_sample_is_counted_where_it_belongs() {
    let mut interval = Interval::new(&names(1));
    let ms = Nanos::from_millis;
    interval.total.record(&samples::late(ms(1), ms(2), ms(10)));
    interval
        .total
        .record(&samples::failed(ms(5), ms(30), Outcome::Reset));
    interval.sum_up();
    let (counts, latency) = (interval.total.counts, &interval.total.latency);
    assert_eq!((counts.sent, counts.ok, counts.failed), (2, 1, 1));
    assert_eq!((counts.timed_out, counts.intended), (0, 0));
    assert_eq!(latency.response_time.max(), ms(12));
    assert_eq!(latency.service_time.max(), ms(10));
    assert_eq!(latency.first_byte.max(), ms(5));
    assert_eq!((latency.lag.count(), latency.lag.max()), (2, ms(2)));
    assert_eq!((latency.waiting.count(), latency.waiting.max()), (2, ms(0)));
    assert_eq!((latency.failed.count(), latency.failed.max()), (1, ms(30)));
    assert_eq!(latency.first_byte_bad.count(), 0, "no answer came");
    assert_eq!(interval.total.status().collect::<Vec<_>>(), [(200, 1)]);
    assert_eq!(interval.total.status_counts().get(0), 1);
}

#[test]
fn warm_up_is_counted_and_nothing_else_of_it() {
    let steps = names(2);
    let mut interval = Interval::new(&steps);
    interval.total.record_warmup_due(1);
    interval
        .total
        .record_warmup(&samples::ok(Nanos(1), Nanos(2)));
    assert_eq!(
        (interval.total.warmup.intended, interval.total.warmup.ok),
        (1, 1)
    );
    interval.total.warmup = drumfire_measure::Counts::default();
    assert_eq!(interval, Interval::new(&steps));
}

#[test]
fn reset_leaves_an_empty_interval() {
    let steps = names(2);
    let mut interval = of_iterations(&steps);
    interval.total.record_iterations_intended(1);
    interval
        .total
        .record_iteration_in_flight(&samples::iteration(1, Nanos(0), Nanos(3)));
    interval
        .total
        .record(&samples::failed(Nanos(1), Nanos(2), Outcome::Reset));
    interval
        .total
        .record_error_detail(Outcome::Reset, None, "by peer");
    interval.total.connections.record_opened(Nanos(5));
    interval.health.loop_turn.record(Nanos(9));
    interval.reset(0, Nanos::ZERO);
    assert_eq!(interval, of_iterations(&steps));
}

#[test]
fn one_talkative_outcome_does_not_silence_the_others() {
    let mut interval = Interval::new(&names(1));
    for n in 0..1000 {
        interval
            .total
            .record(&samples::failed(Nanos(1), Nanos(1), Outcome::HttpStatus));
        interval
            .total
            .record_error_detail(Outcome::HttpStatus, None, &format!("{n:04}"));
    }
    interval
        .total
        .record(&samples::failed(Nanos(1), Nanos(1), Outcome::TlsName));
    interval
        .total
        .record_error_detail(Outcome::TlsName, None, "for example.org");
    let rows = interval.total.errors();
    assert!(rows.iter().any(|row| row.detail.text == "for example.org"));
    assert_eq!(rows[0].detail.text, Outcome::HttpStatus.words());
    assert_eq!(rows[0].count, 1000 - 63);
    assert_eq!(rows.len(), 65);
}

#[test]
fn a_message_is_printable_and_short() {
    let mut interval = Interval::new(&names(1));
    interval
        .total
        .record(&samples::failed(Nanos(1), Nanos(1), Outcome::Decode));
    interval
        .total
        .record_error_detail(Outcome::Decode, None, "\u{1b}[31mred\n");
    interval
        .total
        .record(&samples::failed(Nanos(1), Nanos(1), Outcome::Reset));
    interval
        .total
        .record_error_detail(Outcome::Reset, None, &"ü\n".repeat(500));
    for row in interval.total.errors() {
        assert!(
            !row.detail.text.contains(char::is_control),
            "{}",
            row.detail.text
        );
        assert!(row.detail.text.len() <= drumfire_measure::MESSAGE_BYTES);
    }
}

#[test]
fn the_first_byte_of_a_bad_answer_stands_apart() {
    let mut interval = Interval::new(&names(1));
    let ms = Nanos::from_millis;
    interval.total.record(&samples::ok(ms(1), ms(4)));
    let first_byte = |outcome| Sample {
        first_byte: ms(8),
        ..samples::failed(ms(5), ms(30), outcome)
    };
    interval.total.record(&first_byte(Outcome::HttpStatus));
    interval.total.record(&first_byte(Outcome::Truncated));
    interval.sum_up();
    let latency = &interval.total.latency;
    let counted = |histogram: &drumfire_measure::Histogram| (histogram.count(), histogram.max());
    assert_eq!(counted(&latency.first_byte), (1, ms(2)));
    assert_eq!(counted(&latency.first_byte_bad), (1, ms(3)));
}
