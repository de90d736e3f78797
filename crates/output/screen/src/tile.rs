//! One tile of a view: a figure or rows of text.
//!
//! A tile does not know its size before it is drawn. The caller reads its number of rows
//! ([`Tile::height`]) and then passes an area ([`Tile::draw`]). If the run does not have a figure,
//! its tile is empty.

use crate::chart;
use crate::look::Look;
use crate::place::above;
use drumfire_report::figure::Figure;
use drumfire_report::line::{Ink, Line};
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;

/// The content of a tile.
pub(crate) enum Tile {
    /// The figure with this name, if the run has it; its area may have any height.
    Figure(&'static str),
    /// Rows of text, which can be scrolled.
    Rows(Vec<Line>),
    /// Rows of text that can be scrolled, below a fixed first row.
    Table(Vec<Line>),
}

impl Tile {
    /// The number of rows; `None` for a figure.
    pub(crate) fn height(&self) -> Option<u16> {
        match self {
            Self::Figure(_) => None,
            Self::Rows(rows) | Self::Table(rows) => {
                Some(u16::try_from(rows.len()).unwrap_or(u16::MAX))
            }
        }
    }

    /// Draws the tile, with its rows from `scroll` on. Returns the first visible row, which is
    /// smaller if there are fewer rows, and 0 for a picture.
    pub(crate) fn draw(
        &self,
        figures: &[Figure],
        scroll: usize,
        area: Rect,
        buffer: &mut Buffer,
        look: &Look,
    ) -> usize {
        if area.is_empty() {
            return 0;
        }
        match self {
            Self::Figure(name) => {
                if let Some(figure) = figures.iter().find(|figure| figure.name == *name) {
                    chart::draw(figure, area, buffer, look);
                }
                0
            }
            Self::Rows(rows) => scrolled(rows, scroll, area, buffer, look),
            Self::Table(rows) => {
                let Some((heading, rows)) = rows.split_first() else {
                    return 0;
                };
                let (head, body) = above(area, 1);
                look.line(buffer, (head.x, head.y), head.width, heading);
                scrolled(rows, scroll, body, buffer, look)
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
