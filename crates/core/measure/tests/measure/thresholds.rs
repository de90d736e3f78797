//! Thresholds on merged data: whole runs, steps, and every sliding window.

use crate::samples;
use drumfire_measure::{Certainty, Histogram, Interval, Model, Outcome, Reading, ThresholdResult};
use drumfire_plan::{Comparison, Metric, Role, Threshold, Times};
use drumfire_units::Nanos;
use proptest::prelude::*;

fn ms(n: u64) -> Nanos {
    Nanos::from_millis(n)
}

fn threshold(metric: Metric, comparison: Comparison, bound: f64) -> Threshold {
    Threshold {
        expression: "as written".to_owned(),
        metric,
        comparison,
        bound,
        window: None,
        role: Role::Rule,
    }
}

/// Runs these intervals, a second each, and returns the result of each threshold.
fn fates(model: Model, intervals: &[Interval], thresholds: &[Threshold]) -> Vec<ThresholdResult> {
    let info = samples::run(model, &STEPS);
    let mut reading = Reading::new(info, thresholds);
    for mut interval in intervals.iter().cloned() {
        interval.sum_up();
        reading.absorb(&interval);
    }
    let duration = Nanos::from_secs(intervals.len() as u64);
    reading.close(duration, 0.0).thresholds
}

/// The seconds since the run's start at whose end these thresholds end a run of these intervals;
/// and their results, if the run continues to the last interval.
fn ends(intervals: &[Interval], thresholds: &[Threshold]) -> (Vec<u64>, Vec<ThresholdResult>) {
    let info = samples::run(Model::Open, &STEPS);
    let mut reading = Reading::new(info, thresholds);
    let mut ends = Vec::new();
    for mut interval in intervals.iter().cloned() {
        interval.sum_up();
        reading.absorb(&interval);
        if reading.ends_run(interval.end) {
            ends.push(interval.end.0 / 1_000_000_000);
        }
    }
    let duration = Nanos::from_secs(intervals.len() as u64);
    (ends, reading.close(duration, 0.0).thresholds)
}

/// A second of ten requests, of which `failed` failed.
fn failing(number: u64, failed: u64) -> Interval {
    let mut interval = interval(number);
    for n in 0..10 {
        let sample = match n < failed {
            true => samples::failed(ms(0), ms(10), Outcome::TimeoutTotal),
            false => samples::ok(ms(0), ms(10)),
        };
        interval.total.record_intended(1);
        interval.total.record(&sample);
    }
    interval
}

#[test]
fn a_threshold_ends_the_run_once_and_keeps_its_figure() {
    // Half of the third second fails, and nothing after it.
    let intervals: Vec<_> = (0..8).map(|n| failing(n, 5 * u64::from(n == 2))).collect();
    let rule = |text: &str| text.parse::<Threshold>().expect("a rule");
    let condition = |text: &str| Threshold::abort_on(text).expect("a condition");

    let (at, fates) = ends(&intervals, &[rule("failed<10% abort"), rule("failed<10%")]);
    assert_eq!(at, [3]);
    assert_eq!(fates[0].ended_run_at, Some(Nanos::from_secs(3)));
    assert!(!fates[0].passed, "as it was when it ended the run");
    assert_eq!(fates[0].actual, Some(5.0 / 30.0));
    assert!(fates[1].passed, "5 of 80 in the whole");

    let (at, fates) = ends(&intervals, &[condition("failed>20% over 2s")]);
    assert_eq!(
        (at, fates[0].passed, fates[0].is_condition),
        (vec![3], false, true)
    );
    let (at, fates) = ends(&intervals, &[condition("failed>20% over 2s after 4s")]);
    assert_eq!(
        (at, fates[0].passed),
        (vec![4], false),
        "the window from 2 s on"
    );
    let (at, fates) = ends(&intervals, &[condition("failed>20% over 2s after 5s")]);
    assert_eq!(
        (at, fates[0].passed),
        (vec![], true),
        "it was bad before that"
    );
    let (at, fates) = ends(&intervals, &[rule("failed<20% over 2s abort after 5s")]);
    assert_eq!(
        (at, fates[0].passed),
        (vec![], false),
        "a rule holds all the time"
    );
    let (at, fates) = ends(&intervals, &[condition("failed>25% over 2s")]);
    assert_eq!((at, fates[0].passed), (vec![], true));
    let (at, fates) = ends(&intervals, &[condition("failed>20% over 20s")]);
    assert_eq!(
        (at, fates[0].passed),
        (vec![], true),
        "never a whole window"
    );
    let (at, fates) = ends(&intervals, &[Threshold::failures_above(4)]);
    assert_eq!((at, fates[0].passed), (vec![3], false));
    assert_eq!(fates[0].actual_text, "5");
    let (at, fates) = ends(&intervals, &[Threshold::failures_above(5)]);
    assert_eq!((at, fates[0].passed), (vec![], true));
    let (at, fates) = ends(&intervals, &[rule("p99.9<1s abort")]);
    assert_eq!(at, [], "too few samples to tell is no reason to end");
    assert!(!fates[0].passed);
}

