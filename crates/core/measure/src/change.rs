//! Whether the tail of an interval differs by orders of magnitude from the previous tails.
//!
//! The mark shows a person who watches a run the interval in which a tail grew tenfold. The drift
//! of a whole run is judged elsewhere, with statistics; this needs only five numbers.

/// The number of earlier tails for the comparison.
const EARLIER: usize = 5;
/// The maximum number of signs of a change.
const ORDERS_MAX: f64 = 3.0;

/// The change of a tail, in whole orders of magnitude: from −3 to 3, and 0 for no change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Change(i8);

impl Change {
    /// The orders of magnitude.
    #[must_use]
    pub const fn orders(self) -> i8 {
        self.0
    }

    /// A `+` or a `-` for each order of magnitude.
    #[must_use]
    pub const fn mark(self) -> &'static str {
        match self.0 {
            ..=-3 => "---",
            -2 => "--",
            -1 => "-",
            0 => "",
            1 => "+",
            2 => "++",
            3.. => "+++",
        }
    }
}

/// The tails of the last five intervals, in a ring.
///
/// A tail is compared with the mean of the previous five. Each sign is a whole order of magnitude,
/// so noise produces no signs, and neither do slower changes. With fewer than five earlier tails,
/// the existing ones are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tails {
    last: [u64; EARLIER],
    /// The number of tails so far.
    filled: usize,
    /// The place of the oldest.
    next: usize,
}

impl Tails {
    /// Tails as if five tails of 0 had come before: the first tail above 0 is then a rise.
    #[must_use]
    pub const fn of_zeros() -> Self {
        Self {
            last: [0; EARLIER],
            filled: EARLIER,
            next: 0,
        }
    }

    /// Compares the next tail, in any unit, with the previous ones; the first tail has no change.
    ///
    /// A tail of 0 has no logarithm: from 0 to any value is one order up, from any value to 0 one
    /// order down.
    pub fn compare(&mut self, tail: u64) -> Change {
        let change = self.change(tail);
        self.last[self.next] = tail;
        self.next = (self.next + 1) % EARLIER;
        self.filled = (self.filled + 1).min(EARLIER);
        change
    }

    fn change(&self, tail: u64) -> Change {
        let earlier = &self.last[..self.filled];
        let sum = earlier.iter().fold(0_u64, |sum, n| sum.saturating_add(*n));
        let Some(mean) = sum.checked_div(earlier.len() as u64) else {
            return Change::default();
        };
        Change(match (mean, tail) {
            (0, 0) => 0,
            (0, _) => 1,
            (_, 0) => -1,
            _ => {
                let orders = (tail as f64).log10() - (mean as f64).log10();
                orders.trunc().clamp(-ORDERS_MAX, ORDERS_MAX) as i8
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(earlier: &[u64], tail: u64) -> &'static str {
        let mut tails = Tails::of_zeros();
        for tail in earlier {
            tails.compare(*tail);
        }
        tails.compare(tail).mark()
    }

    #[test]
    fn each_sign_is_an_order_of_magnitude() {
        let millions = [1_000_000; 5];
        for (earlier, tail, expected) in [
            (&[0, 0, 7, 10, 9][..], 1_000_000, "+++"),
            (&[0, 0, 7, 10, 9], 1_000, "++"),
            (&[0, 0, 7, 10, 9], 100, "+"),
            (&[0, 0, 7, 10, 9], 10, ""),
            (&[0, 0, 7, 10, 9], 0, "-"),
            (&millions, 100_000, "-"),
            (&millions, 10_000, "--"),
            (&millions, 1_000, "---"),
            (&millions, 1, "---"),
            (&[], 0, ""),
            (&[], 3, "+"),
            (&[1_000_000, 10, 10, 10, 10, 10], 10, ""),
        ] {
            assert_eq!(mark(earlier, tail), expected, "{earlier:?} {tail}");
        }
    }

    #[test]
    fn the_first_tail_is_compared_with_none() {
        let mut tails = Tails::default();
        assert_eq!(tails.compare(1_000_000).mark(), "");
        assert_eq!(tails.compare(1_000).mark(), "---");
        assert_eq!(Tails::of_zeros().compare(7).orders(), 1);
    }
}
