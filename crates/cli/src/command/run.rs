//! `drumfire run`.

use super::plan_file::PlanFile;
use super::results;
use crate::document::{self, Written};
use crate::exit::{Exit, Failure};
use crate::flags::RunFlags;
use crate::output::Output;
use drumfire_compile::compile_draft;
use drumfire_report::Naming;

/// Runs a plan that was written down.
pub(crate) fn run(flags: &RunFlags, output: &Output) -> Result<Exit, Failure> {
    let file = PlanFile::read(&flags.plan)?;
    let host = file.host(output);
    let mut draft = file.draft(&flags.settings, &host, output);
    draft.document = document::with_outputs(draft.document, &flags.output)?;
    document::put_load(&mut draft.document, &flags.load)?;
    if let Some(speed) = &flags.speed {
        document::set_speed(&mut draft.document, speed)?;
    }
    if flags.output.show {
        draft.document = document::once(draft.document);
    }
    let plan = compile_draft(&draft, &host).map_err(|found| file.failure(&found))?;
    let written = Written {
        naming: Naming::Keys,
        folder: file.folder,
        ..draft.document.into()
    };
    results::of_plan(plan, &written, &flags.output, flags.print_plan, output)
}