const STEPS: [&str; 2] = ["login", "search"];

fn interval(second: u64) -> Interval {
    let info = samples::run(Model::Open, &STEPS);
    let mut interval = Interval::new(&info.pool().steps);
    interval.reset(second, Nanos::from_secs(second));
    interval.end = Nanos::from_secs(second + 1);
    interval
}

/// One second: 1000 requests of 1 to 1000 ms, half of them by each step, the ones of `search` sent
/// 2 ms late; 10 more failed.
fn second(number: u64) -> Interval {
    let mut interval = interval(number);
    for n in 1..=1000 {
        let step = u16::from(n % 2 == 0);
        let mut sample = samples::late(ms(n), ms(2 * u64::from(step)), ms(n));
        sample.step = step;
        interval.total.record_intended(1);
        interval.total.record(&sample);
    }
    for n in 0..10 {
        let mut sample = samples::failed(ms(n), ms(1), Outcome::HttpStatus);
        sample.status = 500;
        interval.total.record_intended(1);
        interval.total.record(&sample);
    }
    interval.total.record_intended(10);
    interval.total.record_dropped(10);
    interval
        .total
        .connections
        .record_opened(Nanos::from_micros(90));
    interval
}

#[test]
fn each_metric_looks_at_its_own_figure() {
    use Comparison::{AtLeast, AtMost, Equal, Greater, Less, NotEqual};
    let step = |name: &str, metric| Metric::Step(name.to_owned(), Box::new(metric));
    let of = |times, metric| Metric::Of(times, Box::new(metric));
    let lag = |metric| of(Times::Lag, metric);
    let table = [
        (Metric::Quantile(0.99), Less, 1e9, true, "991 ms"),
        (Metric::Quantile(0.99), Less, 50e6, false, "991 ms"),
        (Metric::Mean, AtMost, 501.5e6, true, "502 ms"),
        (Metric::Min, Equal, 1e6, true, "1.00 ms"),
        (Metric::Max, Greater, 1002e6, false, "1.00 s"),
        (Metric::Max, AtLeast, 1002e6, true, "1.00 s"),
        (Metric::Rate, AtLeast, 1010.0, true, "1,010/s"),
        (Metric::Rate, Greater, 1010.0, false, "1,010/s"),
        (Metric::Failed, Less, 0.01, true, "0.99 %"),
        (Metric::Failed, Less, 0.009, false, "0.99 %"),
        (Metric::Status(500), Equal, 0.0, false, "20"),
        (Metric::Status(503), Equal, 0.0, true, "0"),
        (Metric::Status(200), NotEqual, 0.0, true, "2,000"),
        (lag(Metric::Quantile(0.99)), Less, 1e6, false, "2.00 ms"),
        (lag(Metric::Mean), Less, 1e6, true, "990 µs"),
        (of(Times::FirstByte, Metric::Max), Less, 1e9, true, "500 ms"),
        (of(Times::Connect, Metric::Max), Less, 1e6, true, "90.0 µs"),
        (of(Times::Service, Metric::Max), Less, 1e9, false, "1.00 s"),
        (
            of(Times::Response, Metric::Min),
            Equal,
            1e6,
            true,
            "1.00 ms",
        ),
        (Metric::TimedOut, Equal, 0.0, true, "0 %"),
        (Metric::StatusClass(5), Equal, 20.0, true, "20"),
        (Metric::StatusClass(4), Equal, 0.0, true, "0"),
        (Metric::StatusClass(2), NotEqual, 2000.0, false, "2,000"),
        (Metric::Dropped, Less, 0.01, true, "0.98 %"),
        (Metric::Unsent, Less, 0.01, true, "0.98 %"),
        (step("login", Metric::Max), Equal, 999e6, true, "999 ms"),
        (step("login", Metric::Rate), Equal, 510.0, true, "510/s"),
        (step("login", Metric::Status(500)), Equal, 20.0, true, "20"),
        (
            step("login", of(Times::Service, Metric::Max)),
            Equal,
            999e6,
            true,
            "999 ms",
        ),
        (step("search", Metric::Failed), Equal, 0.0, true, "0 %"),
    ];
    let thresholds: Vec<_> = table
        .iter()
        .map(|(metric, comparison, bound, ..)| threshold(metric.clone(), *comparison, *bound))
        .collect();
    let seen = fates(Model::Open, &[second(0), second(1)], &thresholds);
    for ((metric, comparison, bound, passed, text), seen) in table.iter().zip(&seen) {
        let name = format!("{metric:?} {comparison:?} {bound}");
        assert_eq!(seen.passed, *passed, "{name}: {}", seen.actual_text);
        assert_eq!(seen.actual_text, *text, "{name}");
        assert_eq!(seen.expression, "as written");
    }
}

