//! Opens places that are written during a run.

use crate::exit::Failure;
use crate::output::{self, why_not_written};
use drumfire_dialects::LineDestination as Named;
use drumfire_session::StreamPlace;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

/// Opens a place for one of our own commands. Its results must not be lost, so a closed standard
/// output is an error, whereas another tool would discard the results.
pub(crate) fn open_own(place: &Named<'_>) -> Result<StreamPlace, Failure> {
    if let Named::Stdout = place {
        output::check_stdout()?;
    }
    open(place)
}

/// Opens a place and empties a file.
pub(crate) fn open(place: &Named<'_>) -> Result<StreamPlace, Failure> {
    let (name, out): (&str, Box<dyn Write + Send>) = match *place {
        Named::Stdout => ("stdout", Box::new(io::stdout())),
        Named::Stderr => ("stderr", Box::new(io::stderr())),
        Named::File(path) => (path, Box::new(create(path)?)),
    };
    Ok(StreamPlace {
        name: name.to_owned(),
        out,
    })
}

fn create(path: &str) -> Result<File, Failure> {
    let wrong = |error| {
        let why = why_not_written(Path::new(path), &error);
        Failure::failed(format!("can't write {path}: {why}"))
    };
    File::create(path).map_err(wrong)
}
