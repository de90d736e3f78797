//! A timeline contains the run itself, in fewer and coarser parts.

use crate::merge::{Seen, names, record, seen};
use crate::samples::{self, failed, ok};
use drumfire_measure::{
    Interval, IntervalRow, Model, Outcome, Reading, Resolution, Rows, RunInfo, Timeline,
};
use drumfire_plan::Stage;
use drumfire_units::Nanos;
use proptest::prelude::*;
use std::sync::Arc;

const SECOND: Nanos = Nanos::from_secs(1);

/// Merges intervals, in the form of a run's interval.
fn merged(info: &RunInfo, intervals: impl Iterator<Item = Interval>) -> Interval {
    let mut sum = Interval::of_pools(&info.pools);
    intervals.for_each(|interval| sum.merge(&interval));
    sum
}

fn of_steps(interval: Nanos) -> Arc<RunInfo> {
    let mut info = Arc::unwrap_or_clone(samples::run(Model::Open, &["step 0", "step 1", "step 2"]));
    info.interval = interval;
    Arc::new(info)
}

/// Intervals of equal length, each with its records.
fn intervals(all: &[Vec<Seen>], length: Nanos) -> Vec<Interval> {
    let interval = |(index, all): (u64, &Vec<Seen>)| {
        let mut interval = Interval::new(&names(3));
        interval.reset(index, Nanos(index * length.0));
        interval.end = Nanos((index + 1) * length.0);
        all.iter().for_each(|seen| record(&mut interval, seen));
        interval.sum_up();
        interval
    };
    (0..).zip(all).map(interval).collect()
}

fn absorbed(info: &RunInfo, resolution: Resolution, intervals: &[Interval]) -> Timeline<Interval> {
    let mut timeline = Timeline::new(info, resolution);
    intervals.iter().for_each(|it| timeline.absorb(it));
    timeline
}

proptest! {
    #![proptest_config(samples::cases(24))]

    #[test]
    fn a_bounded_timeline_loses_nothing_in_any_order(
        all in prop::collection::vec(prop::collection::vec(seen(3), 0..4), 1..40),
        millis in prop::sample::select(vec![1, 30, 250, 1_000, 7_000, 90_000_000]),
        most in 1..12usize,
        swaps in prop::collection::vec((0..40usize, 0..40usize), 0..10),
    ) {
        let info = of_steps(Nanos::from_millis(millis));
        let mut parts = intervals(&all, info.interval);
        let whole = merged(&info, parts.iter().cloned());
        let in_order = absorbed(&info, Resolution::AtMost(most), &parts);
        prop_assert!(in_order.len() <= most);
        prop_assert_eq!(&merged(&info, in_order.cells()), &whole);
        let ends: Vec<_> = in_order.cells().map(|it| (it.start, it.end)).collect();
        prop_assert!(ends.windows(2).all(|pair| pair[0].1 == pair[1].0), "{:?}", ends);

        for (a, b) in swaps {
            let length = parts.len();
            parts.swap(a % length, b % length);
        }
        let shuffled = absorbed(&info, Resolution::AtMost(most), &parts);
        prop_assert_eq!(shuffled, in_order);
    }

    #[test]
    fn an_overview_has_the_rows_of_the_whole(
        all in prop::collection::vec(prop::collection::vec(seen(3), 0..4), 1..40),
        most in 1..12usize,
        swaps in prop::collection::vec((0..40usize, 0..40usize), 0..10),
    ) {
        let info = of_steps(SECOND);
        let mut parts = intervals(&all, info.interval);
        for (a, b) in swaps {
            let length = parts.len();
            parts.swap(a % length, b % length);
        }
        let whole = absorbed(&info, Resolution::AtMost(most), &parts);
        let mut overview = Timeline::of_run(&info, Resolution::AtMost(most));
        parts.iter().for_each(|it| overview.absorb(it));
        let (mut rows, mut same) = (Rows::new(&info), Rows::new(&info));
        let rows: Vec<_> = whole.cells().map(|cell| rows.next_row(&cell)).collect();
        let same: Vec<_> = overview.cells().map(|cell| same.next_row_of(&cell)).collect();
        prop_assert_eq!(rows, same);
    }
}

