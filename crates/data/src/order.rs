//! In which order the requests of a run go through a list.

use crate::Random;

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

#[cfg(test)]
mod tests {
    use super::Order;

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
