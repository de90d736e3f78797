//! The form of a movement: a line, a line over a part of the time, or a step.
//!
//! [`Shape::fit`] is called for a series that moves, which [`super::blocks`] decides. It compares
//! forms by their residual squares. A form with a position in time must be much better, because the
//! search for the position already reduces the squares. [`rests`] are the residuals of each form,
//! from which the dependence of values is estimated: if they contained a movement, the movement
//! would look like dependence and hide itself.
//!
//! All fits are by least squares and exhaustive over positions, on at most [`PARTS`] parts of the
//! series. [`steps`] handles each pair of positions in constant time with prefix sums; the rest is
//! linear in the number of positions.

use drumfire_stats::{mean, median};

/// The number of parts to which a series is reduced before forms are fitted.
const PARTS: usize = 60;
/// The minimum number of parts on each side of a bend or a step.
const SIDE: usize = 2;
/// The minimum logarithm of the likelihood ratio in favour of a form with a position in time over
/// one without, and of one with two positions over one with one. The search for one position alone
/// gains some 4, for two some 7.
const BETTER: f64 = 6.0;

/// The form of a movement, with positions in its series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// A trend from the first value to the last.
    Line,
    /// A trend that begins after the first value.
    LineFrom {
        /// The first value of the trend.
        at: usize,
    },
    /// A trend that ends before the last value.
    LineUntil {
        /// The first value after the trend.
        at: usize,
    },
    /// Two levels.
    Step {
        /// The first value of the second level.
        at: usize,
    },
}

/// The residuals of a series for one fitted form.
pub(super) struct Residual {
    pub(super) values: Vec<f64>,
    /// The shortfall of n times their correlation relative to the noise: residuals are less
    /// correlated than their series (Kendall 1954; Marriott and Pope 1954).
    pub(super) bias: f64,
}

/// The biases of forms with no position, one, and two, found by simulation of independent values
/// and rounded up.
const LINE_BIAS: f64 = 2.0;
const CURVE_BIAS: f64 = 4.0;
const PLACE_BIAS: f64 = 4.0;
const PLACES_BIAS: f64 = 9.0;
/// The maximum share of the slope after a bend at which the part before it counts as level.
const LEVEL: f64 = 0.25;

impl Shape {
    /// The form with the best fit. A form with a position in time must fit much better than a line
    /// ([`BETTER`]).
    ///
    /// The position is found among the parts and then, for a step, refined to a value of the
    /// series.
    pub(super) fn fit(values: &[f64]) -> Self {
        let count = PARTS.min(values.len());
        let levels = parts(values, count, median);
        let line = squares(&line_rest(&levels));
        let [from, until] = [Bend::From, Bend::Until].map(|bend| level_bend(&levels, bend));
        let step = best_step(&levels);
        let best = from.squares.min(until.squares).min(step.squares);
        if !is_better(best, line, levels.len()) {
            return Self::Line;
        }
        let at = |place: usize| place * values.len() / count;
        if best == step.squares {
            let around = at(step.place.saturating_sub(SIDE))..at(step.place + SIDE);
            Self::Step {
                at: refined(values, around),
            }
        } else if best == from.squares {
            Self::LineFrom { at: at(from.place) }
        } else {
            Self::LineUntil {
                at: at(until.place),
            }
        }
    }
}

/// A series as `count` parts of nearly equal length, each reduced by `of`.
pub(super) fn parts(values: &[f64], count: usize, of: fn(&[f64]) -> f64) -> Vec<f64> {
    let edge = |number: usize| number * values.len() / count.max(1);
    let part = |number| of(&values[edge(number)..edge(number + 1)]);
    (0..count).map(part).collect()
}

/// The residuals of a series for the best fit of each form: a line, a curve, a bent line, one step
/// and two.
pub(super) fn rests(values: &[f64]) -> [Residual; 6] {
    let bend = |bend| {
        let place = best_bend(values, bend).place;
        Residual {
            values: rest_on(values, &bend.times(place, values.len())),
            bias: PLACE_BIAS,
        }
    };
    let [one, two] = steps(values);
    [
        Residual {
            values: line_rest(values),
            bias: LINE_BIAS,
        },
        Residual {
            values: curve_rest(values),
            bias: CURVE_BIAS,
        },
        bend(Bend::From),
        bend(Bend::Until),
        Residual {
            values: levels_rest(values, &one.places[..1]),
            bias: PLACE_BIAS,
        },
        Residual {
            values: levels_rest(values, &two.places),
            bias: PLACES_BIAS,
        },
    ]
}

/// A form with a position in time, and its residual squares.
#[derive(Clone, Copy)]
struct Fit {
    place: usize,
    squares: f64,
}

