//! False alarms for targets that keep up, and detected overloads: queues are simulated, first come,
//! first served, with the histograms of a real run.

use super::Backlog;
use crate::Overview;
use drumfire_plan::Random;
use drumfire_units::Nanos;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

/// The distribution of a server's times.
#[derive(Clone, Copy)]
enum Law {
    /// Constant, in seconds.
    Constant(f64),
    /// Exponentially distributed, with this mean.
    Exponential(f64),
    /// Log-normally distributed with this mean and a deviation of the logarithm of 1.5.
    LogNormal(f64),
}

impl Law {
    fn time(self, random: &mut Random) -> f64 {
        match self {
            Self::Constant(time) => time,
            Self::Exponential(mean) => mean * random.exponential(),
            Self::LogNormal(mean) => mean * (1.5 * random.normal() - 1.125).exp(),
        }
    }
}

/// How arrivals are spread.
#[derive(Clone, Copy, PartialEq)]
enum Spread {
    Even,
    Poisson,
    /// Gaps from a gamma distribution with this shape below 1.
    Bursts(f64),
}

impl Spread {
    /// The variance of the number of arrivals, divided by that of a Poisson process.
    fn dispersion(self) -> f64 {
        match self {
            Self::Even | Self::Poisson => 1.0,
            Self::Bursts(shape) => 1.0 / shape,
        }
    }

    /// A gap with a mean of 1.
    fn gap(self, random: &mut Random) -> f64 {
        match self {
            Self::Even => 1.0,
            Self::Poisson => random.exponential(),
            // The sum of gamma numbers is a gamma number: a shape of 1 in parts, by Johnk's method.
            Self::Bursts(shape) => loop {
                let (x, y) = (
                    random.unit().powf(1.0 / shape),
                    random.unit().powf(1.0 / (1.0 - shape)),
                );
                if x + y <= 1.0 && x + y > 0.0 {
                    break random.exponential() * x / (x + y) / shape;
                }
            },
        }
    }
}

/// A load and its server.
#[derive(Clone)]
struct Case {
    name: &'static str,
    /// The length of the load and of an interval, in seconds.
    length: f64,
    interval: f64,
    /// The rate at a time.
    rate: fn(f64) -> f64,
    /// How arrivals are spread.
    spread: Spread,
    /// The number of requests served at a time.
    places: usize,
    law: Law,
    /// The time in which the server begins no request.
    stop: Range<f64>,
}

const CASE: Case = Case {
    name: "",
    length: 30.0,
    interval: 1.0,
    rate: |_| 70.0,
    spread: Spread::Poisson,
    places: 1,
    law: Law::Exponential(0.01),
    stop: 0.0..0.0,
};

impl Case {
    fn arrivals(&self, random: &mut Random) -> Vec<f64> {
        let most = (0..=200).map(|n| (self.rate)(self.length * f64::from(n) / 200.0));
        let most = most.fold(0.0, f64::max);
        let (mut at, mut due, mut arrivals) = (0.0, 0.0, Vec::new());
        loop {
            at += self.spread.gap(random) / most;
            if at >= self.length {
                return arrivals;
            }
            let share = (self.rate)(at) / most;
            let is_due = match self.spread {
                Spread::Poisson => random.unit() < share,
                Spread::Even | Spread::Bursts(_) => {
                    due += share;
                    due >= 1.0
                }
            };
            if is_due {
                due -= 1.0;
                arrivals.push(at);
            }
        }
    }

    /// The cells of a run.
    fn run(&self, seed: u64) -> Vec<Overview> {
        let mut random = Random::new(seed, 1, 2, 3);
        let count = (self.length / self.interval).round() as usize;
        let nanos = |seconds: f64| Nanos((seconds * 1e9) as u64);
        let cells = (0..count).map(|index| Overview {
            start: nanos(index as f64 * self.interval),
            end: nanos((index + 1) as f64 * self.interval),
            ..Overview::new()
        });
        let mut cells: Vec<Overview> = cells.collect();
        let mut free: BinaryHeap<Reverse<Nanos>> =
            BinaryHeap::from(vec![Reverse(Nanos::ZERO); self.places]);
        let cell = |at: f64| (at / self.interval) as usize;
        for arrival in self.arrivals(&mut random) {
            let Reverse(place) = free.pop().expect("a place");
            let mut begin = arrival.max(place.as_secs_f64());
            if self.stop.contains(&begin) {
                begin = self.stop.end;
            }
            let end = begin + self.law.time(&mut random);
            free.push(Reverse(nanos(end)));
            cells[cell(arrival)].tally.intended += 1;
            cells[cell(arrival)].tally.under_way += 1;
            if let Some(cell) = cells.get_mut(cell(end)) {
                cell.tally.good += 1;
                cell.tally.under_way -= 1;
                cell.latency.record(nanos(end - arrival));
            }
        }
        cells
    }

    /// The number of runs, of `runs`, in which the target falls behind.
    fn alarms(&self, runs: u64) -> usize {
        let falls_behind =
            |seed: &u64| Backlog::detect(&self.run(*seed), self.spread.dispersion()).is_some();
        (0..runs).filter(falls_behind).count()
    }
}

