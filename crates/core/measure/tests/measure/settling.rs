//! A warm-up that is detected in the figures and left out.

use crate::samples;
use drumfire_measure::{GeneratorHealth, Interval, Model, Reading, RunInfo, Settling, Summary};
use drumfire_plan::Warmup;
use drumfire_units::Nanos;
use std::sync::Arc;

const SECOND: u64 = 1_000_000_000;
/// Requests of an interval.
const REQUESTS: u64 = 100;

fn info(warmup: Warmup) -> Arc<RunInfo> {
    let mut info = Arc::unwrap_or_clone(samples::run(Model::Open, &["a", "b"]));
    info.warmup = warmup;
    Arc::new(info)
}

/// The intervals of a run of this many seconds in which a request takes `time(second)`
/// milliseconds. Each interval's last request ends in the next one.
fn intervals(info: &RunInfo, seconds: u64, time: impl Fn(u64) -> u64) -> Vec<Interval> {
    let mut all = Vec::new();
    let mut carried = None;
    for index in 0..seconds {
        let mut interval = Interval::of_pools(&info.pools);
        interval.index = index;
        interval.start = Nanos(index * SECOND);
        interval.end = Nanos((index + 1) * SECOND);
        interval.total.record_intended(REQUESTS);
        for number in 0..REQUESTS {
            let start = interval.start + Nanos(number * SECOND / REQUESTS);
            let mut sample = samples::ok(start, Nanos::from_millis(time(index)));
            sample.step = (number % 2) as u16;
            match number + 1 < REQUESTS {
                true => interval.total.record(&sample),
                false => {
                    let before = carried.replace(sample);
                    before
                        .iter()
                        .for_each(|before| interval.total.record(before));
                    interval.total.under_way = i64::from(index == 0);
                }
            }
        }
        if index + 1 == seconds {
            carried.iter().for_each(|last| interval.total.record(last));
            interval.total.under_way -= 1;
        }
        interval.sum_up();
        all.push(interval);
    }
    all
}

fn summary(info: &Arc<RunInfo>, intervals: &[Interval]) -> Summary {
    let mut reading = Reading::new(Arc::clone(info), &[]);
    intervals
        .iter()
        .for_each(|interval| reading.absorb(interval));
    let end = Nanos(intervals.len() as u64 * SECOND);
    reading.close_with(end, GeneratorHealth::default())
}

/// Slow for twenty seconds, but less and less.
fn slow_at_first(second: u64) -> u64 {
    2 + second % 3 + 40 * (20_u64.saturating_sub(second)) / 20
}

#[test]
fn a_slow_beginning_is_left_out_of_every_number() {
    let info = info(Warmup::Auto);
    let intervals = intervals(&info, 100, slow_at_first);
    let found = summary(&info, &intervals);
    let cut = found.left_out();
    assert!((15..=25).contains(&(cut.0 / SECOND)), "{cut}");
    assert_eq!(found.settling, Some(Settling::At(cut)));
    assert_eq!(found.conservation(), Ok(()));
    assert_eq!(found.duration, Nanos(100 * SECOND) - cut);
    let counts = found.total.counts;
    // Requests that were due before the cut and ended after it are measured.
    let left = cut.0 / SECOND * REQUESTS - 1;
    assert_eq!(counts.ok, 100 * REQUESTS - left);
    assert_eq!(found.total.warmup.ok, left);
    let slowest = found.total.latency.response_time.max();
    assert!(slowest < Nanos::from_millis(15), "{slowest}");
    let steps: u64 = found.steps().iter().map(|step| step.counts.ok).sum();
    assert_eq!(steps, counts.ok);
    let rows = found.intervals();
    let in_warmup = rows.iter().filter(|row| row.warmup > 0).count() as u64;
    assert_eq!(in_warmup, cut.0 / SECOND);
    assert_eq!(rows.last().map(|row| row.in_flight), Some(0));
}

/// A run that is read back has an equal result.
#[test]
fn what_is_found_is_found_again() {
    let info = info(Warmup::Auto);
    let intervals = intervals(&info, 100, slow_at_first);
    let live = summary(&info, &intervals);
    let mut read = Reading::new(Arc::clone(&info), &[]);
    for interval in &intervals {
        let decoded = Interval::decode(&interval.encode(), &info.pools);
        read.absorb(&decoded.expect("what was encoded"));
    }
    let read = read.restore(live.ending(None));
    assert_eq!(
        (read.duration, read.settling),
        (live.duration, live.settling)
    );
    assert_eq!(read.total, live.total);
    assert_eq!(read.intervals(), live.intervals());
}

#[test]
fn a_run_that_does_not_settle_is_measured_whole() {
    let auto = info(Warmup::Auto);
    for (seconds, expected) in [(100, Settling::Never), (10, Settling::TooShort)] {
        let intervals = intervals(&auto, seconds, |second| 5 + second);
        let found = summary(&auto, &intervals);
        assert_eq!(found.settling, Some(expected));
        assert_eq!(found.total.counts.ok, seconds * REQUESTS);
        assert_eq!(found.left_out(), Nanos::ZERO);
        assert_eq!(found.duration, Nanos(seconds * SECOND));
    }
}

#[test]
fn nothing_is_sought_where_it_was_not_asked_for() {
    let fixed = info(Warmup::NONE);
    let found = summary(&fixed, &intervals(&fixed, 100, slow_at_first));
    assert_eq!((found.settling, found.left_out()), (None, Nanos::ZERO));
    assert_eq!(found.total.counts.ok, 100 * REQUESTS);
}
