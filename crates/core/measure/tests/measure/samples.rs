//! Samples and runs to test with.

use drumfire_measure::{
    Interval, IterationSample, Leniencies, Model, Outcome, PoolInfo, RunInfo, Sample,
};

use drumfire_units::Nanos;
use proptest::prelude::*;
use std::sync::Arc;

/// A sample that was due at once, sent at once, and took `service`.
pub(crate) fn ok(start: Nanos, service: Nanos) -> Sample {
    Sample {
        intended: start,
        due: start,
        sent: start,
        first_byte: start + Nanos(service.0 / 2),
        end: start + service,
        bytes_sent: 100,
        outcome: Outcome::Ok,
        leniencies: Leniencies::default(),
        bytes_received: 200,
        status: 200,
        step: 0,
    }
}

/// A failed sample.
pub(crate) fn failed(start: Nanos, service: Nanos, outcome: Outcome) -> Sample {
    Sample {
        outcome,
        first_byte: Nanos::MAX,
        status: 0,
        ..ok(start, service)
    }
}

/// A sample like those from [`ok`], sent late by `lag`.
pub(crate) fn late(start: Nanos, lag: Nanos, service: Nanos) -> Sample {
    Sample {
        intended: start,
        due: start,
        ..ok(start + lag, service)
    }
}

/// A completed iteration of a scenario, whose duration counts from its intended start.
pub(crate) fn iteration(scenario: u32, intended: Nanos, took: Nanos) -> IterationSample {
    IterationSample {
        scenario,
        intended,
        end: intended + took,
        outcome: Outcome::Ok,
    }
}

/// The facts of a run in `model` with these steps.
pub(crate) fn run(model: Model, steps: &[&str]) -> Arc<RunInfo> {
    Arc::new(RunInfo {
        id: "test".to_owned(),
        seed: 1,
        version: "0".to_owned(),
        target: "http://127.0.0.1/".to_owned(),
        ..RunInfo::new(vec![PoolInfo {
            connections: 8,
            ..PoolInfo::new("main", model, steps.iter().copied())
        }])
    })
}

/// A healthy run: 1000 requests, 5 ms each, sent on time.
pub(crate) fn healthy(info: &RunInfo) -> Interval {
    let mut interval = Interval::new(&info.pool().steps);
    interval.total.record_intended(1000);
    for n in 0..1000 {
        let start = Nanos::from_millis(n);
        interval
            .total
            .record(&late(start, Nanos::from_micros(30), Nanos::from_millis(5)));
    }
    interval.health.wall = Nanos::from_secs(1);
    for _ in 0..1000 {
        interval.health.loop_turn.record(Nanos::from_micros(20));
        interval.health.wake_lateness.record(Nanos::from_micros(20));
    }
    interval.sum_up();
    interval
}

/// A time of any magnitude up to `bits` bits.
pub(crate) fn time(bits: u32) -> impl Strategy<Value = u64> {
    (0..=bits, any::<u64>()).prop_map(|(bits, random)| match bits {
        0 => 0,
        bits => (1 << (bits - 1)) | (random & ((1 << (bits - 1)) - 1)),
    })
}

/// Any sample of a plan with `steps` steps.
pub(crate) fn any_sample(steps: u16) -> impl Strategy<Value = Sample> {
    let spans = [time(40), time(40), time(40), time(40), time(40)];
    let what = (0..Outcome::COUNT * 2, any::<u16>(), 100u16..600, 0..steps);
    (spans, what, any::<u32>()).prop_map(|(spans, (outcome, leniencies, status, step), bytes)| {
        // Half of all samples are ok, as in a run that works partly.
        let outcome = Outcome::ALL.get(outcome).copied().unwrap_or(Outcome::Ok);
        let [intended, waiting, lag, wait, read] = spans.map(Nanos);
        let sent = intended + waiting + lag;
        let answered = outcome == Outcome::Ok || outcome == Outcome::HttpStatus;
        Sample {
            intended,
            due: intended + waiting,
            sent,
            first_byte: if answered { sent + wait } else { Nanos::MAX },
            end: sent + wait + read,
            bytes_sent: bytes,
            outcome,
            leniencies: Leniencies(leniencies),
            bytes_received: u64::from(bytes) * 3,
            status: if answered { status } else { 0 },
            step,
        }
    })
}

/// The number of cases; a failure prints its input instead of writing it into the source tree.
pub(crate) fn cases(count: u32) -> ProptestConfig {
    ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(count)
    }
}