/// Targets that keep up.
fn steady() -> Vec<Case> {
    let places = |name, rate, law| Case {
        name,
        rate,
        law,
        ..CASE
    };
    let lasting = |name, length| Case {
        name,
        length,
        ..CASE
    };
    vec![
        lasting("70 % of a place, 60 s", 60.0),
        lasting("30 s", 30.0),
        lasting("10 s", 10.0),
        lasting("5 s", 5.0),
        places("90 %", |_| 90.0, Law::Exponential(0.01)),
        places("7/s", |_| 7.0, Law::Exponential(0.1)),
        places("long times", |_| 70.0, Law::LogNormal(0.01)),
    ]
}

/// Targets that serve many requests at a time, and answer late.
fn filling() -> Vec<Case> {
    let filling = |name, length: f64, law: Law| Case {
        name,
        length,
        interval: length / 10.0,
        rate: |_| 100.0,
        places: 10_000,
        law,
        ..CASE
    };
    vec![
        filling("1 s of varying times, 2 s", 2.0, Law::Exponential(1.0)),
        filling("2 s of varying times, 3 s", 3.0, Law::Exponential(2.0)),
        filling("4 s of varying times, 10 s", 10.0, Law::Exponential(4.0)),
        filling("8 s of varying times, 10 s", 10.0, Law::Exponential(8.0)),
        filling("10 s of varying times, 30 s", 30.0, Law::Exponential(10.0)),
        filling("2 s, 3 s", 3.0, Law::Constant(2.0)),
        filling("4 s, 10 s", 10.0, Law::Constant(4.0)),
        filling("8 s, 10 s", 10.0, Law::Constant(8.0)),
        Case {
            spread: Spread::Bursts(0.05),
            ..filling("bursts, 1 s, 20 s", 20.0, Law::Exponential(1.0))
        },
        Case {
            spread: Spread::Bursts(0.02),
            ..filling("long bursts, 2 s, 30 s", 30.0, Law::Exponential(2.0))
        },
    ]
}

/// Targets that keep up with a changing load, or catch up.
fn changing() -> Vec<Case> {
    let loads = |name, rate, places, mean| Case {
        name,
        length: 20.0,
        rate,
        places,
        law: Law::Exponential(mean),
        ..CASE
    };
    let stopped = |name, stop| Case {
        stop,
        ..loads(name, |_| 100.0, 1, 0.005)
    };
    let late: fn(f64) -> f64 = |at| if at < 19.0 { 100.0 } else { 500.0 };
    vec![
        loads("a ramp", |at| 10.0 + 9.5 * at, 280, 1.0),
        loads("steps", |at| 50.0 * (1.0 + (at / 4.0).floor()), 1_000, 0.5),
        loads("a step in the last second", late, 1_000, 1.0),
        stopped("a stop in the first half", 5.0..8.0),
        stopped("a stop from the middle on", 12.0..15.0),
        stopped("a stop near the end", 17.0..19.0),
    ]
}

/// All targets that keep up.
fn kept() -> impl Iterator<Item = Case> {
    [steady(), filling(), changing()].into_iter().flatten()
}

/// Targets that fall behind.
fn overloads() -> Vec<Case> {
    let by_a_tenth = |name, spread, law: Law| Case {
        name,
        rate: |_| 660.0,
        spread,
        law,
        ..CASE
    };
    let place = 1.0 / 600.0;
    vec![
        by_a_tenth(
            "10 % of random arrivals, varying times",
            Spread::Poisson,
            Law::Exponential(place),
        ),
        by_a_tenth(
            "10 % of random arrivals",
            Spread::Poisson,
            Law::Constant(place),
        ),
        by_a_tenth(
            "10 % of even arrivals, varying times",
            Spread::Even,
            Law::Exponential(place),
        ),
        Case {
            name: "10 % of 100/s",
            rate: |_| 110.0,
            spread: Spread::Even,
            law: Law::Constant(0.01),
            ..CASE
        },
        Case {
            name: "half as much again, 10 s",
            length: 10.0,
            rate: |_| 300.0,
            spread: Spread::Even,
            law: Law::Constant(0.005),
            ..CASE
        },
        Case {
            spread: Spread::Bursts(0.5),
            ..by_a_tenth("10 % of bursts", Spread::Even, Law::Constant(place))
        },
        Case {
            name: "ten times as much",
            length: 10.0,
            rate: |_| 2_000.0,
            law: Law::Exponential(0.005),
            ..CASE
        },
        Case {
            name: "a ramp beyond the capacity",
            length: 12.0,
            rate: |at| 50.0 + 250.0 * at / 12.0,
            spread: Spread::Even,
            law: Law::Constant(0.005),
            ..CASE
        },
    ]
}

#[test]
fn a_target_that_keeps_up_does_not_fall_behind() {
    for case in kept() {
        assert_eq!(case.alarms(50), 0, "{}", case.name);
    }
}

#[test]
fn an_overload_is_found() {
    for case in overloads() {
        assert_eq!(case.alarms(10), 10, "{}", case.name);
    }
}

/// The figures of the design page.
#[test]
#[ignore = "minutes of simulated runs"]
fn a_thousand_runs_of_each_kind() {
    for case in kept() {
        eprintln!("{}: {} of 1000", case.name, case.alarms(1_000));
    }
    for case in overloads() {
        eprintln!("{}: {} of 1000", case.name, case.alarms(1_000));
    }
}
