//! The shapes of each kind of plot, drawn into a frame with axes and ticks. A series is a group
//! with the class of its role. A gap in the values is a gap in the drawing; a single point between
//! gaps is a dot.
//!
//! A dot is a line without length, whose round ends keep their form when the plot is stretched.

use super::{BAR_HEIGHT, Frame, class, group, number, path, text};
use crate::figure::{Bar, Figure, Heat, Point, Role, Series};
use crate::markup::Markup;
use crate::quantity::share;

/// The minimum distance between strokes above lower bounds: in a row of them, a few say the same.
const BETWEEN: f64 = 24.0;
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
        let area = format!("area-of {}", class(upper.role));
        path(out, &area, &(through(frame, &outline) + "z"));
    }
}

/// Draws the points without lines.
pub(super) fn points(out: &mut Markup, frame: &Frame<'_>, all: &[Series]) {
    for series in all {
        group(out, "series", |out| {
            let dots = series.points.iter().filter_map(|point| dot(frame, point));
            path(
                out,
                &format!("dot {}", class(series.role)),
                &dots.collect::<String>(),
            );
        });
    }
}

/// Draws one series as runs of neighbouring values, with a stroke above each lower bound. The
/// intended load changes at once, so that its line has steps.
fn line(out: &mut Markup, frame: &Frame<'_>, series: &Series) {
    let class = class(series.role);
    let (mut dots, mut bounds) = (String::new(), String::new());
    for run in series.points.split(|point| point.y.is_none()) {
        let places: Vec<(f64, f64)> = run.iter().filter_map(|of| Some((of.x, of.y?))).collect();
        let line = match run {
            [] => continue,
            // A path of one point draws nothing.
            [only] => {
                dots.extend(dot(frame, only));
                String::new()
            }
            _ if series.role == Role::Asked => steps(frame, &places),
            _ => through(frame, &places),
        };
        if !line.is_empty() {
            path(out, &format!("line {class}"), &line);
        }
        let mut free = f64::MIN;
        let bounded = run.iter().filter(|point| point.is_at_least);
        let apart = bounded.filter(|point| {
            let x = frame.across(point.x);
            let is_free = x >= free;
            free = if is_free { x + BETWEEN } else { free };
            is_free
        });
        bounds.extend(apart.filter_map(|point| at_least(frame, point)));
    }
    for (kind, d) in [("dot", dots), ("least", bounds)] {
        if !d.is_empty() {
            path(out, &format!("{kind} {class}"), &d);
        }
    }
}

/// The commands of a path through places of the axes.
fn through(frame: &Frame<'_>, places: &[(f64, f64)]) -> String {
    let steps = places
        .iter()
        .zip(std::iter::once('M').chain(std::iter::repeat('L')));
    steps
        .map(|((x, y), step)| format!("{step}{}", place(frame, *x, *y)))
        .collect()
}

/// The commands of a path that is level around each place, from half of the way from the place
/// before to half of the way to the next.
fn steps(frame: &Frame<'_>, places: &[(f64, f64)]) -> String {
    let half = |pair: &[(f64, f64)]| (pair[1].0 - pair[0].0) / 2.0;
    let [first, second, ..] = places else {
        return String::new();
    };
    let begin = first.0 - half(&[*first, *second]);
    let mut d = format!("M{}", place(frame, begin, first.1));
    for pair in places.windows(2) {
        let x = number(frame.across(pair[0].0 + half(pair)), 2);
        d.push_str(&format!("H{x}V{}", number(frame.down(pair[1].1), 1)));
    }
    if let [.., before, last] = places {
        let end = last.0 + half(&[*before, *last]);
        d.push_str(&format!("H{}", number(frame.across(end), 2)));
    }
    d
}

/// A place of the axes as a path has it.
fn place(frame: &Frame<'_>, x: f64, y: f64) -> String {
    let (x, y) = (number(frame.across(x), 2), number(frame.down(y), 1));
    format!("{x} {y}")
}

/// The commands of a dot; `None` for a point without a value.
fn dot(frame: &Frame<'_>, point: &Point) -> Option<String> {
    Some(format!("M{}h0", place(frame, point.x, point.y?)))
}

/// The commands of a stroke above a lower bound; `None` for a point without a value.
fn at_least(frame: &Frame<'_>, point: &Point) -> Option<String> {
    let (x, y) = (number(frame.across(point.x), 2), frame.down(point.y?));
    Some(format!("M{x} {}v-6", number(y - 3.0, 1)))
}

/// Draws each cell as a level line that is as wide as the cell is high, with one path for each
/// degree of darkness: cells are equally high, and a line takes half of the bytes of a rectangle. The
/// degree grows with the root of the count per time, so that a few requests beside many are visible.
/// Columns may have different lengths.
pub(super) fn heat(out: &mut Markup, frame: &Frame<'_>, heat: &Heat) {
    let mut degrees: [String; DEGREES] = Default::default();
    let mut high_of_all = 0.0_f64;
    for column in &heat.columns {
        let (left, right) = (frame.across(column.from), frame.across(column.to));
        let (left, wide) = (number(left, 1), number(right - left, 1));
        for (low, high, count) in &column.cells {
            let density = *count as f64 / (column.to - column.from);
            let share = (density / heat.most).sqrt();
            let degree = ((share * DEGREES as f64).ceil() as usize).clamp(1, DEGREES) - 1;
            let (top, bottom) = (frame.down(*high), frame.down(*low));
            let middle = number(f64::midpoint(top, bottom), 1);
            degrees[degree].push_str(&format!("M{left} {middle}h{wide}"));
            high_of_all = high_of_all.max(bottom - top);
        }
    }
    let high = number(high_of_all, 2);
    for (degree, cells) in (1..).zip(&degrees).filter(|(_, cells)| !cells.is_empty()) {
        let opacity = opacity(degree);
        let attributes = [
            ("class", "cells good"),
            ("stroke-width", &*high),
            ("opacity", &opacity),
            ("d", cells),
        ];
        out.empty("path", &attributes);
    }
}

/// The degrees of darkness in a heat map, from the lightest, as opacities.
pub(crate) fn degrees() -> impl Iterator<Item = String> {
    (1..=DEGREES as u32).map(opacity)
}

/// The opacity of a degree of darkness, counted from 1.
fn opacity(degree: u32) -> String {
    number(f64::from(degree) / DEGREES as f64, 2)
}

/// Draws a bar for each value. A bar is at least one unit long.
pub(super) fn bars(out: &mut Markup, frame: &Frame<'_>, bars: &[Bar]) {
    for (number, bar) in bars.iter().enumerate() {
        let top = Frame::top_of_bar(number);
        let width = frame.across(bar.value).max(1.0);
        let shape = format!("M0 {top:.1}h{width:.1}v{BAR_HEIGHT}h-{width:.1}z");
        path(out, &format!("bar {}", class(bar.role)), &shape);
    }
}

/// Draws the name of each bar above it, with its value and its share.
pub(super) fn names_of_bars(out: &mut Markup, figure: &Figure, bars: &[Bar]) {
    for (number, bar) in bars.iter().enumerate() {
        let share = share(bar.value as u64, bar.whole as u64);
        let words = format!("{}: {} ({share})", bar.name, figure.x.label(bar.value));
        let base = Frame::top_of_bar(number) - 5.0;
        text(out, "", ("0", base), "start", &words);
    }
}