#[test]
fn what_waits_at_the_end_is_unsent_and_not_dropped() {
    let mut last = second(0);
    last.total.record_intended(480);
    last.total.record_pending(0, ms(1), 480);
    let rules = [Metric::Dropped, Metric::Unsent];
    let rules = rules.map(|metric| threshold(metric, Comparison::Less, 1.0));
    let seen = fates(Model::Open, &[last], &rules);
    let texts: Vec<_> = seen.iter().map(|seen| seen.actual_text.as_str()).collect();
    assert_eq!(texts, ["0.67 %", "32.7 %"]);
    let nothing = fates(Model::Open, &[interval(0)], &rules);
    assert!(
        nothing
            .iter()
            .all(|fate| fate.actual_text == "no request was due")
    );
}

#[test]
fn a_rule_may_be_about_one_of_several_pools() {
    let mut info = (*samples::run(Model::Open, &STEPS)).clone();
    info.pools[0].name = "browse".to_owned();
    info.pools.push(drumfire_measure::PoolInfo {
        name: "buy".to_owned(),
        model: Model::Closed,
        steps: vec!["pay".into()],
        ..info.pools[0].clone()
    });
    let info = std::sync::Arc::new(info);
    let rules = [
        ("browse: max<=1002ms", "1.00 s"),
        ("buy: max==7ms", "7.00 ms"),
        ("browse/login: max==999ms", "999 ms"),
        ("buy/pay: max==7ms", "7.00 ms"),
        ("step(pay).max==7ms", "7.00 ms"),
        ("rate==1011", "1,011/s"),
        ("buy: rate>0 over 1s", "1/s in the only window"),
        ("browse: max>0 over 1s", "1.00 s in the only window"),
        (
            "buy/login: max>0",
            "pool `buy` has no step `login`; the steps are pay",
        ),
        (
            "sell: max>0 over 1s",
            "the plan has no pool `sell`; the pools are buy, browse",
        ),
        (
            "max>0",
            "the pools have different models; name one pool, as in POOL: p99<50ms",
        ),
    ];
    let thresholds: Vec<Threshold> = rules.map(|(rule, _)| rule.parse().unwrap()).to_vec();
    let mut run = Interval::of_pools(&info.pools);
    run.end = Nanos::from_secs(1);
    *run.pool_mut(0) = second(0).total;
    run.pool_mut(1).record_intended(1);
    run.pool_mut(1).record(&samples::late(ms(1), ms(3), ms(7)));
    run.sum_up();
    let mut reading = Reading::new(info, &thresholds);
    reading.absorb(&run);
    let summary = reading.close(Nanos::from_secs(1), 0.0);
    for ((rule, text), seen) in rules.iter().zip(&summary.thresholds) {
        assert_eq!(seen.actual_text, *text, "{rule}");
        assert_eq!(seen.passed, seen.actual.is_some(), "{rule}");
    }
}

