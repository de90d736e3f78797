//! `drumfire http`.

use super::results;
use crate::document;
use crate::exit::{Exit, Failure};
use crate::flags::HttpFlags;
use crate::host::Machine;

/// Runs the load that the flags describe and writes its results.
pub(crate) fn run(flags: &HttpFlags) -> Result<Exit, Failure> {
    let written = document::of_http(flags)?;
    results::of(&written, &Machine::here(), &flags.output, flags.print_plan)
}
