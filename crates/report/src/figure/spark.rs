//! A step's latency over the run in a line of a table: a column for each span of time.
//!
//! The columns of all steps in a table are of one quantile and one span of time, so that a stall
//! stands below a stall; the height is that of the step's own greatest column, which the table names
//! beside it. A column without requests, or with too few for the quantile, is a gap.
//!
//! [`Sparks::of`] makes those of a table's steps at once, for the quantile is chosen for all of
//! them: the greatest one that at least half of the columns that count anything can support. A
//! [`Spark`] is then printed as letters ([`Spark::blocks`]) or drawn for a page.

use crate::bar::level;
use crate::markup::Markup;
use crate::style::Unicode;
use drumfire_measure::{Histogram, Overview, Summary};

/// The quantiles that may be drawn, the one that says most first, with their names.
const QUANTILES: [(f64, &str); 3] = [(0.99, "p99"), (0.9, "p90"), (0.5, "p50")];
/// Fewer columns than this show no course.
const COLUMNS_MIN: usize = 3;
/// The size of a picture in CSS pixels.
const WIDTH: f64 = 160.0;
const HEIGHT: f64 = 22.0;

/// The columns of one step.
#[derive(Clone, Debug, PartialEq)]
pub struct Spark {
    /// The quantile of each column in nanoseconds; `None` where there is none.
    columns: Vec<Option<f64>>,
}

/// The sparks of several steps.
#[derive(Clone, Debug, PartialEq)]
pub struct Sparks {
    /// The quantile of all columns.
    pub quantile: &'static str,
    /// One for each step that was asked for; `None` where it has no timeline of its own.
    pub steps: Vec<Option<Spark>>,
}

impl Sparks {
    /// The sparks of steps, each by its pool's number and its own, with some number of columns, or
    /// as many as the run has cells where these are fewer. `None` where no step has a timeline, or
    /// one with too little time or too few requests to show anything.
    #[must_use]
    pub fn of(summary: &Summary, steps: &[(usize, usize)], columns: usize) -> Option<Self> {
        let of_step = |(pool, step): &(usize, usize)| {
            let cells = summary.step_over_time(*pool, *step)?;
            Some(merged(cells, columns))
        };
        Self::of_columns(steps.iter().map(of_step).collect())
    }

    /// The one spark of all requests, which are those of the only step of a run.
    #[must_use]
    pub fn of_run(summary: &Summary, columns: usize) -> Option<Self> {
        Self::of_columns(vec![Some(merged(summary.over_time(), columns))])
    }

    /// The heading of the sparks in a table.
    #[must_use]
    pub fn heading(&self) -> &'static str {
        match self.quantile {
            "p99" => "p99 over time",
            "p90" => "p90 over time",
            _ => "p50 over time",
        }
    }

    /// The sparks of these distributions, by the greatest quantile that at least half of all
    /// columns with requests support. `None` where there are no requests, or too few columns for a
    /// course.
    fn of_columns(merged: Vec<Option<Vec<Histogram>>>) -> Option<Self> {
        let all = || merged.iter().flatten().flatten();
        let counted = all().filter(|column| !column.is_empty()).count();
        let longest = merged.iter().flatten().map(Vec::len).max();
        if counted == 0 || longest < Some(COLUMNS_MIN) {
            return None;
        }
        let is_drawn = |q: f64| {
            let supported = all().filter(|column| column.quantile(q).is_some());
            supported.count() * 2 >= counted
        };
        let mut quantiles = QUANTILES.into_iter();
        let (q, quantile) = quantiles.find(|(q, _)| is_drawn(*q))?;
        let spark = |columns: Vec<Histogram>| Spark {
            columns: columns
                .iter()
                .map(|column| column.quantile(q).map(|time| time.0 as f64))
                .collect(),
        };
        Some(Self {
            quantile,
            steps: merged.into_iter().map(|step| step.map(spark)).collect(),
        })
    }
}

/// The distribution of each column: of one cell, or of several one after the other. What the end of
/// a run has cut short to less than half a cell belongs to the one before.
fn merged(cells: impl Iterator<Item = Overview>, most: usize) -> Vec<Histogram> {
    let mut cells: Vec<Overview> = cells.collect();
    let length = |cell: &Overview| cell.end() - cell.start();
    let rest = match &cells[..] {
        [.., before, last] if length(last).0 < length(before).0 / 2 => cells.pop(),
        _ => None,
    };
    let each = cells.len().div_ceil(most).max(1);
    let mut columns: Vec<Histogram> = Vec::new();
    for cells in cells.chunks(each) {
        let mut column = Histogram::small();
        cells.iter().for_each(|cell| column.merge(cell.latency()));
        columns.push(column);
    }
    if let (Some(rest), Some(last)) = (rest, columns.last_mut()) {
        last.merge(rest.latency());
    }
    columns
}

impl Spark {
    /// A spark of these values, which are above 0, the first of them on the left.
    #[must_use]
    pub const fn new(columns: Vec<Option<f64>>) -> Self {
        Self { columns }
    }

    /// The columns as block characters or their like in ASCII, a letter each.
    #[must_use]
    pub fn blocks(&self, unicode: Unicode) -> String {
        let most = self.most();
        let block = |value: f64| level(value / most, unicode);
        let columns = self.columns.iter();
        columns.map(|column| column.map_or(' ', block)).collect()
    }

    /// Appends the columns as bars of a small picture, with a name for readers of screens.
    pub(crate) fn draw(&self, out: &mut Markup, name: &str) {
        let most = self.most();
        let width = WIDTH / self.columns.len() as f64;
        let mut bars = String::new();
        for (number, column) in self.columns.iter().enumerate() {
            let Some(value) = column else { continue };
            let height = (value / most * HEIGHT).max(1.0);
            bars.push_str(&format!(
                "M{:.1} {HEIGHT}v-{height:.1}h{:.1}v{height:.1}z",
                number as f64 * width,
                (width * 0.85).max(0.5)
            ));
        }
        let view = format!("0 0 {WIDTH} {HEIGHT}");
        let (width, height) = (WIDTH.to_string(), HEIGHT.to_string());
        let attributes = [
            ("class", "spark"),
            ("viewBox", &*view),
            ("width", &*width),
            ("height", &*height),
            ("role", "img"),
            ("aria-label", name),
        ];
        out.open("svg", &attributes);
        out.empty("path", &[("class", "bar good"), ("d", &bars)]);
        out.close("svg");
    }

    /// The greatest column, by which the heights are scaled; at least 1, so that nothing is divided
    /// by 0.
    fn most(&self) -> f64 {
        let known = self.columns.iter().flatten();
        known.fold(1.0, |most, value| most.max(*value))
    }
}

#[cfg(test)]
mod tests {
    use super::Spark;
    use crate::markup::Markup;
    use crate::style::Unicode;

    #[test]
    fn a_gap_is_no_zero() {
        let spark = Spark {
            columns: vec![Some(8.0), None, Some(4.0), Some(0.0), Some(1.0)],
        };
        assert_eq!(spark.blocks(Unicode::On), "█ ▄▁▁");
        assert_eq!(spark.blocks(Unicode::Off), "# -__");
        let mut out = Markup::default();
        spark.draw(&mut out, "p99 of a step");
        let svg = out.finish();
        assert_eq!(svg.matches('M').count(), 4, "{svg}");
        assert!(svg.contains("aria-label=\"p99 of a step\""));
    }
}