#[test]
fn the_model_says_which_time_is_the_latency() {
    let max = [threshold(Metric::Max, Comparison::Equal, 0.0)];
    let actual = |model| fates(model, &[second(0)], &max)[0].actual;
    assert_eq!(actual(Model::Open), Some(1002e6));
    assert_eq!(actual(Model::Closed), Some(1000e6));
}

#[test]
fn what_cannot_be_evaluated_fails_and_says_why() {
    let step = |name: &str, metric| Metric::Step(name.to_owned(), Box::new(metric));
    let lag = Metric::Of(Times::Lag, Box::new(Metric::Mean));
    let table = [
        (
            Metric::Quantile(0.9999),
            "p99.99 needs 36,887 samples, but there were only 1,000",
        ),
        (
            step("logout", Metric::Mean),
            "the plan has no step `logout`; the steps are login, search",
        ),
        (step("login", lag), "it is not recorded for each step"),
        (
            Metric::Of(Times::Lag, Box::new(Metric::Rate)),
            "it is not a time",
        ),
        (
            Metric::Pool("orders".to_owned(), Box::new(Metric::Mean)),
            "the plan has no pool `orders`; the pools are main",
        ),
    ];
    for (metric, why) in table {
        // The rule would pass with any figure.
        let always = [threshold(metric, Comparison::AtLeast, 0.0)];
        let seen = &fates(Model::Open, &[second(0)], &always)[0];
        assert!(!seen.passed);
        assert_eq!(seen.actual, None);
        assert_eq!(seen.actual_text, why);
    }
    let always = [threshold(Metric::Mean, Comparison::AtLeast, 0.0)];
    let seen = &fates(Model::Open, &[interval(0)], &always)[0];
    assert_eq!(
        (seen.passed, &*seen.actual_text),
        (false, "there were no samples")
    );
}

/// A second of a hundred requests of 10 ms, of which `count` were given up after 40 ms.
fn given_up(number: u64, count: u64) -> Interval {
    let mut second = interval(number);
    for n in 0..100 {
        let sample = match n < count {
            true => samples::failed(ms(n), ms(40), Outcome::TimeoutTotal),
            false => samples::ok(ms(n), ms(10)),
        };
        second.total.record_intended(1);
        second.total.record(&sample);
    }
    second
}

#[test]
fn a_rule_never_passes_on_a_lower_bound() {
    let rule = |text: &str| text.parse::<Threshold>().expect("a rule");
    let rules = [
        (
            "p90<50ms",
            false,
            "≥ 40.0 ms, a lower bound, which can't decide the rule",
        ),
        ("p95<39ms", false, "≥ 40.0 ms"),
        ("p50<50ms", true, "10.0 ms"),
        ("p90>=40ms", true, "≥ 40.0 ms"),
        (
            "avg<20ms",
            false,
            "≥ 16.0 ms, a lower bound, which can't decide the rule",
        ),
        (
            "max==40ms",
            false,
            "≥ 40.0 ms, a lower bound, which can't decide the rule",
        ),
        ("min<11ms", true, "10.0 ms"),
    ];
    let texts: Vec<_> = rules.iter().map(|(text, ..)| rule(text)).collect();
    let seen = fates(Model::Open, &[given_up(0, 20)], &texts);
    for ((text, passed, actual), seen) in rules.iter().zip(seen) {
        assert_eq!(
            (seen.passed, &*seen.actual_text),
            (*passed, *actual),
            "{text}"
        );
        assert_eq!(
            seen.certainty == Certainty::AtLeast,
            actual.starts_with('≥'),
            "{text}"
        );
    }
    // Requests that were due and never sent have waited at least this long.
    let mut unsent = given_up(0, 0);
    unsent.total.record_pending(0, ms(40), 25);
    let seen = &fates(Model::Open, &[unsent], &[rule("p90<50ms")])[0];
    assert!(!seen.passed, "{}", seen.actual_text);
}

