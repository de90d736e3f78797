//! The slowest requests of a run, by response time.
//!
//! A worker compares each response time with [`Slowest::bound`] first, which nearly every request
//! stays below; only then is anything of the request looked up. Each worker keeps its own, and the
//! collector adds all of them to the run's: since every worker has kept its ten slowest, the ten
//! slowest of all are among them.
//!
//! A request that carried a trace has its id, by which its target's own records can be searched.

use crate::Outcome;
use drumfire_units::Nanos;
use std::cmp::Reverse;

/// The greatest number of requests that are kept.
pub const SLOWEST: usize = 10;

/// One of the slowest requests, once it has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlowRequest {
    /// The id of its trace, 32 hexadecimal digits; empty where it carried none.
    pub trace: String,
    /// The number of its pool in the plan.
    pub pool: u16,
    /// The number of its step in the pool.
    pub step: u16,
    /// The outcome of its exchange.
    pub outcome: Outcome,
    /// The response's status; 0 for none.
    pub status: u16,
    /// Its start by the schedule.
    pub intended: Nanos,
    /// Intended start to end.
    pub response_time: Nanos,
}

/// The slowest requests, the slowest first; at most [`SLOWEST`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Slowest(Vec<SlowRequest>);

impl Slowest {
    /// The response time that a further request must exceed to be among them; zero while there are
    /// fewer than [`SLOWEST`].
    #[must_use]
    pub fn bound(&self) -> Nanos {
        match self.0.get(SLOWEST - 1) {
            Some(last) => last.response_time,
            None => Nanos::ZERO,
        }
    }

    /// Adds a request, if it is slow enough. The order in which requests are added makes no
    /// difference: equal times are ordered by intended start and trace.
    pub fn add(&mut self, request: SlowRequest) {
        fn key(request: &SlowRequest) -> (Reverse<Nanos>, Nanos, &str) {
            let time = Reverse(request.response_time);
            (time, request.intended, &request.trace)
        }
        let at = self.0.partition_point(|other| key(other) <= key(&request));
        self.0.insert(at, request);
        self.0.truncate(SLOWEST);
    }

    /// The requests, the slowest first.
    pub fn iter(&self) -> impl Iterator<Item = &SlowRequest> {
        self.0.iter()
    }

    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes all of them out.
    #[must_use]
    pub fn take(&mut self) -> Vec<SlowRequest> {
        std::mem::take(&mut self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slowest_are_kept_in_any_order() {
        let request = |n: u64| SlowRequest {
            trace: format!("{n:032x}"),
            pool: 0,
            step: 0,
            outcome: Outcome::Ok,
            status: 200,
            intended: Nanos(n),
            response_time: Nanos(n / 2),
        };
        let (mut one, mut other) = (Slowest::default(), Slowest::default());
        for n in 0..100 {
            one.add(request(n));
            other.add(request(99 - n));
        }
        assert_eq!(one, other);
        let times: Vec<u64> = one.iter().map(|slow| slow.response_time.0).collect();
        assert_eq!(times, [49, 49, 48, 48, 47, 47, 46, 46, 45, 45]);
        assert_eq!(one.bound(), Nanos(45));
    }
}
