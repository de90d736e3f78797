//! The colours of a screen: inks and roles as styles of cells.
//!
//! Only the sixteen colours and no background are used, so that the terminal's theme, dark or
//! light, keeps everything readable. Without colour, roles are distinguished by the names next to
//! the lines, and inks by weight.

use drumfire_report::Naming;
use drumfire_report::figure::Role;
use drumfire_report::line::{Ink, Line};
use drumfire_report::style::{Color, Style, Unicode};
use drumfire_session::Redactor;
use ratatui_core::buffer::Buffer;
use ratatui_core::style::{Color as Hue, Modifier, Style as Cells};

/// The style of cells.
#[derive(Clone, Debug)]
pub(crate) struct Look {
    style: Style,
    redactor: Redactor,
}

impl Look {
    /// The style for a terminal; the secrets of `redactor` are never drawn.
    pub(crate) const fn new(style: Style, redactor: Redactor) -> Self {
        Self { style, redactor }
    }

    /// The secrets of the run.
    pub(crate) const fn redactor(&self) -> &Redactor {
        &self.redactor
    }

    /// How remedies show settings.
    pub(crate) const fn naming(&self) -> Naming {
        self.style.naming
    }

    /// The style of rows that fill an area of this width.
    pub(crate) fn style(&self, width: u16) -> Style {
        let width = width.clamp(Style::WIDTH_MIN, Style::WIDTH_MAX);
        self.style.of_width(width)
    }

    /// The letters that the terminal shows.
    pub(crate) const fn unicode(&self) -> Unicode {
        self.style.unicode
    }

    /// A text of this program in the letters that the terminal shows.
    pub(crate) fn letters(&self, text: &str) -> String {
        match self.style.unicode {
            Unicode::On => text.to_owned(),
            Unicode::Off => text.replace('µ', "u"),
        }
    }

    /// Whether non-ASCII letters can be shown.
    pub(crate) fn is_unicode(&self) -> bool {
        self.style.unicode == Unicode::On
    }

    /// `fancy` if the terminal shows Unicode, otherwise `plain`.
    pub(crate) const fn glyph(&self, fancy: &'static str, plain: &'static str) -> &'static str {
        self.style.glyph(fancy, plain)
    }

    /// The style of an ink.
    pub(crate) fn ink(&self, ink: Ink) -> Cells {
        match ink {
            Ink::Plain => Cells::new(),
            Ink::Bold => Cells::new().add_modifier(Modifier::BOLD),
            Ink::Dim => Cells::new().add_modifier(Modifier::DIM),
            Ink::Good => self.hue(Hue::Green),
            Ink::Warn => self.hue(Hue::Yellow),
            Ink::Bad => self.hue(Hue::Red),
        }
    }

    /// The style of a series or a bar.
    pub(crate) fn role(&self, role: Role) -> Cells {
        match role {
            Role::Asked => self.hue(Hue::DarkGray),
            Role::Good => self.hue(Hue::Green),
            Role::Bad => self.hue(Hue::Yellow),
            Role::Lost => self.hue(Hue::Red),
            Role::Rank(rank) => {
                let ranks = [Hue::Cyan, Hue::Blue, Hue::Magenta, Hue::Yellow, Hue::Red];
                self.hue(ranks[usize::from(rank).min(ranks.len() - 1)])
            }
        }
    }

    /// The style of the heat map's cells.
    pub(crate) fn heat(&self) -> Cells {
        self.hue(Hue::Cyan)
    }

    fn hue(&self, hue: Hue) -> Cells {
        match self.style.color {
            Color::On => Cells::new().fg(hue),
            Color::Off => Cells::new(),
        }
    }

    /// Puts a text into a row from a column on, in at most `width` columns. Returns the number of
    /// columns that it uses.
    pub(crate) fn text(
        &self,
        buffer: &mut Buffer,
        (x, y): (u16, u16),
        width: u16,
        text: &str,
        style: Cells,
    ) -> u16 {
        if !buffer.area.contains((x, y).into()) {
            return 0;
        }
        let masked = self.redactor.text(text);
        let (end, _) = buffer.set_stringn(x, y, masked, usize::from(width), style);
        end - x
    }

    /// Puts a line with inks into a row, in at most `width` columns. Returns the number of columns
    /// that it uses.
    pub(crate) fn line(&self, buffer: &mut Buffer, at: (u16, u16), width: u16, line: &Line) -> u16 {
        let mut line = line.clone();
        line.clip(usize::from(width), self.glyph("…", "~"));
        let mut taken = 0;
        for (text, ink) in line.pieces() {
            let from = (at.0 + taken, at.1);
            taken += self.text(buffer, from, width - taken, text, self.ink(ink));
        }
        taken
    }
}
