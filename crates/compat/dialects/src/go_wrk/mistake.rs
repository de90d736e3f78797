//! The output after a mistake on the command line.

use super::PROGRAM;
use crate::outcome::LastWords;
use std::fmt::Display;

/// The message on an invalid value of a flag, in drumfire's words.
pub(super) fn mistake(message: impl Display) -> LastWords {
    LastWords::on_stderr(format!("{PROGRAM}: {message}\n"), 2)
}