impl Fit {
    /// The better of two fits.
    fn or(self, other: Self) -> Self {
        match other.squares < self.squares {
            true => other,
            false => self,
        }
    }

    const NONE: Self = Self {
        place: 0,
        squares: f64::INFINITY,
    };
}

/// The side of a bend with the line; the other side is level.
#[derive(Clone, Copy)]
enum Bend {
    From,
    Until,
}

impl Bend {
    /// The times to which a line is fitted, for `n` values: distances from `place` on the line's
    /// side, and 0 on the level side.
    fn times(self, place: usize, n: usize) -> Vec<f64> {
        let from_place = |at: usize| at as f64 - place as f64;
        let counts = |at: usize| match self {
            Self::From => from_place(at).max(0.0),
            Self::Until => from_place(at).min(0.0),
        };
        (0..n).map(counts).collect()
    }
}

/// Whether a form with the residual squares `squares` is better by [`BETTER`] than one with `than`,
/// for normal residuals: (n / 2)·ln(than / squares) is the logarithm of their likelihood ratio.
fn is_better(squares: f64, than: f64, values: usize) -> bool {
    let tiny = f64::MIN_POSITIVE;
    let ratio = than.max(tiny) / squares.max(tiny);
    values as f64 / 2.0 * ratio.ln() >= BETTER
}

/// The step between the best levels. If two steps fit much better than one, the result is the
/// higher of them; the other one is found when its side is cut again.
fn best_step(values: &[f64]) -> Fit {
    let total = total_squares(values);
    let [one, two] = steps(values);
    let [first, second] = two.places;
    let height = |from: usize, place: usize, to: usize| {
        (mean(&values[place..to]) - mean(&values[from..place])).abs()
    };
    let is_first = height(0, first, second) >= height(first, second, values.len());
    let fit = |steps: Steps, place: usize| Fit {
        place,
        squares: total - steps.explained,
    };
    let (one, two) = (
        fit(one, one.places[0]),
        fit(two, if is_first { first } else { second }),
    );
    match is_better(two.squares, one.squares, values.len()) {
        true => two,
        false => one,
    }
}

fn best_bend(values: &[f64], bend: Bend) -> Fit {
    let places = SIDE..values.len().saturating_sub(SIDE);
    let fits = places.map(|place| Fit {
        place,
        squares: squares(&rest_on(values, &bend.times(place, values.len()))),
    });
    fits.fold(Fit::NONE, Fit::or)
}

/// The sum of squared differences from the mean.
pub(super) fn total_squares(values: &[f64]) -> f64 {
    let centre = mean(values);
    values.iter().map(|value| (value - centre).powi(2)).sum()
}

/// The cut of a series into levels that explains it best.
#[derive(Clone, Copy, Debug)]
pub(super) struct Steps {
    /// The squares that the levels explain.
    pub(super) explained: f64,
    /// The first value of the second level and of the third. With a single step both are equal.
    places: [usize; 2],
}

/// The best cut with one step, and with two.
///
/// A level over values from `a` to `b` explains (sum of the values less the mean)² / (b − a) of the
/// squares around the mean. Prefix sums give each such sum in constant time, so all pairs of
/// positions take n² / 2 steps.
pub(super) fn steps(values: &[f64]) -> [Steps; 2] {
    let centre = mean(values);
    let n = values.len();
    let mut sums = Vec::with_capacity(n + 1);
    sums.push(0.0);
    for (at, value) in values.iter().enumerate() {
        sums.push(sums[at] + value - centre);
    }
    let shares: Vec<f64> = (0..=n).map(|length| 1.0 / length.max(1) as f64).collect();
    let level = |from: usize, to: usize| {
        let sum: f64 = sums[to] - sums[from];
        sum * sum * shares[to - from]
    };
    let none = Steps {
        explained: 0.0,
        places: [SIDE; 2],
    };
    let (mut one, mut two) = (none, none);
    for first in SIDE..=n.saturating_sub(SIDE) {
        let before = level(0, first);
        let explained = before + level(first, n);
        if explained > one.explained {
            let places = [first; 2];
            one = Steps { explained, places };
        }
        for second in first + SIDE..=n.saturating_sub(SIDE) {
            let explained = before + level(first, second) + level(second, n);
            if explained > two.explained {
                let places = [first, second];
                two = Steps { explained, places };
            }
        }
    }
    [one, two]
}

/// The residuals of a level for each part between these positions. The level is the part's median,
/// which a block that overlaps a step does not shift.
fn levels_rest(values: &[f64], places: &[usize]) -> Vec<f64> {
    let mut rest = Vec::with_capacity(values.len());
    let mut start = 0;
    for end in places.iter().copied().chain([values.len()]) {
        let level = median(&values[start..end]);
        rest.extend(values[start..end].iter().map(|value| value - level));
        start = end;
    }
    rest
}

