//! The look of text: its width, its colour, the characters that the terminal shows, and the naming
//! of settings. The caller knows the terminal and makes a [`Style`].

use crate::remedy::Naming;

/// Whether text has colour, by escape sequences of ANSI.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Color {
    /// Plain text, without escape sequences.
    #[default]
    Off,
    /// Bold, dim and three of the sixteen colours, by SGR sequences.
    On,
}

/// Whether text may leave ASCII.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unicode {
    /// ASCII only: `us`, `#`, `-`.
    Off,
    /// `µs`, block characters, `–`.
    #[default]
    On,
}

/// The look of text, for any width from [`Style::WIDTH_MIN`] to [`Style::WIDTH_MAX`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    width: u16,
    /// Whether text carries colour.
    pub color: Color,
    /// Whether text may leave ASCII.
    pub unicode: Unicode,
    /// The way in which remedies name settings.
    pub naming: Naming,
}

impl Style {
    /// The minimum width.
    pub const WIDTH_MIN: u16 = 40;
    /// The maximum width.
    pub const WIDTH_MAX: u16 = 200;

    /// A style for a terminal of `width` columns; a width outside 40 to 200 becomes the nearest.
    #[must_use]
    pub const fn new(width: u16, color: Color, unicode: Unicode) -> Self {
        let width = if width < Self::WIDTH_MIN {
            Self::WIDTH_MIN
        } else if width > Self::WIDTH_MAX {
            Self::WIDTH_MAX
        } else {
            width
        };
        Self {
            width,
            color,
            unicode,
            naming: Naming::Flags,
        }
    }

    /// The style with remedies for the run of a plan or of a command line.
    #[must_use]
    pub const fn naming(self, naming: Naming) -> Self {
        Self { naming, ..self }
    }

    /// The style with another width, which must be within the same bounds.
    #[must_use]
    pub const fn of_width(self, width: u16) -> Self {
        Self { width, ..self }
    }

    /// The number of columns that a line may take.
    #[must_use]
    pub const fn width(&self) -> usize {
        self.width as usize
    }

    /// `fancy` if the terminal shows Unicode, otherwise `plain`.
    #[must_use]
    pub const fn glyph(&self, fancy: &'static str, plain: &'static str) -> &'static str {
        match self.unicode {
            Unicode::On => fancy,
            Unicode::Off => plain,
        }
    }
}

impl Default for Style {
    /// Plain Unicode text of 80 columns.
    fn default() -> Self {
        Self::new(80, Color::Off, Unicode::On)
    }
}
