//! A raster of dots over cells: eight per cell with Braille patterns, or one if the terminal shows
//! only ASCII.
//!
//! Dots are set first, by positions from 0 to 1 ([`Raster::point`], [`Raster::line`]), and
//! [`Raster::draw`] then writes each cell once. A cell has only one colour, the colour of the last
//! dot that was set in it. If two lines cross, the later one is visible.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::Style;

/// The number of dots per cell from left to right.
const WIDE: usize = 2;
/// The number of dots per cell from top to bottom.
const HIGH: usize = 4;
/// The bit of each dot in a Braille pattern, by row and column (Unicode, block 2800).
const BITS: [[u8; WIDE]; HIGH] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];

/// Dots before they are written.
pub(crate) struct Raster {
    area: Rect,
    is_fine: bool,
    cells: Vec<Option<(u8, char, Style)>>,
}

impl Raster {
    /// An empty raster over an area.
    pub(crate) fn new(area: Rect, is_fine: bool) -> Self {
        let cells = usize::from(area.width) * usize::from(area.height);
        Self {
            area,
            is_fine,
            cells: vec![None; cells],
        }
    }

    /// The number of dots from left to right and from top to bottom.
    fn size(&self) -> (usize, usize) {
        let (width, height) = (usize::from(self.area.width), usize::from(self.area.height));
        match self.is_fine {
            true => (width * WIDE, height * HIGH),
            false => (width, height),
        }
    }

    /// The dot at a position: `x` from the left and `y` from the bottom, both from 0 to 1.
    fn dot_at(&self, (x, y): (f64, f64)) -> (usize, usize) {
        let (width, height) = self.size();
        let along = |place: f64, of: usize| {
            let last = of.saturating_sub(1);
            ((place * last as f64).round() as usize).min(last)
        };
        (along(x, width), along(1.0 - y, height))
    }

    /// Sets the dot at a position. Without patterns, `letter` is drawn instead.
    pub(crate) fn point(&mut self, place: (f64, f64), letter: char, style: Style) {
        let dot = self.dot_at(place);
        self.set(dot, letter, style);
    }

    /// Sets the dots between two positions.
    pub(crate) fn line(&mut self, from: (f64, f64), to: (f64, f64), letter: char, style: Style) {
        let (from, to) = (self.dot_at(from), self.dot_at(to));
        let steps = from.0.abs_diff(to.0).max(from.1.abs_diff(to.1)).max(1);
        let between = |from: usize, to: usize, step: usize| {
            let share = step as f64 / steps as f64;
            (from as f64 + (to as f64 - from as f64) * share).round() as usize
        };
        for step in 0..=steps {
            let dot = (between(from.0, to.0, step), between(from.1, to.1, step));
            self.set(dot, letter, style);
        }
    }

    /// Sets one dot; dots outside of the area are ignored.
    fn set(&mut self, (x, y): (usize, usize), letter: char, style: Style) {
        let (column, row, bit) = match self.is_fine {
            true => (x / WIDE, y / HIGH, BITS[y % HIGH][x % WIDE]),
            false => (x, y, 0),
        };
        let at = row * usize::from(self.area.width) + column;
        if let Some(cell) = self.cells.get_mut(at) {
            let bits = cell.map_or(0, |(bits, ..)| bits);
            *cell = Some((bits | bit, letter, style));
        }
    }

    /// Writes the dots into a buffer. A cell has the style of the last dot that was set.
    pub(crate) fn draw(&self, buffer: &mut Buffer) {
        let width = usize::from(self.area.width);
        let set = self.cells.iter().enumerate();
        for (at, (bits, letter, style)) in set.filter_map(|(at, cell)| Some((at, (*cell)?))) {
            let (x, y) = ((at % width) as u16, (at / width) as u16);
            let pattern = char::from_u32(0x2800 + u32::from(bits)).unwrap_or('.');
            let shown = match self.is_fine {
                true => pattern,
                false => letter,
            };
            if let Some(cell) = buffer.cell_mut((self.area.x + x, self.area.y + y)) {
                cell.set_char(shown).set_style(style);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(is_fine: bool) -> Buffer {
        let area = Rect::new(0, 0, 4, 2);
        let mut buffer = Buffer::empty(area);
        let mut raster = Raster::new(area, is_fine);
        raster.line((0.0, 0.0), (1.0, 1.0), '*', Style::new());
        raster.draw(&mut buffer);
        buffer
    }

    #[test]
    fn a_line_goes_from_corner_to_corner() {
        assert_eq!(drawn(true), Buffer::with_lines(["  ⡠⠊", "⡠⠊  "]));
        assert_eq!(drawn(false), Buffer::with_lines(["  **", "**  "]));
    }
}
