//! The time from which the figures of a run are steady, so that the warm-up need not be guessed.
//!
//! MSER-5 (White 1997): of all places at which the beginning could be cut off, the one behind which
//! the mean of the rest has the least standard error. Batches of five intervals take away noise; a
//! best place in the second half says that the run did not settle. The rule has no threshold that
//! would suit one service and not another.
//!
//! It is evaluated once, when the run has ended, on p50 and p99 of the model's latency: the median
//! shows warm caches, the tail shows connections and compilers that are not ready yet. The later of
//! both cuts counts.

use crate::{Interval, Model, Timeline};
use drumfire_stats::{median, without_spikes};
use drumfire_units::Nanos;

/// The fewest intervals from which anything is concluded.
const CELLS_MIN: usize = 20;
/// The intervals of a batch in a long run.
const BATCH: usize = 5;
/// The fewest batches that are judged.
const BATCHES_MIN: usize = 20;

/// The time from which the figures of a run are steady.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settling {
    /// The figures are steady from this time on; zero where they did not move from the start on.
    At(Nanos),
    /// It did not settle within the first half; nothing is left out then.
    Never,
    /// There are too few intervals to tell.
    TooShort,
}

impl Settling {
    /// The time at which p50 and p99 of the model's latency are both steady.
    pub(crate) fn of(timeline: &Timeline<Interval>, model: Model) -> Self {
        // The last one has the drain.
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

/// The number of values at the beginning to be left out; `None` where they are more than half.
///
/// The standard error at a place is the squares around the mean of the rest, divided by the square
/// of its number of batches: MSER's statistic.
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
    // The last few batches may be alike by chance.
    let places = 0..batches.len().saturating_sub(BATCH);
    let errors: Vec<f64> = places.map(error).collect();
    let best = (0..errors.len()).min_by(|a, b| errors[*a].total_cmp(&errors[*b]))?;
    (best * 2 <= batches.len()).then_some(best * batch)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A hundred values of some noise around a level.
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
