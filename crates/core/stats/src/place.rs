//! The place of a known change, and how certain it is.
//!
//! A search for *whether* a series changed finds a place too, but not the best one: it may ignore
//! the last values after a change, and it weighs the tails of distributions. Once a change is known
//! the likelihood is more precise. For two levels with one deviation, all three unknown, the
//! probability of each place is
//!
//! ```text
//! P(at) ∝ (m n)^(-1/2) · S(at)^(-(m + n - 2) / 2)
//! ```
//!
//! where m and n are the numbers of values before and after it, and S(at) is the sum of their
//! squared distances from the mean of their side (the levels and the logarithm of the deviation are
//! integrated out over a flat distribution).

use crate::centre::without_spikes;

/// The share of the probability that the range of likely places contains.
const LIKELY: f64 = 0.95;
/// Probabilities that differ by less are equal.
const NEARLY: f64 = 0.01;

/// The place of a change among the values of a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Place {
    /// The index of the first value after the change.
    pub(crate) at: usize,
    /// The first and the last index of the shortest range with 95 % of the probability.
    pub(crate) likely: (usize, usize),
}

impl Place {
    /// The place in a series with at least two values on each side of it; `around` is a place near
    /// which the change was found. Spikes are clamped.
    pub(crate) fn find(values: &[f64], least: usize, around: usize) -> Self {
        let values = clamped(values, around);
        let chances = chances(&values, least.max(1));
        let first = least.max(1);
        // The place with the most probability within one value of it, because a place that is off
        // by one is nearly as good; among places that are equal in this, the most probable one.
        let near = |at: usize| {
            let from = at.saturating_sub(1);
            let to = (at + 2).min(chances.len());
            chances[from..to].iter().sum::<f64>()
        };
        let most = (0..chances.len()).map(near).fold(0.0, f64::max);
        let equal = (0..chances.len()).filter(|at| near(*at) >= most - NEARLY);
        let best = equal.fold(None, |best: Option<usize>, at| match best {
            Some(best) if chances[best] >= chances[at] => Some(best),
            _ => Some(at),
        });
        let best = best.unwrap_or(0);
        let (from, to) = shortest(&chances);
        Self {
            at: first + best,
            likely: (first + from, first + to),
        }
    }
}

/// The values with spikes clamped, separately on each side of a place.
fn clamped(values: &[f64], around: usize) -> Vec<f64> {
    let (before, behind) = values.split_at(around.min(values.len()));
    let mut all = without_spikes(before);
    all.extend(without_spikes(behind));
    all
}

/// The probability of each place with `least` values on each side, starting with the first.
fn chances(values: &[f64], least: usize) -> Vec<f64> {
    let n = values.len();
    let mean = values.iter().sum::<f64>() / n as f64;
    let centred: Vec<f64> = values.iter().map(|value| value - mean).collect();
    let total: f64 = centred.iter().map(|value| value * value).sum();
    let mut before = 0.0;
    let mut logs = Vec::new();
    for (number, value) in centred.iter().enumerate() {
        before += value;
        let m = number + 1;
        if m < least || n - m < least {
            continue;
        }
        let product = (m * (n - m)) as f64;
        let explained = before * before * n as f64 / product;
        // Levels without any deviation are certain.
        let rest = (total - explained)
            .max(total * 1e-12)
            .max(f64::MIN_POSITIVE);
        logs.push(-0.5 * product.ln() - 0.5 * (n as f64 - 2.0) * rest.ln());
    }
    let most = logs
        .iter()
        .fold(f64::NEG_INFINITY, |most, log| most.max(*log));
    let weights: Vec<f64> = logs.iter().map(|log| (log - most).exp()).collect();
    let sum: f64 = weights.iter().sum();
    weights.iter().map(|weight| weight / sum).collect()
}

/// The first and the last index of the shortest range that contains [`LIKELY`] of all probability.
fn shortest(chances: &[f64]) -> (usize, usize) {
    let mut best = (0, chances.len().saturating_sub(1));
    for from in 0..chances.len() {
        let mut sum = 0.0;
        let reached = chances[from..].iter().position(|chance| {
            sum += chance;
            sum >= LIKELY
        });
        if let Some(more) = reached
            && more < best.1 - best.0
        {
            best = (from, from + more);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::{Place, chances, shortest};

    const VALUES: [f64; 12] = [
        9.198, 8.676, 9.752, 9.447, 9.215, 10.749, 11.22, 11.936, 10.91, 11.635, 12.4, 11.003,
    ];

    #[test]
    fn probabilities_of_places_are_those_of_their_formula() {
        // By sums of squares about the means of both sides, place by place, in exact fractions.
        let expected = [
            0.001_692_715_678_390_594_2,
            0.002_224_969_135_745_079,
            0.009_296_501_648_845_169,
            0.852_338_335_368_645_2,
            0.119_212_333_729_171_12,
            0.012_331_324_525_385_13,
            0.001_190_517_285_581_033_7,
            0.001_151_467_699_695_246_2,
            0.000_561_834_928_541_375_2,
        ];
        let found = chances(&VALUES, 2);
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-9, "{found} {expected}");
        }
        assert_eq!(shortest(&found), (3, 4));
    }

    #[test]
    fn a_clear_change_has_one_place_and_a_spike_moves_it_nowhere() {
        let mut values: Vec<f64> = (0..20).map(|n| f64::from(n % 3) / 10.0).collect();
        values[8..].iter_mut().for_each(|value| *value += 5.0);
        let place = Place::find(&values, 2, 8);
        assert_eq!((place.at, place.likely), (8, (8, 8)));
        values[3] = 400.0;
        assert_eq!(Place::find(&values, 2, 8), place);
    }

    #[test]
    fn levels_without_a_deviation_are_known() {
        let mut values = vec![1.0; 6];
        values.extend([2.0; 6]);
        assert_eq!(Place::find(&values, 2, 6).at, 6);
    }
}
