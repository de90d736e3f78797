//! Text of a view: rows, or a table with a row that can be selected.
//!
//! A tile does not know its size before it is drawn. The caller reads its number of rows
//! ([`Tile::height`]) and then passes an area ([`Tile::draw`]).

use crate::look::Look;
use crate::place::above;
use drumfire_report::line::{Ink, Line};
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::{Modifier, Style};

/// The content of a tile.
pub(crate) enum Tile {
    /// Rows of text, which can be scrolled.
    Rows(Vec<Line>),
    /// Rows of text that can be scrolled, below a fixed first row.
    Table {
        /// The headings, then the rows.
        lines: Vec<Line>,
        /// The number of the selected row, if any.
        selected: Option<usize>,
        /// Whether the selection has moved, so that it must be visible.
        has_moved: bool,
    },
}

impl Tile {
    /// The number of rows.
    pub(crate) fn height(&self) -> u16 {
        let (Self::Rows(rows) | Self::Table { lines: rows, .. }) = self;
        u16::try_from(rows.len()).unwrap_or(u16::MAX)
    }

    /// Draws the tile, with its rows from `scroll` on. Returns the first visible row, which is
    /// smaller if there are fewer rows, and another one if the selection has moved out of sight.
    pub(crate) fn draw(
        &self,
        scroll: usize,
        area: Rect,
        buffer: &mut Buffer,
        look: &Look,
    ) -> usize {
        if area.is_empty() {
            return 0;
        }
        match self {
            Self::Rows(rows) => scrolled(rows, scroll, area, buffer, look),
            Self::Table {
                lines,
                selected,
                has_moved,
            } => {
                let Some((heading, rows)) = lines.split_first() else {
                    return 0;
                };
                let (head, body) = above(area, 1);
                look.line(buffer, (head.x, head.y), head.width, heading);
                let room = usize::from(body.height);
                let scroll = match selected.filter(|_| *has_moved && room > 1) {
                    // The last row may be the number of the rows below.
                    Some(row) => scroll.min(row).max((row + 2).saturating_sub(room)),
                    None => scroll,
                };
                let first = scrolled(rows, scroll, body, buffer, look);
                if let Some(row) = selected.and_then(|row| row.checked_sub(first)) {
                    let is_last = row + 1 == room && first + room < rows.len();
                    if row < room && !is_last {
                        let (_, from) = above(body, row as u16);
                        let (line, _) = above(from, 1);
                        let reversed = Style::new().add_modifier(Modifier::REVERSED);
                        buffer.set_style(line, reversed);
                    }
                }
                first
            }
        }
    }
}

/// Draws rows from `scroll` on, but never beyond the last; the last line of the area shows how many
/// more there are. Returns the first visible row.
fn scrolled(rows: &[Line], scroll: usize, area: Rect, buffer: &mut Buffer, look: &Look) -> usize {
    let room = usize::from(area.height);
    let from = scroll.min(rows.len().saturating_sub(room));
    let is_cut = rows.len() - from > room && room > 1;
    let shown = match is_cut {
        true => room - 1,
        false => room,
    };
    for (row, line) in (area.y..).zip(rows.iter().skip(from).take(shown)) {
        look.line(buffer, (area.x, row), area.width, line);
    }
    if is_cut {
        let more = rows.len() - from - shown;
        let text = format!("{more} more rows {}", look.glyph("↓", "below"));
        let y = area.y + area.height - 1;
        look.text(buffer, (area.x, y), area.width, &text, look.ink(Ink::Dim));
    }
    from
}
