//! The binary form: everything is restored, bit for bit, and no bytes cause a panic.

use crate::asked;
use crate::merge::{Seen, names, record, seen};
use crate::samples;
use drumfire_measure::form::{self, FormError};
use drumfire_measure::{
    AddressCounts, Closing, HeldBack, Interval, IsFirst, Model, PoolInfo, RunInfo,
};
use drumfire_plan::Stage;
use drumfire_units::Nanos;
use proptest::prelude::*;
use std::net::SocketAddr;

/// Pools of three steps, of a hundred and of one; the first two count iterations.
pub(crate) fn pools() -> Vec<PoolInfo> {
    let pool = |steps| PoolInfo {
        name: format!("of {steps}"),
        steps: names(steps),
        iterations: steps > 1,
        scenarios: names(if steps == 100 { 2 } else { 0 }),
        ..samples::run(Model::Open, &[]).pool().clone()
    };
    [3, 100, 1].map(pool).to_vec()
}

fn empty(pools: &[PoolInfo]) -> Interval {
    Interval::of_pools(pools)
}

/// An interval of these pools with every kind of record.
pub(crate) fn interval(pools: &[PoolInfo], all: &[(Seen, usize)]) -> Interval {
    let mut interval = empty(pools);
    for (seen, pool) in all {
        let mut other = Interval::new(&pools[0].steps);
        record(&mut other, seen);
        interval.health.merge(&other.health);
        let extra = Nanos(seen.extra);
        let figures = interval.pool_mut(*pool % pools.len());
        crate::merge::record_figures(figures, seen);
        figures.record_pending(seen.sample.step, extra, seen.extra % 3);
        if seen.extra.is_multiple_of(5) {
            figures.record_in_flight(&seen.sample);
        }
        figures.retried += seen.extra % 2;
        figures.under_way += [1, -1, i64::MAX / 2, i64::MIN / 2][seen.worker % 4] / 1000;
        figures.held_back.merge(&HeldBack {
            requests: 1,
            allowed: (seen.extra % 7 > 0).then_some(seen.extra as u32),
        });
        let closing = Closing::ALL[seen.worker % Closing::ALL.len()];
        figures
            .connections
            .record_closed(closing, extra, seen.extra);
        let address = SocketAddr::from((
            [127, 0, 0, (seen.extra % 5) as u8],
            (seen.worker % 4) as u16,
        ));
        let counts = AddressCounts::new(seen.extra % 3, seen.extra);
        figures.connections.addresses.add(address, counts);
        figures.connections.pauses += seen.extra % 3;
    }
    interval.index = all.len() as u64;
    interval.start = Nanos::from_secs(interval.index);
    interval.end = interval.start + Nanos::from_secs(1);
    interval.sum_up();
    interval
}

pub(crate) fn run_info(pools: Vec<PoolInfo>, seed: u64) -> RunInfo {
    RunInfo {
        seed,
        pools,
        tls_verified: Some(seed.is_multiple_of(2)),
        spin: seed.is_multiple_of(3),
        thresholds: vec!["step(ü).p99<1ms".parse().expect("a rule")],
        notes: vec![String::new(), "note".to_owned()],
        ..(*samples::run(Model::Closed, &[])).clone()
    }
}

/// One byte changed, or the end cut off.
fn damaged(mut bytes: Vec<u8>, at: usize, byte: Option<u8>) -> Vec<u8> {
    let at = at % bytes.len();
    match byte {
        Some(byte) => bytes[at] = byte,
        None => bytes.truncate(at),
    }
    bytes
}

/// A message may come in a span in which no exchange of its step ends.
#[test]
fn messages_of_a_step_come_back_without_requests() {
    let pools = pools();
    let mut interval = empty(&pools);
    for (step, received) in [(0, 2), (2, 3)] {
        let messages = interval.pool_mut(0).messages_mut(step);
        messages.received += received;
        messages.record_streamed(IsFirst::Yes, Nanos(0), Nanos(received));
    }
    interval.end = Nanos::from_secs(1);
    interval.sum_up();
    let figures = &interval.pools()[0];
    assert_eq!(figures.messages.received, 5, "the sum of the steps");
    assert_eq!(figures.messages.first.count(), 2);
    let decoded = Interval::decode(&interval.encode(), &pools).expect("its own bytes");
    let received = |of: &Interval, step: usize| {
        let messages = of.pools()[0].steps[step].messages();
        messages.map(|messages| messages.received)
    };
    assert_eq!(received(&decoded, 2), Some(3));
    assert_eq!(received(&decoded, 1), None);
    assert_eq!(decoded, interval);
    let mut sum = empty(&pools);
    sum.merge(&interval);
    sum.merge(&decoded);
    assert_eq!(received(&sum, 0), Some(4));
    assert_eq!(sum.pools()[0].messages.received, 10);
}