/// The residuals of a parabola.
fn curve_rest(values: &[f64]) -> Vec<f64> {
    let middle = (values.len() as f64 - 1.0) / 2.0;
    let squared: Vec<f64> = (0..values.len())
        .map(|at| (at as f64 - middle).powi(2))
        .collect();
    // Times and squared times around their middle are orthogonal.
    rest_on(&line_rest(values), &squared)
}

/// The best bend between a line and a level; [`Fit::NONE`] if the level part also has a slope,
/// because then the whole is a curve or a line.
fn level_bend(values: &[f64], bend: Bend) -> Fit {
    let fit = best_bend(values, bend);
    let (before, after) = values.split_at(fit.place);
    let (level, line) = match bend {
        Bend::From => (before, after),
        Bend::Until => (after, before),
    };
    match slope(level).abs() <= LEVEL * slope(line).abs() {
        true => fit,
        false => Fit::NONE,
    }
}

/// The slope of the least-squares line, per value.
fn slope(values: &[f64]) -> f64 {
    let times = Bend::From.times(0, values.len());
    slope_on(values, &times)
}

/// The residuals of a line over all values.
fn line_rest(values: &[f64]) -> Vec<f64> {
    rest_on(values, &Bend::From.times(0, values.len()))
}

/// The residuals of the least-squares line over these times.
fn rest_on(values: &[f64], times: &[f64]) -> Vec<f64> {
    let (centre, middle) = (mean(values), mean(times));
    let slope = slope_on(values, times);
    let rest = |(value, time): (&f64, &f64)| value - centre - slope * (time - middle);
    values.iter().zip(times).map(rest).collect()
}

/// The slope of the least-squares line over these times.
fn slope_on(values: &[f64], times: &[f64]) -> f64 {
    let (centre, middle) = (mean(values), mean(times));
    let (mut with_time, mut of_time) = (0.0, 0.0);
    for (value, time) in values.iter().zip(times) {
        with_time += (value - centre) * (time - middle);
        of_time += (time - middle).powi(2);
    }
    match of_time > 0.0 {
        true => with_time / of_time,
        false => 0.0,
    }
}

fn squares(rests: &[f64]) -> f64 {
    rests.iter().map(|rest| rest * rest).sum()
}

/// The position within `around` at which two levels fit the series best, by absolute deviations
/// from their medians, so that spikes have no influence.
fn refined(values: &[f64], around: std::ops::Range<usize>) -> usize {
    let first = around.start.max(1);
    let last = around.end.min(values.len().saturating_sub(1)).max(first);
    let wide = around.len();
    let part = &values[first.saturating_sub(wide)..(last + wide).min(values.len())];
    let offset = first.saturating_sub(wide);
    let off = |levels: &[f64]| -> f64 {
        let level = median(levels);
        levels.iter().map(|value| (value - level).abs()).sum()
    };
    let fit = |place: usize| {
        let (before, after) = part.split_at(place - offset);
        Fit {
            place,
            squares: off(before) + off(after),
        }
    };
    (first..=last).map(fit).fold(Fit::NONE, Fit::or).place
}

#[cfg(test)]
mod tests {
    use super::super::beside_scipy::{CASES, assert_close};
    use super::*;

    #[test]
    fn residuals_are_those_of_scipy() {
        for case in CASES {
            for (rest, expected) in rests(case.values).iter().zip(case.squares) {
                assert_close(squares(&rest.values), expected);
            }
        }
    }

    /// A series of 200 values with some repeating noise.
    fn series(of: impl Fn(f64) -> f64) -> Vec<f64> {
        let noise = |at: usize| (at * 7_919 % 101) as f64 / 101.0 - 0.5;
        (0..200).map(|at| of(at as f64) + noise(at)).collect()
    }

    #[test]
    fn each_form_is_known() {
        assert_eq!(Shape::fit(&series(|at| at / 10.0)), Shape::Line);
        let step = series(|at| if at < 77.0 { 0.0 } else { 4.0 });
        assert_eq!(Shape::fit(&step), Shape::Step { at: 77 });
        let from = series(|at| (at - 120.0).max(0.0) / 5.0);
        let until = series(|at| (at - 80.0).min(0.0) / 5.0);
        for (values, expected) in [(from, 120), (until, 80)] {
            match (Shape::fit(&values), expected) {
                (Shape::LineFrom { at }, 120) | (Shape::LineUntil { at }, 80) => {
                    assert!(at.abs_diff(expected) < 12, "{at} of {expected}");
                }
                other => panic!("{other:?}"),
            }
        }
    }

    #[test]
    fn a_line_without_noise_is_a_line() {
        let line: Vec<f64> = (0..60).map(f64::from).collect();
        assert_eq!(Shape::fit(&line), Shape::Line);
    }
}
