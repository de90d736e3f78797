//! The capabilities of the terminal.

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

/// Whether standard error is a terminal on which a line can replace itself.
pub(crate) fn is_live() -> bool {
    io::stderr().is_terminal() && !is_dumb()
}

/// The part of `wanted` that the terminal can show: a heartbeat if a line cannot replace itself.
pub(crate) fn shown(wanted: Shown) -> Shown {
    match wanted {
        Shown::Live if !is_live() => Shown::Heartbeat,
        wanted => wanted,
    }
}

fn is_dumb() -> bool {
    env::var_os("TERM").is_none_or(|term| term == "dumb")
}

/// The style with the given choice of colour. Unicode is used unless the locale lacks it.
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

/// Colour by default: on a terminal. NO_COLOR (no-color.org) and CLICOLOR=0 disable it there,
/// CLICOLOR_FORCE and FORCE_COLOR enable it elsewhere too. Disabling takes precedence.
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

/// The width of the terminal, or 80 columns without a terminal.
pub(crate) fn columns() -> u16 {
    terminal_size::terminal_size().map_or(80, |(terminal_size::Width(width), _)| width)
}

/// The height of the terminal on standard output, in lines; `None` without a terminal.
pub(crate) fn rows() -> Option<usize> {
    if !io::stdout().is_terminal() {
        return None;
    }
    terminal_size::terminal_size().map(|(_, terminal_size::Height(rows))| usize::from(rows))
}
