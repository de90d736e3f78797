//! The terminal's abilities.

use drumfire_report::style::{Color, Style, Unicode};
use std::env;
use std::io::{self, IsTerminal as _};

/// The style for text on standard output.
pub(crate) fn stdout_style() -> Style {
    style(io::stdout().is_terminal())
}

/// The style for text on standard error.
pub(crate) fn stderr_style() -> Style {
    style(io::stderr().is_terminal())
}

/// Whether a line that replaces itself may be shown: standard error is a terminal that can.
pub(crate) fn is_live() -> bool {
    io::stderr().is_terminal() && !is_dumb()
}

fn is_dumb() -> bool {
    env::var_os("TERM").is_none_or(|term| term == "dumb")
}

/// Colour on a terminal, unless NO_COLOR refuses it (no-color.org); Unicode unless the locale lacks
/// it.
fn style(is_terminal: bool) -> Style {
    let refused = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let color = if is_terminal && !refused && !is_dumb() {
        Color::On
    } else {
        Color::Off
    };
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
        .iter()
        .find_map(|name| env::var(name).ok().filter(|value| !value.is_empty()));
    let unicode = match locale {
        Some(locale)
            if !locale
                .to_ascii_lowercase()
                .replace('-', "")
                .contains("utf8") =>
        {
            Unicode::Off
        }
        _ => Unicode::On,
    };
    let width = if is_terminal { columns() } else { 80 };
    Style::new(width, color, unicode)
}

/// How wide the terminal is, or a page where there is none.
pub(crate) fn columns() -> u16 {
    terminal_size::terminal_size().map_or(80, |(terminal_size::Width(width), _)| width)
}

/// How many lines the terminal on standard output shows; none where there is no terminal.
pub(crate) fn rows() -> Option<usize> {
    if !io::stdout().is_terminal() {
        return None;
    }
    terminal_size::terminal_size().map(|(_, terminal_size::Height(rows))| usize::from(rows))
}
