//! The counts of a run add up, and its figures are its intervals' sums.

use crate::samples::{self, healthy};
use drumfire_measure::{Interval, Model, PoolInfo, Reading, RunInfo, Summary, Validity};
use drumfire_units::Nanos;
use proptest::prelude::*;
use std::sync::Arc;

/// Closes the books over these intervals.
fn finish(info: &Arc<RunInfo>, intervals: &[Interval]) -> Summary {
    let mut reading = Reading::new(info.clone(), &[]);
    for interval in intervals {
        reading.absorb(interval);
    }
    reading.close(Nanos::from_secs(10), 0.0)
}

proptest! {
    #![proptest_config(samples::cases(24))]

    #[test]
    fn the_books_balance_exactly(
        all in prop::collection::vec((samples::any_sample(1), 0..4usize), 1..200),
        dropped in 0..1000u64,
        pending in 0..1000u64,
        in_flight in 0..100u64,
    ) {
        let info = samples::run(Model::Open, &["all"]);
        let mut intervals = vec![Interval::new(&info.pool().steps); 4];
        for (sample, worker) in &all {
            intervals[*worker].total.record_intended(1);
            intervals[*worker].total.record(sample);
        }
        intervals[0].total.record_intended(dropped + pending + in_flight);
        intervals[3].total.record_dropped(dropped);
        intervals[1].total.record_pending(0, Nanos(7), pending);
        for _ in 0..in_flight {
            intervals[2].total.record_in_flight(&samples::ok(Nanos(1), Nanos(2)));
        }
        let summary = finish(&info, &intervals);
        prop_assert_eq!(summary.conservation(), Ok(()));
        prop_assert_eq!(summary.total.counts.sent, all.len() as u64 + in_flight);
        prop_assert_eq!(summary.achieved_per_s(), all.len() as f64 / 10.0);

        let mut lost = summary.clone();
        lost.total.counts.intended += 1;
        prop_assert!(lost.conservation().unwrap_err().contains("intended is not"));
        let mut lost = summary;
        lost.total.counts.failed += 1;
        prop_assert!(lost.conservation().unwrap_err().contains("sent is not"));
    }
}

#[test]
fn books_that_do_not_balance_condemn_the_run() {
    let info = samples::run(Model::Open, &["all"]);
    let mut interval = healthy(&info);
    interval.total.record_intended(1);
    let summary = finish(&info, &[interval]);
    assert_eq!(summary.verdict.validity, Validity::Invalid);
    assert!(
        summary.verdict.reasons[0]
            .text
            .contains("1001 intended is not 1000 sent")
    );
}

#[test]
fn the_only_step_is_the_total() {
    let info = samples::run(Model::Open, &["all"]);
    let summary = finish(&info, &[healthy(&info)]);
    let steps = summary.steps();
    assert_eq!(steps.len(), 1);
    assert_eq!(&*steps[0].name, "all");
    assert_eq!(steps[0].counts, summary.total.counts);
    assert_eq!(steps[0].response_time, summary.total.latency.response_time);
    assert_eq!(steps[0].status.get(200), 1000);
}

#[test]
fn the_intended_rate_is_the_plan_s_or_what_became_due() {
    let info = samples::run(Model::Open, &["all"]);
    let summary = finish(&info, &[healthy(&info)]);
    assert_eq!(summary.intended_per_s(), Some(100.0));
    let mut planned = (*info).clone();
    planned.pools[0].intended_rate = Some(123.0);
    let planned = Arc::new(planned);
    let summary = finish(&planned, &[healthy(&info)]);
    assert_eq!(summary.intended_per_s(), Some(123.0));
    let info = samples::run(Model::Closed, &["all"]);
    let summary = finish(&info, &[healthy(&info)]);
    assert_eq!(summary.intended_per_s(), None);
}

/// The drain after the load requests nothing.
#[test]
fn the_intended_rate_is_that_of_the_load() {
    let info = samples::run(Model::Open, &["all"]);
    let mut reading = Reading::new(info.clone(), &[]);
    reading.absorb(&healthy(&info));
    reading.end_load(Nanos::from_secs(8));
    let summary = reading.close(Nanos::from_secs(10), 0.0);
    assert_eq!(summary.intended_per_s(), Some(125.0));
    assert_eq!(summary.achieved_per_s(), 100.0);
    let mut early = Reading::new(info.clone(), &[]);
    early.absorb(&healthy(&info));
    early.end_load(Nanos::ZERO);
    let summary = early.close(Nanos::from_secs(10), 0.0);
    assert_eq!(summary.intended_per_s(), None);
}

#[test]
fn an_ending_and_the_intervals_make_the_summary_again() {
    let info = samples::run(Model::Open, &["all"]);
    let intervals = [healthy(&info), healthy(&info)];
    let mut summary = finish(&info, &intervals);
    summary.generator.steal_share = 0.0;
    Arc::make_mut(&mut summary.info)
        .notes
        .push("a signal".to_owned());
    let mut again = Reading::new(info, &[]);
    for interval in &intervals {
        again.absorb(interval);
    }
    assert_eq!(again.restore(summary.ending(Some(7))), summary);
}

#[test]
fn the_books_of_a_record_that_breaks_off_are_balanced() {
    let pool = |name: &str, steps: &[&str]| PoolInfo {
        name: name.to_owned(),
        ..samples::run(Model::Open, steps).pool().clone()
    };
    let mut info = (*samples::run(Model::Open, &["all"])).clone();
    info.pools = vec![pool("one", &["all"]), pool("two", &["login", "search"])];
    let info = Arc::new(info);
    let mut interval = Interval::of_pools(&info.pools);
    for pool in 0..2 {
        let figures = interval.pool_mut(pool);
        figures.record_intended(20);
        figures.record_dropped(1);
        for n in 0..10 {
            figures.record(&samples::ok(Nanos(n), Nanos::from_millis(1)));
        }
        figures.under_way = 4;
    }
    interval.sum_up();
    let mut reading = Reading::new(Arc::clone(&info), &[]);
    reading.absorb(&interval);
    assert!(reading.so_far().conservation().is_err());
    reading.break_off();
    reading.break_off();
    let summary = reading.so_far();
    assert_eq!(summary.conservation(), Ok(()));
    for (_, figures) in summary.pools() {
        let counts = figures.counts;
        assert_eq!((counts.sent, counts.in_flight, counts.pending), (14, 4, 5));
    }
    let total = summary.total.counts;
    assert_eq!(
        (total.intended, total.in_flight, total.pending),
        (40, 8, 10)
    );
}
