//! Drift that is detected, and steady runs without drift.
//!
//! Runs consist of complete intervals. The tests of the statistical test itself check, over
//! hundreds of runs, how often a steady run raises an alarm and how often a small drift is found.

use crate::samples;
use drumfire_measure::{
    ChangePoint, DRIFT_LEVEL, DriftFigure, DriftFinding, Interval, Model, Movement, Outcome,
    Overview, Resolution, RunInfo, Sample, Timeline, Trend,
};
use drumfire_plan::{Random, Stage};
use drumfire_units::Nanos;
use std::sync::Arc;

const MINUTE: Nanos = Nanos::from_secs(60);
/// Exchanges of an interval.
const EXCHANGES: u64 = 400;
/// The median without noise.
const MEDIAN: f64 = 5e6;

/// The standard deviation of an interval's level.
const NOISE: f64 = 0.02;

/// How a run develops, apart from its noise, as functions of the time in minutes.
struct Run<'a> {
    minutes: u64,
    seed: u64,
    /// The factor by which times are longer.
    level: &'a dyn Fn(f64) -> f64,
    /// The share of exchanges that fail.
    failed: &'a dyn Fn(f64) -> f64,
    /// The number of requests that become due in an interval.
    due: &'a dyn Fn(f64) -> u64,
    /// drumfire's memory in MiB.
    memory: &'a dyn Fn(f64) -> f64,
}

/// A run in which nothing changes.
fn steady(minutes: u64, seed: u64) -> Run<'static> {
    Run {
        minutes,
        seed,
        level: &|_| 1.0,
        failed: &|_| 0.002,
        due: &|_| EXCHANGES,
        memory: &|_| 30.0,
    }
}

fn info() -> RunInfo {
    let mut info = Arc::unwrap_or_clone(samples::run(Model::Open, &["all"]));
    info.interval = MINUTE;
    info.pools[0].intended_rate = Some(EXCHANGES as f64 / 60.0);
    info
}

impl Run<'_> {
    fn timeline(&self, info: &RunInfo) -> Timeline<Overview> {
        let mut random = Random::new(self.seed, 1, 2, 3);
        let mut timeline = Timeline::of_run(info, Resolution::AtMost(300));
        let mut interval = Interval::of_pools(&info.pools);
        for index in 0..self.minutes {
            let at = index as f64;
            let level = (self.level)(at) * (1.0 + NOISE * random.normal()) * MEDIAN;
            interval.reset(index, Nanos(index * MINUTE.0));
            interval.end = Nanos((index + 1) * MINUTE.0);
            interval.health.memory = ((self.memory)(at) * 1_048_576.0) as u64;
            let due = (self.due)(at);
            interval.total.record_intended(due);
            for number in 0..due {
                // The times of an interval follow an exponential distribution.
                let share = (number as f64 + random.unit()) / due as f64;
                let time = Nanos((level * (0.3 - (1.0 - share).ln())) as u64);
                let outcome = match random.unit() < (self.failed)(at) {
                    true => Outcome::HttpStatus,
                    false => Outcome::Ok,
                };
                let sample = Sample {
                    outcome,
                    ..samples::ok(interval.start, time)
                };
                interval.total.record(&sample);
            }
            interval.sum_up();
            timeline.absorb(&interval);
        }
        timeline
    }

    fn drift(&self) -> Vec<DriftFinding> {
        let info = info();
        DriftFinding::of_run(&info, &self.timeline(&info), Nanos::ZERO)
    }
}

fn find_drift(drift: &[DriftFinding], figure: DriftFigure) -> &DriftFinding {
    let found = drift.iter().find(|drift| drift.figure == figure);
    found.expect("it is judged")
}

fn moves(drift: &DriftFinding) -> bool {
    drift.movement != Movement::Steady
}

fn trend(drift: &[DriftFinding], figure: DriftFigure) -> Trend {
    let drift = find_drift(drift, figure);
    match &drift.movement {
        Movement::Trend(trend) => *trend,
        other => panic!("{:?} {other:?} p {}", drift.figure, drift.p),
    }
}

fn changes(drift: &[DriftFinding], figure: DriftFigure) -> Vec<ChangePoint> {
    let drift = find_drift(drift, figure);
    match &drift.movement {
        Movement::Changes(points) => points.clone(),
        other => panic!("{:?} {other:?} p {}", drift.figure, drift.p),
    }
}

