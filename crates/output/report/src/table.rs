//! A table on a terminal: columns that line up, and give way one by one if the page is narrow.

use crate::bar::bar;
use crate::grid::{Cell, Column, Grid, Kind, Row};
use crate::line::{Ink, Line, wrap};
use crate::style::Style;
use unicode_width::UnicodeWidthStr as _;

/// The widest gap between columns.
const GAP: usize = 2;
/// The maximum width of a name in a table with headings.
const NAME_MAX: usize = 40;
/// The minimum width of a column of bars. Other columns give way first.
const BAR_MIN: usize = 20;

/// The lines of a table, each at most `width` wide if dropping columns can make it so. With a
/// title, there is a line of headings. The title is the heading of the names of rows.
///
/// Names take at most a third of the width, or half of it in a list without headings. Gaps shrink
/// before a column is dropped.
pub(crate) fn lines(grid: &Grid, title: Option<&str>, width: usize, style: &Style) -> Vec<Line> {
    let name_max = match title {
        Some(_) => (width / 3).min(NAME_MAX),
        None => width / 2,
    };
    lines_with(grid, title, name_max, width, style)
}

/// The lines of a table with headings on a screen: names take the width that the other columns
/// leave, but at least a third of it.
pub(crate) fn wide_lines(grid: &Grid, title: &str, style: &Style) -> Vec<Line> {
    let width = style.width();
    let others = grid.columns.iter().enumerate();
    let others = others.filter(|(_, column)| column.kind != Kind::Names);
    let others = others.map(|(at, column)| {
        let cells = grid.rows.iter();
        let cells = cells.map(|row| row.cells[at].line(style.unicode).width());
        cells.max().unwrap_or(0).max(column.heading.width()) + GAP
    });
    let rest = width.saturating_sub(others.sum());
    lines_with(grid, Some(title), rest.max(width / 3), width, style)
}

/// The lines of a table whose names take at most `name_max` columns.
fn lines_with(
    grid: &Grid,
    title: Option<&str>,
    name_max: usize,
    width: usize,
    style: &Style,
) -> Vec<Line> {
    let mut rows: Vec<Vec<Line>> = Vec::new();
    rows.extend(title.map(|title| {
        let heads = grid.columns.iter().enumerate();
        let heads = heads.map(|(at, column)| match (at, column.kind) {
            (0, Kind::Names) => Line::single(title, Ink::Bold),
            (0, _) if column.heading.is_empty() => Line::single(title, Ink::Bold),
            (0, _) => Line::single(column.heading, Ink::Bold),
            _ => Line::single(column.heading, Ink::Dim),
        });
        heads.collect()
    }));
    let heads = rows.len();
    let line = |cell: &Cell| cell.line(style.unicode);
    rows.extend(
        grid.rows
            .iter()
            .map(|row| row.cells.iter().map(line).collect()),
    );
    for (at, column) in grid.columns.iter().enumerate() {
        if column.kind == Kind::Names {
            cut_names(&mut rows[heads..], at, name_max, style);
        }
    }
    let layout = ShownColumns::new(grid, &rows, width);
    let mut out = Vec::new();
    for (number, cells) in rows.into_iter().enumerate() {
        match number.checked_sub(heads).map(|number| &grid.rows[number]) {
            Some(row) if row.is_below => out.extend(layout.below(&cells, style)),
            row => out.extend(layout.row(row, cells, style)),
        }
    }
    out
}

/// The columns that fit, with their widths and places.
struct ShownColumns<'a> {
    grid: &'a Grid,
    /// The numbers of the columns that are shown.
    shown: Vec<usize>,
    /// The width of each column of the grid.
    widths: Vec<usize>,
    gap: usize,
    /// The width of the page.
    width: usize,
}

