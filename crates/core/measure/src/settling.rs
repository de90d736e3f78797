//! Determines the time from which the figures of a run are steady, so that the warm-up need not be
//! guessed.
//!
//! MSER-5 (White 1997): of all positions at which the beginning could be cut off, choose the one
//! for which the mean of the rest has the smallest standard error. Batches of five intervals reduce
//! noise; a best position in the second half means that the run did not settle. The rule has no
//! threshold that would suit only some services.
//!
//! The rule is evaluated once, when the run has ended, on p50 and p99 of the model's latency: the
//! median shows warming caches, the tail shows connections and compilers that are not ready yet.
//! The later of both positions counts.

use crate::{Interval, Model, Timeline};
use drumfire_stats::{median, without_spikes};
use drumfire_units::Nanos;

/// The minimum number of intervals.
const CELLS_MIN: usize = 20;
/// The number of intervals of a batch in a long run.
const BATCH: usize = 5;
/// The minimum number of batches.
const BATCHES_MIN: usize = 20;

/// The time from which the figures of a run are steady.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settling {
    /// The figures are steady from this time on; zero if they were steady from the start.
    At(Nanos),
    /// The figures did not settle within the first half; then nothing is left out.
    Never,
    /// There are too few intervals.
    TooShort,
}

impl Settling {
    /// The time at which p50 and p99 of the model's latency are both steady.
    pub(crate) fn detect(timeline: &Timeline<Interval>, model: Model) -> Self {
        // The last interval contains the drain.
        let count = timeline.len().saturating_sub(1);
        let times = |interval: &Interval| {
            let times = model.latency(&interval.total.latency);
            (!times.is_empty()).then(|| [0.5, 0.99].map(|q| times.quantile_unchecked(q).0 as f64))
        };
        let cells = timeline.cells().take(count);
        let cells = cells.filter_map(|cell| Some((cell.start, times(&cell)?)));
        let cells: Vec<(Nanos, [f64; 2])> = cells.collect();
        if cells.len() < CELLS_MIN {
            return Self::TooShort;
        }
        let cuts = [0, 1].map(|which| {
            let values: Vec<f64> = cells.iter().map(|(_, times)| times[which]).collect();
            cut(&values)
        });
        match cuts {
            [Some(one), Some(other)] => match one.max(other) {
                0 => Self::At(Nanos::ZERO),
                cut => Self::At(cells[cut].0),
            },
            _ => Self::Never,
        }
    }
}

/// The number of values to leave out at the beginning; `None` if it is more than half.
///
/// The standard error at a position is the sum of squares around the mean of the rest, divided by
/// the square of the number of its batches: MSER's statistic.
fn cut(values: &[f64]) -> Option<usize> {
    let values = without_spikes(values);
    let batch = (values.len() / BATCHES_MIN).clamp(1, BATCH);
    let batches: Vec<f64> = values.chunks_exact(batch).map(median).collect();
    let error = |from: usize| {
        let rest = &batches[from..];
        let mean = rest.iter().sum::<f64>() / rest.len() as f64;
        let squares: f64 = rest.iter().map(|value| (value - mean).powi(2)).sum();
        squares / (rest.len() as f64).powi(2)
    };
    // The last few batches may be similar by chance.
    let places = 0..batches.len().saturating_sub(BATCH);
    let errors: Vec<f64> = places.map(error).collect();
    let best = (0..errors.len()).min_by(|a, b| errors[*a].total_cmp(&errors[*b]))?;
    (best * 2 <= batches.len()).then_some(best * batch)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A hundred values with some noise around a level.
    fn series(level: impl Fn(f64) -> f64) -> Vec<f64> {
        let noise = |at: usize| (at * 7_919 % 101) as f64 / 101.0 - 0.5;
        (0..100).map(|at| level(at as f64) + noise(at)).collect()
    }

    #[test]
    fn a_decay_is_cut_off() {
        let decay = series(|at| 10.0 + 20.0 * (-at / 5.0).exp());
        assert!(matches!(cut(&decay), Some(10..=40)), "{:?}", cut(&decay));
    }

    #[test]
    fn a_steady_series_loses_little() {
        let steady = series(|_| 10.0);
        assert!(matches!(cut(&steady), Some(0..=10)), "{:?}", cut(&steady));
        assert_eq!(cut(&[3.0; 100]), Some(0));
    }

    #[test]
    fn a_series_that_moves_to_its_end_never_settles() {
        assert_eq!(cut(&series(|at| at)), None);
    }

    #[test]
    fn a_spike_is_no_beginning() {
        let spike = series(|at| if at == 40.0 { 500.0 } else { 10.0 });
        assert!(matches!(cut(&spike), Some(0..=10)), "{:?}", cut(&spike));
    }
}
