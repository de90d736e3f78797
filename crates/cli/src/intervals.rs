//! Results of each interval, written while a run goes on: lines of text, of JSON, of CSV.

use crate::exit::Failure;
use crate::flags::ColorChoice;
use crate::output::Destination;
use crate::streams::Streams;
use crate::terminal;
use drumfire_dialects::{Stream, StreamPlace};
use drumfire_document::{Outputs, Text};
use drumfire_measure::{Interval, IntervalRow, Rows, RunEvent, RunInfo};
use drumfire_report::interval::Lines;
use drumfire_report::style::Style;
use drumfire_report::{csv, json};
use std::io::{self, IsTerminal as _};
use std::path::Path;
use std::sync::Arc;

/// The name that stands for standard output.
pub(crate) const STDOUT: &str = "-";
/// The name that stands for standard error, where lines of text may go.
pub(crate) const STDERR: &str = "stderr";

/// What is written of each interval, and where.
pub(crate) struct IntervalOutputs {
    streams: Streams,
    forms: Vec<Form>,
    run: Option<Run>,
}

/// The run whose intervals they are.
struct Run {
    info: Arc<RunInfo>,
    rows: Rows,
}

/// One result.
struct Form {
    shape: Shape,
    out: Box<dyn Stream>,
    /// Why no more is written.
    failure: Option<io::Error>,
}

/// Its shape.
enum Shape {
    /// Lines of text for this page; a file has no width.
    Text {
        page: Option<Style>,
        lines: Option<Lines>,
    },
    Json,
    Csv,
}

impl IntervalOutputs {
    /// Opens the places that the outputs name, each of them another.
    pub(crate) fn open(outputs: &Outputs) -> Result<Self, Failure> {
        let text = || Shape::Text {
            page: page(outputs.lines.as_ref()),
            lines: None,
        };
        let wanted: [(&Option<Text>, &dyn Fn() -> Shape); 3] = [
            (&outputs.lines, &text),
            (&outputs.json_lines, &|| Shape::Json),
            (&outputs.csv_intervals, &|| Shape::Csv),
        ];
        let mut places = Vec::new();
        let mut shapes = Vec::new();
        for (path, shape) in wanted {
            if let Some(path) = path {
                shapes.push(shape());
                places.push(match (&*path.value, shapes.last()) {
                    (STDOUT, _) => StreamPlace::Stdout,
                    (STDERR, Some(Shape::Text { .. })) => StreamPlace::Stderr,
                    (file, _) => {
                        Destination::check(&path.place.to_string(), Path::new(file))?;
                        StreamPlace::File(file)
                    }
                });
            }
        }
        let streams = Streams::open(&places)?;
        let forms = shapes.into_iter().zip(streams.writers());
        let form = |(shape, out)| Form {
            shape,
            out,
            failure: None,
        };
        let forms = forms.map(form).collect();
        Ok(Self {
            streams,
            forms,
            run: None,
        })
    }

    /// Takes note of an event of the run.
    pub(crate) fn observe(&mut self, event: &RunEvent) {
        match event {
            RunEvent::Started(info) => self.start(info),
            RunEvent::IntervalClosed(interval) => self.show(interval),
            _ => {}
        }
    }

    fn start(&mut self, info: &Arc<RunInfo>) {
        for form in &mut self.forms {
            form.start(info);
        }
        self.run = Some(Run {
            info: Arc::clone(info),
            rows: Rows::new(info),
        });
    }

    fn show(&mut self, interval: &Interval) {
        let Some(run) = &mut self.run else {
            return;
        };
        let row = run.rows.next_row(interval);
        if row.is_remnant(run.info.interval) {
            return;
        }
        for form in &mut self.forms {
            form.show(&row, &run.info);
        }
    }

    /// Waits until everything is written.
    ///
    /// # Errors
    /// When something could not be written.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        let failed = self.forms.into_iter().find_map(|form| form.failure);
        let finished = self.streams.finish();
        match failed {
            Some(error) => Err(Failure::failed(format!("can't write intervals: {error}"))),
            None => finished,
        }
    }
}

impl Form {
    fn start(&mut self, info: &RunInfo) {
        match &mut self.shape {
            Shape::Text { page, lines } => {
                let unicode = terminal::stderr_style(ColorChoice::Never).unicode;
                *lines = Some(Lines::new(info, unicode, page.as_ref()));
            }
            Shape::Json => {}
            Shape::Csv => self.write(&csv::interval_header()),
        }
    }

    fn show(&mut self, row: &IntervalRow, info: &RunInfo) {
        let bytes = match &mut self.shape {
            Shape::Text { lines, .. } => match lines {
                Some(lines) => lines.next_line(row).into_bytes(),
                None => return,
            },
            Shape::Json => json::interval(row, info),
            Shape::Csv => csv::interval(row),
        };
        self.write(&bytes);
    }

    fn write(&mut self, bytes: &[u8]) {
        if self.failure.is_none() {
            self.failure = self.out.write_all(bytes).err();
        }
    }
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
