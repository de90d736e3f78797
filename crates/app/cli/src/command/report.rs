//! `drumfire report`.

use super::baseline;
use super::results::{Destinations, Report, is_on};
use super::stored::failure;
use crate::exit::{Exit, Failure};
use crate::flags::ReportFlags;
use crate::output::Output;
use crate::{document, intervals, runs_folder, session, terminal};
use drumfire_session::{Note, Observer as _, finding_of, naming_of, stored, stored_plan};
use drumfire_store::Record;

/// Writes the results of a stored run as the run itself did.
pub(crate) fn run(flags: &ReportFlags, output: &Output) -> Result<Exit, Failure> {
    let outputs = document::outputs(&flags.settings)?;
    let destinations = Destinations::from_outputs(&outputs)?;
    let path = runs_folder::find(&flags.run)?;
    let destinations = destinations
        .of_plan(stored_plan(&path))
        .of_baseline(baseline::read_baseline(&outputs, output)?);
    // Opening an intervals file empties it, so check first that the record can be read.
    Record::newest_id(&path).map_err(failure)?;
    let mut intervals = Box::new(intervals::open(&outputs)?);
    let record = Record::replay(&path, &mut |event| intervals.observe(event)).map_err(failure)?;
    // Lines on standard output precede the report.
    let streamed = intervals.finish(&record.summary);
    let style = terminal::stdout_style(flags.color).naming(naming_of(&record));
    let teardown = record.teardown.clone();
    let finding = finding_of(&record).map_err(Failure::failed)?;
    let summary = stored(record);
    let message = teardown.as_ref().map(|failure| failure.message.clone());
    let destinations = destinations.of_teardown(message).of_search(finding);
    let exit = session::exit_of(&summary, is_on(&outputs.strict));
    let written = destinations.write(&summary, Report::from_outputs(&outputs), &style, output);
    written.map_err(|failure| failure.of_run(exit))?;
    for note in streamed {
        if let Note::Failure(failure) = note {
            return Err(Failure::failed(failure).of_run(exit));
        }
    }
    if let Some(failure) = &teardown {
        output.complain(&failure.message);
    }
    Ok(exit.with_teardown(teardown.as_ref()))
}
