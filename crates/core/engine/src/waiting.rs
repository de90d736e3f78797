//! Due requests and arrivals that have no seat yet, by lane.
//!
//! A request of a running iteration comes before arrivals: running iterations are finished first.
//! Arrivals wait here only if there are several lanes, so that one lane does not delay another;
//! with one lane they stay in the schedule.
//!
//! The number of users in an iteration bounds the number of requests, and
//! [`WAITING_MAX`](crate::limits::WAITING_MAX), which the caller enforces, the number of arrivals.
//! Both queues keep the order of arrival, so the front has been due for longest.

use crate::arrivals::Arrival;
use crate::id::{LaneId, LaneSet};
use crate::users::DueRequest;
use drumfire_units::Nanos;
use std::collections::VecDeque;

/// The queues of due requests and arrivals, by lane.
#[derive(Debug)]
pub(crate) struct Waiting {
    lanes: Vec<Queue>,
    arrivals: usize,
    requests: usize,
}

/// The queue for the seats of one lane.
#[derive(Debug, Default)]
struct Queue {
    requests: VecDeque<DueRequest>,
    arrivals: VecDeque<Arrival>,
}

impl Waiting {
    /// Empty queues for this many lanes.
    pub(crate) fn new(lanes: usize) -> Self {
        let mut queues = Vec::with_capacity(lanes);
        queues.resize_with(lanes, Queue::default);
        Self {
            lanes: queues,
            arrivals: 0,
            requests: 0,
        }
    }

    /// Whether there is only one lane.
    #[inline]
    pub(crate) fn has_one_lane(&self) -> bool {
        self.lanes.len() == 1
    }

    /// The lanes.
    pub(crate) fn lanes(&self) -> impl Iterator<Item = LaneId> + use<> {
        (0..self.lanes.len()).map(|index| LaneId(index as u16))
    }

    /// Whether nothing waits.
    #[inline]
    pub(crate) const fn is_empty(&self) -> bool {
        self.arrivals == 0 && self.requests == 0
    }

    /// The number of arrivals that wait.
    #[inline]
    pub(crate) const fn arrivals(&self) -> usize {
        self.arrivals
    }

    /// Whether requests of running iterations wait.
    #[inline]
    pub(crate) const fn has_requests(&self) -> bool {
        self.requests > 0
    }

    /// The due time of the request that has waited longest; [`Nanos::MAX`] if none waits.
    pub(crate) fn first_request(&self) -> Nanos {
        self.requests_by_lane().1
    }

    /// The lanes in which requests wait, and the due time of the first request.
    pub(crate) fn requests_by_lane(&self) -> (LaneSet, Nanos) {
        if self.requests == 0 {
            return (LaneSet::NONE, Nanos::MAX);
        }
        self.by_lane(|queue| Some(queue.requests.front()?.intended))
    }

    /// The lanes in which arrivals wait, and the due time of the first arrival.
    pub(crate) fn arrivals_by_lane(&self) -> (LaneSet, Nanos) {
        if self.arrivals == 0 {
            return (LaneSet::NONE, Nanos::MAX);
        }
        self.by_lane(|queue| Some(queue.arrivals.front()?.intended))
    }

    fn by_lane(&self, first: impl Fn(&Queue) -> Option<Nanos>) -> (LaneSet, Nanos) {
        let firsts = self.lanes().zip(&self.lanes);
        let firsts = firsts.filter_map(|(lane, queue)| Some((lane, first(queue)?)));
        firsts.fold(
            (LaneSet::NONE, Nanos::MAX),
            |(lanes, due), (lane, first)| (lanes.with(lane), due.min(first)),
        )
    }

    pub(crate) fn push_arrival(&mut self, lane: LaneId, arrival: Arrival) {
        self.lanes[lane.index()].arrivals.push_back(arrival);
        self.arrivals += 1;
    }

    pub(crate) fn pop_arrival(&mut self, lane: LaneId) -> Option<Arrival> {
        let arrival = self.lanes[lane.index()].arrivals.pop_front()?;
        self.arrivals -= 1;
        Some(arrival)
    }

    pub(crate) fn push_request(&mut self, lane: LaneId, request: DueRequest) {
        self.lanes[lane.index()].requests.push_back(request);
        self.requests += 1;
    }

    pub(crate) fn pop_request(&mut self, lane: LaneId) -> Option<DueRequest> {
        let request = self.lanes[lane.index()].requests.pop_front()?;
        self.requests -= 1;
        Some(request)
    }

    /// Takes all waiting arrivals, which will not begin.
    pub(crate) fn drain_arrivals(&mut self) -> impl Iterator<Item = Arrival> {
        self.arrivals = 0;
        self.lanes
            .iter_mut()
            .flat_map(|queue| queue.arrivals.drain(..))
    }

    /// The requests that wait.
    pub(crate) fn requests(&self) -> impl Iterator<Item = &DueRequest> {
        self.lanes.iter().flat_map(|queue| &queue.requests)
    }
}