#[test]
fn a_trend_is_measured() {
    let run = Run {
        level: &|minutes| (minutes / 60.0 * 0.02_f64.ln_1p()).exp(),
        memory: &|minutes| 30.0 + minutes / 20.0,
        ..steady(480, 7)
    };
    let drift = run.drift();
    for figure in [DriftFigure::P50, DriftFigure::P99] {
        let trend = trend(&drift, figure);
        assert!((0.015..0.025).contains(&trend.per_hour), "{trend:?}");
        assert!(trend.since < Nanos(5 * MINUTE.0), "{trend:?}");
        assert!(trend.until > Nanos(470 * MINUTE.0), "{trend:?}");
        assert!(find_drift(&drift, figure).p < DRIFT_LEVEL);
    }
    let memory = trend(&drift, DriftFigure::Memory);
    assert!((memory.to / memory.from - 1.8).abs() < 0.05, "{memory:?}");
    for figure in [DriftFigure::Failed, DriftFigure::Rate] {
        assert!(!moves(find_drift(&drift, figure)), "{figure:?}");
    }
}

#[test]
fn a_trend_may_begin_in_the_middle() {
    let run = Run {
        level: &|minutes| 1.0 + (minutes - 240.0).max(0.0) / 600.0,
        ..steady(480, 3)
    };
    let p50 = trend(&run.drift(), DriftFigure::P50);
    let since = p50.since.0 / MINUTE.0;
    assert!((210..270).contains(&since), "{since} minutes");
    assert!((0.05..0.12).contains(&p50.per_hour), "{p50:?}");
    assert!(p50.until > Nanos(470 * MINUTE.0), "{p50:?}");
}

#[test]
fn a_change_has_a_time() {
    let run = Run {
        level: &|minutes| match minutes {
            m if m < 100.0 => 1.0,
            m if m < 200.0 => 1.3,
            _ => 0.8,
        },
        failed: &|minutes| if minutes < 150.0 { 0.0 } else { 0.05 },
        ..steady(300, 5)
    };
    let drift = run.drift();
    let p50 = changes(&drift, DriftFigure::P50);
    let at: Vec<u64> = p50.iter().map(|point| point.at.0 / MINUTE.0).collect();
    assert_eq!(at, [100, 200], "{p50:?}");
    assert!((p50[0].after / p50[0].before - 1.3).abs() < 0.03, "{p50:?}");
    assert!((p50[1].after / p50[0].before - 0.8).abs() < 0.03, "{p50:?}");
    let failed = changes(&drift, DriftFigure::Failed);
    assert_eq!(failed.len(), 1, "{failed:?}");
    assert!((148..=152).contains(&(failed[0].at.0 / MINUTE.0)));
    assert!((failed[0].after - 0.05).abs() < 0.01, "{failed:?}");
}

/// An hour of trouble within five hours.
#[test]
fn a_span_that_differs_has_two_edges() {
    let run = Run {
        level: &|minutes| match minutes {
            m if (120.0..180.0).contains(&m) => 1.5,
            _ => 1.0,
        },
        ..steady(300, 6)
    };
    let p50 = changes(&run.drift(), DriftFigure::P50);
    let at: Vec<u64> = p50.iter().map(|point| point.at.0 / MINUTE.0).collect();
    assert_eq!(at, [120, 180], "{p50:?}");
}

#[test]
fn a_rate_that_falls_is_found_though_the_load_is_steady() {
    let mut info = info();
    info.pools[0].model = Model::Closed;
    let run = Run {
        due: &|minutes| EXCHANGES - (minutes / 4.0) as u64,
        ..steady(240, 9)
    };
    let drift = DriftFinding::of_run(&info, &run.timeline(&info), Nanos::ZERO);
    let rate = trend(&drift, DriftFigure::Rate);
    assert!(rate.to < rate.from * 0.9, "{rate:?}");
}

