//! In which order the requests of a run go through a list.

use crate::Random;
use drumfire_plan::{RequestContext, Turns};
use std::sync::OnceLock;

/// Sets the draws of an order apart from those of templates.
const LANE: u64 = 0x6f72_6465_7200;

/// In which order the requests of a run go through a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// The n-th request takes the n-th element, and the list begins again after its end.
    #[default]
    InTurn,
    /// Every request takes any element, independent of the others.
    Random,
    /// As in turn, but there is nothing for requests beyond the end of the list.
    OnceEach,
}

impl Order {
    /// Which of `length` elements request `number` takes; `None` beyond the end of a list that is
    /// gone through once, and of an empty one.
    #[must_use]
    pub fn index(self, seed: u64, number: u64, length: u64) -> Option<u64> {
        if length == 0 {
            return None;
        }
        match self {
            Self::InTurn => Some(number % length),
            Self::Random => Some(Random::new(seed, number, 0, LANE).below(length)),
            Self::OnceEach => (number < length).then_some(number),
        }
    }
}

/// A list whose elements requests take, one each: all requests of a pool, or some of them.
///
/// Which requests of the pool these are is known when all of them were made; only then does
/// [`SharedList::settle`] give them their turns. Without it the list is that of all.
#[derive(Debug, Default)]
pub struct SharedList {
    order: Order,
    turns: OnceLock<Turns>,
}

impl SharedList {
    /// A list that is gone through in this order.
    #[must_use]
    pub const fn new(order: Order) -> Self {
        Self {
            order,
            turns: OnceLock::new(),
        }
    }

    /// Whether each element is taken once.
    #[must_use]
    pub fn is_once(&self) -> bool {
        self.order == Order::OnceEach
    }

    /// Gives the requests that take its elements their turns among all of the pool's. The first call
    /// counts.
    pub fn settle(&self, turns: Turns) {
        // A list belongs to one pool, whose requests are made once.
        let _first = self.turns.set(turns);
    }

    /// Which of `length` elements a request takes; `None` as [`Order::index`].
    #[must_use]
    pub fn index(&self, request: &RequestContext, length: u64) -> Option<u64> {
        let turns = self.turns.get().filter(|_| self.order != Order::Random);
        let number = turns.map_or(request.arrival, |turns| turns.turn(request));
        self.order.index(request.seed, number, length)
    }
}

#[cfg(test)]
mod tests {
    use super::{Order, SharedList};
    use drumfire_plan::{Choice, RequestContext};

    #[test]
    fn lists_are_gone_through_as_said() {
        let order = |order: Order, length| -> Vec<Option<u64>> {
            (0..5).map(|n| order.index(7, n, length)).collect()
        };
        let some = |list: [u64; 5]| list.map(Some).to_vec();
        assert_eq!(order(Order::InTurn, 3), some([0, 1, 2, 0, 1]));
        assert_eq!(order(Order::InTurn, 1), some([0; 5]));
        let once = [Some(0), Some(1), Some(2), None, None];
        assert_eq!(order(Order::OnceEach, 3), once);
        for kind in [Order::InTurn, Order::Random, Order::OnceEach] {
            assert_eq!(order(kind, 0), [None; 5]);
        }
    }

    #[test]
    fn some_of_a_pools_requests_take_all_elements() {
        let taken = |order, arrivals: [u64; 4]| -> Vec<Option<u64>> {
            let list = SharedList::new(order);
            list.settle(Choice::InTurn.turns(2, |at| at == 1).unwrap());
            let request = |arrival| RequestContext {
                arrival,
                ..RequestContext::default()
            };
            let index = |arrival: u64| list.index(&request(arrival), 3);
            arrivals.into_iter().map(index).collect()
        };
        let some = |list: [u64; 4]| list.map(Some).to_vec();
        assert_eq!(taken(Order::InTurn, [1, 3, 5, 7]), some([0, 1, 2, 0]));
        assert_eq!(taken(Order::OnceEach, [1, 3, 5, 7])[3], None);
        let random = [1, 3, 5, 7].map(|n| Order::Random.index(0, n, 3));
        assert_eq!(taken(Order::Random, [1, 3, 5, 7]), random);
    }

    #[test]
    fn random_is_even_and_repeatable() {
        let mut counts = [0u32; 4];
        for n in 0..4000 {
            let index = Order::Random.index(1, n, 4).unwrap();
            assert_eq!(Order::Random.index(1, n, 4), Some(index));
            counts[usize::try_from(index).unwrap()] += 1;
        }
        assert!(
            counts.iter().all(|&c| (850..1150).contains(&c)),
            "{counts:?}"
        );
        let other =
            (0..100).filter(|&n| Order::Random.index(1, n, 4) == Order::Random.index(2, n, 4));
        assert!(other.count() < 60, "another seed is another order");
    }
}
