//! Iterations of several requests have separate counts and times.

use crate::samples;
use drumfire_measure::{
    Figures, GeneratorHealth, Interval, IterationSample, Iterations, LoadAnswer, Model, Outcome,
    PoolInfo, Reading, Remedy, Spans, Summary,
};
use drumfire_plan::{Growth, Threshold};
use drumfire_units::Nanos;
use std::sync::Arc;

const SPAN: Nanos = Nanos::from_secs(10);

/// The spans of a run that lasted as long as its load.
const fn spans(load: Nanos) -> Spans {
    Spans {
        measured: load,
        load,
    }
}

fn ms(n: u64) -> Nanos {
    Nanos::from_millis(n)
}

/// A pool with an open model whose iterations consist of four requests.
fn pool() -> PoolInfo {
    PoolInfo {
        iterations: true,
        scenarios: vec!["look".into(), "buy".into()],
        intended_rate: Some(10.0),
        ..samples::run(Model::Open, &["log in", "look", "buy", "pay"])
            .pool()
            .clone()
    }
}

/// Records that an iteration ended `took` after its intended start.
fn record_iteration(figures: &mut Figures, took: Nanos, outcome: Outcome) {
    figures.record_iteration(&IterationSample {
        outcome,
        ..samples::iteration(u32::from(took >= ms(800)), ms(7), took)
    });
}

/// A hundred iterations of four requests: 90 were completed, 4 failed, 2 were in flight, 3 pending
/// and 1 dropped.
fn hundred() -> Interval {
    let mut interval = Interval::of_pools([&pool()]);
    let figures = &mut interval.total;
    figures.record_iterations_intended(100);
    for _ in 0..90 {
        record_iteration(figures, ms(800), Outcome::Ok);
    }
    for _ in 0..3 {
        record_iteration(figures, ms(20), Outcome::HttpStatus);
    }
    record_iteration(figures, ms(5_000), Outcome::TimeoutTotal);
    figures.record_iteration_in_flight(&samples::iteration(0, ms(7), ms(900)));
    figures.record_iteration_in_flight(&samples::iteration(1, ms(7), ms(1_100)));
    figures.record_iterations_pending(ms(400), 3);
    figures.record_iterations_dropped(1);
    for n in 0..4 * 90 {
        figures.record_intended(1);
        let step = (n % 4) as u16;
        let sample = samples::ok(ms(n), ms(200));
        figures.record(&drumfire_measure::Sample { step, ..sample });
    }
    interval.end = SPAN;
    interval.sum_up();
    interval
}

fn summary(interval: &Interval) -> Summary {
    summary_with(interval, &[])
}

/// A run of this interval alone.
fn summary_with(interval: &Interval, thresholds: &[Threshold]) -> Summary {
    let mut info = (*samples::run(Model::Open, &[])).clone();
    info.pools = vec![pool()];
    info.interval = SPAN;
    let info = Arc::new(info);
    let mut reading = Reading::new(info, thresholds);
    reading.absorb(interval);
    reading.close_with(SPAN, GeneratorHealth::default())
}

#[test]
fn the_books_are_those_of_requests_a_level_above() {
    let summary = summary(&hundred());
    let iterations = summary.total.iterations.as_ref().expect("a program");
    let counts = iterations.counts;
    assert_eq!((counts.intended, counts.sent, counts.ok), (100, 96, 90));
    assert_eq!((counts.failed, counts.timed_out), (4, 1));
    assert_eq!(
        (counts.in_flight, counts.pending, counts.dropped),
        (2, 3, 1)
    );
    assert_eq!(summary.conservation(), Ok(()));
    // The requests are counted separately.
    assert_eq!(summary.total.counts.sent, 360);
}

#[test]
fn a_time_whose_end_was_not_seen_is_a_lower_bound() {
    let interval = hundred();
    let iterations = interval.total.iterations.as_ref().expect("a program");
    // The completed ones, the one that timed out, two in flight and three pending.
    assert_eq!(iterations.time.count(), 96);
    assert_eq!(iterations.time.at_least_from(), Some(ms(400)));
    assert_eq!(iterations.time.max(), ms(5_000));
    assert_eq!(
        (iterations.failed.count(), iterations.failed.min()),
        (4, ms(20))
    );
}

/// Iterations that ended or were in flight also count for their scenario; the complete books belong
/// to the pool.
#[test]
fn scenarios_have_figures_of_their_own() {
    let interval = hundred();
    let [look, buy] = &*interval.total.scenarios else {
        panic!("two scenarios");
    };
    let counts = |of: &Iterations| (of.counts.sent, of.counts.ok, of.counts.failed);
    assert_eq!(counts(look), (4, 0, 3));
    assert_eq!(counts(buy), (92, 90, 1));
    assert_eq!((look.counts.in_flight, buy.counts.in_flight), (1, 1));
    assert_eq!((look.time.count(), buy.time.count()), (1, 92));
    assert_eq!((look.failed.max(), buy.time.max()), (ms(20), ms(5_000)));
    let all = interval.total.iterations.as_ref().unwrap();
    assert_eq!(look.counts.sent + buy.counts.sent, all.counts.sent);
}

