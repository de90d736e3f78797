//! Bars and sparks: a number as a length of blocks. Blocks have eight steps per column, and ASCII
//! has one. A part above zero is always visible. Bars beside each other must have the same whole.

use crate::style::{Style, Unicode};

/// Blocks of one to seven eighths of a column's width.
const EIGHTHS: [&str; 7] = ["▏", "▎", "▍", "▌", "▋", "▊", "▉"];
/// Blocks of one to eight eighths of a row's height.
const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// The same heights where the terminal shows ASCII only.
const LEVELS_ASCII: [char; 8] = ['_', '.', '.', '-', '-', '=', '=', '#'];

/// A bar of `part` of `whole` in at most `columns`; any part above zero is visible.
#[must_use]
pub fn bar(part: u64, whole: u64, columns: usize, style: &Style) -> String {
    if part == 0 || whole == 0 {
        return String::new();
    }
    let share = (part as f64 / whole as f64).min(1.0);
    let eighths = ((share * columns as f64 * 8.0).round() as usize).max(1);
    match style.unicode {
        Unicode::On => {
            let rest = (eighths % 8).checked_sub(1).map_or("", |n| EIGHTHS[n]);
            format!("{}{rest}", "█".repeat(eighths / 8))
        }
        Unicode::Off if eighths < 4 => ".".to_owned(),
        Unicode::Off => "#".repeat((eighths + 4) / 8),
    }
}

/// One character for each value, as high as its share of `top`; a blank for 0 and below.
#[must_use]
pub fn spark(values: &[f64], top: f64, style: &Style) -> String {
    let of_value = |value: f64| match top <= 0.0 || value <= 0.0 {
        true => ' ',
        false => level(value / top, style.unicode),
    };
    values.iter().map(|&value| of_value(value)).collect()
}

/// The character that is as high as a share from 0 to 1: the lowest one for 0.
#[must_use]
pub fn level(share: f64, unicode: Unicode) -> char {
    let levels = match unicode {
        Unicode::On => LEVELS,
        Unicode::Off => LEVELS_ASCII,
    };
    levels[((share * 8.0).ceil() as usize).clamp(1, 8) - 1]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::style::Color;

    #[test]
    fn bars_are_proportional_and_never_vanish() {
        let unicode = Style::default();
        let ascii = Style::new(80, Color::Off, Unicode::Off);
        for (part, fancy, plain) in [
            (0, "", ""),
            (1, "▏", "."),
            (500, "█████", "#####"),
            (560, "█████▋", "######"),
            (1_000, "██████████", "##########"),
            (2_000, "██████████", "##########"),
        ] {
            assert_eq!(bar(part, 1_000, 10, &unicode), fancy);
            assert_eq!(bar(part, 1_000, 10, &ascii), plain);
        }
    }

    #[test]
    fn sparks_follow_their_values() {
        let values = [0.0, 1.0, 40.0, 80.0, 90.0];
        assert_eq!(spark(&values, 80.0, &Style::default()), " ▁▄██");
        assert_eq!(spark(&[1.0], 0.0, &Style::default()), " ");
    }
}
