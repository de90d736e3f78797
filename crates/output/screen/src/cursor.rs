//! The cursor of a full picture: a place along the x axis, and the values there.
//!
//! The cursor moves from value to value. Without a place of its own it is at the newest value, and
//! follows the run; in bars it is at the first one.

use crate::choice::Selection;
use crate::look::Look;
use drumfire_report::figure::{Bar, Column, Figure, Heat, Plot, Series};
use drumfire_report::line::Ink;
use drumfire_report::untrusted::Untrusted;
use ratatui_core::style::Style;

/// A text with its style.
type Piece = (String, Style);

/// A place in a figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Cursor {
    /// The number of the place, from 0.
    pub(crate) number: usize,
    /// The place along the x axis; for bars, the number of the bar.
    pub(crate) x: f64,
    /// The position to keep until the next move; `None` at the newest value.
    pub(crate) settled: Option<f64>,
}

impl Cursor {
    /// The cursor of a figure after the moves of a selection; `None` in a figure without values.
    pub(crate) fn new(figure: &Figure, selection: Selection<f64>) -> Option<Self> {
        let places = places(figure);
        let last = places.len().checked_sub(1)?;
        let is_bars = matches!(figure.plot, Plot::Bars(_));
        let distance = |at: f64, number: &usize| (places[*number] - at).abs();
        let nearest = |at: f64| {
            let numbers = 0..=last;
            numbers.min_by(|one, other| distance(at, one).total_cmp(&distance(at, other)))
        };
        let start = match selection.at {
            Some(at) => nearest(at).unwrap_or(last),
            None if is_bars => 0,
            None => last,
        };
        let number = start.saturating_add_signed(selection.moves).min(last);
        let x = places[number];
        Some(Self {
            number,
            x,
            settled: (is_bars || number < last).then_some(x),
        })
    }

    /// The place and its values, in the order of the figure.
    pub(crate) fn values(&self, figure: &Figure, look: &Look) -> Vec<Piece> {
        match &figure.plot {
            Plot::Lines(all) | Plot::Bands(all) | Plot::Points(all) => {
                self.of_series(figure, all, look)
            }
            Plot::Heat(heat) => heat
                .columns
                .get(self.number)
                .map_or_else(Vec::new, |column| of_column(figure, heat, column, look)),
            Plot::Bars(bars) => bars
                .get(self.number)
                .map_or_else(Vec::new, |bar| of_bar(figure, bar, look)),
            Plot::Nothing(_) => Vec::new(),
        }
    }

    fn of_series(&self, figure: &Figure, all: &[Series], look: &Look) -> Vec<Piece> {
        let mut pieces = vec![(figure.x.label(self.x), look.ink(Ink::Bold))];
        for series in all {
            let mut points = series.points.iter();
            let point = points.find(|point| same(point.x, self.x));
            let bound = match point.is_some_and(|point| point.is_at_least) {
                true => look.glyph("≥ ", ">= "),
                false => "",
            };
            let value = point.and_then(|point| point.y);
            let value = value.map_or_else(
                || look.glyph("–", "-").to_owned(),
                |y| look.letters(&figure.y.label(y)),
            );
            pieces.push((
                format!("{} {bound}{value}", series.name),
                look.role(series.role),
            ));
        }
        pieces
    }
}

/// The places with values, in ascending order.
fn places(figure: &Figure) -> Vec<f64> {
    match &figure.plot {
        Plot::Lines(all) | Plot::Bands(all) | Plot::Points(all) => {
            let points = all.iter().flat_map(|series| &series.points);
            let valued = points.filter(|point| point.y.is_some());
            let mut places: Vec<f64> = valued.map(|point| point.x).collect();
            places.sort_by(f64::total_cmp);
            places.dedup_by(|one, other| same(*one, *other));
            places
        }
        Plot::Heat(heat) => {
            let columns = heat.columns.iter();
            columns
                .map(|column| f64::midpoint(column.from, column.to))
                .collect()
        }
        Plot::Bars(bars) => (0..bars.len()).map(|number| number as f64).collect(),
        Plot::Nothing(_) => Vec::new(),
    }
}

/// Whether two places are the same one.
fn same(one: f64, other: f64) -> bool {
    one.total_cmp(&other).is_eq()
}

/// The span of a column of a heat map, its counts, and the cell with the most of them.
fn of_column(figure: &Figure, heat: &Heat, column: &Column, look: &Look) -> Vec<Piece> {
    let (x, y) = (&figure.x, &figure.y);
    let label = |value: f64| look.letters(&y.label(value));
    let counts: u64 = column.cells.iter().map(|cell| cell.2).sum();
    let span = format!("{} to {}", x.label(column.from), x.label(column.to));
    let mut pieces = vec![
        (span, look.ink(Ink::Bold)),
        (format!("{counts} {}", heat.counted), look.ink(Ink::Plain)),
    ];
    let fullest = column.cells.iter().max_by_key(|cell| cell.2);
    let ends = column.cells.first().zip(column.cells.last());
    if let (Some((low, high, count)), Some((first, last))) = (fullest, ends) {
        let most = format!("{count} from {} to {}", label(*low), label(*high));
        pieces.push((most, look.heat()));
        let all = format!("all from {} to {}", label(first.0), label(last.1));
        pieces.push((all, look.ink(Ink::Dim)));
    }
    pieces
}

/// The whole name of a bar, its value, and its share.
fn of_bar(figure: &Figure, bar: &Bar, look: &Look) -> Vec<Piece> {
    let name = Untrusted::new(&bar.name).escaped(look.unicode());
    let share = match bar.whole > 0.0 {
        true => format!("{:.2} % of all", bar.value / bar.whole * 100.0),
        false => String::new(),
    };
    vec![
        (name, look.role(bar.role)),
        (figure.x.label(bar.value), look.ink(Ink::Bold)),
        (share, look.ink(Ink::Plain)),
    ]
}
