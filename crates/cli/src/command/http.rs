//! `drumfire http`.

use super::results;
use crate::exit::{Exit, Failure};
use crate::flags::HttpFlags;
use crate::lower;

/// Runs the load that the flags describe and writes what they ask for.
pub(crate) fn run(flags: &HttpFlags) -> Result<Exit, Failure> {
    results::of(lower::plan(flags)?, &flags.output)
}
