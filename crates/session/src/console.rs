//! The one sink of messages about a run that goes on.

use drumfire_report::style::Style;

/// The place where a user follows a run: standard error, or a screen instead of it.
///
/// All threads of a session send their messages here and nowhere else, at any time, so that an
/// implementation owns the screen: it prints a line at once, or keeps it and draws it in a window.
/// It masks secrets, and removes control characters: parts of a message may come from a server. A
/// message that can't be shown is lost, for it has no other place.
///
/// A note and the line that replaces itself share the screen: an implementation takes the line away
/// before a note and puts it back behind it. A method may block for the terminal; it must not call
/// back into the session.
pub trait Console: Send + Sync {
    /// Shows a message, which stays: one line or several, without an end of line behind them.
    fn note(&self, message: &str);

    /// Puts a line in the place of the line that was put before; an empty one takes it away.
    fn replace_line(&self, line: &str);

    /// The width of a page, the colours and the letters, as they are now.
    fn style(&self) -> Style;

    /// The number of columns for a line that replaces itself; fewer than a page has at least.
    fn columns(&self) -> usize;
}

/// Shows nothing.
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
