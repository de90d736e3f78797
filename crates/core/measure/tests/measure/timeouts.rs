//! Requests that timed out stay in the record as "at least this long".

use crate::samples;
use drumfire_measure::{GeneratorHealth, Histogram, Interval, Model, Outcome, Reading, Validity};
use drumfire_units::Nanos;
use proptest::prelude::*;
use std::sync::Arc;

fn ms(n: u64) -> Nanos {
    Nanos::from_millis(n)
}

const SECOND: Nanos = Nanos::from_secs(1);

/// A thousand requests of 5 ms in two steps, of which `count` got no answer within a second.
fn dropping(count: u64) -> Interval {
    let steps: [Arc<str>; 2] = ["login", "search"].map(Arc::from);
    let mut interval = Interval::new(&steps);
    for n in 0..1000 {
        let mut sample = if n < count {
            samples::failed(ms(n), SECOND, Outcome::TimeoutHead)
        } else {
            samples::ok(ms(n), ms(5))
        };
        sample.step = (n % 2) as u16;
        interval.total.record(&sample);
    }
    interval.sum_up();
    interval
}

#[test]
fn a_target_that_drops_two_percent_has_a_p99_of_at_least_the_timeout() {
    let interval = dropping(20);
    let latency = &interval.total.latency;
    let of_steps = interval.total.steps.iter();
    let of_steps = of_steps.flat_map(|step| [&step.response_time, &step.service_time]);
    for times in of_steps.chain([&latency.response_time, &latency.service_time]) {
        assert_eq!(times.at_least_from(), Some(SECOND));
        assert_eq!(times.quantile(0.99), Some(SECOND));
        assert!(times.is_at_least(0.99) && times.is_at_least(1.0));
        assert!(!times.is_at_least(0.95) && !times.is_at_least(0.0));
        assert!(times.quantile(0.95).is_some_and(|p95| p95 < ms(6)));
    }
    assert_eq!(latency.response_time.count(), 1000);
    assert_eq!(latency.failed.count(), 20);
    assert!(latency.failed.is_at_least(0.0));
    assert_eq!(latency.first_byte.count(), 980);
    assert_eq!(latency.lag.at_least_from(), None);
    assert_eq!(
        (interval.total.counts.ok, interval.total.counts.timed_out),
        (980, 20)
    );
}

#[test]
fn other_failures_stay_out() {
    let mut interval = Interval::new(&[]);
    interval.total.record(&samples::ok(ms(1), ms(5)));
    interval
        .total
        .record(&samples::failed(ms(2), ms(30), Outcome::Reset));
    let latency = &interval.total.latency;
    assert_eq!(latency.response_time.max(), ms(5));
    assert_eq!((latency.failed.count(), latency.failed.max()), (1, ms(30)));
    for times in [&latency.response_time, &latency.failed, &Histogram::new()] {
        assert_eq!(times.at_least_from(), None);
        assert!(!times.is_at_least(1.0));
    }
}

#[test]
fn a_slow_answer_may_be_above_a_timeout() {
    // A connection that was not opened within 100 ms may have been ready at any later time: the
    // 95th percentile is 300 ms in either case, but the last answer and the answer that is now the
    // 91st depend on it.
    let mut times = Histogram::new();
    (0..90).for_each(|_| times.record(ms(10)));
    (0..10).for_each(|_| times.record(ms(300)));
    assert!(!times.is_at_least(0.95));
    times.record_at_least(ms(100));
    assert!(!times.is_at_least(0.89));
    assert!(times.quantile(0.9).is_some_and(|p90| p90 < ms(101)));
    assert!(times.is_at_least(0.9));
    assert!(!times.is_at_least(0.95));
    assert!(times.is_at_least(1.0));
    assert_eq!(times.max(), ms(300));
}

#[test]
fn a_timeout_excuses_no_lag() {
    let judged = |timeouts| {
        let info = samples::run(Model::Open, &["all"]);
        let mut run = Interval::new(&info.pool().steps);
        run.total.record_intended(1000);
        for n in 0..1000 {
            let took = if n < timeouts { SECOND } else { ms(5) };
            let mut sample = samples::late(ms(n), ms(3), took);
            if n < timeouts {
                sample.outcome = Outcome::TimeoutTotal;
            }
            run.total.record(&sample);
        }
        let mut reading = Reading::new(info, &[]);
        reading.absorb(&run);
        let summary = reading.close_with(SECOND, GeneratorHealth::default());
        summary.verdict.validity
    };
    for timeouts in [0, 20, 500, 1000] {
        assert_eq!(judged(timeouts), Validity::Suspect, "{timeouts}");
    }
}

proptest! {
    #![proptest_config(samples::cases(64))]

    #[test]
    fn the_least_bound_survives_any_merge(
        parts in prop::collection::vec(
            prop::collection::vec((samples::time(44), any::<bool>()), 0..20), 1..6)
    ) {
        let mut sum = Histogram::new();
        for part in &parts {
            let mut times = Histogram::new();
            for (time, answered) in part {
                if *answered {
                    times.record(Nanos(*time));
                } else {
                    times.record_at_least(Nanos(*time));
                }
            }
            sum.merge(&times);
        }
        let bounds = parts.iter().flatten().filter(|(_, answered)| !answered);
        let least = bounds.map(|(time, _)| *time).min();
        prop_assert_eq!(sum.at_least_from(), least.map(Nanos));
        prop_assert_eq!(sum.is_at_least(1.0), least.is_some());

        // Subtraction keeps the bound, until nothing is left.
        let whole = sum.clone();
        let mut more = whole.clone();
        more.merge(&whole);
        more.subtract(&whole);
        prop_assert_eq!(more.at_least_from(), whole.at_least_from());
        more.subtract(&whole);
        prop_assert_eq!(more, Histogram::new());
    }

    #[test]
    fn quantiles_that_are_not_marked_are_exact(
        all in prop::collection::vec((samples::time(41), any::<bool>(), samples::time(41)), 1..200)
    ) {
        // The exchanges as they would have ended without a timeout.
        let (mut seen, mut truth) = (Histogram::new(), Histogram::new());
        for (time, answered, more) in all {
            if answered {
                seen.record(Nanos(time));
                truth.record(Nanos(time));
            } else {
                seen.record_at_least(Nanos(time));
                truth.record(Nanos(time + more));
            }
        }
        for hundredths in 0..=100 {
            let q = f64::from(hundredths) / 100.0;
            let (seen_at, true_at) = (seen.quantile_unchecked(q), truth.quantile_unchecked(q));
            if seen.is_at_least(q) {
                prop_assert!(seen_at <= true_at, "{}", q);
            } else {
                prop_assert_eq!(seen_at, true_at, "{}", q);
            }
        }
    }
}
