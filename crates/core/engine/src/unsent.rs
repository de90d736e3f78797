//! Records requests and iterations that became due and were never sent or ended: arrivals, when
//! starting ends, and the rest of iterations, when the drain ends.
//!
//! An arrival that waits at the end is a request that the target did not take in time. Leaving it
//! out would make a target look faster the longer it makes requests wait (coordinated omission).
//! The arrival counts as pending, with its wait so far, in the iteration's figures and, if its
//! iteration begins with a request, in that request's figures. Arrivals of the warm-up are left
//! out.

use crate::arrivals::Arrival;
use crate::prepare::Request;
use crate::users::{DueRequest, Users};
use drumfire_measure::Figures;
use drumfire_units::Nanos;

/// The recorder of one pool's unsent requests, for the end of starting or of the drain.
pub(crate) struct Unsent<'a> {
    users: &'a Users,
    requests: &'a [Request],
    /// The end of the warm-up: intended starts before it are not measured.
    measure_from: Nanos,
    figures: &'a mut Figures,
}

impl<'a> Unsent<'a> {
    /// Records in `figures` the requests of a pool that its users do not send; requests intended
    /// before `measure_from` belong to the warm-up.
    pub(crate) const fn new(
        users: &'a Users,
        requests: &'a [Request],
        measure_from: Nanos,
        figures: &'a mut Figures,
    ) -> Self {
        Self {
            users,
            requests,
            measure_from,
            figures,
        }
    }

    /// Records an arrival whose iteration never begins.
    pub(crate) fn arrival(&mut self, arrival: Arrival, now: Nanos) {
        if arrival.intended >= self.measure_from {
            self.arrivals(arrival, 1, now);
        }
    }

    /// Records `count` measured arrivals whose iterations never begin. The last one has waited
    /// least, and all count with its wait, so the record is a lower bound.
    pub(crate) fn arrivals(&mut self, last: Arrival, count: u64, now: Nanos) {
        let waited = now - last.intended;
        self.figures.record_iterations_pending(waited, count);
        if self.users.begins_with_request() {
            let first = self.users.first_request(last);
            self.figures
                .record_pending(self.step_of(first), waited, count);
        }
    }

    /// Records the iterations that are still open, and their requests that have no seat.
    pub(crate) fn iterations<'b>(
        &mut self,
        waiting: impl Iterator<Item = &'b DueRequest>,
        now: Nanos,
    ) {
        let Some(iterations) = self.users.iterations.as_ref() else {
            return;
        };
        for due in waiting.filter(|due| due.intended >= self.measure_from) {
            let step = self.step_of(due.request);
            self.figures.record_pending(step, now - due.intended, 1);
        }
        for sample in iterations.open_at(now) {
            if sample.intended >= self.measure_from {
                self.figures.record_iteration_in_flight(&sample);
            }
        }
    }

    /// The step in whose figures a request of the list counts.
    fn step_of(&self, request: u32) -> u16 {
        self.requests[request as usize].step
    }
}
