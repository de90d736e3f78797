//! `drumfire http`.

use super::results::{self, Printed};
use crate::document;
use crate::exit::{Exit, Failure};
use crate::flags::HttpFlags;
use crate::host::Machine;
use crate::output::Output;

/// Runs the load that the flags describe and writes its results.
pub(crate) fn run(flags: &HttpFlags, output: &Output) -> Result<Exit, Failure> {
    let written = document::of_http(flags)?;
    let host = Machine::here(output);
    let printed = Printed::from_flags(flags.load.print_plan, flags.load.print_facts);
    results::run_or_print(&written, &host, &flags.load.output, printed, output)
}
