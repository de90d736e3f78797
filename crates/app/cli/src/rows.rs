//! The destination of request rows: a file, or standard output.

use crate::exit::Failure;
use crate::output::Destination;
use crate::results::{self, Content};
use crate::stream_names::STDOUT;
use crate::streams;
use drumfire_dialects::LineDestination;
use drumfire_document::Outputs;
use drumfire_report::RowAnswers;
use drumfire_session::{Redactor, RequestRowsOutput};
use std::path::Path;

/// Opens the place in the outputs, if there is one.
pub(crate) fn open(
    outputs: &Outputs,
    answers: RowAnswers,
    redactor: &Redactor,
) -> Result<Option<RequestRowsOutput>, Failure> {
    let mut wanted = results::wanted(outputs);
    let found = wanted.find_map(|(row, path)| match &row.content {
        Content::Requests(form) => Some((form(path), path)),
        _ => None,
    });
    let Some((form, path)) = found else {
        return Ok(None);
    };
    let place = match &*path.value {
        STDOUT => LineDestination::Stdout,
        file => {
            Destination::check(&path.place.to_string(), Path::new(file))?;
            LineDestination::File(file)
        }
    };
    let place = streams::open_own(&place)?;
    Ok(Some(RequestRowsOutput::start(
        form, answers, place, redactor,
    )?))
}
