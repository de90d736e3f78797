//! `drumfire report`.

use super::results::Destinations;
use crate::exit::{Exit, Failure};
use crate::flags::ReportFlags;
use crate::intervals::IntervalOutputs;
use crate::{document, runs_folder, session, storing, terminal};
use drumfire_store::{Record, StoreError};

/// Writes the results of a stored run, as the run itself did.
pub(crate) fn run(flags: &ReportFlags) -> Result<Exit, Failure> {
    let outputs = document::report_outputs(flags);
    let destinations = Destinations::of(&outputs)?;
    let path = runs_folder::find(&flags.run)?;
    let mut intervals = IntervalOutputs::open(&outputs)?;
    let record = Record::replay(&path, &mut |event| intervals.observe(event)).map_err(failure)?;
    // Lines on standard output stand above the report.
    let streamed = intervals.finish();
    let style = terminal::stdout_style(flags.color).naming(storing::naming_of(&record));
    let summary = storing::stored(record);
    destinations.write(&summary, flags.explain, &style)?;
    streamed?;
    Ok(session::exit_of(&summary, flags.strict))
}

/// Why a stored run can't be used.
pub(super) fn failure(error: StoreError) -> Failure {
    match error {
        StoreError::Write { .. } | StoreError::Read { .. } => Failure::failed(error),
        _ => Failure::usage(error),
    }
}
