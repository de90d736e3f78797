//! `drumfire check`.

use super::plan_file::PlanFile;
use crate::exit::{Exit, Failure};
use crate::flags::CheckFlags;
use crate::output::Output;
use crate::terminal;
use drumfire_compile::compile_draft;
use drumfire_placement::fit;
use drumfire_report::outlook;
use drumfire_session::this_machine;

/// Says everything that is wrong with a plan, or what it will do.
pub(crate) fn run(flags: &CheckFlags, output: &Output) -> Result<Exit, Failure> {
    let file = PlanFile::read(&flags.plan)?;
    let host = file.host(output);
    let plan = compile_draft(&file.draft(&flags.settings, &host, output), &host);
    let plan = plan.map_err(|found| file.failure(&found))?;
    let placed = fit(&plan, &this_machine());
    let shown = outlook(
        &plan,
        &placed,
        &file.name,
        &terminal::drawing_style(flags.color),
    );
    let shown = shown.map_err(|error| Failure::usage(format!("{}: {error}", file.name)))?;
    if !flags.quiet {
        output.print(shown.as_bytes())?;
    }
    Ok(match placed {
        Ok(_) => Exit::Done,
        Err(_) => Exit::Failed,
    })
}