#[test]
fn an_iteration_that_is_not_accounted_for_condemns_the_run() {
    let mut interval = hundred();
    interval.total.record_iterations_intended(1);
    let summary = summary(&interval);
    let text = &summary.verdict.reasons[0].text;
    let why = "for iterations, 101 intended is not 96 sent + 1 dropped + 3 pending";
    assert!(text.contains(why), "{text}");
}

#[test]
fn the_load_is_that_of_iterations() {
    let interval = hundred();
    let answer = LoadAnswer::judge(&pool(), &interval.total, spans(SPAN));
    // Every request that became due was sent; four of the iterations were not started.
    assert_eq!((answer.kept, answer.sent_share), (Some(false), 0.96));
    // 10 iterations/s × 360 requests ÷ 96 iterations × 0.2 s.
    assert_eq!(answer.connections_needed, Some(8));
    let summary = summary(&interval);
    assert_eq!(summary.load.sent_share, 0.96);
    assert_eq!(summary.intended_per_s(), Some(36.0));
}

/// Users that pause share connections, so fewer connections are open than there are users.
#[test]
fn users_of_several_requests_have_a_number() {
    let pool = PoolInfo {
        users: Some(5),
        growth: Growth::AsNeeded,
        intended_rate: Some(20.0),
        connections: 1_000,
        ..pool()
    };
    let mut interval = Interval::of_pools([&pool]);
    let figures = &mut interval.total;
    figures.record_iterations_intended(120);
    (0..30).for_each(|_| record_iteration(figures, ms(1_020), Outcome::Ok));
    for n in 0..60 {
        figures.record_intended(1);
        figures.record(&samples::ok(ms(100 * n), ms(10)));
    }
    figures.record_iterations_pending(Nanos::ZERO, 90);
    (0..2).for_each(|_| figures.connections.record_opened(Nanos(1)));
    interval.sum_up();
    let answer = LoadAnswer::judge(&pool, &interval.total, spans(Nanos::from_secs(6)));
    let text = "all 5 users were busy; about 20 are needed at this iteration time";
    let reasons: Vec<_> = answer.reasons.into_iter().collect();
    let [only] = &reasons[..] else {
        panic!("{reasons:?}");
    };
    assert_eq!(
        (&*only.text, &*only.remedies),
        (text, &[Remedy::Users(29)][..])
    );
}

#[test]
fn iterations_of_single_requests_take_nothing() {
    let mut plain = Interval::new(&pool().steps);
    plain.total.record_iterations_intended(1);
    record_iteration(&mut plain.total, ms(1), Outcome::Ok);
    let sample = samples::iteration(0, ms(0), ms(1));
    plain.total.record_iteration_in_flight(&sample);
    assert_eq!(plain, Interval::new(&pool().steps));
    assert!(plain.total.iterations.is_none());
}

#[test]
fn a_rule_may_be_about_iterations() {
    let rules = [
        ("iteration.p50<900ms", true, "800 ms"),
        ("iteration.max<2s", false, "≥ 5.00 s"),
        ("iteration.failed<5%", true, "4.17 %"),
        ("iteration.unsent<1%", false, "4.00 %"),
        ("iteration.dropped<=1%", true, "1.00 %"),
        ("iteration.rate>=9", true, "9.4/s"),
        ("main: iteration.p50<900ms", true, "800 ms"),
        (
            "iteration.rate>=9 over 10s",
            true,
            "9.4/s in the only window",
        ),
        (
            "iteration.max<2s over 1s",
            false,
            "≥ 5.00 s in the only window",
        ),
    ];
    let thresholds: Vec<Threshold> = rules.map(|(rule, ..)| rule.parse().unwrap()).to_vec();
    let summary = summary_with(&hundred(), &thresholds);
    for ((rule, passed, text), seen) in rules.iter().zip(&summary.thresholds) {
        assert_eq!(
            (seen.passed, &*seen.actual_text),
            (*passed, *text),
            "{rule}"
        );
    }
}

#[test]
fn a_rule_about_iterations_needs_some() {
    let rule: Threshold = "iteration.p50<900ms".parse().unwrap();
    let info = samples::run(Model::Open, &["all"]);
    let mut reading = Reading::new(Arc::clone(&info), &[rule]);
    reading.absorb(&samples::healthy(&info));
    let summary = reading.close_with(SPAN, GeneratorHealth::default());
    let seen = &summary.thresholds[0];
    assert!(!seen.passed);
    let why = "an iteration is a single request here; leave out `iteration.`";
    assert_eq!(seen.actual_text, why);
}
