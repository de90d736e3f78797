//! The quantile near p99 with which a judgement compares times: the highest that the count
//! supports, so that a short run is judged by its p90 or its median.
//!
//! Judgements of the generator compare tails with each other. A p99 of a hundred samples would be a
//! guess, and not judging short runs would pass exactly those that were started by mistake.

use crate::Histogram;
use drumfire_units::Nanos;

/// The highest of p99, p90 and p50 that the count supports, with its name; `None` if it supports
/// none.
pub(crate) fn near_p99(times: &Histogram) -> Option<(&'static str, Nanos)> {
    strictest(times, |_| true)
}

/// The highest of these quantiles that is not a lower bound.
///
/// If all supported ones are lower bounds, the result is zero: the length of a timeout is the
/// plan's choice and shows nothing of the target. If the count supports none, the result is the
/// maximum.
pub(crate) fn near_p99_measured(times: &Histogram) -> Nanos {
    match strictest(times, |q| !times.is_at_least(q)) {
        Some((_, time)) => time,
        None if times.at_least_from().is_none() => times.max(),
        None => Nanos::ZERO,
    }
}

fn strictest(times: &Histogram, suits: impl Fn(f64) -> bool) -> Option<(&'static str, Nanos)> {
    [("p99", 0.99), ("p90", 0.9), ("p50", 0.5)]
        .into_iter()
        .filter(|(_, q)| suits(*q))
        .find_map(|(name, q)| Some((name, times.quantile(q)?)))
}