proptest! {
    #![proptest_config(samples::cases(3))]

    #[test]
    fn a_summary_is_the_sum_of_its_rows(
        all in prop::collection::vec(prop::collection::vec(seen(3), 0..2), 290..320),
    ) {
        let info = of_steps(SECOND);
        let mut reading = Reading::new(Arc::clone(&info), &[]);
        let mut interval = Interval::new(&names(3));
        for (second, all) in (0..).zip(&all) {
            interval.reset(second, Nanos::from_secs(second));
            interval.end = Nanos::from_secs(second + 1);
            all.iter().for_each(|seen| record(&mut interval, seen));
            interval.sum_up();
            reading.absorb(&interval);
        }
        let summary = reading.so_far();
        let rows = summary.intervals();
        prop_assert!(rows.len() <= 300);
        let sum = |of: fn(&IntervalRow) -> u64| rows.iter().map(of).sum::<u64>();
        let counts = &summary.total.counts;
        prop_assert_eq!(sum(|row| row.good), counts.ok);
        prop_assert_eq!(sum(|row| row.bad + row.failed), counts.failed);
        prop_assert_eq!(sum(|row| row.goal.unwrap_or(0)), counts.intended);
        prop_assert_eq!(sum(|row| row.dropped), counts.dropped);
        prop_assert_eq!(sum(|row| row.warmup), summary.total.warmup.finished());
        let longest = rows.iter().filter_map(|row| row.latency.max).map(|it| it.time).max();
        let times = &summary.total.latency.response_time;
        prop_assert_eq!(longest, times.quantile(1.0));
    }
}

/// A timeline of a run of this many seconds, with a dropped request in each.
fn of_seconds(info: &RunInfo, resolution: Resolution, seconds: u64) -> Timeline<Interval> {
    let mut timeline = Timeline::new(info, resolution);
    let mut interval = Interval::of_pools(&info.pools);
    for second in 0..seconds {
        interval.reset(second, Nanos::from_secs(second));
        interval.end = Nanos::from_secs(second + 1);
        interval.total.record_dropped(second);
        interval.sum_up();
        timeline.absorb(&interval);
    }
    timeline
}

#[test]
fn cells_are_coarse_by_their_age() {
    let info = samples::run(Model::Open, &["all"]);
    let timeline = of_seconds(&info, Resolution::ByAge, 4_000);
    let mut lengths = [0; 11];
    for it in timeline.cells() {
        let cell = Resolution::cell_by_age(&info, it.start, Nanos::from_secs(4_000));
        assert_eq!(cell, it.start);
        lengths[((it.end - it.start).0 / SECOND.0) as usize] += 1;
    }
    assert_eq!((lengths[10], lengths[1]), (40, 3_600));
    let two_days = Nanos::from_secs(2 * 86_400);
    let cell = |second| Resolution::cell_by_age(&info, Nanos::from_secs(second), two_days);
    assert_eq!(cell(3_659), Nanos::from_secs(3_600));
    assert_eq!(cell(90_009), Nanos::from_secs(90_000));
    assert_eq!(cell(172_799), Nanos::from_secs(172_799));
}

#[test]
fn how_a_run_was_stored_does_not_show_in_its_rows() {
    for (seconds, rows) in [(290, 290), (3_700, 185), (5_000, 250)] {
        let info = samples::run(Model::Open, &["all"]);
        let stored = of_seconds(&info, Resolution::ByAge, seconds);
        let live = of_seconds(&info, Resolution::AtMost(300), seconds);
        assert_eq!(live.len(), rows);
        let mut again = Timeline::new(&info, Resolution::AtMost(300));
        stored.cells().for_each(|it| again.absorb(&it));
        assert_eq!(again, live);
    }
}

#[test]
fn edges_part_a_run_where_they_lie() {
    let info = samples::run(Model::Open, &["all"]);
    let edges = Resolution::Edges([0, 3, 5].map(Nanos::from_secs).to_vec());
    let timeline = of_seconds(&info, edges, 9);
    let spans: Vec<_> = timeline.cells().map(|it| it.end - it.start).collect();
    assert_eq!(spans, [3, 2, 4].map(Nanos::from_secs));
}

#[test]
fn an_interval_without_length_belongs_to_the_one_before() {
    let info = samples::run(Model::Open, &["all"]);
    let mut timeline = of_seconds(&info, Resolution::AtMost(300), 3);
    let mut last = Interval::of_pools(&info.pools);
    last.reset(3, Nanos::from_secs(3));
    last.total.record_dropped(5);
    last.sum_up();
    timeline.absorb(&last);
    let all: Vec<_> = timeline.cells().collect();
    assert_eq!(all.len(), 3);
    assert_eq!(
        (all[2].end, all[2].total.counts.dropped),
        (Nanos::from_secs(3), 7)
    );
}

/// The row of one interval of an open run with these records.
fn row(fill: impl FnOnce(&mut Interval)) -> IntervalRow {
    let info = samples::run(Model::Open, &["all"]);
    let mut interval = Interval::new(&info.pool().steps);
    interval.reset(4, Nanos::from_secs(4));
    interval.end = Nanos::from_secs(5);
    fill(&mut interval);
    interval.sum_up();
    Rows::new(&info).next_row(&interval)
}

