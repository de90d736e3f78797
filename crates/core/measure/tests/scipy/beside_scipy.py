#!/usr/bin/env python3
"""What scipy, numpy and statsmodels make of the series that drift is tested with.

    python3 crates/core/measure/tests/scipy/beside_scipy.py >crates/core/measure/src/drift/beside_scipy.rs

It needs these three from Python's registry, and writes a table of Rust with their versions. Nothing here is taken
from drumfire but the definitions: each side of a place has two values at least, a value is a minute
long, and levels whose residuals are looked at are medians.
"""

import numpy
import scipy
import statsmodels
from scipy import stats
from statsmodels.tsa.stattools import acf

SIDE = 2


def series():
    """A trend, a step, two steps, and noise alone, with two decimals each."""
    rng = numpy.random.default_rng(28)
    at = numpy.arange(30)
    noise = lambda n, size: rng.normal(0, size, n)
    yield "a trend", 50 + 0.3 * at + noise(30, 1.5)
    yield "a step", 20 + 3.0 * (at >= 11) + noise(30, 0.8)
    yield "two steps", 100 + 8.0 * ((at >= 9) & (at < 21)) + noise(30, 2.0)
    yield "a bend", 10 + 0.5 * numpy.maximum(numpy.arange(24) - 9, 0) + noise(24, 0.7)
    yield "noise", 5 + noise(21, 0.4)


def cuts(values):
    n = len(values)
    return range(SIDE, n - SIDE + 1)


def one_step(values):
    """The square of Student's t of the best cut into two levels, and its place."""
    found = [(stats.ttest_ind(values[:a], values[a:]).statistic ** 2, a) for a in cuts(values)]
    return max(found)


def two_steps(values):
    """F of the best cut into three levels, and its places."""
    found = [
        (stats.f_oneway(values[:a], values[a:b], values[b:]).statistic, a, b)
        for a in cuts(values)
        for b in cuts(values)
        if b >= a + SIDE
    ]
    return max(found)


def fitted(values, columns):
    """The residuals of a least-squares fit."""
    matrix = numpy.column_stack(columns)
    solution = numpy.linalg.lstsq(matrix, values, rcond=None)[0]
    return values - matrix @ solution


def bent(values, times):
    """The residuals of the best line that is level on one side of a place."""
    at = numpy.arange(len(values))
    fits = [fitted(values, [numpy.ones(len(values)), times(at - a)]) for a in list(cuts(values))[:-1]]
    return min(fits, key=lambda rest: rest @ rest)


def levels(values, places):
    return numpy.concatenate([part - numpy.median(part) for part in numpy.split(values, places)])


def rests(values):
    """The residuals of a line, a curve, both bends, one step and two."""
    at = numpy.arange(len(values))
    line = stats.linregress(at, values)
    yield values - line.intercept - line.slope * at
    yield values - numpy.polyval(numpy.polyfit(at, values, 2), at)
    yield bent(values, lambda times: numpy.maximum(times, 0))
    yield bent(values, lambda times: numpy.minimum(times, 0))
    yield levels(values, [one_step(values)[1]])
    yield levels(values, list(two_steps(values)[1:]))


def neighbours(rest):
    """The correlation with the next residual, around 0."""
    if abs(rest.mean()) < 1e-9:
        return acf(rest, nlags=1, adjusted=False, fft=False)[1]
    # acf takes the mean off, which residuals of medians have; their sums of products then.
    return numpy.correlate(rest[1:], rest[:-1])[0] / numpy.correlate(rest, rest)[0]


def case(name, values):
    values = numpy.array([float(f"{value:.2f}") for value in values])
    at = numpy.arange(len(values))
    line = stats.linregress(at, values)
    hours = (at + 0.5) / 60
    sen = stats.theilslopes(values, hours, method="joint")
    found = list(rests(values))
    change = max(one_step(values)[0], two_steps(values)[0])
    listed = lambda numbers: "[" + ", ".join(repr(float(number)) for number in numbers) + "]"
    print(f"    // {name}")
    print("    Case {")
    print(f"        values: &{listed(values)},")
    print(f"        trend: {float(line.slope / line.stderr) ** 2!r},")
    print(f"        change: {float(change)!r},")
    print(f"        squares: {listed(rest @ rest for rest in found)},")
    print(f"        neighbours: {listed(neighbours(rest) for rest in found)},")
    print(f"        slope: {float(sen.slope)!r},")
    print(f"        offset: {float(sen.intercept)!r},")
    print("    },")


all_series = list(series())
print(
    f"""//! Some series with the statistics that scipy {scipy.__version__}, numpy {numpy.__version__} and statsmodels {statsmodels.__version__} compute of them.
//!
//! Made by tests/scipy/beside_scipy.py, which says how.

/// A series and what is true of it.
pub(super) struct Case {{
    pub(super) values: &'static [f64],
    /// The square of the t of a line's slope: `linregress`.
    pub(super) trend: f64,
    /// The greater of the square of t of the best two levels (`ttest_ind`) and F of the best three
    /// (`f_oneway`).
    pub(super) change: f64,
    /// The squares that are left by a line, a curve, both bends, one step and two.
    pub(super) squares: [f64; 6],
    /// The correlations of these residuals with the next ones: `acf`.
    pub(super) neighbours: [f64; 6],
    /// The line of Theil and Sen over hours, of values that are a minute long: `theilslopes`.
    pub(super) slope: f64,
    /// Its value at the beginning.
    pub(super) offset: f64,
}}

/// Fails unless both are the same to nine digits.
#[track_caller]
pub(super) fn assert_close(found: f64, expected: f64) {{
    let near = (found - expected).abs() <= 1e-9 * expected.abs().max(1.0);
    assert!(near, "{{found}} {{expected}}");
}}

#[rustfmt::skip]
pub(super) const CASES: [Case; {len(all_series)}] = ["""
)
for name, values in all_series:
    case(name, values)
print("];")
