//! The quantile near p99 by which a judgement compares times: the strictest that the count supports,
//! so that a short run is judged by its p90 or its median.

use crate::Histogram;
use drumfire_units::Nanos;

/// The strictest of p99, p90 and p50 that the count supports, with its name; `None` where it
/// supports none.
pub(crate) fn near_p99(times: &Histogram) -> Option<(&'static str, Nanos)> {
    strictest(times, |_| true)
}

/// The same among those that are no lower bounds; zero where there is none.
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