#[test]
fn a_window_with_a_lower_bound_lets_no_rule_pass_and_ends_nothing() {
    let seconds = [given_up(0, 0), given_up(1, 20), given_up(2, 0)];
    let rule = |text: &str| text.parse::<Threshold>().expect("a rule");
    let seen = fates(Model::Open, &seconds, &[rule("p90<50ms over 1s")]);
    assert_eq!(
        (seen[0].passed, &*seen[0].actual_text),
        (
            false,
            "≥ 40.0 ms in the worst of 3 windows, 0 failed, 1 undecided: a lower bound, which \
             can't decide the rule"
        )
    );
    for text in ["p95<50ms over 1s abort", "p95<50ms abort"] {
        let (at, seen) = ends(&seconds[..2], &[rule(text)]);
        assert_eq!((at, seen[0].passed), (vec![], false), "{text}");
    }
    let (at, _) = ends(&seconds, &[rule("p90<30ms over 1s abort")]);
    assert_eq!(at, [2]);
    let condition = |text: &str| Threshold::abort_on(text).expect("a condition");
    let (at, seen) = ends(&seconds, &[condition("p90>50ms over 1s")]);
    assert_eq!((at, seen[0].passed), (vec![], true), "it may not have come");
    let (at, _) = ends(&seconds, &[condition("p90>30ms over 1s")]);
    assert_eq!(at, [2]);
}

#[test]
fn too_few_samples_do_where_the_greatest_is_below_the_bound() {
    let few = |number, took| {
        let mut few = interval(number);
        for n in 0..50 {
            few.total.record_intended(1);
            few.total.record(&samples::ok(ms(n), took));
        }
        few
    };
    let rule = |text: &str| text.parse::<Threshold>().expect("a rule");
    let rules = [
        rule("p95<100ms"),
        rule("p95<5ms"),
        rule("p95>1ms"),
        rule("p95<100ms over 1s"),
    ];
    let seen = fates(Model::Open, &[few(0, ms(5))], &rules);
    assert_eq!(
        (seen[0].passed, seen[0].certainty, &*seen[0].actual_text),
        (
            true,
            Certainty::AtMost,
            "≤ 5.00 ms (p95 needs 72 samples, but there were only 50)"
        )
    );
    for seen in &seen[1..3] {
        let why = "p95 needs 72 samples, but there were only 50";
        assert_eq!(
            (seen.passed, seen.actual, &*seen.actual_text),
            (false, None, why)
        );
    }
    assert_eq!(
        (seen[3].passed, &*seen[3].actual_text),
        (true, "≤ 5.00 ms in the only window")
    );
    // A single window above the bound with too few samples makes the result unknown.
    let seconds = [few(0, ms(5)), few(1, ms(200)), few(2, ms(5))];
    let seen = fates(Model::Open, &seconds, &rules[3..]);
    assert!(!seen[0].passed, "{}", seen[0].actual_text);
    // If some windows have enough samples, the windows with too few are skipped.
    let seconds = [few(0, ms(200)), given_up(1, 0)];
    let seen = fates(Model::Open, &seconds, &rules[3..]);
    assert!(seen[0].passed, "{}", seen[0].actual_text);
    // A request without an end may have taken longer.
    let mut cut = few(0, ms(5));
    cut.total
        .record(&samples::failed(ms(0), ms(4), Outcome::TimeoutTotal));
    let seen = fates(Model::Open, &[cut], &rules[..1]);
    assert!(!seen[0].passed);
    // No single slow request ends a run.
    let (at, _) = ends(&[few(0, ms(200))], &[rule("p95<100ms abort")]);
    assert_eq!(at, []);
}

