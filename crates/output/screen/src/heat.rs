//! The heat map in cells: the darker a cell, the more requests had its latency at its time.

use crate::look::Look;
use drumfire_report::figure::{Axis, Heat};
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;

/// Shades from the rarest to the most frequent.
const SHADES: [char; 4] = ['░', '▒', '▓', '█'];
const SHADES_ASCII: [char; 4] = ['.', ':', '+', '#'];

/// Draws the columns of a heat map. Each cell of the map is divided among the screen cells that it
/// covers; a screen cell with any request has a shade.
///
/// The two grids seldom match: the map's cells are as fine as in the figure, on scales that may be
/// logarithmic. Counts are summed in a grid of the area's cells, lowest row first, and shades are
/// relative to the fullest cell.
pub(crate) fn draw(heat: &Heat, x: &Axis, y: &Axis, area: Rect, buffer: &mut Buffer, look: &Look) {
    let (width, height) = (usize::from(area.width), usize::from(area.height));
    let mut grid = vec![0.0; width * height];
    for column in &heat.columns {
        let across = (x.place(column.from), x.place(column.to));
        for (low, high, count) in &column.cells {
            let up = (y.place(*low), y.place(*high));
            spread(&mut grid, (width, height), across, up, *count as f64);
        }
    }
    let most = grid.iter().copied().fold(0.0, f64::max);
    let shades = match look.is_unicode() {
        true => SHADES,
        false => SHADES_ASCII,
    };
    let filled = grid.iter().enumerate().filter(|(_, count)| **count > 0.0);
    for (at, count) in filled {
        let (column, row) = ((at % width) as u16, (at / width) as u16);
        // The square root makes rare counts visible next to frequent ones.
        let share = (count / most).sqrt() * SHADES.len() as f64;
        let shade = shades[(share.ceil() as usize).clamp(1, SHADES.len()) - 1];
        // Rows are counted from the bottom.
        let y = area.y + (area.height - 1 - row);
        if let Some(cell) = buffer.cell_mut((area.x + column, y)) {
            cell.set_char(shade).set_style(look.heat());
        }
    }
}

/// Divides a count among the cells of a grid that a rectangle covers, in proportion to the covered
/// area. Positions are from 0 to 1.
///
/// A rectangle without a width or a height covers no cell, and its count is lost.
fn spread(
    grid: &mut [f64],
    (width, height): (usize, usize),
    across: (f64, f64),
    up: (f64, f64),
    count: f64,
) {
    let covered = |(from, to): (f64, f64), of: usize| {
        let (from, to) = (from * of as f64, to * of as f64);
        let cells = (from as usize)..(to.ceil() as usize).min(of);
        let length = to - from;
        cells.filter_map(move |cell| {
            let overlap = to.min(cell as f64 + 1.0) - from.max(cell as f64);
            (overlap > 0.0 && length > 0.0).then(|| (cell, overlap / length))
        })
    };
    for (column, of_width) in covered(across, width) {
        for (row, of_height) in covered(up, height) {
            if let Some(cell) = grid.get_mut(row * width + column) {
                *cell += count * of_width * of_height;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::spread;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_request_is_lost(
            left in 0.0..0.9_f64, wide in 0.01..0.1_f64,
            low in 0.0..0.9_f64, high in 0.01..0.1_f64,
            width in 1..60_usize, height in 1..30_usize,
        ) {
            let mut grid = vec![0.0; width * height];
            let (across, up) = ((left, left + wide), (low, low + high));
            spread(&mut grid, (width, height), across, up, 10.0);
            let sum: f64 = grid.iter().sum();
            prop_assert!((sum - 10.0).abs() < 1e-6, "{sum}");
        }
    }
}
