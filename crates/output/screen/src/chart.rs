//! Draws a figure in cells: a heading, axes with their ticks, and the plot.
//!
//! Every figure can be drawn at every size: a small area omits first the question, then the row of
//! the x axis, then the names next to the lines. A figure without values has a text instead of axes,
//! whose ends would be invented.
//!
//! [`draw`] is the only entry point. It cuts off the heading and passes bars on to their own file.
//! For any other plot it draws first the axes (`axes`, which returns the area inside), then the
//! plot (`series`, or the cells of a heat map), then the names (`name_all`). Positions come from
//! the figure's own axes, as in a picture in a file. `cell_at` computes the cell of a position for
//! letters, and the [`Raster`] for dots.

use crate::choice::Selection;
use crate::cursor::Cursor;
use crate::look::Look;
use crate::place::{above, below};
use crate::raster::Raster;
use crate::{bars, heat};
use drumfire_report::figure::{Axis, Figure, Plot, Series};
use drumfire_report::line::Ink;
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;

/// The maximum width of the y axis' labels, in columns.
const GUTTER_MAX: usize = 10;
/// The maximum width of names next to lines, in columns.
const NAMES_MAX: usize = 14;
/// The minimum height with a row for the x axis.
const X_AXIS_FROM: u16 = 5;
/// The minimum height of a plot whose names may be in other rows than their values.
const NAMES_MOVE_FROM: u16 = 4;
/// The minimum width with names next to the lines.
const NAMES_FROM: u16 = 30;
/// The minimum height of a full figure with a row for the values at its cursor.
const VALUES_FROM: u16 = 5;
/// The letters of series on terminals without dot patterns.
const LETTERS: [char; 5] = ['*', '+', 'o', 'x', '#'];

/// The look of a figure beyond the figure.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Detail<'a> {
    /// The step whose requests the figure shows; `None` for all requests.
    pub(crate) of: Option<&'a str>,
    /// The selection of a full figure.
    pub(crate) cursor: Option<Selection<f64>>,
}

/// Draws a figure into an area of any size; an area without rows for a plot gets only the heading.
/// Returns the position of its cursor.
pub(crate) fn draw(
    figure: &Figure,
    detail: Detail<'_>,
    area: Rect,
    buffer: &mut Buffer,
    look: &Look,
) -> Option<f64> {
    if area.is_empty() {
        return None;
    }
    let (head, body) = above(area, 1);
    heading(figure, detail.of, head, buffer, look);
    if body.height == 0 || body.width < 8 {
        return None;
    }
    if is_empty(figure) {
        let text = without_values(figure.name);
        look.text(
            buffer,
            (body.x, body.y),
            body.width,
            text,
            look.ink(Ink::Dim),
        );
        return None;
    }
    let selection = detail.cursor.filter(|_| body.height >= VALUES_FROM);
    let cursor = selection.and_then(|selection| Cursor::new(figure, selection));
    let (values, body) = above(body, u16::from(cursor.is_some()));
    match &figure.plot {
        Plot::Bars(all) => {
            let number = cursor.map(|cursor| cursor.number);
            bars::draw(all, number, &figure.x, body, buffer, look);
        }
        Plot::Lines(all) | Plot::Bands(all) | Plot::Points(all) => {
            let is_joined = !matches!(figure.plot, Plot::Points(_));
            let (plot, names) = beside(body, all);
            let plot = axes(figure, plot, buffer, look);
            series(figure, all, is_joined, plot, buffer, look);
            name_all(figure, all, plot, names, buffer, look);
            upright(figure, cursor, plot, buffer, look);
        }
        Plot::Nothing(sentence) => {
            let at = (body.x, body.y);
            look.text(buffer, at, body.width, sentence, look.ink(Ink::Dim));
        }
        Plot::Heat(map) => {
            let plot = axes(figure, body, buffer, look);
            heat::draw(map, &figure.x, &figure.y, plot, buffer, look);
            upright(figure, cursor, plot, buffer, look);
        }
    }
    let cursor = cursor?;
    let mut x = values.x;
    for (text, style) in cursor.values(figure, look) {
        let room = (values.x + values.width).saturating_sub(x);
        x += look.text(buffer, (x, values.y), room, &text, style) + 2;
    }
    cursor.settled
}

/// Draws the title, and after it the step or the question, if it fits.
fn heading(figure: &Figure, of: Option<&str>, area: Rect, buffer: &mut Buffer, look: &Look) {
    let at = (area.x, area.y);
    let taken = look.text(buffer, at, area.width, &figure.title, look.ink(Ink::Bold));
    let (text, is_cut) = match of {
        Some(step) => (format!("  {step}"), true),
        None => (format!("  {}", figure.question), false),
    };
    let room = area.width - taken;
    if is_cut || usize::from(room) >= text.chars().count() {
        let at = (area.x + taken, area.y);
        look.text(buffer, at, room, &text, look.ink(Ink::Dim));
    }
}

