//! `drumfire ws`.

use super::results::{self, Printed};
use crate::document;
use crate::exit::{Exit, Failure};
use crate::flags::WsFlags;
use crate::host::Machine;
use crate::output::Output;

/// Runs the load that the flags describe and writes its results.
pub(crate) fn run(flags: &WsFlags, output: &Output) -> Result<Exit, Failure> {
    let written = document::of_ws(flags)?;
    let host = Machine::here(output);
    let printed = Printed::from_flags(flags.print_plan, flags.print_facts);
    results::run_or_print(&written, &host, &flags.output, printed, output)
}
