//! Runs to store.

use drumfire_measure::{
    Interval, Leniencies, Model, Outcome, PoolInfo, Reading, RunInfo, Sample, Summary,
};
use drumfire_plan::Threshold;
use drumfire_store::{Beginning, Directory, Recording};
use drumfire_units::Nanos;
use std::path::Path;
use std::sync::Arc;

/// The rules of the plan, one of them over windows.
const RULES: [&str; 2] = ["p99<1s", "p50<1s over 2s"];

/// The facts of a run that began at this second, with one pool of one step and one of two steps.
pub(crate) fn info(began: u64) -> RunInfo {
    let pool = |name: &str, steps: &[&str], iterations| PoolInfo {
        intended_rate: Some(100.0),
        connections: 8,
        iterations,
        ..PoolInfo::new(name, Model::Open, steps.iter().copied())
    };
    RunInfo {
        id: "test".to_owned(),
        started_at_unix_ns: began * 1_000_000_000,
        seed: 1,
        version: "0".to_owned(),
        thresholds: RULES.iter().map(|rule| rule.parse().unwrap()).collect(),
        notes: vec!["a note".to_owned()],
        target: "http://127.0.0.1/".to_owned(),
        ..RunInfo::new(vec![
            pool("browse", &["all"], false),
            pool("buy", &["login", "pay"], true),
        ])
    }
}

/// The k-th request of a second; the sixth fails.
fn sample(start: Nanos, end: Nanos, k: u64) -> Sample {
    let fails = k == 5;
    Sample {
        intended: start,
        due: start,
        sent: start,
        first_byte: start + Nanos::from_millis(3),
        end,
        bytes_sent: 100,
        outcome: if fails {
            Outcome::HttpStatus
        } else {
            Outcome::Ok
        },
        leniencies: Leniencies::default(),
        bytes_received: 200,
        status: if fails { 503 } else { 200 },
        step: (k % 2) as u16,
    }
}

/// The n-th second of a run. Ten requests of each pool are due, and one fails. One request of the
/// first second stays in flight.
pub(crate) fn interval(info: &RunInfo, n: u64) -> Interval {
    let mut interval = Interval::of_pools(&info.pools);
    interval.index = n;
    interval.start = Nanos::from_secs(n);
    interval.end = Nanos::from_secs(n + 1);
    for pool in 0..2 {
        let figures = interval.pool_mut(pool);
        figures.record_intended(10);
        figures.under_way = i64::from(n == 0);
        for k in 0..(10 - u64::from(n == 0)) {
            let start = interval.start + Nanos::from_millis(90 * k);
            let sample = sample(start, start + Nanos::from_millis(5 + n), k);
            let figures = interval.pool_mut(pool);
            figures.record(&sample);
            if k == 5 {
                figures.record_error_detail(Outcome::HttpStatus, None, "503");
            }
        }
    }
    interval.health.wall = Nanos::from_secs(1);
    interval.sum_up();
    interval
}

/// The summary that a run of these intervals prints at its end.
pub(crate) fn summary(info: &RunInfo, intervals: &[Interval]) -> Summary {
    let rules: Vec<Threshold> = RULES.iter().map(|rule| rule.parse().unwrap()).collect();
    let mut reading = Reading::new(Arc::new(info.clone()), &rules);
    for interval in intervals {
        reading.absorb(interval);
    }
    reading.break_off();
    let duration = intervals.last().map_or(Nanos::ZERO, |last| last.end);
    reading.close(duration, 0.0)
}

/// Starts to store a run.
pub(crate) fn start_recording(path: &Path, info: &RunInfo) -> Recording {
    let beginning = Beginning {
        info,
        info_json: b"{}\n",
        plan: "drumfire: 1\n",
        caller: "flags",
    };
    Recording::create(Directory::create(path).unwrap(), beginning).unwrap()
}

/// The seconds of a run that ends with no request in flight.
pub(crate) fn intervals(info: &RunInfo, seconds: u64) -> Vec<Interval> {
    let mut intervals: Vec<Interval> = (0..seconds).map(|n| interval(info, n)).collect();
    let last = intervals.last_mut().unwrap();
    for pool in 0..2 {
        let end = last.end;
        let figures = last.pool_mut(pool);
        figures.record_in_flight(&sample(end - Nanos::from_millis(9), end, 0));
        figures.under_way -= 1;
    }
    last.sum_up();
    intervals
}

/// Stores a run of this number of seconds, with its end.
pub(crate) fn whole(path: &Path, seconds: u64) -> Summary {
    let info = info(0);
    let mut recording = start_recording(path, &info);
    let intervals = intervals(&info, seconds);
    for interval in &intervals {
        recording.interval(interval).unwrap();
    }
    let summary = summary(&info, &intervals);
    let directory = recording.finish(&summary.ending(None)).unwrap();
    directory.write_summary(b"{}\n").unwrap();
    summary
}