/// Whether a figure has no value to draw.
fn is_empty(figure: &Figure) -> bool {
    match &figure.plot {
        Plot::Lines(all) | Plot::Bands(all) | Plot::Points(all) => {
            let mut points = all.iter().flat_map(|series| &series.points);
            !points.any(|point| point.y.is_some())
        }
        Plot::Heat(heat) => heat.columns.iter().all(|column| column.cells.is_empty()),
        Plot::Bars(bars) => bars.is_empty(),
        // Its sentence is drawn.
        Plot::Nothing(_) => false,
    }
}

/// The text for a figure without values.
fn without_values(name: &str) -> &'static str {
    match name {
        "failures" => "no request has failed",
        "lag" => "too few requests for a p99",
        "latency" | "heat" | "tail" | "knee" => "no request has succeeded yet",
        _ => "no values so far",
    }
}

/// Draws a line from top to bottom at the cursor, between the dots of the plot.
fn upright(figure: &Figure, cursor: Option<Cursor>, plot: Rect, buffer: &mut Buffer, look: &Look) {
    let Some(cursor) = cursor else {
        return;
    };
    let x = cell_at(plot, (figure.x.place(cursor.x), 0.0)).0;
    for y in plot.y..plot.y + plot.height {
        if buffer.cell((x, y)).is_some_and(|cell| cell.symbol() == " ") {
            look.text(
                buffer,
                (x, y),
                1,
                look.glyph("│", "|"),
                look.ink(Ink::Plain),
            );
        }
    }
}

/// The area of a plot, and the area of the names next to it, which has no width if there are no
/// names.
fn beside(body: Rect, all: &[Series]) -> (Rect, Rect) {
    let widest = all.iter().map(|series| series.name.chars().count()).max();
    let width = match all.len() > 1 && body.width >= NAMES_FROM {
        true => widest.unwrap_or(0).min(NAMES_MAX) as u16 + 1,
        false => 0,
    };
    let plot = Rect {
        width: body.width - width,
        ..body
    };
    let names = Rect {
        x: body.x + plot.width,
        width,
        ..body
    };
    (plot, names)
}

/// Draws the axes, and returns the area between them. Labels that would be in the row of another
/// label are omitted. At least two ticks are requested, so that a scale can be read.
///
/// The gutter of the y axis is as wide as its widest label, at most [`GUTTER_MAX`] and half of the
/// area, and no label is wider. The line of the axis is the gutter's last column. Marks are drawn
/// here too, below lines and cells.
fn axes(figure: &Figure, area: Rect, buffer: &mut Buffer, look: &Look) -> Rect {
    let rows = u16::from(area.height >= X_AXIS_FROM);
    let (upper, lower) = below(area, rows);
    let ticks = figure.y.ticks(usize::from(upper.height / 3).max(2));
    let widest = ticks.iter().map(|tick| tick.label.chars().count()).max();
    let gutter = (widest.unwrap_or(0).min(GUTTER_MAX) as u16 + 1).min(area.width / 2);
    let plot = Rect {
        x: upper.x + gutter,
        width: upper.width - gutter,
        ..upper
    };
    let dim = look.ink(Ink::Dim);
    for row in 0..plot.height {
        look.text(
            buffer,
            (plot.x - 1, plot.y + row),
            1,
            look.glyph("│", "|"),
            dim,
        );
    }
    let mut last = None;
    for tick in &ticks {
        let row = ((1.0 - tick.place) * f64::from(plot.height.saturating_sub(1))).round() as u16;
        if last == Some(row) {
            continue;
        }
        last = Some(row);
        let y = plot.y + row;
        let label = tick.label.chars().count() as u16;
        let x = plot.x.saturating_sub(label + 1).max(area.x);
        look.text(buffer, (x, y), gutter - 1, &tick.label, dim);
        look.text(buffer, (plot.x - 1, y), 1, look.glyph("┤", "+"), dim);
    }
    if rows > 0 {
        x_axis(&figure.x, plot, lower.y, buffer, look);
    }
    marks(figure, plot, buffer, look);
    plot
}

/// Draws the labels under a plot, without labels that would touch another.
///
/// The middle of each label is below its tick, with two columns between neighbours. From the left,
/// each label that fits is drawn.
fn x_axis(axis: &Axis, plot: Rect, y: u16, buffer: &mut Buffer, look: &Look) {
    let mut free = plot.x;
    for tick in axis.ticks(usize::from(plot.width / 12).max(1)) {
        let label = tick.label.chars().count() as u16;
        let at = plot.x + (tick.place * f64::from(plot.width.saturating_sub(1))).round() as u16;
        let x = at.saturating_sub(label / 2).max(plot.x);
        let fits = x + label <= plot.x + plot.width;
        if x >= free && fits {
            look.text(buffer, (x, y), label, &tick.label, look.ink(Ink::Dim));
            free = x + label + 2;
        }
    }
}

