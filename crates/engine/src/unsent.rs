//! The record of what became due and was never sent: arrivals, when starting ends, and what is left
//! of iterations, when the drain does.

use crate::arrivals::Arrival;
use crate::prepare::Request;
use crate::users::{DueRequest, Users};
use drumfire_measure::Figures;
use drumfire_units::Nanos;

/// Records what is never sent.
pub(crate) struct Unsent<'a> {
    users: &'a Users,
    requests: &'a [Request],
    /// The end of the warm-up: intended starts before it are not measured.
    measure_from: Nanos,
    figures: &'a mut Figures,
}

impl<'a> Unsent<'a> {
    /// Records in `figures` what users do not send of a pool's requests; what is intended before
    /// `measure_from` is the warm-up's.
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

    /// An arrival whose iteration never begins.
    pub(crate) fn arrival(&mut self, arrival: Arrival, now: Nanos) {
        if arrival.intended >= self.measure_from {
            self.arrivals(arrival, 1, now);
        }
    }

    /// This many measured arrivals whose iterations never begin, of which the last has waited least.
    pub(crate) fn arrivals(&mut self, last: Arrival, count: u64, now: Nanos) {
        let waited = now - last.intended;
        self.figures.record_iterations_pending(waited, count);
        if self.users.begins_with_request() {
            let first = self.users.first_request(last);
            self.figures
                .record_pending(self.step_of(first), waited, count);
        }
    }

    /// The iterations that are still open, and their requests that have no seat.
    pub(crate) fn iterations<'b>(
        &mut self,
        waiting: impl Iterator<Item = &'b DueRequest>,
        now: Nanos,
    ) {
        let Some(iterations) = self.users.iterations() else {
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

    /// The step whose figures a request of the list adds to.
    fn step_of(&self, request: u32) -> u16 {
        self.requests[request as usize].step()
    }
}
