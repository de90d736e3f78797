//! Bars in rows: a name, a bar, a count.
//!
//! They are drawn as in a report ([`drumfire_report::bar`]), each relative to the maximum. The
//! count follows its bar, and the longest bar leaves room for its own count; a name is cut at half
//! of the width.

use crate::look::Look;
use drumfire_report::bar::bar as blocks;
use drumfire_report::figure::{Axis, Bar};
use drumfire_report::line::Ink;
use drumfire_report::untrusted::Untrusted;
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::Modifier;

/// The maximum width of a name.
const NAME_MAX: u16 = 24;

/// Draws a row for each bar from the top, as many as fit: the figure has them in order of weight. The
/// name of the bar with the number `selected` is reversed.
pub(crate) fn draw(
    bars: &[Bar],
    selected: Option<usize>,
    x: &Axis,
    area: Rect,
    buffer: &mut Buffer,
    look: &Look,
) {
    let page = look.style(area.width);
    let names: Vec<String> = bars
        .iter()
        .map(|bar| Untrusted::new(&bar.name).escaped(page.unicode))
        .collect();
    let widest = names.iter().map(|name| name.chars().count()).max();
    let name_width = (widest.unwrap_or(0) as u16)
        .min(NAME_MAX)
        .min(area.width / 2);
    let room = area.width.saturating_sub(name_width + 1);
    let greatest = bars.iter().map(|bar| bar.value).fold(0.0, f64::max);
    for (row, (bar, name)) in (0..area.height).zip(bars.iter().zip(&names)) {
        let y = area.y + row;
        let style = look.ink(Ink::Plain);
        let name_style = match selected == Some(usize::from(row)) {
            true => style.add_modifier(Modifier::REVERSED),
            false => style,
        };
        look.text(buffer, (area.x, y), name_width, name, name_style);
        let label = x.label(bar.value);
        let longest = room.saturating_sub(label.chars().count() as u16 + 1);
        let text = blocks(
            bar.value as u64,
            greatest as u64,
            usize::from(longest),
            &page,
        );
        let from = area.x + name_width + 1;
        let taken = look.text(buffer, (from, y), longest, &text, look.role(bar.role));
        let gap = u16::from(taken > 0);
        let left = room.saturating_sub(taken + gap);
        look.text(
            buffer,
            (from + taken + gap, y),
            left,
            &label,
            look.ink(Ink::Bold),
        );
    }
}