#[test]
fn a_load_that_changes_by_plan_is_not_judged() {
    let rising = Run {
        due: &|minutes| EXCHANGES + (minutes / 10.0) as u64,
        ..steady(240, 1)
    };
    let mut law = info();
    law.pools[0].intended_rate = None;
    assert_eq!(
        DriftFinding::of_run(&law, &rising.timeline(&law), Nanos::ZERO),
        []
    );
    let wave = Run {
        due: &|minutes| (EXCHANGES as f64 * (1.0 + 0.5 * (minutes / 19.0).sin())) as u64,
        ..steady(240, 1)
    };
    assert_eq!(wave.drift(), []);
}

#[test]
fn of_stages_the_longest_is_judged() {
    let mut info = info();
    let stage = |minutes: u64| Stage {
        name: String::new(),
        start: Nanos(minutes * MINUTE.0),
    };
    info.pools[0].intended_rate = None;
    info.pools[0].stages = vec![stage(0), stage(30), stage(200)];
    let run = Run {
        due: &|minutes| match minutes {
            m if m < 30.0 => 100,
            m if m < 200.0 => EXCHANGES,
            _ => 200,
        },
        ..steady(240, 2)
    };
    let drift = DriftFinding::of_run(&info, &run.timeline(&info), Nanos::ZERO);
    let p50 = find_drift(&drift, DriftFigure::P50);
    assert_eq!(p50.span, Nanos(30 * MINUTE.0)..Nanos(200 * MINUTE.0));
    assert!(!drift.iter().any(moves), "{drift:?}");
}

#[test]
fn a_short_run_is_not_judged() {
    assert_eq!(steady(51, 1).drift(), []);
    assert!(!steady(52, 1).drift().is_empty());
}

/// The memory of a run of this many seconds, with the growth of a start.
fn start_up(seconds: u64, leak: f64) -> Vec<DriftFinding> {
    let mut info = info();
    info.interval = Nanos::from_secs(1);
    let mut timeline = Timeline::of_run(&info, Resolution::AtMost(300));
    let mut interval = Interval::of_pools(&info.pools);
    let mut random = Random::new(5, 1, 2, 3);
    for index in 0..seconds {
        interval.reset(index, Nanos::from_secs(index));
        interval.end = Nanos::from_secs(index + 1);
        // A real steady run began like this: 18.9, 21.6, 24.9, 28.1 MB, and constant from then on.
        let grown = 18.9 + 3.1 * (index as f64).min(3.0) + leak * index as f64;
        interval.health.memory = ((grown + 0.01 * random.unit()) * 1e6) as u64;
        interval.total.record_intended(20);
        for _ in 0..20 {
            let time = Nanos((MEDIAN * (0.5 + random.unit())) as u64);
            interval.total.record(&samples::ok(interval.start, time));
        }
        interval.sum_up();
        timeline.absorb(&interval);
    }
    DriftFinding::of_run(&info, &timeline, Nanos::ZERO)
}

#[test]
fn the_generators_own_start_is_no_drift() {
    for seconds in [62, 75, 90, 125, 300] {
        let moved: Vec<_> = start_up(seconds, 0.0).into_iter().filter(moves).collect();
        assert_eq!(moved, [], "{seconds} s");
    }
    // A run of a minute is too short to distinguish a leak from a start.
    let judged = start_up(62, 0.0);
    assert!(
        judged
            .iter()
            .all(|drift| drift.figure != DriftFigure::Memory)
    );
    let leak = trend(&start_up(300, 0.1), DriftFigure::Memory);
    assert!((28.0..32.0).contains(&(leak.from / 1e6)), "{leak:?}");
    assert!((56.0..60.0).contains(&(leak.to / 1e6)), "{leak:?}");
}

/// A movement over a few points is reported as a change, without a rate that it never had for long.
#[test]
fn a_short_movement_is_a_change() {
    let run = Run {
        memory: &|minutes| 18.9 + 3.1 * minutes.min(4.0),
        ..steady(62, 11)
    };
    let points = changes(&run.drift(), DriftFigure::Memory);
    assert!(
        points.iter().all(|point| point.after > point.before),
        "{points:?}"
    );
}

/// If an interval has too few samples for p99, it is combined with its neighbours.
#[test]
fn few_requests_have_a_tail_too() {
    let run = Run {
        due: &|_| 150,
        level: &|minutes| 1.0 + minutes / 240.0,
        ..steady(240, 4)
    };
    let drift = run.drift();
    let p99 = trend(&drift, DriftFigure::P99);
    assert!(p99.per_hour > 0.1, "{p99:?}");
}
