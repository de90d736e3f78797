//! The handling of requests, independent of the protocol.

use crate::answer::Counting;
use crate::clock;
use crate::options::{Discipline, ServerOptions};
use crate::parameter::BadParameter;
use crate::planner::{CallPlan, Intent, Planner};
use crate::reaction::AnswerPlan;
use crate::request::{RequestBody, RequestHead};
use crate::shared::{Shared, WorkerShared};
use crate::shop::Shop;
use drumfire_units::{Nanos, Xoshiro256};
use std::cell::{Cell, RefCell};
use std::sync::Arc;

/// One worker's planner, its serial queue, and its part of the counters.
pub(crate) struct Desk {
    shared: Arc<Shared>,
    index: usize,
    planner: RefCell<Planner>,
    /// The time at which a serial server has completed all requests so far.
    free_at: Cell<Option<Nanos>>,
}

impl Desk {
    pub(crate) fn new(options: &ServerOptions, shared: Arc<Shared>, index: usize) -> Self {
        let random = Xoshiro256::new(options.seed, index as u64);
        let planner = Planner::new(
            Arc::clone(&shared),
            index,
            options.behaviour.clone(),
            random,
        );
        let serial = options.discipline == Discipline::Serial;
        Self {
            shared,
            index,
            planner: RefCell::new(planner),
            free_at: Cell::new(serial.then_some(Nanos::ZERO)),
        }
    }

    /// This worker's counters and log.
    #[inline]
    pub(crate) fn own(&self) -> &WorkerShared {
        self.shared.worker(self.index)
    }

    /// Records the arrival of a request of the load.
    #[inline]
    pub(crate) fn arrived(&self) {
        let own = self.own();
        own.tallies.requests.add(1);
        if own.arrivals.is_on() {
            own.arrivals.record(clock::now());
        }
    }

    /// Records a write of an event stream.
    pub(crate) fn wrote_events(&self) {
        let own = self.own();
        if own.event_writes.is_on() {
            own.event_writes.record(clock::now());
        }
    }

    /// The intent of a request.
    pub(crate) fn intent(&self, head: &RequestHead<'_>) -> Result<Intent, BadParameter> {
        self.planner.borrow().intent(head)
    }

    /// The plan for a request, after its body has arrived.
    pub(crate) fn plan(&self, intent: Intent, body: &RequestBody) -> AnswerPlan {
        self.planner.borrow_mut().plan(intent, body)
    }

    /// The plan for a gRPC call whose metadata sets its behaviour, in the form of a query.
    pub(crate) fn plan_call(&self, words: &str) -> Result<CallPlan, BadParameter> {
        self.planner.borrow_mut().plan_call(words)
    }

    /// The shop, if there is one.
    pub(crate) fn shop(&self) -> Option<&Shop> {
        self.shared.shop.as_ref()
    }

    /// Whether the server handles one request at a time.
    pub(crate) fn is_serial(&self) -> bool {
        self.free_at.get().is_some()
    }

    /// The due time of a request with this `delay`; `None` if it is due immediately.
    pub(crate) fn due(&self, delay: Option<Nanos>, counting: Counting) -> Option<Nanos> {
        let delay = delay.unwrap_or(Nanos::ZERO);
        match (self.free_at.get(), counting) {
            (Some(free_at), Counting::Counted) => {
                let now = clock::now();
                let free_at = now.max(free_at) + delay;
                self.free_at.set(Some(free_at));
                (free_at > now).then_some(free_at)
            }
            _ => (delay > Nanos::ZERO).then(|| clock::now() + delay),
        }
    }
}
