//! A step's latency over the run in a cell of a table: a column for each span of time. All steps of
//! a table have the same quantile and spans; heights are relative to the step's maximum. A column
//! with too few requests is a gap.

use crate::bar::level;
use crate::markup::Markup;
use crate::style::Unicode;
use drumfire_measure::{Histogram, Overview, Summary};

/// The quantiles, the most informative first, with their names.
const QUANTILES: [(f64, &str); 3] = [(0.99, "p99"), (0.9, "p90"), (0.5, "p50")];
/// The minimum number of columns.
const COLUMNS_MIN: usize = 3;
/// The size of a picture in CSS pixels.
const WIDTH: f64 = 160.0;
const HEIGHT: f64 = 22.0;

/// The columns of one step.
#[derive(Clone, Debug, PartialEq)]
pub struct Spark {
    /// The quantile of each column in nanoseconds; `None` for a gap.
    columns: Vec<Option<f64>>,
}

/// The sparks of several steps.
#[derive(Clone, Debug, PartialEq)]
pub struct Sparks {
    /// The quantile of all columns.
    pub quantile: &'static str,
    /// The spark of each requested step; `None` without a timeline.
    pub steps: Vec<Option<Spark>>,
}

impl Sparks {
    /// The sparks of steps, each given by its pool's number and its own, with at most `columns`
    /// columns. `None` if no step has a timeline with enough time and requests.
    #[must_use]
    pub fn for_steps(summary: &Summary, steps: &[(usize, usize)], columns: usize) -> Option<Self> {
        let of_step = |(pool, step): &(usize, usize)| {
            let cells = summary.step_over_time(*pool, *step)?;
            Some(merged(cells, columns))
        };
        Self::of_columns(steps.iter().map(of_step).collect())
    }

    /// The spark of all requests, for the only step of a run.
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

    /// The sparks of these distributions, of the highest quantile that at least half of all columns
    /// with requests support.
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

/// The distribution of each column: one or more cells. A last cell that is shorter than half of the
/// others belongs to the one before.
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
    /// A spark of these values above 0, the first at the left.
    #[must_use]
    pub const fn new(columns: Vec<Option<f64>>) -> Self {
        Self { columns }
    }

    /// The columns as block characters, or their like in ASCII.
    #[must_use]
    pub fn blocks(&self, unicode: Unicode) -> String {
        let most = self.most();
        let block = |value: f64| level(value / most, unicode);
        let columns = self.columns.iter();
        columns.map(|column| column.map_or(' ', block)).collect()
    }

    /// Appends the columns as bars of a small picture, with a name for screen readers.
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
            ("preserveAspectRatio", "none"),
            ("width", &*width),
            ("height", &*height),
            ("role", "img"),
            ("aria-label", name),
        ];
        out.open("svg", &attributes);
        out.empty("path", &[("class", "bar good"), ("d", &bars)]);
        out.close("svg");
    }

    /// The greatest column, by which heights are scaled; at least 1.
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
