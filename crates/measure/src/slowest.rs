//! The slowest requests of a run, by response time and by service time.
//!
//! Which of the two times is *the* latency is known at the end only ([`crate::Model::latency_kind`]),
//! so that both lists are kept. A worker compares the times of a request with [`Slowest::bounds`]
//! first, which nearly all stay below; only then is anything of the request looked up. Each worker
//! keeps its own, and the collector adds all of them to the run's: since every worker has kept its
//! ten slowest, the ten slowest of all are among them.
//!
//! A request that carried a trace has its id, by which its target's own records can be searched.

use crate::form;
use crate::form::{Form, FormError, Input};
use crate::{LatencyKind, Outcome};
use drumfire_units::Nanos;
use std::cmp::Reverse;

/// The greatest number of requests that are kept, by either time.
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
    /// Sent to end; `None` where it was not sent.
    pub service_time: Option<Nanos>,
}

form! {
    struct SlowRequest { trace, pool, step, outcome, status, intended, response_time, service_time }
}

impl SlowRequest {
    /// A time of the request, if it has it.
    #[must_use]
    pub const fn time(&self, kind: LatencyKind) -> Option<Nanos> {
        match kind {
            LatencyKind::Response => Some(self.response_time),
            LatencyKind::Service => self.service_time,
        }
    }
}

/// The slowest requests by either time, the slowest first; at most [`SLOWEST`] each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Slowest {
    by_response: Vec<SlowRequest>,
    by_service: Vec<SlowRequest>,
}

/// The lists in their order, which adding their requests again must reproduce.
impl Form for Slowest {
    fn write(value: &Self, out: &mut Vec<u8>) {
        form::write(&value.by_response, out);
        form::write(&value.by_service, out);
    }

    fn read(input: &mut Input<'_>) -> Result<Self, FormError> {
        let mut slowest = Self::default();
        for kind in LatencyKind::ALL {
            let list: Vec<SlowRequest> = form::read(input)?;
            let of_kind = slowest.list_mut(kind);
            list.iter().for_each(|request| add(of_kind, request, kind));
            if *of_kind != list || list.iter().any(|request| request.time(kind).is_none()) {
                return Err(FormError::Malformed("slow requests"));
            }
        }
        Ok(slowest)
    }
}

impl Slowest {
    /// The times that a further request must exceed, either of them, to be among them: response
    /// time, service time; zero while there are fewer than [`SLOWEST`].
    #[must_use]
    pub fn bounds(&self) -> [Nanos; 2] {
        LatencyKind::ALL.map(|kind| {
            let last = self.list(kind).get(SLOWEST - 1);
            last.and_then(|last| last.time(kind)).unwrap_or_default()
        })
    }

    /// Adds a request to the lists in which it is slow enough. The order in which requests are added
    /// makes no difference: equal times are ordered by intended start and trace.
    pub fn add(&mut self, request: &SlowRequest) {
        for kind in LatencyKind::ALL {
            if request.time(kind).is_some() {
                add(self.list_mut(kind), request, kind);
            }
        }
    }

    /// The requests that are slowest by a time, the slowest first.
    pub fn by(&self, kind: LatencyKind) -> impl Iterator<Item = &SlowRequest> {
        self.list(kind).iter()
    }

    /// Takes all of them out, each once.
    #[must_use]
    pub fn take(&mut self) -> Vec<SlowRequest> {
        let Self {
            mut by_response,
            by_service,
        } = std::mem::take(self);
        let mut others = by_response.clone();
        for request in by_service {
            match others.iter().position(|other| *other == request) {
                Some(at) => drop(others.swap_remove(at)),
                None => by_response.push(request),
            }
        }
        by_response
    }

    const fn list(&self, kind: LatencyKind) -> &Vec<SlowRequest> {
        match kind {
            LatencyKind::Response => &self.by_response,
            LatencyKind::Service => &self.by_service,
        }
    }

    const fn list_mut(&mut self, kind: LatencyKind) -> &mut Vec<SlowRequest> {
        match kind {
            LatencyKind::Response => &mut self.by_response,
            LatencyKind::Service => &mut self.by_service,
        }
    }
}

fn add(list: &mut Vec<SlowRequest>, request: &SlowRequest, kind: LatencyKind) {
    let key = |request: &SlowRequest| (Reverse(request.time(kind)), request.intended);
    let is_before = |other: &SlowRequest| {
        (key(other), other.trace.as_str()) <= (key(request), request.trace.as_str())
    };
    let at = list.partition_point(is_before);
    if at < SLOWEST {
        list.insert(at, request.clone());
        list.truncate(SLOWEST);
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
            service_time: (!n.is_multiple_of(3)).then_some(Nanos(100 - n)),
        };
        let (mut one, mut other) = (Slowest::default(), Slowest::default());
        for n in 0..100 {
            one.add(&request(n));
            other.add(&request(99 - n));
        }
        assert_eq!(one, other);
        let times = |kind| -> Vec<u64> {
            one.by(kind)
                .map(|slow| slow.time(kind).unwrap().0)
                .collect()
        };
        let [response, service] = LatencyKind::ALL.map(times);
        assert_eq!(response, [49, 49, 48, 48, 47, 47, 46, 46, 45, 45]);
        assert_eq!(service, [99, 98, 96, 95, 93, 92, 90, 89, 87, 86]);
        assert_eq!(one.bounds(), [Nanos(45), Nanos(86)]);
        assert_eq!(one.take().len(), 20);
    }
}
