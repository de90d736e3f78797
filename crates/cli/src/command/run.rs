//! `drumfire run`.

use super::results;
use crate::exit::{Exit, Failure};
use crate::flags::RunFlags;
use crate::host::{Machine, folder_of};
use crate::{document, input};
use drumfire_compile::form;
use std::path::Path;

/// Runs a plan that was written down.
pub(crate) fn run(flags: &RunFlags) -> Result<Exit, Failure> {
    let path = Path::new(&flags.plan);
    let (bytes, name) = match flags.plan.as_str() {
        "-" => (input::stdin("the plan")?, "stdin"),
        name => {
            let read = input::read(path);
            let wrong = |error| Failure::usage(format!("can't read {name}: {error}"));
            (read.map_err(wrong)?, name)
        }
    };
    let text = String::from_utf8(bytes)
        .map_err(|_| Failure::usage(format!("{name}: the plan is not valid UTF-8")))?;
    let document = form::read(&text, name).map_err(|found| Failure::of(&found))?;
    let document = document::with_outputs(document, &flags.output);
    let host = match flags.plan.as_str() {
        "-" => Machine::here(),
        _ => Machine::in_folder(folder_of(path)),
    };
    results::of(&document.into(), &host, flags.print_plan)
}