#[test]
fn failures_are_told_apart_by_whether_an_answer_came() {
    let row = row(|interval| {
        let total = &mut interval.total;
        total.record_intended(10);
        let ms = Nanos::from_millis;
        (1..=3).for_each(|n| total.record(&ok(ms(1), ms(n))));
        for outcome in [
            Outcome::HttpStatus,
            Outcome::AssertBody,
            Outcome::GrpcUnavailable,
            Outcome::ConnectRefused,
            Outcome::TimeoutTotal,
            Outcome::RedirectLimit,
        ] {
            total.record(&failed(ms(1), ms(7), outcome));
        }
        total.under_way = 1;
    });
    assert_eq!((row.good, row.bad, row.failed), (3, 3, 3));
    assert_eq!((row.checks_failed, row.in_flight), (1, 1));
    assert_eq!((row.goal, row.goal_share()), (Some(10), Some(0.6)));
    assert_eq!(row.ended_per_s(), 9.0);
    assert_eq!(row.started_at_unix_ns, 4_000_000_000);
    let max = row.latency.max.expect("there are times");
    assert_eq!((max.time, max.is_at_least), (Nanos::from_millis(7), true));
    assert_eq!(row.latency.p99, None, "four times are too few");
}

#[test]
fn rows_tell_what_is_under_way_and_what_changed() {
    let info = samples::run(Model::Closed, &["all"]);
    let mut rows = Rows::new(&info);
    // The minimum that supports a p99, to which a mark refers.
    let mut next = |under_way: i64, time: Nanos, count: u32| {
        let mut interval = Interval::new(&info.pool().steps);
        interval.total.under_way = under_way;
        for _ in 0..count {
            interval.total.record(&ok(Nanos::ZERO, time));
        }
        interval.sum_up();
        let row = rows.next_row(&interval);
        (row.in_flight, row.change.mark(), row.goal)
    };
    let ms = Nanos::from_millis;
    assert_eq!(next(3, ms(1), 400), (3, "", None));
    assert_eq!(next(2, ms(100), 400), (5, "++", None));
    assert_eq!(next(-5, ms(2), 400), (0, "-", None));
    assert_eq!(next(0, ms(5_000), 10), (0, "", None));
}

/// Each of several steps has separate rows, which add up to its figures.
#[test]
fn steps_have_timelines() {
    let info = of_steps(SECOND);
    let mut reading = Reading::new(Arc::clone(&info), &[]);
    let mut interval = Interval::new(&names(3));
    for second in 0..500 {
        interval.reset(second, Nanos::from_secs(second));
        interval.end = Nanos::from_secs(second + 1);
        for step in 0..3 {
            let mut sample = ok(interval.start, Nanos::from_millis(u64::from(step) + 1));
            sample.step = step;
            interval.total.record(&sample);
        }
        interval.sum_up();
        reading.absorb(&interval);
    }
    let summary = reading.so_far();
    for step in 0..3 {
        let rows = summary.intervals_of_step(0, step, usize::MAX).unwrap();
        assert!((150..=300).contains(&rows.len()), "{}", rows.len());
        let ended: u64 = rows.iter().map(|row| row.good).sum();
        assert_eq!(ended, summary.total.steps[step].counts.ok);
        let slowest = rows.iter().filter_map(|row| row.latency.max);
        let slowest = slowest.map(|it| it.time).max();
        assert_eq!(
            slowest,
            summary.total.steps[step].response_time.quantile(1.0)
        );
    }
    assert_eq!(summary.intervals_of_step(0, 3, usize::MAX), None);
}

#[test]
fn stages_are_the_parts_of_a_run() {
    let mut info = Arc::unwrap_or_clone(samples::run(Model::Open, &["all"]));
    let stage = |name: &str, start| Stage {
        name: name.to_owned(),
        start: Nanos::from_millis(start),
    };
    // The second stage begins within an interval, and the last one never.
    info.pools[0].stages = vec![stage("1/s", 0), stage("2/s", 1_500), stage("3/s", 9_000)];
    let mut interval = Interval::of_pools(&info.pools);
    let mut reading = Reading::new(Arc::new(info), &[]);
    for second in 0..5 {
        interval.reset(second, Nanos::from_secs(second));
        interval.end = Nanos::from_secs(second + 1);
        interval.total.record_intended(10);
        interval
            .total
            .record(&ok(interval.start, Nanos::from_millis(second)));
        interval.sum_up();
        reading.absorb(&interval);
    }
    let stages = reading.so_far().stages();
    let told: Vec<_> = stages
        .iter()
        .map(|it| {
            (
                &*it.stage.name,
                it.row.start.0 / SECOND.0,
                it.row.good,
                it.row.goal,
            )
        })
        .collect();
    assert_eq!(told, [("1/s", 0, 2, Some(20)), ("2/s", 2, 3, Some(30))]);
}
