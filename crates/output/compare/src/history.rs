//! A history: the runs of one plan in order of time, and the changes between them.
//!
//! [`History::search`] omits the runs whose figures do not measure their target. From the digests
//! of all other runs it takes the same figures and searches them for changes
//! ([`drumfire_stats::Divisive`]). A run without a figure has no value there; its other figures
//! still count.
//!
//! A shift is a ratio minus 1 for times and rates, and a difference of shares for failures, as in a
//! comparison.

use crate::figure::Figure;
use drumfire_measure::{Digest, Validity};
use drumfire_stats::{Divisive, SeriesChange, Track as Tested, median};

/// The maximum number of runs in a history; older runs are not searched.
pub const HISTORY_MAX: usize = drumfire_stats::HISTORY_MAX;
/// The minimum number of runs: with fewer runs, hardly any change could be proven.
pub const HISTORY_MIN: usize = 12;

/// The least change of a time or a rate that matters, as a share.
const LEAST: f64 = 0.02;
/// The probability of any false change in a history without changes.
const ERROR: f64 = 0.05;
/// The seed of the permutations. Any seed would do; a constant makes results reproducible.
const SEED: u64 = 1;

/// The runs of one plan, oldest first, with their figures. `R` is the caller's data of a run.
#[derive(Debug)]
pub struct History<R> {
    /// The searched runs.
    pub runs: Vec<R>,
    /// The runs of the plan that are not searched, with the reason for each.
    pub left_out: Vec<(R, &'static str)>,
    /// The number of older runs, beyond the maximum.
    pub older: usize,
    /// The figures that at least one run has.
    pub tracks: Vec<Track>,
}

/// A figure over the runs.
#[derive(Debug)]
pub struct Track {
    /// The figure.
    pub figure: Figure,
    /// The value in each run.
    pub values: Vec<Option<f64>>,
    /// The changes, in order of time.
    pub changes: Vec<Change>,
}

/// A change of a figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// The index of the first run after the change.
    pub at: usize,
    /// The first and the last run that may be the first after the change, with 95 % confidence.
    pub likely: (usize, usize),
    /// The shift, as in a comparison.
    pub shift: f64,
    /// The probability of such a large change in a history without changes.
    pub p: f64,
}

impl<R> History<R> {
    /// Searches the runs of one plan, oldest first. `digest` returns the figures of a run, or
    /// `None` if the run's record can't be read.
    #[must_use]
    pub fn search(
        runs: impl IntoIterator<Item = R>,
        digest: impl Fn(&R) -> Option<&Digest>,
    ) -> Self {
        let (mut kept, mut left_out) = (Vec::new(), Vec::new());
        for run in runs {
            let fault = digest(&run).map_or(Some("its record can't be read"), unsound);
            match fault {
                None => kept.push(run),
                Some(reason) => left_out.push((run, reason)),
            }
        }
        let older = kept.len().saturating_sub(HISTORY_MAX);
        kept.drain(..older);
        let digests: Vec<&Digest> = kept.iter().filter_map(digest).collect();
        Self {
            tracks: tracks(&digests),
            runs: kept,
            left_out,
            older,
        }
    }

    /// Whether any figure has a change.
    #[must_use]
    pub fn has_changes(&self) -> bool {
        self.tracks.iter().any(|track| !track.changes.is_empty())
    }

    /// All changes with their figures, in order of time.
    #[must_use]
    pub fn changes(&self) -> Vec<(Figure, Change)> {
        let of_track = |track: &Track| {
            let figure = track.figure;
            track
                .changes
                .clone()
                .into_iter()
                .map(move |of| (figure, of))
        };
        let mut all: Vec<_> = self.tracks.iter().flat_map(of_track).collect();
        all.sort_by_key(|(_, change)| change.at);
        all
    }
}

impl Change {
    /// Whether the figure is worse after the change.
    #[must_use]
    pub fn is_worse(&self, figure: Figure) -> bool {
        (self.shift > 0.0) != figure.is_better_greater()
    }
}

/// The reason why the figures of a run do not measure its target; `None` if they do.
fn unsound(run: &Digest) -> Option<&'static str> {
    match run {
        _ if !run.coverage.has_end() => Some("it has no end yet or was cut off"),
        _ if run.validity == Validity::Invalid => Some("it is invalid"),
        _ if run.is_cut_short || run.is_lost => Some("it ended early"),
        _ if run.is_altered => Some("its load is not the planned one"),
        _ if run.ok == 0 => Some("none of its requests was ok"),
        _ => None,
    }
}

/// The figures of these runs with their changes.
fn tracks(runs: &[&Digest]) -> Vec<Track> {
    let values = |figure: &Figure| {
        let of_run = |run: &&Digest| figure.value_of_digest(run);
        runs.iter().map(of_run).collect::<Vec<Option<f64>>>()
    };
    let values = Figure::TESTED.each_ref().map(values);
    let tested: Vec<Tested> = Figure::TESTED
        .iter()
        .zip(&values)
        .map(|(figure, values)| tested(*figure, values))
        .collect();
    let search = Divisive {
        error: ERROR,
        seed: SEED,
    };
    let changes = match runs.len() {
        ..HISTORY_MIN => vec![Vec::new(); tested.len()],
        _ => search.changes(&tested),
    };
    let tracks = Figure::TESTED.into_iter().zip(values).zip(changes);
    let tracks = tracks.map(|((figure, values), changes)| {
        let numbers: Vec<usize> = known(&values).map(|(number, _)| number).collect();
        Track {
            figure,
            changes: changes
                .iter()
                .map(|of| Change::numbered(figure, of, &numbers))
                .collect(),
            values,
        }
    });
    tracks
        .filter(|track| track.values.iter().any(Option::is_some))
        .collect()
}

impl Change {
    /// Converts a change point among the known values; `numbers` maps each known value to its run.
    fn numbered(figure: Figure, of: &SeriesChange, numbers: &[usize]) -> Self {
        Self {
            at: numbers[of.at],
            likely: (numbers[of.likely.0], numbers[of.likely.1]),
            shift: figure.shift(of.shift),
            p: of.p,
        }
    }
}

/// The known values of a figure, on the scale of differences, as input of the search.
fn tested(figure: Figure, values: &[Option<f64>]) -> Tested {
    Tested {
        values: known(values)
            .map(|(_, value)| figure.scaled(value))
            .collect(),
        least: figure.difference(figure.least(LEAST)),
    }
}

/// The known values, with the numbers of their runs.
fn known(values: &[Option<f64>]) -> impl Iterator<Item = (usize, f64)> + '_ {
    let numbered = values.iter().enumerate();
    numbered.filter_map(|(number, value)| Some((number, (*value)?)))
}

impl Track {
    /// The median of the values of runs `from..to`; `None` without known values.
    #[must_use]
    pub fn median(&self, from: usize, to: usize) -> Option<f64> {
        let values: Vec<f64> = self.values[from..to].iter().flatten().copied().collect();
        (!values.is_empty()).then(|| median(&values))
    }

    /// The median before a change, from the previous change, and after it, up to the next change.
    #[must_use]
    pub fn levels(&self, number: usize) -> [Option<f64>; 2] {
        let edge = |number: Option<usize>, other: usize| {
            let change = number.and_then(|number| self.changes.get(number));
            change.map_or(other, |change| change.at)
        };
        let from = edge(number.checked_sub(1), 0);
        let at = self.changes[number].at;
        let to = edge(Some(number + 1), self.values.len());
        [self.median(from, at), self.median(at, to)]
    }
}
