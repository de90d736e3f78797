//! One tile of a view: a figure or rows of text.
//!
//! A tile does not know its size before it is drawn: it says how many rows it has
//! ([`Tile::height`]), and is then given an area ([`Tile::draw`]). A figure that the run does not
//! have leaves its tile empty.

use crate::chart;
use crate::look::Look;
use crate::place::above;
use drumfire_report::figure::Figure;
use drumfire_report::line::{Ink, Line};
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;

/// The content of a tile.
pub(crate) enum Tile {
    /// The figure with this name, where the run has it; its area may have any height.
    Figure(&'static str),
    /// Rows of text, which can be scrolled.
    Rows(Vec<Line>),
    /// The same under a first row that stays.
    Table(Vec<Line>),
}

impl Tile {
    /// The number of its rows, where it has a number of them.
    pub(crate) fn height(&self) -> Option<u16> {
        match self {
            Self::Figure(_) => None,
            Self::Rows(rows) | Self::Table(rows) => {
                Some(u16::try_from(rows.len()).unwrap_or(u16::MAX))
            }
        }
    }

    /// Draws the tile; rows from `scroll` on. Gives the first row that is shown, which is less where
    /// there are not so many, and 0 of a picture.
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

/// Draws rows from one on, and never beyond the last; the last line of the area says how many more
/// there are. Gives the first row that is shown.
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
