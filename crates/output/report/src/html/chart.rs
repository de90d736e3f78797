//! Pictures whose letters keep their size on a page of any width: places are shares of the picture,
//! and sizes are CSS pixels. The style sheet (`charts.css`) has the colours.

use crate::markup::Markup;

/// The style sheet of these pictures.
pub(super) const STYLE: &str = include_str!("charts.css");

/// A place in a picture, from 0 to 1: from the left, and from the top.
#[derive(Clone, Copy, Debug)]
pub(super) struct At {
    pub(super) x: f64,
    pub(super) y: f64,
}

impl At {
    pub(super) const fn new(x: f64, y: f64) -> Self {
        Self { x, y }
    }
}

/// The place of a text beside a point, in `em`, and its anchor: `start`, `middle` or `end`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Beside {
    pub(super) dx: f64,
    pub(super) dy: f64,
    pub(super) anchor: &'static str,
}

/// Appends a line.
pub(super) fn line(out: &mut Markup, class: &str, from: At, to: At) {
    let ends = [from.x, from.y, to.x, to.y].map(percent);
    let [x1, y1, x2, y2] = &ends;
    let ends = [("x1", &**x1), ("y1", y1), ("x2", x2), ("y2", y2)];
    out.empty("line", &[&[("class", class)], &ends[..]].concat());
}

/// Appends a rectangle between two corners; `from` is the one at the top left.
pub(super) fn area(out: &mut Markup, class: &str, from: At, to: At) {
    let [x, y, width, height] = [from.x, from.y, to.x - from.x, to.y - from.y].map(percent);
    let place = [
        ("x", &*x),
        ("y", &y),
        ("width", &width),
        ("height", &height),
    ];
    out.empty("rect", &[&[("class", class)], &place[..]].concat());
}

/// Appends a dot with this radius in pixels.
pub(super) fn dot(out: &mut Markup, class: &str, at: At, radius: f64) {
    let (x, y, radius) = (percent(at.x), percent(at.y), radius.to_string());
    let place = [("class", class), ("cx", &x), ("cy", &y), ("r", &radius)];
    out.empty("circle", &place);
}

/// Appends a text beside a place.
pub(super) fn text(out: &mut Markup, class: &str, at: At, beside: Beside, content: &str) {
    let (x, y) = (percent(at.x), percent(at.y));
    let [dx, dy] = [beside.dx, beside.dy].map(|by| format!("{by}em"));
    let place = [("class", class), ("x", &x), ("y", &y)];
    let beside = [("dx", &*dx), ("dy", &dy), ("text-anchor", beside.anchor)];
    out.element("text", &[&place[..], &beside].concat(), content);
}

/// A share as a percentage with two decimals.
fn percent(share: f64) -> String {
    format!("{:.2}%", share * 100.0)
}
