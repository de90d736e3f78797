//! The requests of a pool, as far as they were made.

use crate::scope::Scope;
use drumfire_data::{RequestTemplates, SharedList};
use drumfire_document::{Count, Place};
use drumfire_plan::{Choice, HttpRequest};
use drumfire_schema::Input;
use drumfire_units::Nanos;
use std::sync::Arc;

/// The requests of a pool that were made so far.
///
/// Both kinds of pools add to it, and so do lists, steps and files of requests. The index of a
/// request here is its index in the plan, by which the steps of a program name it.
#[derive(Default)]
pub(crate) struct Made {
    pub(crate) requests: Vec<HttpRequest>,
    /// The number of requests, or of iterations of a scenario, for which there is data, where some
    /// of it is used once.
    pub(crate) count: Option<u64>,
    /// The lists of bodies or of messages that requests take elements of.
    lists: Vec<ListUse>,
    /// The weight of each request, where it was written.
    pub(crate) weights: Vec<Option<Count>>,
    /// The choice of the request that an arrival takes, where a file decides it.
    pub(crate) choice: Option<Choice>,
    /// The times at which the requests are sent, where a file has them.
    pub(crate) times: Option<Vec<Nanos>>,
}

impl Made {
    /// Gives the requests that were added last this weight.
    pub(crate) fn weigh(&mut self, weight: Option<&Count>) {
        self.weights.resize(self.requests.len(), weight.cloned());
    }

    /// Adds a request with what its data lasts for. Of several bounds the least one holds, for the
    /// pool as a whole. `place` is that of the request.
    pub(crate) fn add(&mut self, request: HttpRequest, supply: Supply, place: &Place) {
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

    /// Bounds the number of arrivals by what a step of theirs lasts for.
    pub(crate) fn bound(&mut self, count: Option<u64>) {
        self.count = self.count.into_iter().chain(count).min();
    }

    /// Gives the requests of each list their turns among all arrivals, by the choice that these
    /// make of `length` requests or scenarios. `chosen` is the place in that choice to which each
    /// request belongs.
    ///
    /// A list of which each element is taken once, by some of what is drawn at random, is refused:
    /// its turns would depend on all draws before.
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

/// What the data of a request lasts for.
#[derive(Default)]
pub(crate) struct Supply {
    /// The number of the pool's arrivals for which feeds have rows; `None` is no bound.
    arrivals: Option<u64>,
    /// The list of which each request takes an element.
    list: Option<Arc<SharedList>>,
    /// The number of its elements, where each is taken once.
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
    /// That of an HTTP request.
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

    /// That of a call.
    pub(crate) fn of_input(input: &Input) -> Self {
        Self {
            arrivals: input.count(),
            list: input.shared_list().cloned(),
            once: input.elements_once(),
        }
    }
}
