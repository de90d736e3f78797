//! `drumfire llm`.

use super::results::{self, Printed};
use crate::document;
use crate::exit::{Exit, Failure};
use crate::flags::LlmFlags;
use crate::host::Machine;
use crate::output::Output;

/// Runs the load that the flags describe and writes its results.
pub(crate) fn run(flags: &LlmFlags, output: &Output) -> Result<Exit, Failure> {
    let mut written = document::of_llm(flags)?;
    let printed = Printed::from_flags(flags.load.print_plan, flags.load.print_facts);
    if printed != Printed::Plan {
        document::renew_prompts(&mut written.document)?;
    }
    let host = Machine::here(output);
    results::run_or_print(&written, &host, &flags.load.output, printed, output)
}
