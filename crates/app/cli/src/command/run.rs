//! `drumfire run`.

use super::phases::{self, Compiled, Phases};
use super::plan_file::PlanFile;
use super::results::{self, Printed};
use crate::document::{self, Written};
use crate::exit::{Exit, Failure};
use crate::flags::RunFlags;
use crate::output::Output;
use drumfire_compile::{Host, compile_draft};
use drumfire_report::Naming;
use std::sync::Arc;

/// Runs a plan from a file.
pub(crate) fn run(flags: &RunFlags, output: &Output) -> Result<Exit, Failure> {
    let file = PlanFile::read(&flags.plan)?;
    let printed = Printed::from_flags(flags.print_plan, flags.print_facts);
    let phases = match (printed, flags.output.show) {
        (Printed::Plan | Printed::Facts, _) => Phases::Skip,
        (Printed::Nothing, true) => Phases::Show,
        (Printed::Nothing, false) => Phases::Run,
    };
    let read = |host: &Arc<dyn Host>| compiled(&file, host, flags, output);
    phases::around(&file, phases, output, read, |compiled, signals| {
        let written = Written {
            naming: Naming::Keys,
            folder: file.folder.clone(),
            ..compiled.draft.document.into()
        };
        results::of_plan(
            compiled.plan,
            &written,
            &flags.output,
            printed,
            signals,
            output,
        )
    })
}

/// The file's plan, overridden by the flags.
pub(super) fn compiled(
    file: &PlanFile,
    host: &Arc<dyn Host>,
    flags: &RunFlags,
    output: &Output,
) -> Result<Compiled, Failure> {
    let mut draft = file.draft(&flags.settings, host, output);
    document::apply_flags(&mut draft.document, &flags.keys)?;
    if !flags.print_plan {
        document::renew_prompts(&mut draft.document)?;
    }
    if flags.output.show {
        draft.document = document::once(draft.document);
    }
    let plan = compile_draft(&draft, host).map_err(|found| file.failure(&found))?;
    Ok(Compiled { draft, plan })
}
