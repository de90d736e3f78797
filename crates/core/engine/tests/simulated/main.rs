//! Complete runs in virtual time, with exact results. The books of every run balance:
//! [`drumfire_testkit::Simulation::run`] checks that.

mod answers;
mod bodies;
mod clocks;
mod control;
mod cookies;
mod counts;
mod events;
mod failures;
mod growth;
mod grpc;
mod http2;
mod identity;
mod keep_alive;
mod late;
mod late_begin;
mod lives;
mod looks;
mod malformed;
mod order;
mod own_rates;
mod pings;
mod pools;
mod programs;
mod redirects;
mod refusals;
mod remedies;
mod replies;
mod resent;
mod rest;
mod scale;
mod sending;
mod side_by_side;
mod sockets;
mod stopping;
mod stream_redirects;
mod streams;
mod threads;
mod timeouts;
mod truth;
mod unfinished;
mod unsent;
mod users;
mod varying;
mod waiting;

use drumfire_measure::{Histogram, Outcome, Summary};
use drumfire_testkit::{Draft, Simulated, Simulation, World};
use drumfire_units::Nanos;

/// Runs a plan in a world.
fn run(plan: Draft, world: World) -> Simulated {
    Simulation::new(plan, world).run()
}

fn ms(n: u64) -> Nanos {
    Nanos::from_millis(n)
}

fn us(n: u64) -> Nanos {
    Nanos::from_micros(n)
}

fn secs(n: u64) -> Nanos {
    Nanos::from_secs(n)
}

/// A quantile in seconds, which the count must support.
#[track_caller]
fn quantile(histogram: &Histogram, q: f64) -> f64 {
    match histogram.quantile(q) {
        Some(time) => time.as_secs_f64(),
        None => panic!("{} samples do not support {q}", histogram.count()),
    }
}

/// Checks that a figure is as expected, within a share of it.
#[track_caller]
fn close(what: &str, figure: f64, expected: f64, tolerance: f64) {
    let off = (figure - expected).abs();
    assert!(
        off <= expected.abs() * tolerance,
        "{what} is {figure}, which is not {expected} ± {} %",
        tolerance * 100.0
    );
}

/// The number of times that an outcome was seen.
fn seen(summary: &Summary, outcome: Outcome) -> u64 {
    summary.total.outcomes().get(outcome)
}

/// Checks the number of each of these failures, and that no others occurred.
#[track_caller]
fn failures(summary: &Summary, expected: &[(Outcome, u64)]) {
    let seen: Vec<_> = summary.total.outcomes().failures().collect();
    assert_eq!(seen, expected, "{:#?}", summary.total.errors());
}