impl<'a> ShownColumns<'a> {
    fn new(grid: &'a Grid, rows: &[Vec<Line>], width: usize) -> Self {
        // Rows that are printed as text don't widen columns.
        let heads = rows.len() - grid.rows.len();
        let whole = (0..rows.len()).filter(|at| *at < heads || !grid.rows[at - heads].is_below);
        let whole: Vec<&Vec<Line>> = whole.map(|at| &rows[at]).collect();
        let widths = grid.columns.iter().enumerate().map(|(at, column)| {
            let widest = whole.iter().map(|row| row[at].width()).max().unwrap_or(0);
            match column.kind {
                Kind::Prose => 0,
                Kind::Bars(_) => BAR_MIN,
                _ => widest,
            }
        });
        let mut layout = Self {
            grid,
            shown: (0..grid.columns.len()).collect(),
            widths: widths.collect(),
            gap: 1,
            width,
        };
        while layout.total() > width && layout.drop_one() {}
        layout.gap = GAP;
        if layout.total() > width {
            layout.gap = 1;
        }
        let others = layout.total().saturating_sub(BAR_MIN);
        for (at, column) in grid.columns.iter().enumerate() {
            if let Kind::Bars(most) = column.kind {
                layout.widths[at] = width.saturating_sub(others).min(most);
            }
        }
        layout
    }

    /// The width of the shown columns, without prose.
    fn total(&self) -> usize {
        let fixed = self
            .shown
            .iter()
            .filter(|at| self.column(**at).kind != Kind::Prose);
        let widths: Vec<usize> = fixed.map(|at| self.widths[*at]).collect();
        widths.iter().sum::<usize>() + self.gap * widths.len().saturating_sub(1)
    }

    fn column(&self, at: usize) -> &'a Column {
        &self.grid.columns[at]
    }

    /// Drops the most dispensable column; `false` if all columns must stay.
    fn drop_one(&mut self) -> bool {
        let candidates = self.shown.iter().enumerate();
        let candidates = candidates.map(|(place, at)| (place, self.column(*at).dispensable));
        let found = candidates
            .filter(|(_, rank)| *rank > 0)
            .max_by_key(|(_, rank)| *rank);
        found.map(|(place, _)| self.shown.remove(place)).is_some()
    }

    /// The lines of a row. Prose is beside the other cells if it fits, otherwise below them.
    fn row(&self, row: Option<&Row>, mut cells: Vec<Line>, style: &Style) -> Vec<Line> {
        let mut line = Line::new();
        let mut more = Vec::new();
        for (number, at) in self.shown.iter().copied().enumerate() {
            let column = self.column(at);
            let mut cell = std::mem::take(&mut cells[at]);
            let gap = if number > 0 { self.gap } else { 0 };
            if column.kind == Kind::Prose && line.width() + gap + cell.width() > self.width {
                more = self.below(&[cell], style);
                continue;
            }
            if let Some((part, whole)) = row.and_then(|row| row.cells[at].as_bar()) {
                cell = Line::single(bar(part, whole, self.widths[at], style), row_ink(row, at));
            }
            let padding = self.widths[at].saturating_sub(cell.width());
            line.space(gap);
            if column.kind == Kind::Numbers {
                line.space(padding);
            }
            line.append(cell);
            if column.kind != Kind::Numbers && number + 1 < self.shown.len() {
                line.space(padding);
            }
        }
        std::iter::once(line).chain(more).collect()
    }

    /// The cells of a row that belongs to the row above, as a text that is indented to the column
    /// before the prose. The indent takes at most half of the width.
    fn below(&self, cells: &[Line], style: &Style) -> Vec<Line> {
        let before = self.shown.iter().rev().skip(2);
        let before: usize = before.map(|at| self.widths[*at] + self.gap).sum();
        let indent = before.min(self.width / 2);
        let ink = cells.last().and_then(|cell| cell.pieces().next());
        let ink = ink.map_or(Ink::Plain, |(_, ink)| ink);
        let texts = cells.iter().map(Line::text).filter(|text| !text.is_empty());
        let texts: Vec<String> = texts.collect();
        let text = texts.join(style.glyph(" × ", " x "));
        let arrow = style.glyph("→ ", "-> ");
        let (mark, text) = match text.strip_prefix(arrow) {
            Some(text) => (arrow, text),
            None => ("", &*text),
        };
        let blank = " ".repeat(mark.width());
        let rows = wrap(text, self.width.saturating_sub(indent + mark.width()));
        let rows = rows.into_iter().enumerate().map(|(number, text)| {
            let mut line = Line::new();
            line.space(indent);
            line.push(if number == 0 { mark } else { &blank }, ink);
            line.with(text, ink)
        });
        rows.collect()
    }
}

