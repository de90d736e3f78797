//! Mistakes in a command line, as go-wrk ends with them.

use super::PROGRAM;
use crate::outcome::LastWords;
use std::fmt::Display;

/// The last words about a mistake in a flag's value, in this program's own words.
pub(super) fn mistake(message: impl Display) -> LastWords {
    LastWords::on_stderr(format!("{PROGRAM}: {message}\n"), 2)
}
