//! Where results of each interval go: files, or the terminal.

use crate::exit::Failure;
use crate::flags::ColorChoice;
use crate::output::Destination;
use crate::streams::{self, STDERR, STDOUT};
use crate::terminal;
use drumfire_dialects::StreamPlace;
use drumfire_document::{Outputs, Text};
use drumfire_report::style::Style;
use drumfire_session::{IntervalOutput, IntervalOutputs, IntervalShape};
use std::io::{self, IsTerminal as _};
use std::path::Path;

/// Opens the places that the outputs name, each of them another.
pub(crate) fn open(outputs: &Outputs) -> Result<IntervalOutputs, Failure> {
    let text = || IntervalShape::Text {
        page: page(outputs.lines.as_ref()),
        unicode: terminal::stderr_style(ColorChoice::Never).unicode,
    };
    let wanted: [(&Option<Text>, &dyn Fn() -> IntervalShape); 3] = [
        (&outputs.lines, &text),
        (&outputs.json_lines, &|| IntervalShape::Json),
        (&outputs.csv_intervals, &|| IntervalShape::Csv),
    ];
    let mut places = Vec::new();
    for (path, shape) in wanted {
        if let Some(path) = path {
            let shape = shape();
            let place = place(path, &shape)?;
            places.push((shape, place));
        }
    }
    // No file is emptied before all were found writable.
    let opened = places.into_iter().map(|(shape, place)| {
        let place = streams::open(&place)?;
        Ok(IntervalOutput { shape, place })
    });
    let opened: Vec<IntervalOutput> = opened.collect::<Result<_, Failure>>()?;
    Ok(IntervalOutputs::start(opened)?)
}

/// The place of a result that can be written there.
fn place<'p>(path: &'p Text, shape: &IntervalShape) -> Result<StreamPlace<'p>, Failure> {
    Ok(match (&*path.value, shape) {
        (STDOUT, _) => StreamPlace::Stdout,
        (STDERR, IntervalShape::Text { .. }) => StreamPlace::Stderr,
        (file, _) => {
            Destination::check(&path.place.to_string(), Path::new(file))?;
            StreamPlace::File(file)
        }
    })
}

/// How wide lines may be that go to a terminal.
fn page(place: Option<&Text>) -> Option<Style> {
    match place.map(|place| &*place.value) {
        Some(STDOUT) if io::stdout().is_terminal() => {
            Some(terminal::stdout_style(ColorChoice::Never))
        }
        Some(STDERR) if io::stderr().is_terminal() => {
            Some(terminal::stderr_style(ColorChoice::Never))
        }
        _ => None,
    }
}
