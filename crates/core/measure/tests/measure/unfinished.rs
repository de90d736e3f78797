//! Requests that a run left unfinished stay in the record as "at least this long".

use crate::samples;
use drumfire_measure::{Counts, Interval, Outcome};
use drumfire_units::Nanos;
use std::sync::Arc;

fn ms(n: u64) -> Nanos {
    Nanos::from_millis(n)
}

/// A hundred requests of 5 ms in two steps.
fn quick() -> Interval {
    let steps: [Arc<str>; 2] = ["login", "search"].map(Arc::from);
    let mut interval = Interval::new(&steps);
    for n in 0..100 {
        let mut sample = samples::ok(ms(n), ms(5));
        sample.step = (n % 2) as u16;
        interval.total.record(&sample);
    }
    interval.sum_up();
    interval
}

#[test]
fn what_was_due_and_not_sent_has_waited_at_least_so_long() {
    let mut interval = quick();
    let before = interval.total.counts;
    interval.total.record_pending(1, ms(800), 9);
    interval.total.record_pending(1, ms(700), 0);
    interval.sum_up();
    let latency = &interval.total.latency;
    for times in [
        &latency.response_time,
        &interval.total.steps[1].response_time,
    ] {
        assert_eq!(times.at_least_from(), Some(ms(800)));
        assert!(times.is_at_least(0.95) && !times.is_at_least(0.5));
        assert_eq!(times.max(), ms(800));
    }
    assert_eq!(
        (latency.waiting.count(), latency.waiting.max()),
        (109, ms(800))
    );
    assert!(latency.waiting.is_at_least(0.95));
    // The request was not sent, and the other step did not wait.
    assert_eq!(latency.service_time.count(), 100);
    assert_eq!(latency.lag.count(), 100);
    assert_eq!(interval.total.steps[0].response_time.count(), 50);
    assert_eq!(interval.total.steps[1].service_time.count(), 50);
    let pending = Counts {
        pending: 9,
        ..before
    };
    assert_eq!(interval.total.counts, pending);
    let sum = 100 * u128::from(ms(5).0) + 9 * u128::from(ms(800).0);
    assert_eq!(latency.response_time.sum(), sum);
}

#[test]
fn what_is_in_flight_takes_at_least_so_long() {
    let mut interval = quick();
    let before = interval.total.counts;
    let mut sample = samples::late(ms(100), ms(1), ms(300));
    sample.due = ms(100);
    interval.total.record_in_flight(&sample);
    interval.sum_up();
    let latency = &interval.total.latency;
    for (times, least) in [(&latency.response_time, 301), (&latency.service_time, 300)] {
        assert_eq!(times.at_least_from(), Some(ms(least)));
        assert!(times.is_at_least(1.0) && !times.is_at_least(0.95));
    }
    assert_eq!((latency.lag.max(), latency.lag.count()), (ms(1), 101));
    assert_eq!(latency.lag.at_least_from(), None);
    assert_eq!(
        (latency.first_byte.count(), latency.failed.count()),
        (100, 0)
    );
    assert_eq!(interval.total.steps[0].service_time.max(), ms(300));
    let in_flight = Counts {
        sent: 101,
        in_flight: 1,
        ..before
    };
    assert_eq!(interval.total.counts, in_flight);
}

#[test]
fn what_the_end_of_the_run_cut_off_takes_at_least_so_long() {
    let mut interval = quick();
    interval
        .total
        .record(&samples::failed(ms(100), ms(300), Outcome::LocalCancelled));
    interval.sum_up();
    let latency = &interval.total.latency;
    for times in [
        &latency.response_time,
        &latency.service_time,
        &latency.failed,
    ] {
        assert_eq!(times.at_least_from(), Some(ms(300)));
    }
    let Counts {
        failed, timed_out, ..
    } = interval.total.counts;
    assert_eq!((failed, timed_out), (1, 0));
}

#[test]
fn any_number_of_requests_is_recorded_at_once() {
    let mut interval = quick();
    interval
        .total
        .record_pending(0, Nanos::from_secs(7200), u64::MAX);
    interval.total.record_pending(0, Nanos(1), u64::MAX);
    let waiting = &interval.total.latency.waiting;
    assert_eq!((waiting.count(), waiting.beyond()), (u64::MAX, u64::MAX));
    assert_eq!(waiting.at_least_from(), Some(Nanos(1)));
}
