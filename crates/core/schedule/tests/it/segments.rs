//! Segments: the union over all workers is the whole, with each arrival once and in order.

use crate::random_laws::{any_arrivals, any_sequence};
use drumfire_plan::{Arrivals, Law, Sequence};
use drumfire_schedule::{Due, Next, Schedule, share};
use drumfire_units::{Nanos, Rate};
use proptest::prelude::*;

const MILLI: u64 = 1_000_000;

/// All events of a worker, which must end.
fn walk(schedule: &Schedule, worker: u32, of: u32, limit: u64, until: Nanos) -> Vec<Next> {
    let mut segment = schedule.segment(worker, of).limit(limit).until(until);
    let mut steps = Vec::new();
    while segment.peek() != Next::End {
        assert!(steps.len() < 1_000_000, "runs on");
        steps.push(segment.peek());
        segment.advance();
    }
    segment.advance();
    assert_eq!(segment.peek(), Next::End, "the end is the end");
    steps
}

fn arrivals(steps: &[Next]) -> Vec<Due> {
    let due = |step: &Next| match step {
        Next::At(due) => Some(*due),
        Next::Unlimited { .. } | Next::End => None,
    };
    steps.iter().filter_map(due).collect()
}

proptest! {
    #[test]
    fn segments_partition_the_whole(
        sequence in any_sequence(),
        kind in any_arrivals(),
        of in 1_u32..16,
        limit in prop_oneof![Just(u64::MAX), 0..200_u64],
        until in prop_oneof![Just(u64::MAX), 0..1_000 * MILLI],
        seed: u64,
    ) {
        let schedule = Schedule::new(&sequence, kind, seed).unwrap();
        let until = Nanos(until);
        let whole = arrivals(&walk(&schedule, 0, 1, u64::MAX, Nanos::MAX));
        let expected: Vec<_> = whole
            .iter()
            .filter(|due| due.index < limit && due.at < until)
            .copied()
            .collect();
        let mut union = Vec::new();
        for worker in 0..of {
            let own = arrivals(&walk(&schedule, worker, of, limit, until));
            prop_assert!(own.iter().all(|due| due.index % u64::from(of) == u64::from(worker)));
            prop_assert!(own.is_sorted_by_key(|due| due.index));
            union.extend(own);
        }
        union.sort_by_key(|due| due.index);
        prop_assert_eq!(union, expected);
    }

    #[test]
    fn the_whole_is_what_start_of_says(
        sequence in any_sequence(),
        kind in any_arrivals(),
        seed: u64,
        t in 0..1_500 * MILLI,
    ) {
        let schedule = Schedule::new(&sequence, kind, seed).unwrap();
        let whole = arrivals(&walk(&schedule, 0, 1, u64::MAX, Nanos::MAX));
        prop_assert!(whole.is_sorted_by_key(|due| due.at));
        for (n, due) in whole.iter().enumerate().step_by(1 + whole.len() / 50) {
            prop_assert_eq!(due.index, n as u64);
            prop_assert_eq!(schedule.start_of(due.index), Some(due.at));
            prop_assert!(schedule.count_before(due.at) <= due.index);
            prop_assert!(schedule.count_before(due.at + Nanos(1)) > due.index);
        }
        let count = whole.len() as u64;
        prop_assert_eq!(schedule.start_of(count), None);
        prop_assert_eq!(schedule.count_before(Nanos::MAX), count);
        prop_assert!(schedule.total().is_none_or(|total| total == count));
        let before = whole.iter().filter(|due| due.at < Nanos(t)).count() as u64;
        prop_assert_eq!(schedule.count_before(Nanos(t)), before);
        prop_assert!(whole.iter().all(|due| due.at <= schedule.duration().unwrap()));
    }

    #[test]
    fn skipping_is_walking(
        sequence in any_sequence(),
        kind in any_arrivals(),
        of in 1_u32..6,
        worker in 0_u32..6,
        limit in prop_oneof![Just(u64::MAX), 0..200_u64],
        mut ends in proptest::collection::vec(0..1_000 * MILLI, 1..6),
        seed: u64,
    ) {
        let schedule = Schedule::new(&sequence, kind, seed).unwrap();
        let start = schedule.segment(worker % of, of).limit(limit);
        let (mut skipping, mut walking) = (start.clone(), start);
        ends.sort_unstable();
        for end in ends.into_iter().map(Nanos) {
            let mut passed = 0;
            loop {
                match walking.peek() {
                    Next::At(due) if due.at < end => passed += 1,
                    Next::Unlimited { until, .. } if until <= end => {}
                    _ => break,
                }
                walking.advance();
            }
            prop_assert_eq!(skipping.skip_before(end), passed);
            prop_assert_eq!(skipping.peek(), walking.peek());
        }
        for _ in 0..3 {
            prop_assert_eq!(skipping.peek(), walking.peek());
            skipping.advance();
            walking.advance();
        }
    }

    #[test]
    fn the_last_one_due_stays(
        sequence in any_sequence(),
        kind in any_arrivals(),
        of in 1_u32..6,
        end in 0..1_000 * MILLI,
        at_most in prop_oneof![Just(u64::MAX), 0..9_u64],
        seed: u64,
    ) {
        let schedule = Schedule::new(&sequence, kind, seed).unwrap();
        let mut segment = schedule.segment(0, of);
        let end = Nanos(end);
        let (mut before, mut found) = (segment.clone(), segment.peek());
        let passed = segment.skip_to_last_before(end, at_most);
        prop_assert!(passed <= at_most);
        for _ in 0..passed {
            before.advance();
            found = before.peek();
        }
        prop_assert_eq!(segment.peek(), found);
        let is_due = |step: Next| matches!(step, Next::At(due) if due.at < end);
        prop_assert!(passed == 0 || is_due(found));
        // The next arrival in the same piece is due later; a random process does not move.
        let is_one_piece = sequence.0.len() == 1 && !matches!(sequence.0[0], Law::Step { .. });
        if 0 < passed && passed < at_most && is_one_piece {
            segment.advance();
            prop_assert!(!is_due(segment.peek()));
        }
    }

    #[test]
    fn shares_add_up(total: u64, of in 1_u32..100) {
        let sum: u64 = (0..of).map(|worker| share(total, worker, of)).sum();
        prop_assert_eq!(sum, total);
    }
}

