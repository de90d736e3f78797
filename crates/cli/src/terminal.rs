//! The terminal's abilities.

use crate::flags::ColorChoice;
use drumfire_report::style::{Color, Style, Unicode};
use drumfire_session::Shown;
use std::env;
use std::io::{self, IsTerminal as _};

/// The style for text on standard output.
pub(crate) fn stdout_style(color: ColorChoice) -> Style {
    style(io::stdout().is_terminal(), color)
}

/// The style for text on standard error.
pub(crate) fn stderr_style(color: ColorChoice) -> Style {
    style(io::stderr().is_terminal(), color)
}

/// Whether a line that replaces itself may be shown: standard error is a terminal that can.
pub(crate) fn is_live() -> bool {
    io::stderr().is_terminal() && !is_dumb()
}

/// What of this the terminal can show: where a line can't replace itself, a heartbeat.
pub(crate) fn shown(wanted: Shown) -> Shown {
    match wanted {
        Shown::Live if !is_live() => Shown::Heartbeat,
        wanted => wanted,
    }
}

fn is_dumb() -> bool {
    env::var_os("TERM").is_none_or(|term| term == "dumb")
}

/// Colour as it is chosen, Unicode unless the locale lacks it.
fn style(is_terminal: bool, color: ColorChoice) -> Style {
    let color = match color {
        ColorChoice::Always => Color::On,
        ColorChoice::Never => Color::Off,
        ColorChoice::Auto => usual_color(is_terminal),
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

/// Colour on a terminal. NO_COLOR (no-color.org) and CLICOLOR=0 refuse it there, CLICOLOR_FORCE and
/// FORCE_COLOR have it elsewhere too; a refusal is stronger.
fn usual_color(is_terminal: bool) -> Color {
    let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty());
    let forces = |name: &str| set(name).is_some_and(|value| value != "0");
    if set("NO_COLOR").is_some() {
        return Color::Off;
    }
    if forces("CLICOLOR_FORCE") || forces("FORCE_COLOR") {
        return Color::On;
    }
    match is_terminal && !is_dumb() && set("CLICOLOR").is_none_or(|value| value != "0") {
        true => Color::On,
        false => Color::Off,
    }
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
