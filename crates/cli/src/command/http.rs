//! `drumfire http`.

use super::results;
use crate::document;
use crate::exit::{Exit, Failure};
use crate::flags::HttpFlags;
use crate::host::Machine;
use crate::output::Output;

/// Runs the load that the flags describe and writes its results.
pub(crate) fn run(flags: &HttpFlags, output: &Output) -> Result<Exit, Failure> {
    let written = document::of_http(flags)?;
    let host = Machine::here(output);
    results::of(&written, &host, &flags.output, flags.print_plan, output)
}