#[test]
fn a_long_run_stays_exact() {
    let rate = Rate::per_second(300_007);
    let law = Law::Const {
        rate,
        duration: Nanos::MAX,
    };
    let schedule = Schedule::new(&Sequence(vec![law]), Arrivals::Constant, 0).unwrap();
    let mut segment = schedule.segment(3, 7);
    for k in 0..1_000_000_u64 {
        let index = 3 + 7 * k;
        let at = u128::from(index) * u128::from(rate.per.0) / u128::from(rate.events);
        let at = Nanos(u64::try_from(at).unwrap());
        assert_eq!(segment.peek(), Next::At(Due { index, at }));
        segment.advance();
    }
}

/// At a rate of 10^15/s, about 10^18 arrivals are skipped at once, and the iteration continues
/// exactly.
#[test]
fn an_absurd_rate_is_counted_at_once() {
    let rate = Rate::per_second(1_000_000_000_000_007);
    let law = Law::Const {
        rate,
        duration: Nanos::MAX,
    };
    let schedule = Schedule::new(&Sequence(vec![law]), Arrivals::Constant, 0).unwrap();
    let mut sum = 0;
    let end = Nanos::from_secs(1_000);
    for worker in 0..3 {
        let mut segment = schedule.segment(worker, 3);
        sum += segment.skip_before(end);
        let Next::At(due) = segment.peek() else {
            panic!("the law never ends");
        };
        assert_eq!((due.at, schedule.start_of(due.index)), (end, Some(end)));
    }
    assert_eq!(sum, 1_000_000_000_000_007_000);
}

#[test]
fn unlimited_tells_its_span() {
    let second = Nanos::from_secs(1);
    let unlimited = |duration| Law::Unlimited { duration };
    let sequence = Sequence(vec![
        Law::Once { count: 1 },
        unlimited(second),
        Law::Once { count: 2 },
        unlimited(Nanos::MAX),
    ]);
    let schedule = Schedule::new(&sequence, Arrivals::Poisson, 1).unwrap();
    let at = |index, at| Next::At(Due { index, at });
    let first = Next::Unlimited {
        from: Nanos::ZERO,
        until: second,
    };
    let last = |until| Next::Unlimited {
        from: second,
        until,
    };
    let whole = [
        at(0, Nanos::ZERO),
        first,
        at(1, second),
        at(2, second),
        last(Nanos::MAX),
    ];
    assert_eq!(walk(&schedule, 0, 1, u64::MAX, Nanos::MAX), whole);
    let odd = [first, at(1, second), last(Nanos(5 * second.0))];
    let until = Nanos(5 * second.0);
    assert_eq!(walk(&schedule, 1, 2, u64::MAX, until), odd);
    assert_eq!(walk(&schedule, 0, 1, u64::MAX, second), whole[..2]);
    assert_eq!(walk(&schedule, 0, 1, 1, Nanos::MAX), whole[..1]);
}
