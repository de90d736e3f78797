//! The shapes of each kind of plot, drawn into a frame with axes and ticks. A series is a group
//! with the class of its role. A gap in the values is a gap in the drawing; a single point between
//! gaps is a dot.

use super::{BAR, BAR_SHARE, Frame, class, group, path, text};
use crate::figure::{Bar, Heat, Point, Series};
use crate::markup::Markup;
use drumfire_units::rounded;

/// The radius of a point.
const DOT: &str = "2.4";
/// Degrees of darkness in a heat map. Each is one path, which keeps the file small.
const DEGREES: usize = 8;

/// Draws each series as a line with gaps.
pub(super) fn lines(out: &mut Markup, frame: &Frame<'_>, all: &[Series]) {
    for series in all {
        group(out, "series", |out| line(out, frame, series));
    }
}

/// Draws the series as lines, with the space between neighbours filled. Areas come first, so that
/// they cover no line.
pub(super) fn bands(out: &mut Markup, frame: &Frame<'_>, all: &[Series]) {
    for pair in all.windows(2) {
        let [lower, upper] = pair else { continue };
        group(out, "between", |out| between(out, frame, lower, upper));
    }
    lines(out, frame, all);
}

/// Fills the space between two neighbours, where both have values.
fn between(out: &mut Markup, frame: &Frame<'_>, lower: &Series, upper: &Series) {
    let both = lower.points.iter().zip(&upper.points);
    let both: Vec<_> = both
        .map(|(low, high)| Some((low.x, low.y?, high.y?)))
        .collect();
    for run in both.split(Option::is_none) {
        let run: Vec<(f64, f64, f64)> = run.iter().copied().flatten().collect();
        if run.len() < 2 {
            continue;
        }
        let there = run.iter().map(|(x, _, high)| (*x, *high));
        let back = run.iter().rev().map(|(x, low, _)| (*x, *low));
        let outline: Vec<(f64, f64)> = there.chain(back).collect();
        let area = format!("area {}", class(upper.role));
        path(out, &area, &(through(frame, &outline) + "z"));
    }
}

/// Draws the points without lines.
pub(super) fn points(out: &mut Markup, frame: &Frame<'_>, all: &[Series]) {
    for series in all {
        let class = class(series.role);
        group(out, "series", |out| {
            let points = series.points.iter();
            points.for_each(|point| dot(out, frame, class, point));
        });
    }
}

/// Draws one series as runs of neighbouring values, with an arrow above each lower bound.
fn line(out: &mut Markup, frame: &Frame<'_>, series: &Series) {
    let class = class(series.role);
    for run in series.points.split(|point| point.y.is_none()) {
        let places: Vec<(f64, f64)> = run.iter().filter_map(|of| Some((of.x, of.y?))).collect();
        match run {
            [] => continue,
            // A path of one point draws nothing.
            [only] => dot(out, frame, class, only),
            _ => path(out, &format!("line {class}"), &through(frame, &places)),
        }
        for point in run.iter().filter(|point| point.is_at_least) {
            at_least(out, frame, class, point);
        }
    }
}

/// The commands of a path through places of the axes.
fn through(frame: &Frame<'_>, places: &[(f64, f64)]) -> String {
    let steps = places
        .iter()
        .zip(std::iter::once('M').chain(std::iter::repeat('L')));
    steps
        .map(|((x, y), step)| format!("{step}{:.2} {:.1}", frame.across(*x), frame.down(*y)))
        .collect()
}

/// Draws a point, if it has a value.
fn dot(out: &mut Markup, frame: &Frame<'_>, class: &str, point: &Point) {
    let Some(y) = point.y else { return };
    let (x, y) = (
        format!("{:.1}", frame.across(point.x)),
        format!("{:.1}", frame.down(y)),
    );
    let attributes = [
        ("class", &*format!("dot {class}")),
        ("cx", &x),
        ("cy", &y),
        ("r", DOT),
    ];
    out.empty("circle", &attributes);
}

/// Draws an upward arrow above a lower bound.
fn at_least(out: &mut Markup, frame: &Frame<'_>, class: &str, point: &Point) {
    let Some(y) = point.y else { return };
    let arrow = format!(
        "M{:.1} {:.1}l3 6h-6z",
        frame.across(point.x),
        frame.down(y) - 7.0
    );
    path(out, &format!("dot {class}"), &arrow);
}

/// Draws the cells as rectangles, one path for each degree of darkness. The degree grows with the
/// root of the count per time, so that a few requests beside many are visible. Columns may have
/// different lengths.
pub(super) fn heat(out: &mut Markup, frame: &Frame<'_>, heat: &Heat) {
    let mut degrees: [String; DEGREES] = Default::default();
    for column in &heat.columns {
        let (left, right) = (frame.across(column.from), frame.across(column.to));
        for (low, high, count) in &column.cells {
            let density = *count as f64 / (column.to - column.from);
            let share = (density / heat.most).sqrt();
            let degree = ((share * DEGREES as f64).ceil() as usize).clamp(1, DEGREES) - 1;
            let (top, bottom) = (frame.down(*high), frame.down(*low));
            degrees[degree].push_str(&format!(
                "M{left:.1} {top:.1}h{:.1}v{:.1}h{:.1}z",
                right - left,
                bottom - top,
                left - right
            ));
        }
    }
    for (degree, cells) in (1..).zip(&degrees).filter(|(_, cells)| !cells.is_empty()) {
        let opacity = format!("{:.2}", f64::from(degree) / DEGREES as f64);
        out.empty(
            "path",
            &[("class", "bar good"), ("opacity", &opacity), ("d", cells)],
        );
    }
}

/// Draws a bar for each value, with its name at the left and its count after it. A bar is at least
/// one pixel long.
pub(super) fn bars(out: &mut Markup, frame: &Frame<'_>, bars: &[Bar]) {
    for (number, bar) in bars.iter().enumerate() {
        let top = frame.top_of_bar(number);
        let right = frame.across(bar.value);
        let base = top + BAR * 0.52;
        text(out, "", (frame.left - 8.0, base), "end", &bar.name);
        let width = (right - frame.left).max(1.0);
        let shape = format!(
            "M{:.1} {top:.1}h{width:.1}v{:.1}h-{width:.1}z",
            frame.left,
            BAR * BAR_SHARE
        );
        path(out, &format!("bar {}", class(bar.role)), &shape);
        let count = rounded::count(bar.value as u64);
        text(out, "", (right + 6.0, base), "start", &count);
    }
}