/// The ink of a cell.
fn row_ink(row: Option<&Row>, at: usize) -> Ink {
    row.map_or(Ink::Plain, |row| row.cells[at].ink)
}

/// Cuts the names in a column. Names are often URLs that differ in their last parts: they lose the
/// beginning that all of them share, and long ones their middle. Two names may be equal then; JSON
/// has the whole.
fn cut_names(rows: &mut [Vec<Line>], at: usize, columns: usize, style: &Style) {
    let mark = style.glyph("…", "~");
    let names: Vec<String> = rows.iter().map(|row| row[at].text()).collect();
    if names.iter().all(|name| name.width() <= columns) {
        return;
    }
    let first = names.first().map(String::as_str).unwrap_or_default();
    let common = names.iter().fold(first, |common, name| {
        let pairs = common.char_indices().zip(name.chars());
        let same = pairs.take_while(|((_, a), b)| a == b).last();
        &common[..same.map_or(0, |((at, a), _)| at + a.len_utf8())]
    });
    let common = common.rfind('/').unwrap_or(0);
    for (row, name) in rows.iter_mut().zip(&names) {
        let ink = row[at].pieces().next().map_or(Ink::Plain, |(_, ink)| ink);
        let name = match common {
            0 => cut(name, columns, mark),
            common => cut(&format!("{mark}{}", &name[common..]), columns, mark),
        };
        row[at] = Line::single(name, ink);
    }
}

/// A text of at most this many columns, whose middle gives way. A third of the room is for the
/// beginning.
fn cut(text: &str, columns: usize, mark: &str) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let room = columns.saturating_sub(mark.width());
    let mut head = Line::plain(text);
    head.clip(room / 3 + mark.width(), mark);
    let tail_room = columns.saturating_sub(head.width());
    let mut tail = text;
    while tail.width() > tail_room {
        let mut chars = tail.chars();
        chars.next();
        tail = chars.as_str();
    }
    format!("{}{tail}", head.text())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::style::{Color, Unicode};

    fn shown(grid: &Grid, width: usize) -> String {
        let mut out = String::new();
        for line in lines(grid, Some("name"), width, &Style::default()) {
            line.print(&Style::default(), &mut out);
        }
        out
    }

    fn table() -> Grid {
        let columns = vec![
            Column::words("", 0),
            Column::numbers("p50", 1),
            Column::numbers("p95", 2),
        ];
        let rows = [["response", "1.23ms", "12.3ms"], ["lag", "9µs", "–"]];
        Grid::new(columns, rows.map(|row| row.map(Cell::new).to_vec().into()))
    }

    #[test]
    fn cells_line_up() {
        assert_eq!(
            shown(&table(), 40),
            "name         p50     p95\nresponse  1.23ms  12.3ms\nlag          9µs       –\n"
        );
    }

    #[test]
    fn gaps_shrink_before_columns_go() {
        assert!(shown(&table(), 22).starts_with("name        p50    p95\n"));
        assert!(shown(&table(), 21).starts_with("name         p50\n"));
        assert!(shown(&table(), 3).starts_with("name\n"));
    }

    /// A sentence is beside its row if it fits, and otherwise below it, before the rows that belong to
    /// the row.
    #[test]
    fn prose_is_never_cut() {
        let columns = vec![
            Column::numbers("", 0),
            Column::words("", 0),
            Column::prose(""),
        ];
        let row = |texts: [&str; 3]| texts.map(Cell::new).to_vec();
        let rows = [
            row(["12", "refused", "a short text"]).into(),
            row(["1", "reset", "a text of many words"]).into(),
            Row::below(row(["", "", "→ a remedy of words"])),
        ];
        let style = Style::new(40, Color::Off, Unicode::On);
        let shown = lines(&Grid::new(columns, rows), None, 26, &style);
        let shown: Vec<String> = shown
            .iter()
            .map(|line| line.text().trim_end().to_owned())
            .collect();
        assert_eq!(
            shown,
            [
                "12  refused  a short text",
                " 1  reset",
                "    a text of many words",
                "    → a remedy of words",
            ]
        );
    }
}
