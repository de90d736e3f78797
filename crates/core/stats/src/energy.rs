//! The energy statistic of two neighbouring parts of a series, for all parts at once.
//!
//! The distance of G. J. Székely and M. L. Rizzo between two samples is the mean distance of a
//! value in one from a value in the other, minus the mean distances within each; it is 0 only for
//! equal distributions. One table of prefix sums provides the sums of distances over any two parts,
//! so that each place costs the same for parts of any length.

/// The distances between all values of a series, summed up.
#[derive(Debug)]
pub(crate) struct Energy {
    length: usize,
    /// The sum of |value i − value j| over i < row and j < column, row by row.
    sums: Vec<f64>,
}

/// The place in a part of a series with the maximum statistic.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Split {
    /// The index of the first value after the place.
    pub at: usize,
    /// The end of the values after the place that differ from the values before.
    pub to: usize,
    /// The statistic: mn / (m + n) times the energy distance.
    pub statistic: f64,
}

impl Energy {
    /// The table of a series.
    pub(crate) fn from_values(values: &[f64]) -> Self {
        let mut energy = Self {
            length: 0,
            sums: Vec::new(),
        };
        energy.fill(values);
        energy
    }

    /// Computes the table of another series, reusing the memory.
    pub(crate) fn fill(&mut self, values: &[f64]) {
        self.length = values.len();
        let width = self.length + 1;
        self.sums.clear();
        self.sums.resize(width * width, 0.0);
        for (row, value) in values.iter().enumerate() {
            let (above, below) = self.sums.split_at_mut((row + 1) * width);
            let above = &above[row * width + 1..];
            let below = &mut below[1..width];
            let mut along = 0.0;
            for ((sum, above), other) in below.iter_mut().zip(above).zip(values) {
                along += (value - other).abs();
                *sum = above + along;
            }
        }
    }

    /// The statistic of the values `from..at` and `at..to`, at least two each (Matteson and James
    /// 2014, equations 5 to 7, with the exponent 1).
    pub(crate) fn statistic(&self, from: usize, at: usize, to: usize) -> f64 {
        let (m, n) = ((at - from) as f64, (to - at) as f64);
        let across = self.sum((from, at), (at, to));
        // Each pair occurs twice in the square of a part.
        let within = |from: usize, to: usize, count: f64| {
            self.sum((from, to), (from, to)) / (count * (count - 1.0))
        };
        let distance = 2.0 * across / (m * n) - within(from, at, m) - within(at, to, n);
        m * n / (m + n) * distance
    }

    /// The best place among the values `from..to` with at least `least` of them on both sides. The
    /// values after it may end before `to`. `None` if there are too few values.
    pub(crate) fn best(&self, from: usize, to: usize, least: usize) -> Option<Split> {
        let least = least.max(2);
        let mut best: Option<Split> = None;
        for at in from + least..(to + 1).saturating_sub(least) {
            for end in at + least..=to {
                let statistic = self.statistic(from, at, end);
                if best.is_none_or(|best| statistic > best.statistic) {
                    best = Some(Split {
                        at,
                        to: end,
                        statistic,
                    });
                }
            }
        }
        best
    }

    /// The sum of the distances of values in one range from values in another.
    fn sum(&self, rows: (usize, usize), columns: (usize, usize)) -> f64 {
        let width = self.length + 1;
        let at = |row: usize, column: usize| self.sums[row * width + column];
        at(rows.1, columns.1) - at(rows.0, columns.1) - at(rows.1, columns.0)
            + at(rows.0, columns.0)
    }
}

#[cfg(test)]
mod tests {
    use super::Energy;

    /// A series, its best cut, and the statistics of three other cuts.
    struct Case {
        values: &'static [f64],
        best: (usize, usize, f64),
        others: [(usize, usize, f64); 3],
    }

    /// Computed as in the paper: sums over all pairs, in exact fractions.
    const CASES: [Case; 3] = [
        Case {
            values: &[
                9.198, 8.676, 9.752, 9.447, 9.215, 10.749, 11.22, 11.936, 10.91, 11.635, 12.4,
                11.003,
            ],
            best: (5, 12, 324_703.0 / 36_000.0),
            others: [
                (3, 6, -0.263_666_666_666_666_66),
                (5, 9, 6.148_740_740_740_741),
                (6, 12, 7.4824),
            ],
        },
        Case {
            values: &[
                5.1, 5.3, 4.9, 5.2, 5.0, 7.9, 8.2, 8.1, 7.7, 5.2, 5.1, 4.8, 5.05, 5.15,
            ],
            best: (5, 9, 316.0 / 27.0),
            others: [
                (3, 6, -1.0 / 6.0),
                (5, 9, 316.0 / 27.0),
                (6, 12, 0.366_666_666_666_666_64),
            ],
        },
        Case {
            values: &[1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 2.0, 1.0, 2.0, 3.0, 3.0, 3.0],
            best: (9, 12, 5.25),
            others: [(3, 6, 3.0), (5, 9, 0.0), (6, 12, 1.4)],
        },
    ];

    #[test]
    fn statistics_are_those_of_the_paper() {
        let close = |found: f64, expected: f64| {
            assert!((found - expected).abs() < 1e-9, "{found} {expected}");
        };
        for Case {
            values,
            best: (at, to, statistic),
            others,
        } in CASES
        {
            let energy = Energy::from_values(values);
            let best = energy.best(0, values.len(), 3).unwrap();
            assert_eq!((best.at, best.to), (at, to), "{values:?}");
            close(best.statistic, statistic);
            for (at, to, statistic) in others {
                close(energy.statistic(0, at, to), statistic);
            }
        }
    }

    #[test]
    fn a_part_is_searched_as_if_it_were_alone() {
        let values = CASES[0].values;
        let around: Vec<f64> = [&[40.0, 1.0], values, &[7.0, 90.0]].concat();
        let whole = Energy::from_values(&around);
        let alone = Energy::from_values(values)
            .best(0, values.len(), 3)
            .unwrap();
        let within = whole.best(2, 2 + values.len(), 3).unwrap();
        assert_eq!((within.at, within.to), (alone.at + 2, alone.to + 2));
        assert!((within.statistic - alone.statistic).abs() < 1e-9);
    }

    #[test]
    fn too_few_values_have_no_cut() {
        assert_eq!(Energy::from_values(&[1.0; 5]).best(0, 5, 3), None);
        assert!(Energy::from_values(&[1.0; 6]).best(0, 6, 3).is_some());
        assert_eq!(Energy::from_values(&[]).best(0, 0, 3), None);
    }
}