/// Draws a dotted line at each mark of the figure. The mark's name is omitted for lack of room.
/// Marks at the edges of the plot are omitted too.
fn marks(figure: &Figure, plot: Rect, buffer: &mut Buffer, look: &Look) {
    for mark in &figure.marks {
        let place = figure.x.place(mark.x);
        let is_within = place > 0.0 && place < 1.0;
        if !is_within || plot.width == 0 {
            continue;
        }
        let x = plot.x + (place * f64::from(plot.width - 1)).round() as u16;
        for row in 0..plot.height {
            let glyph = look.glyph("┊", ":");
            look.text(buffer, (x, plot.y + row), 1, glyph, look.ink(Ink::Dim));
        }
    }
}

/// Draws the points of each series, and lines between consecutive points. A point that is only a
/// lower bound has an arrow.
///
/// A point without a value interrupts the line. Without Braille dots, each series has its own
/// letter. Arrows are drawn last, directly into the cells, because the raster would overwrite them.
fn series(
    figure: &Figure,
    all: &[Series],
    is_joined: bool,
    plot: Rect,
    buffer: &mut Buffer,
    look: &Look,
) {
    let mut raster = Raster::new(plot, look.is_unicode());
    let mut arrows = Vec::new();
    for (number, series) in all.iter().enumerate() {
        let letter = LETTERS[number % LETTERS.len()];
        let style = look.role(series.role);
        let mut before = None;
        for point in &series.points {
            let Some(y) = point.y else {
                before = None;
                continue;
            };
            let place = (figure.x.place(point.x), figure.y.place(y));
            match before.filter(|_| is_joined) {
                Some(before) => raster.line(before, place, letter, style),
                None => raster.point(place, letter, style),
            }
            before = Some(place);
            if point.is_at_least {
                arrows.push((place, style));
            }
        }
    }
    raster.draw(buffer);
    for (place, style) in arrows {
        let at = cell_at(plot, place);
        look.text(buffer, at, 1, look.glyph("↑", "^"), style);
    }
}

/// The cell of a position in a plot.
///
/// The first and the last cell are the ends of the axis, so the ends are in the middle of a cell
/// and not at its edge.
fn cell_at(plot: Rect, (x, y): (f64, f64)) -> (u16, u16) {
    let along = |place: f64, of: u16| (place * f64::from(of.saturating_sub(1))).round() as u16;
    (
        plot.x + along(x, plot.width),
        plot.y + along(1.0 - y, plot.height),
    )
}

/// Draws the name of each series next to its last value; names of close values are below each
/// other, the maximum value first.
///
/// A name is in the row of its value, unless that row is taken, or the following names would have
/// no row. A series without a value has no name. If the rows do not suffice, names are omitted from
/// the minimum value on. In a plot of less than [`NAMES_MOVE_FROM`] rows, a name is in the row of its
/// value or omitted, because another row would be that of another line.
fn name_all(
    figure: &Figure,
    all: &[Series],
    plot: Rect,
    names: Rect,
    buffer: &mut Buffer,
    look: &Look,
) {
    if names.width == 0 || plot.height == 0 {
        return;
    }
    let last = |series: &Series| series.points.iter().rev().find_map(|point| point.y);
    let mut valued: Vec<(f64, &Series)> = all
        .iter()
        .filter_map(|series| Some((last(series)?, series)))
        .collect();
    valued.sort_by(|one, other| other.0.total_cmp(&one.0));
    let row = |value: f64| cell_at(plot, (1.0, figure.y.place(value))).1;
    let named: Vec<(u16, &Series)> = valued
        .into_iter()
        .map(|(value, series)| (row(value), series))
        .collect();
    let bottom = plot.y + plot.height;
    let mut free = plot.y;
    for (number, (row, series)) in named.iter().enumerate() {
        // The following names need a row each.
        let following = match plot.height < NAMES_MOVE_FROM {
            true => 1,
            false => named.len() - number,
        };
        let highest = bottom.saturating_sub(following as u16);
        let y = (*row).max(free).min(highest.max(free));
        if y >= bottom {
            break;
        }
        if plot.height < NAMES_MOVE_FROM && y != *row {
            continue;
        }
        let style = look.role(series.role);
        look.text(
            buffer,
            (names.x + 1, y),
            names.width - 1,
            series.name,
            style,
        );
        free = y + 1;
    }
}