#[test]
fn a_bad_minute_fails_although_the_run_is_good() {
    let mut slow = interval(5);
    for n in 0..1000 {
        slow.total.record_intended(1);
        slow.total.record(&samples::ok(ms(n), ms(90)));
    }
    let mut intervals: Vec<_> = (0..10)
        .map(|number| {
            let mut fast = interval(number);
            for n in 0..1000 {
                fast.total.record_intended(1);
                fast.total.record(&samples::ok(ms(n), ms(10)));
            }
            fast
        })
        .collect();
    intervals[5] = slow;
    let whole = threshold(Metric::Quantile(0.5), Comparison::Less, 50e6);
    let windowed = |seconds| Threshold {
        window: Some(Nanos::from_secs(seconds)),
        ..whole.clone()
    };
    let rules = [whole.clone(), windowed(1), windowed(3), windowed(11)];
    let seen = fates(Model::Open, &intervals, &rules);
    assert!(seen[0].passed);
    assert!(!seen[1].passed);
    assert_eq!(
        seen[1].actual_text,
        "90.0 ms in the worst of 10 windows, 1 failed"
    );
    assert!(seen[2].passed, "the median of three seconds is good");
    assert_eq!(
        seen[2].actual_text,
        "10.0 ms in the worst of 8 windows, 0 failed"
    );
    assert!(!seen[3].passed);
    assert_eq!(seen[3].actual_text, "the run was shorter than the window");
}

/// Six seconds and the following drain have five windows of two seconds; requests that ended in the
/// drain belong to the last window.
#[test]
fn the_rest_of_a_run_is_no_window() {
    let rule = [Threshold {
        window: Some(Nanos::from_secs(2)),
        ..threshold(Metric::Max, Comparison::Less, 50e6)
    }];
    let second = |number, took| {
        let mut second = interval(number);
        second.total.record_intended(1);
        second.total.record(&samples::ok(ms(0), took));
        second
    };
    let mut intervals: Vec<Interval> = (0..6).map(|number| second(number, ms(10))).collect();
    let mut rest = second(6, ms(90));
    rest.end = rest.start + ms(100);
    intervals.push(rest);
    let seen = &fates(Model::Open, &intervals, &rule)[0];
    assert_eq!(
        seen.actual_text,
        "90.0 ms in the worst of 5 windows, 1 failed"
    );
    // The threshold fails once, for any number of checks.
    intervals[5] = second(5, ms(60));
    let seen = &fates(Model::Open, &intervals, &rule)[0];
    assert_eq!(
        seen.actual_text,
        "90.0 ms in the worst of 5 windows, 1 failed"
    );
}

#[test]
fn the_rate_does_not_count_the_drain() {
    let full = |number| {
        let mut full = interval(number);
        for n in 0..100 {
            full.total.record_intended(1);
            full.total.record(&samples::ok(ms(n), ms(1)));
        }
        full
    };
    let rule = [Threshold {
        window: Some(Nanos::from_secs(1)),
        ..threshold(Metric::Rate, Comparison::AtLeast, 100.0)
    }];
    let mut cut_short = full(2);
    cut_short.end = cut_short.start + ms(1);
    let seen = &fates(
        Model::Open,
        &[full(0), full(1), cut_short, interval(3)],
        &rule,
    )[0];
    assert_eq!(
        seen.actual_text,
        "100/s in the worst of 2 windows, 0 failed"
    );
    // An interval is not exact to the nanosecond.
    let mut hasty = full(1);
    hasty.start += Nanos(50_000);
    let seen = &fates(Model::Open, &[full(0), hasty], &rule)[0];
    assert_eq!(
        seen.actual_text,
        "100/s in the worst of 2 windows, 0 failed"
    );
    // A gap within the run does count.
    let seen = &fates(Model::Open, &[full(0), interval(1), full(2)], &rule)[0];
    assert_eq!(seen.actual_text, "0/s in the worst of 3 windows, 1 failed");
}

/// The bound of the rules with which every window is compared.
const BOUND: f64 = 1e12;

/// A window's expected figure.
#[derive(Clone, Copy, Debug)]
enum Expected {
    Exact(f64),
    AtLeast(f64),
    /// The largest of too few samples.
    Scarce(f64),
}

impl Expected {
    fn of_times(times: &Histogram, metric: &Metric) -> Option<Self> {
        let has_bounds = times.at_least_from().is_some();
        let known = |time: Nanos, q| match times.is_at_least(q) {
            true => Self::AtLeast(time.0 as f64),
            false => Self::Exact(time.0 as f64),
        };
        Some(match metric {
            _ if times.is_empty() => return None,
            Metric::Quantile(q) => match times.quantile(*q) {
                Some(time) => known(time, *q),
                None if has_bounds => Self::Scarce(f64::INFINITY),
                None => Self::Scarce(times.max().0 as f64),
            },
            Metric::Mean if has_bounds => Self::AtLeast(times.mean()),
            Metric::Mean => Self::Exact(times.mean()),
            Metric::Min => known(times.min(), 0.0),
            _ => known(times.max(), 1.0),
        })
    }

