//! The only sink of messages about an active run.

use drumfire_report::style::Style;

/// The place where a user follows a run: standard error, or the screen.
///
/// All threads of a session send their messages only here, and at any time, so the implementation
/// controls the screen: it prints a line at once, or keeps the line and draws it in a window. The
/// implementation masks secrets and removes control characters, because parts of a message may come
/// from a server. A message that cannot be shown is lost.
///
/// Notes and the line that replaces itself share the screen: the implementation removes the line
/// before a note and restores it afterwards. A method may block for the terminal, but must not call
/// back into the session.
pub trait Console: Send + Sync {
    /// Shows a message that stays: one or several lines, without a final newline.
    fn note(&self, message: &str);

    /// Replaces the live line; an empty line removes it.
    fn replace_line(&self, line: &str);

    /// The current width of a page, its colours and its character set.
    fn style(&self) -> Style;

    /// The number of columns for the live line; may be less than the minimum of a page.
    fn columns(&self) -> usize;
}

/// A console that shows nothing.
#[cfg(test)]
pub(crate) struct Silent;

#[cfg(test)]
impl Console for Silent {
    fn note(&self, _message: &str) {}

    fn replace_line(&self, _line: &str) {}

    fn style(&self) -> Style {
        use drumfire_report::style::{Color, Unicode};
        Style::new(80, Color::Off, Unicode::On)
    }

    fn columns(&self) -> usize {
        80
    }
}