proptest! {
    #![proptest_config(samples::cases(32))]

    #[test]
    fn every_interval_comes_back(
        all in prop::collection::vec((seen(110), 0..3usize), 0..60), several in any::<bool>(),
    ) {
        let pools = if several { pools() } else { pools()[..1].to_vec() };
        let interval = interval(&pools, &all);
        let bytes = interval.encode();
        let decoded = Interval::decode(&bytes, &pools);
        prop_assert_eq!(decoded.as_ref(), Ok(&interval));
        prop_assert_eq!(decoded.map(|decoded| decoded.encode()), Ok(bytes));
    }

    #[test]
    fn merging_commutes_with_the_form(
        left in prop::collection::vec((seen(110), 0..3usize), 0..40),
        right in prop::collection::vec((seen(110), 0..3usize), 0..40),
    ) {
        let pools = pools();
        let (left, right) = (interval(&pools, &left), interval(&pools, &right));
        let back = |of: &Interval| Interval::decode(&of.encode(), &pools).expect("its own bytes");
        let mut decoded = back(&left);
        decoded.merge(&back(&right));
        let mut merged = left;
        merged.merge(&right);
        prop_assert_eq!(&decoded, &merged);
        prop_assert_eq!(decoded.encode(), merged.encode());
    }

    #[test]
    fn one_memory_reads_many_intervals(
        all in prop::collection::vec(
            prop::collection::vec((seen(110), 0..3usize), 0..20), 1..5,
        ),
        several in any::<bool>(), at in any::<usize>(), byte in prop::option::of(any::<u8>()),
    ) {
        let pools = if several { pools() } else { pools()[..1].to_vec() };
        let (mut kept, mut merged, mut expected) = (None, empty(&pools), empty(&pools));
        for seen in &all {
            let interval = interval(&pools, seen);
            expected.merge(&interval);
            let bytes = interval.encode();
            // Unreadable bytes do not affect the next interval.
            let broken = damaged(bytes.clone(), at, byte);
            let whole = Interval::decode(&broken, &pools);
            let again = Interval::decode_into(&mut kept, &broken, &pools);
            prop_assert_eq!(whole.map(|_| ()), again.map(|_| ()));
            let read = Interval::decode_into(&mut kept, &bytes, &pools).expect("its own bytes");
            prop_assert_eq!((read.start, read.end), (interval.start, interval.end));
            for (read, whole) in read.pools().iter().zip(interval.pools()) {
                prop_assert_eq!(read.counts, whole.counts);
            }
            merged.merge(read);
        }
        merged.sum_up();
        expected.sum_up();
        prop_assert_eq!(merged.encode(), expected.encode());
        prop_assert_eq!(merged, expected);
    }

    #[test]
    fn damaged_bytes_are_refused_or_are_an_interval(
        all in prop::collection::vec((seen(4), 0..3usize), 0..20),
        at in any::<usize>(), byte in prop::option::of(any::<u8>()),
    ) {
        let pools = pools();
        let whole = interval(&pools, &all);
        let bytes = damaged(whole.encode(), at, byte);
        if let Ok(mut decoded) = Interval::decode(&bytes, &pools) {
            prop_assert_eq!(decoded.encode(), bytes);
            decoded.merge(&whole);
            decoded.sum_up();
            let _finished = decoded.total.counts.finished();
            let _rows = decoded.total.errors();
            decoded.reset(0, Nanos::ZERO);
            prop_assert_eq!(decoded, empty(&pools));
        } else {
            prop_assert!(bytes != whole.encode());
        }
    }

    #[test]
    fn any_bytes_are_refused_or_come_back(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        for version in [1, 2] {
            let bytes = [&[version], &bytes[..]].concat();
            if let Ok(decoded) = Interval::decode(&bytes, &pools()) {
                prop_assert_eq!(decoded.encode(), &*bytes);
            }
            if let Ok(decoded) = form::decode::<RunInfo>(&bytes) {
                prop_assert_eq!(form::encode(&decoded), bytes);
            }
        }
    }

    #[test]
    fn what_is_known_of_a_run_comes_back(
        seed in any::<u64>(), rate in prop::option::of(0.0..1e9), users in any::<Option<u32>>(),
        at in any::<usize>(), byte in prop::option::of(any::<u8>()),
    ) {
        let mut pools = pools();
        (pools[1].intended_rate, pools[2].users) = (rate, users.map(|users| users / 2));
        pools[0].model = Model::Closed;
        let stage = |name: &str, start| Stage {
            name: name.to_owned(),
            start: Nanos(start),
        };
        pools[1].stages = vec![stage("5/s", 0), stage("9/s", 1 + seed / 2)];
        pools[0].asked = Some(asked::asked_by_number(seed));
        pools[2].asked = Some(asked::asked_by_number(seed.rotate_left(32)));
        let info = run_info(pools, seed);
        let bytes = form::encode(&info);
        prop_assert_eq!(form::decode::<RunInfo>(&bytes), Ok(info));
        let bytes = damaged(bytes, at, byte);
        if let Ok(decoded) = form::decode::<RunInfo>(&bytes) {
            prop_assert_eq!(form::encode(&decoded), bytes);
        }
    }
}

