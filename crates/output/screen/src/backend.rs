//! Converts cells to the bytes for a terminal: cursor moves, colours, letters (ECMA-48; only the
//! sixteen colours).
//!
//! A frame is collected and written at once, so that no partial frame is visible, and the terminal
//! is written to at most four times a second.
//!
//! [`Cells`] is ratatui's backend. It gets the cells that differ from the previous frame, appends
//! their bytes, and writes them in `flush`. ratatui keeps the two frames that are compared. Queries
//! to the terminal, such as for the cursor's position, are never sent, because the answers would
//! arrive as keys.

use crate::terminal;
use ratatui_core::backend::{Backend, ClearType, WindowSize};
use ratatui_core::buffer::Cell;
use ratatui_core::layout::{Position, Size};
use ratatui_core::style::{Color, Modifier};
use std::fmt::Write as _;
use std::io;

/// The colours and modifiers that the bytes so far have set.
#[derive(Clone, Copy, PartialEq, Eq)]
struct DrawnStyle {
    color: Color,
    modifier: Modifier,
}

/// The colours and modifiers at the beginning and the end of each frame.
const PLAIN: DrawnStyle = DrawnStyle {
    color: Color::Reset,
    modifier: Modifier::empty(),
};

/// The terminal as ratatui writes to it: the bytes collected since the last `flush`.
pub(crate) struct Cells {
    bytes: String,
}

impl Cells {
    pub(crate) const fn new() -> Self {
        Self {
            bytes: String::new(),
        }
    }
}

impl Backend for Cells {
    type Error = io::Error;

