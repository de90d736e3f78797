//! How much of a histogram's memory is resident: the touched pages, and no more.
#![cfg(target_os = "linux")]
#![expect(
    clippy::disallowed_methods,
    reason = "the kernel alone knows what is resident"
)]

use drumfire_measure::Histogram;
use drumfire_units::Nanos;
use std::fs;

/// Bytes of the program that are resident and no file's (proc(5), `RssAnon`).
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
    // Two pages each, or four where memory does not begin with a page; the whole would be 100 MiB.
    assert!(grown < 400 * 5 * 4096, "{grown} bytes");
}
