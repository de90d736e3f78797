//! `drumfire import`.

use crate::exit::{Exit, Failure};
use crate::flags::{ImportFlags, ImportForm};
use crate::input;
use crate::output::Output;
use drumfire_document::form;
use drumfire_import::{Form, Wishes, import};
use drumfire_units::utf8;
use std::path::Path;

/// The name that stands for standard input.
const STDIN: &str = "-";

/// Prints the plan that a text comes to; what is not in it is said on standard error.
pub(crate) fn run(flags: &ImportFlags, output: &Output) -> Result<Exit, Failure> {
    let given = flags.file.as_str();
    let is_command = flags.form == ImportForm::Curl && given.starts_with("curl ");
    let (bytes, name) = match given {
        command if is_command => (command.as_bytes().to_owned(), "the command line"),
        STDIN => (input::stdin("the text")?, "stdin"),
        name => {
            let wrong = |error| Failure::usage(format!("can't read {name}: {error}"));
            (input::read(Path::new(name)).map_err(wrong)?, name)
        }
    };
    let text =
        utf8::text(&bytes).map_err(|what| Failure::usage(format!("{name}: it is {what}")))?;
    let kind = match flags.form {
        ImportForm::Curl => Form::Curl,
        ImportForm::Har => Form::Har,
        ImportForm::Openapi => Form::OpenApi,
        ImportForm::Postman => Form::Postman,
        ImportForm::AccessLog => Form::AccessLog,
    };
    let wishes = Wishes {
        target: flags.target.clone(),
        keeps_pauses: flags.pauses,
        keeps_all: flags.all,
    };
    let imported = import(kind, text, &wishes);
    let imported = imported.map_err(|error| Failure::usage(format!("{name}: {error}")))?;
    output.print_plan(&form::print(&imported.document))?;
    for note in imported.notes {
        output.remark(&format!("drumfire: {note}\n"));
    }
    Ok(Exit::Done)
}
