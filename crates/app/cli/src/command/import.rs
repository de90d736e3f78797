//! `drumfire import`.

use crate::exit::{Exit, Failure};
use crate::flags::{ImportFlags, ImportForm};
use crate::input;
use crate::output::Output;
use drumfire_document::form;
use drumfire_import::{Form, Source, Wishes, import};
use drumfire_units::utf8;
use std::ffi::OsStr;
use std::io;
use std::path::Path;

/// The argument for standard input.
const STDIN: &str = "-";

/// Prints the plan that a text converts to. Parts that were not converted are listed on standard
/// error.
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
    let path = Path::new(name);
    let source = Source {
        text,
        name: path
            .file_name()
            .and_then(OsStr::to_str)
            .filter(|_| path.is_file())
            .unwrap_or_default(),
        read: &|file| read_beside(path, file),
    };
    let imported = import(kind, &source, &wishes);
    let imported = imported.map_err(|error| Failure::usage(format!("{name}: {error}")))?;
    output.print_plan(&form::print(&imported.document))?;
    for note in imported.notes {
        output.remark(&format!("drumfire: {note}\n"));
    }
    Ok(Exit::Done)
}

/// Reads a file in the folder of a document or below it. A link must not leave that folder.
fn read_beside(document: &Path, file: &str) -> io::Result<Vec<u8>> {
    if !document.is_file() {
        return Err(io::Error::other("the document is not in a folder"));
    }
    let folder = document.canonicalize()?.with_file_name("");
    let path = folder.join(file).canonicalize()?;
    match path.starts_with(&folder) {
        true => input::read(&path),
        false => Err(io::Error::other(
            "it is a link out of the document's folder",
        )),
    }
}