#[test]
fn other_versions_pools_and_steps_are_refused() {
    let pools = pools();
    let whole = interval(&pools, &[]);
    let mut bytes = whole.encode();
    let fewer = Interval::decode(&bytes, &pools[..2]);
    let other = FormError::Malformed("an interval of other pools");
    assert_eq!(fewer, Err(other));
    // Answers may follow the pools, but not a part of them, and nothing after them.
    bytes.push(0);
    assert_eq!(Interval::decode(&bytes, &pools), Err(FormError::Short));
    let mut none = bytes.clone();
    none.extend(vec![0; pools.len() - 1]);
    let unused = FormError::Malformed("answers of which none was counted");
    assert_eq!(Interval::decode(&none, &pools), Err(unused));
    bytes[0] = 2;
    assert_eq!(Interval::decode(&bytes, &pools), Err(FormError::Version(2)));
    assert_eq!(Interval::decode(&[], &pools), Err(FormError::Short));
    let mut one = empty(&[PoolInfo {
        steps: names(9),
        ..pools[0].clone()
    }]);
    let sample = samples::ok(Nanos(0), Nanos(7));
    one.total
        .record(&drumfire_measure::Sample { step: 8, ..sample });
    one.sum_up();
    let steps = FormError::Malformed("an interval of other steps");
    assert_eq!(Interval::decode(&one.encode(), &pools[..1]), Err(steps));
}

/// The waits are between the health and the number of pools, and only if any were counted.
#[test]
fn waits_are_stored_if_any_were_counted() {
    let pools = &pools()[..1];
    let mut interval = empty(pools);
    let without = interval.encode();
    interval.health.waits.slept = 300;
    let with = interval.encode();
    assert_eq!(with.len(), without.len() + 1 + 1 + 1 + 2);
    assert_eq!(Interval::decode(&with, pools), Ok(interval));
    let at = (0..).find(|at| with[*at] != without[*at]).expect("waits");
    let uncounted = [&without[..at], &[0, 0, 0, 0], &without[at..]].concat();
    let refused = FormError::Malformed("waits of which none was counted");
    assert_eq!(Interval::decode(&uncounted, pools), Err(refused));
}

#[test]
fn an_interval_of_ten_thousand_steps_is_as_small_as_what_it_saw() {
    let pool = PoolInfo {
        steps: names(10_000),
        ..samples::run(Model::Open, &[]).pool().clone()
    };
    let mut interval = Interval::new(&pool.steps);
    for step in [3, 9_999] {
        let sample = samples::ok(Nanos(0), Nanos::from_millis(7));
        interval
            .total
            .record(&drumfire_measure::Sample { step, ..sample });
    }
    interval.sum_up();
    let bytes = interval.encode();
    assert!(bytes.len() < 250, "{}", bytes.len());
    assert_eq!(Interval::decode(&bytes, &[pool]), Ok(interval));
}
