//! The destinations of interval results: files, or the terminal.

use crate::exit::Failure;
use crate::output::Destination;
use crate::results::{self, Content};
use crate::stream_names::{STDERR, STDOUT};
use crate::streams;
use drumfire_dialects::LineDestination;
use drumfire_document::{Outputs, Text};
use drumfire_session::{IntervalOutput, IntervalOutputs, IntervalShape};
use std::path::Path;

/// Opens the places in the outputs, which must differ.
pub(crate) fn open(outputs: &Outputs) -> Result<IntervalOutputs, Failure> {
    let mut places = Vec::new();
    for (row, path) in results::wanted(outputs) {
        if let Content::Intervals(shape) = &row.content {
            let shape = shape(path);
            let place = place(path, &shape)?;
            places.push((shape, place));
        }
    }
    // No file is emptied before all are known to be writable.
    let opened = places.into_iter().map(|(shape, place)| {
        let place = streams::open_own(&place)?;
        Ok(IntervalOutput { shape, place })
    });
    let opened: Vec<IntervalOutput> = opened.collect::<Result<_, Failure>>()?;
    Ok(IntervalOutputs::start(opened)?)
}

/// The place of an interval result, checked to be writable.
fn place<'p>(path: &'p Text, shape: &IntervalShape) -> Result<LineDestination<'p>, Failure> {
    Ok(match (&*path.value, shape) {
        (STDOUT, _) => LineDestination::Stdout,
        (STDERR, IntervalShape::Text { .. }) => LineDestination::Stderr,
        (file, _) => {
            Destination::check(&path.place.to_string(), Path::new(file))?;
            LineDestination::File(file)
        }
    })
}
