//! The slowest requests of a run, by response time and by service time.
//!
//! Which of the two times is *the* latency is known only at the end
//! ([`crate::Model::latency_kind`]), so both lists are kept. A worker first compares the times of a
//! request with [`Slowest::bounds`], which nearly all do not exceed; only then are details of the
//! request read. Each worker keeps its own lists, and the collector adds them to the run's: every
//! worker has kept its ten slowest, so the ten slowest of all are among them.
//!
//! The trace id of a request, if it has one, can be searched in the target's own records.

use crate::form;
use crate::form::{Form, FormError, Input};
use crate::{LatencyKind, Outcome};
use drumfire_units::Nanos;
use std::cmp::Reverse;

/// The maximum number of requests that are kept, by each time.
pub const SLOWEST: usize = 10;

/// One of the slowest requests, after its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlowRequest {
    /// The trace id, 32 hexadecimal digits; empty if the request carried none.
    pub trace: String,
    /// The number of the pool in the plan.
    pub pool: u16,
    /// The number of the step in the pool.
    pub step: u16,
    /// The outcome of the exchange.
    pub outcome: Outcome,
    /// The response's status; 0 without a response.
    pub status: u16,
    /// The intended start.
    pub intended: Nanos,
    /// The time from the intended start to the end.
    pub response_time: Nanos,
    /// The time from sent to the end; `None` if the request was not sent.
    pub service_time: Option<Nanos>,
}

form! {
    struct SlowRequest { trace, pool, step, outcome, status, intended, response_time, service_time }
}

impl SlowRequest {
    /// A time of the request, if it has one.
    #[must_use]
    pub const fn time(&self, kind: LatencyKind) -> Option<Nanos> {
        match kind {
            LatencyKind::Response => Some(self.response_time),
            LatencyKind::Service => self.service_time,
        }
    }
}

/// The slowest requests by each time, slowest first; at most [`SLOWEST`] each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Slowest {
    by_response: Vec<SlowRequest>,
    by_service: Vec<SlowRequest>,
}

/// The lists in their order; adding their requests again must reproduce them.
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
            list.iter()
                .for_each(|request| insert_request(of_kind, request, kind));
            if *of_kind != list || list.iter().any(|request| request.time(kind).is_none()) {
                return Err(FormError::Malformed("slow requests"));
            }
        }
        Ok(slowest)
    }
}

impl Slowest {
    /// The times that a further request must exceed, at least one of them, to be included: response
    /// time, service time; zero while there are fewer than [`SLOWEST`].
    #[must_use]
    pub fn bounds(&self) -> [Nanos; 2] {
        LatencyKind::ALL.map(|kind| {
            let last = self.list(kind).get(SLOWEST - 1);
            last.and_then(|last| last.time(kind)).unwrap_or_default()
        })
    }

    /// Adds a request to the lists in which it is slow enough. The order of additions has no
    /// effect: equal times are ordered by intended start and trace.
    pub fn add(&mut self, request: &SlowRequest) {
        for kind in LatencyKind::ALL {
            if request.time(kind).is_some() {
                insert_request(self.list_mut(kind), request, kind);
            }
        }
    }

    /// The slowest requests by a time, slowest first.
    pub fn by(&self, kind: LatencyKind) -> impl Iterator<Item = &SlowRequest> {
        self.list(kind).iter()
    }

    /// Removes and returns all requests, each once.
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

fn insert_request(list: &mut Vec<SlowRequest>, request: &SlowRequest, kind: LatencyKind) {
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
