//! How much of a histogram's memory is resident: only the touched pages.
#![cfg(target_os = "linux")]
#![expect(
    clippy::disallowed_methods,
    reason = "the kernel alone knows what is resident"
)]

#[path = "measure/samples.rs"]
#[expect(dead_code, reason = "the other program uses all of it")]
mod samples;

use drumfire_measure::{Histogram, Interval, Model, Reading, Sample};
use drumfire_units::Nanos;
use std::fs;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Resident memory is shared by all threads: one test at a time.
fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Bytes of the program that are resident and not backed by a file (proc(5), `RssAnon`).
fn resident() -> i64 {
    let status = fs::read_to_string("/proc/self/status").expect("there is one");
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("RssAnon:"));
    let kilobytes = line.and_then(|line| line.trim().strip_suffix("kB"));
    let kilobytes: i64 = kilobytes
        .and_then(|text| text.trim().parse().ok())
        .expect("a number");
    kilobytes << 10
}

#[test]
fn what_lies_between_two_times_is_not_touched() {
    let _alone = alone();
    // A short time and a long one, 250 KiB of buckets apart.
    let mut ends = Histogram::new();
    ends.record(Nanos::from_micros(1));
    ends.record(Nanos::from_secs(1800));
    let mut all: Vec<Histogram> = (0..400).map(|_| Histogram::new()).collect();
    let before = resident();
    for histogram in &mut all {
        histogram.merge(&ends);
        histogram.merge(&ends);
        histogram.subtract(&ends);
        histogram.reset();
        histogram.merge(&ends);
    }
    let grown = resident() - before;
    assert!(all.iter().all(|histogram| *histogram == ends));
    // Two pages each, or four if memory does not begin at a page; the whole would be 100 MiB.
    assert!(grown < 400 * 5 * 4096, "{grown} bytes");
}

/// A week of intervals of half a minute with different times: after its first hour, no interval
/// takes more memory.
#[test]
fn a_week_takes_the_memory_of_an_hour() {
    let _alone = alone();
    let mut info = Arc::unwrap_or_clone(samples::run(Model::Open, &["all"]));
    info.interval = Nanos::from_secs(30);
    let info = Arc::new(info);
    let length = info.interval;
    let mut reading = Reading::new(Arc::clone(&info), &[]);
    let mut interval = Interval::of_pools(&info.pools);
    let mut random = 1_u64;
    let mut resident_early = 0;
    for index in 0..7 * 24 * 120 {
        interval.reset(index, Nanos(index * length.0));
        interval.end = Nanos((index + 1) * length.0);
        for _ in 0..40 {
            // Marsaglia's xorshift.
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            let time = Nanos(1 << (random % 30) | random >> 44);
            interval.total.latency.lag.record(time);
            interval.total.latency.response_time.record(time);
        }
        interval.sum_up();
        reading.absorb(&interval);
        if index == 120 {
            resident_early = resident();
        }
    }
    let rows = reading.so_far().intervals();
    assert!((150..=300).contains(&rows.len()), "{} rows", rows.len());
    let last = rows.last().map(|row| row.end);
    assert_eq!(last, Some(Nanos::from_secs(7 * 86_400)));
    let grown = resident() - resident_early;
    assert!(grown < 8 << 20, "{grown} bytes");
}

/// Each pool alone has few enough steps for all the memory that recording could need, but all pools
/// together do not.
#[test]
fn steps_of_many_pools_take_what_they_use() {
    let _alone = alone();
    let names: Vec<Arc<str>> = (0..50).map(|n| Arc::from(format!("step {n}"))).collect();
    let before = resident();
    let mut interval = Interval::of_pools((0..40).map(|_| names.as_slice()));
    for pool in 0..40 {
        for step in 0..50 {
            let sample = samples::ok(Nanos::ZERO, Nanos::from_micros(100 << (step % 9)));
            let sample = Sample { step, ..sample };
            interval.pool_mut(pool).record(&sample);
        }
    }
    let grown = resident() - before;
    // Two histograms of two pages each would be at least 32 MiB, and twice as much with the
    // statuses and sums.
    assert!(grown < 24 << 20, "{grown} bytes");
}