    /// Computed from a new merge of a window's intervals.
    fn compute(metric: &Metric, window: &[Interval]) -> Option<Self> {
        let mut sum = interval(0);
        for interval in window {
            sum.merge(interval);
        }
        sum.sum_up();
        let counts = sum.total.counts;
        let exact = |value| Some(Self::Exact(value));
        match metric {
            Metric::Rate => exact(counts.finished() as f64 / window.len() as f64),
            Metric::Failed if counts.sent == 0 => None,
            Metric::Failed => exact(counts.failed as f64 / counts.sent as f64),
            Metric::Status(status) => exact(sum.total.status_counts().get(*status) as f64),
            Metric::Of(_, inner) => Self::of_times(&sum.total.latency.lag, inner),
            Metric::Unsent => exact(counts.dropped as f64 / counts.intended as f64),
            Metric::Step(_, inner) => Self::of_times(&sum.total.steps[0].response_time, inner),
            metric => Self::of_times(&sum.total.latency.response_time, metric),
        }
    }

    /// The figure, and how bad it is for a rule that it is at most [`BOUND`].
    fn rank(self) -> Option<(u8, f64)> {
        match self {
            Self::Exact(value) | Self::AtLeast(value) if value > BOUND => Some((2, value)),
            Self::AtLeast(value) => Some((1, value)),
            Self::Exact(value) => Some((0, value)),
            Self::Scarce(_) => None,
        }
    }

    /// The figure of the worst of some windows, and whether the rule is satisfied.
    fn worst(windows: &[Self]) -> (Option<f64>, bool) {
        let ranks = windows.iter().filter_map(|window| window.rank());
        if let Some((rank, value)) = ranks.reduce(|a, b| if b > a { b } else { a }) {
            return (Some(value), rank == 0);
        }
        let most = windows.iter().map(|window| match window {
            Self::Scarce(most) => *most,
            _ => 0.0,
        });
        let most = most.reduce(f64::max).filter(|most| *most <= BOUND);
        (most, most.is_some())
    }
}

proptest! {
    #![proptest_config(samples::cases(24))]

    #[test]
    fn every_window_is_seen_and_the_worst_is_told(
        seconds in prop::collection::vec(
            prop::collection::vec(samples::any_sample(2), 0..30), 1..12),
        length in 1..5u64,
    ) {
        let intervals: Vec<_> = (0..).zip(&seconds).map(|(number, samples)| {
            let mut interval = interval(number);
            interval.total.record_intended(samples.len() as u64 + 1);
            interval.total.record_dropped(1);
            samples.iter().for_each(|sample| interval.total.record(sample));
            interval
        }).collect();
        let step = Metric::Step("login".to_owned(), Box::new(Metric::Mean));
        let metrics = [
            Metric::Quantile(0.5), Metric::Quantile(0.9), Metric::Mean, Metric::Min, Metric::Max,
            Metric::Rate, Metric::Failed, Metric::Status(200),
            Metric::Of(Times::Lag, Box::new(Metric::Quantile(0.75))), step, Metric::Unsent,
        ];
        let rules: Vec<_> = metrics.iter().map(|metric| Threshold {
            window: Some(Nanos(length * 1_000_000_000 - 1)), // rounded up to whole intervals
            ..threshold(metric.clone(), Comparison::AtMost, BOUND)
        }).collect();
        for (rule, seen) in rules.iter().zip(fates(Model::Open, &intervals, &rules)) {
            let windows: Vec<Expected> = intervals
                .windows(length as usize)
                .filter_map(|window| Expected::compute(&rule.metric, window))
                .collect();
            let (worst, passed) = Expected::worst(&windows);
            prop_assert_eq!(seen.actual, worst, "{:?}", rule.metric);
            prop_assert_eq!(seen.passed, passed, "{:?}: {}", rule.metric, seen.actual_text);
        }
    }
}