    fn draw<'a, I>(&mut self, content: I) -> io::Result<()>
    where
        I: Iterator<Item = (u16, u16, &'a Cell)>,
    {
        draw(&mut self.bytes, content);
        Ok(())
    }

    // The cursor is hidden while the screen is shown, and its position is never queried.
    fn hide_cursor(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn show_cursor(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn get_cursor_position(&mut self) -> io::Result<Position> {
        Ok(Position::ORIGIN)
    }

    fn set_cursor_position<P: Into<Position>>(&mut self, _position: P) -> io::Result<()> {
        Ok(())
    }

    /// Clears the terminal, in its own colours.
    fn clear(&mut self) -> io::Result<()> {
        self.bytes.push_str("\u{1b}[0m\u{1b}[2J");
        Ok(())
    }

    fn clear_region(&mut self, _region: ClearType) -> io::Result<()> {
        // A frame is as large as the terminal, so a region is the whole screen.
        self.clear()
    }

    fn size(&self) -> io::Result<Size> {
        terminal::size()
    }

    fn window_size(&mut self) -> io::Result<WindowSize> {
        Ok(WindowSize {
            columns_rows: terminal::size()?,
            pixels: Size::ZERO,
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        let written = match self.bytes.is_empty() {
            true => Ok(()),
            false => terminal::write(self.bytes.as_bytes()),
        };
        self.bytes.clear();
        written
    }
}

/// Appends the bytes of changed cells.
///
/// The cursor is moved only if it may be elsewhere, within a row by its column alone, and colours are
/// set only if they change, because most frames change a few rows of one colour. At the end, the
/// colours are plain.
fn draw<'a>(out: &mut String, content: impl Iterator<Item = (u16, u16, &'a Cell)>) {
    let mut pen = PLAIN;
    // The row of the cursor, and its column if it is known.
    let mut cursor: Option<(u16, Option<u16>)> = None;
    for (x, y, cell) in content {
        // Writing to a `String` cannot fail.
        let _written = match cursor {
            Some((row, Some(column))) if (row, column) == (y, x) => Ok(()),
            Some((row, _)) if row == y => write!(out, "\u{1b}[{}G", x + 1),
            _ => write!(out, "\u{1b}[{};{}H", y + 1, x + 1),
        };
        let wanted = DrawnStyle {
            color: cell.fg,
            modifier: cell.modifier,
        };
        if wanted != pen {
            change(out, pen, wanted);
            pen = wanted;
        }
        out.push_str(cell.symbol());
        cursor = Some((y, is_narrow(cell.symbol()).then_some(x + 1)));
    }
    if pen != PLAIN {
        out.push_str("\u{1b}[0m");
    }
}

/// Whether every terminal moves the cursor by one cell for this letter: an ASCII letter or a pattern
/// of Braille. Some terminals draw blocks and lines two cells wide (UAX #11: ambiguous).
fn is_narrow(symbol: &str) -> bool {
    let mut letters = symbol.chars();
    let is_narrow = |c: char| c.is_ascii() || ('\u{2800}'..='\u{28ff}').contains(&c);
    letters.next().is_some_and(is_narrow) && letters.next().is_none()
}

/// Changes the colours and modifiers of the following cells. Other modifiers need a reset first,
/// which a colour alone does not.
fn change(out: &mut String, from: DrawnStyle, to: DrawnStyle) {
    let color = match to.color {
        Color::Red => "31",
        Color::Green => "32",
        Color::Yellow => "33",
        Color::Blue => "34",
        Color::Magenta => "35",
        Color::Cyan => "36",
        Color::DarkGray => "90",
        _ => "39",
    };
    if from.modifier == to.modifier {
        out.extend(["\u{1b}[", color, "m"]);
        return;
    }
    out.push_str("\u{1b}[0");
    let modifiers = [
        (Modifier::BOLD, ";1"),
        (Modifier::DIM, ";2"),
        (Modifier::REVERSED, ";7"),
    ];
    for (modifier, code) in modifiers {
        if to.modifier.contains(modifier) {
            out.push_str(code);
        }
    }
    if color != "39" {
        out.extend([";", color]);
    }
    out.push('m');
}

#[cfg(test)]
mod tests {
    use super::draw;
    use ratatui_core::buffer::Buffer;
    use ratatui_core::layout::Rect;
    use ratatui_core::style::{Color, Modifier, Style};

    #[test]
    fn only_what_has_changed_is_written() {
        let before = Buffer::with_lines(["abc", "def"]);
        let mut after = before.clone();
        after.set_string(1, 1, "xy", Style::new().fg(Color::Green));
        let mut out = String::new();
        draw(&mut out, before.diff(&after).into_iter());
        assert_eq!(out, "\u{1b}[2;2H\u{1b}[32mxy\u{1b}[0m");
        let mut out = String::new();
        draw(&mut out, after.diff(&after).into_iter());
        assert_eq!(out, "");
    }

    /// A colour alone needs no reset, and patterns of Braille need no moves.
    #[test]
    fn a_picture_takes_few_bytes() {
        let before = Buffer::empty(Rect::new(0, 0, 8, 1));
        let mut after = before.clone();
        after.set_string(0, 0, "⣀⠤⠒", Style::new().fg(Color::Cyan));
        after.set_string(3, 0, "░▒", Style::new().fg(Color::Red));
        after.set_string(6, 0, "b", Style::new().add_modifier(Modifier::BOLD));
        let mut out = String::new();
        draw(&mut out, before.diff(&after).into_iter());
        assert_eq!(
            out,
            "\u{1b}[1;1H\u{1b}[36m⣀⠤⠒\u{1b}[31m░\u{1b}[5G▒\u{1b}[7G\u{1b}[0;1mb\u{1b}[0m"
        );
    }

    #[test]
    fn a_wide_letter_does_not_move_the_next() {
        let before = Buffer::empty(Rect::new(0, 0, 6, 1));
        let after = Buffer::with_lines(["日a b "]);
        let mut out = String::new();
        draw(&mut out, before.diff(&after).into_iter());
        assert_eq!(out, "\u{1b}[1;1H日\u{1b}[3Ga\u{1b}[5Gb");
    }
}
