//! The layout of a screen: areas next to and below each other.
//!
//! All functions only add up rows and columns; none draws. An area may be cut to no rows: then it
//! is empty, and drawing into it has no effect. Returned areas never overlap and never leave the
//! area that they were cut from, for any size, which tests check with random ones.

use ratatui_core::layout::Rect;

/// The first rows of an area, and the rest. If there are too few rows, all are in the first part.
pub(crate) fn above(area: Rect, rows: u16) -> (Rect, Rect) {
    let rows = rows.min(area.height);
    let first = Rect {
        height: rows,
        ..area
    };
    let rest = Rect {
        y: area.y + rows,
        height: area.height - rows,
        ..area
    };
    (first, rest)
}

/// All rows except the last ones, and the last rows.
pub(crate) fn below(area: Rect, rows: u16) -> (Rect, Rect) {
    above(area, area.height.saturating_sub(rows))
}

/// The minimum useful height of a tile.
const TILE_HEIGHT: u16 = 7;
/// The minimum height of the last tile, and of a tile of text.
const TILE_HEIGHT_LEAST: u16 = 4;

/// At most `count` areas of about the same size, in rows from the left, as many as fit with at
/// least this width, but at least one. If the last row has fewer areas, they are wider. Areas in a
/// row are separated by an empty column.
pub(crate) fn tiles(area: Rect, count: usize, least_width: u16) -> Vec<Rect> {
    let count = u16::try_from(count).unwrap_or(u16::MAX).max(1);
    let most = (area.width / least_width.max(1)).clamp(1, 3);
    // Three columns are for wide screens with many tiles.
    let columns = match most {
        3 if count < 5 => 2,
        most => most,
    };
    let columns = columns.min(count);
    let rows = count.div_ceil(columns);
    let rows = rows.min(area.height / TILE_HEIGHT).max(1);
    let shown = count.min(rows * columns);
    let mut all = Vec::new();
    for number in 0..shown {
        let (row, column) = (number / columns, number % columns);
        let in_row = (shown - row * columns).min(columns);
        let (x, width) = part(area.width, column, in_row);
        let (y, height) = part(area.height, row, shown.div_ceil(columns));
        let gap = u16::from(column + 1 < in_row);
        all.push(Rect {
            x: area.x + x,
            y: area.y + y,
            width: width.saturating_sub(gap),
            height,
        });
    }
    all
}

/// Stacked areas for tiles with these heights; `None` means any height. A tile with a height gets
/// it and an empty row, but at most half of the area if others follow; the others share the rest. A
/// tile that does not fit gets an area without rows.
pub(crate) fn stack(area: Rect, wanted: &[Option<u16>]) -> Vec<Rect> {
    let mut room = area.height;
    let mut heights = Vec::new();
    for (number, height) in wanted.iter().enumerate() {
        let is_last = number + 1 == wanted.len();
        let most = if is_last {
            room
        } else {
            (area.height / 2).max(TILE_HEIGHT_LEAST)
        };
        let height = match height {
            Some(0) => 0,
            Some(rows) => rows.saturating_add(1).min(most.max(1)).min(room.max(1)),
            // The first tile is shown at any height.
            None if room == area.height => TILE_HEIGHT.min(room),
            None if is_last && room >= TILE_HEIGHT_LEAST => TILE_HEIGHT.min(room),
            None => TILE_HEIGHT,
        };
        let height = if height <= room { height } else { 0 };
        room -= height;
        heights.push(height);
    }
    let growing = |height: u16, wanted: &Option<u16>| height > 0 && wanted.is_none();
    let mut left = heights
        .iter()
        .zip(wanted)
        .filter(|(h, w)| growing(**h, w))
        .count() as u16;
    let mut places = Vec::new();
    let mut y = area.y;
    for (height, wanted) in heights.into_iter().zip(wanted) {
        let more = match growing(height, wanted) {
            true => room / left,
            false => 0,
        };
        if growing(height, wanted) {
            left -= 1;
        }
        room -= more;
        let height = height + more;
        places.push(Rect { y, height, ..area });
        y += height;
    }
    places
}

/// The start and the length of one of several parts of a length.
fn part(length: u16, number: u16, of: u16) -> (u16, u16) {
    let at = |number: u16| (u32::from(length) * u32::from(number) / u32::from(of)) as u16;
    (at(number), at(number + 1) - at(number))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn stacked_tiles_lie_within_and_apart(
            height in 0..80_u16,
            wanted in prop::collection::vec(prop::option::of(0..100_u16), 0..6),
        ) {
            let area = Rect::new(2, 1, 80, height);
            let places = stack(area, &wanted);
            prop_assert_eq!(places.len(), wanted.len());
            let mut y = area.y;
            for place in places {
                prop_assert_eq!(place.y, y);
                y += place.height;
            }
            prop_assert!(y <= area.y + area.height);
        }

        #[test]
        fn tiles_lie_within_and_apart(
            width in 0..400_u16, height in 0..120_u16, count in 0..9_usize, least in 1..90_u16,
        ) {
            let area = Rect::new(3, 5, width, height);
            let tiles = tiles(area, count, least);
            prop_assert!(!tiles.is_empty());
            for (number, tile) in tiles.iter().enumerate() {
                prop_assert_eq!(area.intersection(*tile), *tile);
                for other in &tiles[number + 1..] {
                    prop_assert!(tile.intersection(*other).is_empty());
                }
            }
        }
    }
}
