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
    let document = form::read(&text, name)
        .map_err(|found| Failure::of(&found).with_remedy(foreign(name, &text)))?;
    let document = document::with_outputs(document, &flags.output);
    let host = match flags.plan.as_str() {
        "-" => Machine::here(),
        _ => Machine::in_folder(folder_of(path)),
    };
    results::of(
        &document.into(),
        &host,
        flags.print_plan,
        flags.output.color,
    )
}

/// The remedy where the file is another tool's.
fn foreign(name: &str, text: &str) -> &'static str {
    let has_key = |key: &str| {
        let mut lines = text.lines();
        lines.any(|line| line.trim_start_matches([' ', '-']).starts_with(key))
    };
    let extension = Path::new(name).extension().and_then(|e| e.to_str());
    match extension {
        Some("js" | "ts" | "lua" | "py" | "scala" | "jmx") => {
            "\ndrumfire: scripts are not run; `drumfire http FLAGS URL --print-plan` prints a plan \
             to begin with"
        }
        _ if has_key("gun:") && has_key("ammo:") => {
            "\ndrumfire: this is Pandora's form of a plan; `drumfire http FLAGS URL --print-plan` \
             prints one of drumfire's"
        }
        _ => "",
    }
}
