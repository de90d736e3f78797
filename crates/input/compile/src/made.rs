//! The requests of a pool that have been compiled so far.

use crate::scope::Scope;
use drumfire_data::{RequestTemplates, SharedList};
use drumfire_document::{Count, Place};
use drumfire_plan::{Choice, HttpRequest};
use drumfire_schema::Input;
use drumfire_units::Nanos;
use std::sync::Arc;

/// The requests of a pool that have been compiled so far.
///
/// Both kinds of pools add requests here, and so do lists, steps and files of requests. The index
/// of a request here is its index in the plan, which the steps of a program refer to.
#[derive(Default)]
pub(crate) struct Made {
    pub(crate) requests: Vec<HttpRequest>,
    /// The number of requests, or of iterations of a scenario, that have data, if some of the data
    /// is used once.
    pub(crate) count: Option<u64>,
    /// The lists of bodies or of messages from which requests take elements.
    lists: Vec<ListUse>,
    /// The weight of each request, where it was written.
    pub(crate) weights: Vec<Option<Count>>,
    /// The choice of the request that an arrival takes, if a file decides it.
    pub(crate) choice: Option<Choice>,
    /// The times at which the requests are sent, if a file contains them.
    pub(crate) times: Option<Vec<Nanos>>,
}

impl Made {
    /// Sets this weight for the requests that were added last.
    pub(crate) fn weigh(&mut self, weight: Option<&Count>) {
        self.weights.resize(self.requests.len(), weight.cloned());
    }

    /// Adds a request, and bounds the pool by the request's data. The smallest of several bounds
    /// applies to the whole pool. `place` is the place of the request.
    pub(crate) fn add_request(&mut self, request: HttpRequest, supply: Supply, place: &Place) {
        let index = self.requests.len() as u32;
        self.requests.push(request);
        self.bound(supply.arrivals);
        let Some(list) = supply.list else {
            return;
        };
        let mut known = self.lists.iter_mut();
        match known.find(|known| Arc::ptr_eq(&known.list, &list)) {
            Some(known) => known.requests.push(index),
            None => self.lists.push(ListUse {
                list,
                once: supply.once,
                requests: vec![index],
                place: place.clone(),
            }),
        }
    }

    /// Bounds the number of arrivals by the data of one of their steps.
    pub(crate) fn bound(&mut self, count: Option<u64>) {
        self.count = self.count.into_iter().chain(count).min();
    }

    /// Assigns turns among all arrivals to the requests of each list. Arrivals make `choice` among
    /// `length` requests or scenarios. `chosen` is the place of each request in that choice.
    ///
    /// If only some arrivals take an element, each element is used once, and arrivals are drawn at
    /// random, the list is refused: its turns would depend on all earlier draws.
    pub(crate) fn settle(&mut self, choice: &Choice, chosen: &[u32], scope: &mut Scope<'_>) {
        let length = chosen.iter().max().map_or(0, |last| last + 1);
        for used in std::mem::take(&mut self.lists) {
            let mut takes = vec![false; length as usize];
            for request in &used.requests {
                takes[chosen[*request as usize] as usize] = true;
            }
            if takes.iter().all(|takes| *takes) {
                self.bound(used.once);
                continue;
            }
            let is_member = |place| takes.get(place as usize).is_some_and(|takes| *takes);
            match choice.turns(length.into(), is_member) {
                Some(turns) => {
                    self.bound(used.once.map(|once| turns.arrivals_before(once)));
                    used.list.settle(turns);
                }
                None if used.list.is_once() => {
                    let message = "with `mix: random`, the turns of a request are not known in \
                                   advance; use another `mix`, or `order: turn`";
                    scope.found.add(&used.place, message);
                }
                None => {}
            }
        }
    }
}

/// The number of requests for which a request's data suffices.
#[derive(Default)]
pub(crate) struct Supply {
    /// The number of the pool's arrivals for which feeds have rows; `None` means unbounded.
    arrivals: Option<u64>,
    /// The list from which each request takes an element.
    list: Option<Arc<SharedList>>,
    /// The number of its elements, if each is used once.
    once: Option<u64>,
}

/// A list, and the requests that take its elements.
struct ListUse {
    list: Arc<SharedList>,
    once: Option<u64>,
    requests: Vec<u32>,
    /// The first of the requests.
    place: Place,
}

impl Supply {
    /// The supply of an HTTP request's data.
    pub(crate) fn of_templates(data: &RequestTemplates) -> Self {
        let bodies = data.bodies();
        let list = bodies.and_then(|bodies| bodies.shared_list()).cloned();
        let is_once = list.as_ref().is_some_and(|list| list.is_once());
        Self {
            arrivals: data.count(),
            once: bodies.filter(|_| is_once).map(|bodies| bodies.len() as u64),
            list,
        }
    }

    /// The supply of a call's data.
    pub(crate) fn of_input(input: &Input) -> Self {
        Self {
            arrivals: input.count(),
            list: input.shared_list().cloned(),
            once: input.elements_once(),
        }
    }
}
