//! The drawing of values over time as columns of text, with an axis at the left and times below. Each
//! column is an equal part of the time.

use crate::bar::spark;
use crate::line::{Ink, Line};
use crate::quantity::span;
use crate::style::Style;
use drumfire_units::Nanos;

/// The height of a drawing, in rows.
const ROWS: usize = 5;
/// The width of the axis' numbers, in columns.
pub(super) const AXIS: usize = 9;
/// The minimum height of a column whose value is above zero, as a share of a row.
const LEAST: f64 = 0.125;

/// Values over time as columns of a drawing. An infinite value, such as the rate of arrivals at once,
/// fills its column.
pub(super) struct Chart {
    /// The minimum value of a full column.
    pub(super) top: f64,
    /// The text of a value on the axis.
    pub(super) unit: fn(f64) -> String,
    /// The end of the time.
    pub(super) end: Nanos,
}

impl Chart {
    /// The drawing: rows from the top, the axis, and the times of the beginning, the middle and the
    /// end. The scale is from 0 to the maximum of the law or of the values.
    pub(super) fn lines(&self, values: &[f64], style: &Style) -> Vec<Line> {
        let finite = values.iter().copied().filter(|value| value.is_finite());
        let top = finite.fold(self.top, f64::max);
        let top = if top > 0.0 { top } else { 1.0 };
        let bar = style.glyph("┤", "|");
        let mut lines: Vec<Line> = (0..ROWS)
            .rev()
            .map(|row| {
                let label = match row + 1 {
                    ROWS => (self.unit)(top),
                    _ => String::new(),
                };
                let axis = if row + 1 == ROWS {
                    bar
                } else {
                    style.glyph("│", "|")
                };
                Line::single(format!("{label:>AXIS$} {axis}"), Ink::Dim)
                    .with(layer(values, top, row, style), Ink::Good)
            })
            .collect();
        let corner = style.glyph("└", "+");
        let axis = style.glyph("─", "-").repeat(values.len());
        let zero = (self.unit)(0.0);
        lines.push(Line::single(
            format!("{zero:>AXIS$} {corner}{axis}"),
            Ink::Dim,
        ));
        let middle = span(Nanos(self.end.0 / 2), style.unicode);
        let end = span(self.end, style.unicode);
        let (half, rest) = (values.len() / 2, values.len() - values.len() / 2);
        let times = format!("{:AXIS$}  {:<half$}{middle:<}", "", "0");
        let times = format!(
            "{times}{end:>0$}",
            rest.saturating_sub(middle.chars().count())
        );
        lines.push(Line::single(times, Ink::Dim));
        lines
    }
}

/// One row of a chart, counted from below: the part of each column that lies in it, as a block.
fn layer(values: &[f64], top: f64, row: usize, style: &Style) -> String {
    let filled = values.iter().map(|value| {
        let height = if value.is_finite() {
            value / top * ROWS as f64
        } else {
            ROWS as f64
        };
        // Every value above zero is visible.
        let least = if *value > 0.0 && row == 0 { LEAST } else { 0.0 };
        (height - row as f64).clamp(least, 1.0)
    });
    let filled: Vec<f64> = filled.collect();
    spark(&filled, 1.0, style)
}
