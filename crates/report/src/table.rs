//! Columns that line up, and give way one by one when the page is narrow.
//!
//! Cells are lines with their ink; a column is as wide as its widest cell. Where the page is too
//! narrow the column with the highest number is left out first, as a whole: a cell that is cut
//! could be taken for another number. A column whose number is 0 always stays, so that the sum of
//! those must fit into the narrowest page; names are clipped by the caller for that.
//!
//! [`Table::new`] takes the columns, [`Table::row`] a row at a time, and [`Table::lines`] consumes
//! the table.

use crate::line::{Ink, Line};

/// The side on which a column's cells line up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// One column: its heading, its side, and the order in which it gives way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Column {
    /// The heading; may be empty.
    pub(crate) heading: &'static str,
    /// The side on which cells line up.
    pub(crate) side: Side,
    /// The column with the highest number is the first to give way; 0 stays.
    pub(crate) dispensable: u8,
}

impl Column {
    /// The first column: names, which always stay. Its heading is the table's own.
    pub(crate) const fn names(heading: &'static str) -> Self {
        Self {
            heading,
            side: Side::Left,
            dispensable: 0,
        }
    }

    /// A column of numbers.
    pub(crate) const fn numbers(heading: &'static str, dispensable: u8) -> Self {
        Self {
            heading,
            side: Side::Right,
            dispensable,
        }
    }
}

/// A table in the making. Every row has a cell for each column, in the order of the columns; an empty
/// line stands for a figure that is not known.
#[derive(Debug)]
pub(crate) struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<Line>>,
}

/// The widest gap between columns.
const GAP: usize = 2;

impl Table {
    /// A table without rows.
    pub(crate) fn new(columns: impl Into<Vec<Column>>) -> Self {
        Self {
            columns: columns.into(),
            rows: Vec::new(),
        }
    }

    /// Adds a row: one cell for each column.
    pub(crate) fn row(&mut self, cells: Vec<Line>) {
        debug_assert_eq!(cells.len(), self.columns.len(), "a cell for each column");
        self.rows.push(cells);
    }

    /// The lines, each at most `width` wide if dropping columns can make it so. There is a line of
    /// headings where a column has one; the first heading is the table's own label. Gaps shrink
    /// before a column goes.
    pub(crate) fn lines(mut self, width: usize) -> Vec<Line> {
        if self.columns.iter().any(|column| !column.heading.is_empty()) {
            let inks = [Ink::Bold].into_iter().chain(std::iter::repeat(Ink::Dim));
            let headings = self.columns.iter().zip(inks);
            let headings = headings.map(|(column, ink)| Line::of(column.heading, ink));
            self.rows.insert(0, headings.collect());
        }
        let mut widths = self.widths();
        while total(&widths, 1) > width && self.drop_one() {
            widths = self.widths();
        }
        let gap = (1..=GAP)
            .rev()
            .find(|&gap| total(&widths, gap) <= width)
            .unwrap_or(1);
        let columns = &self.columns;
        let rows = self.rows.into_iter();
        rows.map(|row| row_line(row, columns, &widths, gap))
            .collect()
    }

    /// Each column's width: that of its widest cell.
    fn widths(&self) -> Vec<usize> {
        let widest = |at: usize| self.rows.iter().map(|row| row[at].width()).max();
        (0..self.columns.len())
            .map(|at| widest(at).unwrap_or(0))
            .collect()
    }

    /// Drops the most dispensable column; returns `false` when none may go.
    fn drop_one(&mut self) -> bool {
        let candidates = self.columns.iter().enumerate();
        let found = candidates
            .filter(|(_, column)| column.dispensable > 0)
            .max_by_key(|(_, column)| column.dispensable);
        let Some((at, _)) = found else {
            return false;
        };
        self.columns.remove(at);
        for row in &mut self.rows {
            row.remove(at);
        }
        true
    }
}

/// The width of columns together, with `gap` between them.
fn total(widths: &[usize], gap: usize) -> usize {
    widths.iter().sum::<usize>() + gap * widths.len().saturating_sub(1)
}

/// The cells of one row, each padded to its column.
fn row_line(row: Vec<Line>, columns: &[Column], widths: &[usize], gap: usize) -> Line {
    let mut line = Line::new();
    for (at, cell) in row.into_iter().enumerate() {
        let padding = widths[at] - cell.width();
        line.space(if at > 0 { gap } else { 0 });
        match columns[at].side {
            Side::Right => {
                line.space(padding);
                line.append(cell);
            }
            Side::Left => {
                line.append(cell);
                if at + 1 < widths.len() {
                    line.space(padding);
                }
            }
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::style::Style;

    fn table() -> Table {
        let column = |heading, side, dispensable| Column {
            heading,
            side,
            dispensable,
        };
        let mut table = Table::new([
            column("name", Side::Left, 0),
            column("p50", Side::Right, 1),
            column("p95", Side::Right, 2),
        ]);
        table.row(["response", "1.23ms", "12.3ms"].map(Line::plain).to_vec());
        table.row(["lag", "9µs", "–"].map(Line::plain).to_vec());
        table
    }

    fn shown(width: usize) -> String {
        let mut out = String::new();
        for line in table().lines(width) {
            line.print(&Style::default(), &mut out);
        }
        out
    }

    #[test]
    fn cells_line_up() {
        assert_eq!(
            shown(40),
            "name         p50     p95\nresponse  1.23ms  12.3ms\nlag          9µs       –\n"
        );
    }

    #[test]
    fn gaps_shrink_before_columns_go() {
        assert!(shown(22).starts_with("name        p50    p95\n"));
        assert!(shown(21).starts_with("name         p50\n"));
        assert!(shown(3).starts_with("name\n"));
    }
}
