//! Results of each interval, written during a run: lines of text, of JSON, of CSV.
//!
//! A separate thread writes to the place of each result ([`Streams`]), so that an observer never
//! blocks on a reader. If a place fails, nothing more is written to it, and the command fails at
//! the end; the other results continue. If the reader of a place closes the pipe, the load ends,
//! because the requested results would be lost. The rest of the last interval, shorter than a whole
//! one, gets no row, because its rates would mislead.

use crate::{
    EndRequests, Note, Observer, OutputError, RunContext, SessionError, StreamPlace, StreamWriter,
    Streams,
};
use drumfire_measure::{Interval, IntervalRow, Rows, RunEvent, RunInfo, Summary};
use drumfire_plan::StopReason;
use drumfire_report::interval_lines::Lines;
use drumfire_report::style::{Style, Unicode};
use drumfire_report::{csv, json};
use std::io::{self, Write as _};
use std::sync::Arc;

/// The observer that writes results of each interval.
pub struct IntervalOutputs {
    streams: Streams,
    forms: Vec<Form>,
    run: Option<Run>,
    end_requests: EndRequests,
}

/// The note on a run whose reader of results has closed the pipe.
const UNREAD: &str = "the reader of the results closed the pipe";

/// The run that the intervals belong to.
struct Run {
    info: Arc<RunInfo>,
    rows: Rows,
}

/// One result.
///
/// A thread of [`Streams`] writes to the place, so a write here only copies the bytes. A failure is
/// returned by a later write.
struct Form {
    /// The name of the place.
    name: String,
    shape: Shape,
    out: StreamWriter,
    /// The failure after which nothing more is written.
    failure: Option<io::Error>,
}

/// The shape of a result.
enum Shape {
    Text {
        unicode: Unicode,
        page: Option<Style>,
        lines: Option<Lines>,
    },
    Json,
    Csv,
}

/// A requested result, and the open place for it.
pub struct IntervalOutput {
    /// The shape of the result.
    pub shape: IntervalShape,
    /// The place of the result, which belongs to no other result.
    pub place: StreamPlace,
}

/// The shape of an interval result.
#[derive(Clone, Debug)]
pub enum IntervalShape {
    /// Lines of text.
    Text {
        /// The page to whose width lines are cut; `None` for a file.
        page: Option<Style>,
        /// The character set of a file.
        unicode: Unicode,
    },
    /// One JSON object per line.
    Json,
    /// One CSV row per interval.
    Csv,
}

impl IntervalOutputs {
    /// Starts to write these results.
    ///
    /// # Errors
    /// If no thread can be started.
    pub fn start(outputs: Vec<IntervalOutput>) -> Result<Self, OutputError> {
        let (shapes, places): (Vec<_>, Vec<_>) = outputs
            .into_iter()
            .map(|output| (output.shape, output.place))
            .unzip();
        let names: Vec<String> = places.iter().map(|place| place.name.clone()).collect();
        let streams = Streams::start(places)?;
        let forms = names.into_iter().zip(shapes).zip(streams.writers());
        let form = |((name, shape), out)| Form {
            name,
            shape: match shape {
                IntervalShape::Text { page, unicode } => Shape::Text {
                    unicode,
                    page,
                    lines: None,
                },
                IntervalShape::Json => Shape::Json,
                IntervalShape::Csv => Shape::Csv,
            },
            out,
            failure: None,
        };
        let forms = forms.map(form).collect();
        Ok(Self {
            streams,
            forms,
            run: None,
            end_requests: EndRequests::default(),
        })
    }

    /// Begins every result: writes the header of CSV, and chooses the columns of text for the run's
    /// interval and model.
    fn start_run(&mut self, info: &Arc<RunInfo>) {
        for form in &mut self.forms {
            form.start(info);
        }
        self.run = Some(Run {
            info: Arc::clone(info),
            rows: Rows::new(info),
        });
    }

    /// Adds a whole interval to every result. The row is computed once for all results, even if
    /// none writes it, because each row counts from the previous one.
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
}

impl Observer for IntervalOutputs {
    /// Ends the load if a reader of the results closes the pipe.
    fn run_started(&mut self, run: &RunContext) -> Result<(), SessionError> {
        self.end_requests = run.end_requests.clone();
        let control = run.control.clone();
        self.streams
            .when_unread(move || control.stop(StopReason::Signal));
        Ok(())
    }

    fn observe(&mut self, event: &RunEvent) {
        match event {
            RunEvent::Started(info) => self.start_run(info),
            RunEvent::IntervalClosed(interval) => self.show(interval),
            _ => {}
        }
    }

    /// Waits until everything is written, or until the user requests the end again.
    ///
    /// Only one failure is returned. The failure of a result takes precedence over a failure of the
    /// threads, which is usually its consequence.
    fn finish(self: Box<Self>, _summary: &Summary) -> Vec<Note> {
        let mut forms = self.forms.into_iter();
        let failed = forms.find_map(|form| Some((form.name, form.failure?)));
        drop(forms);
        let unread = self.streams.is_unread();
        let finished = self.streams.finish(&self.end_requests);
        let failure = match failed {
            Some((name, error)) => Some(OutputError::Write { name, error }.to_string()),
            None => finished.err().map(|error| error.to_string()),
        };
        let unread = unread.then(|| Note::Report(UNREAD.to_owned()));
        let failure = failure.map(Note::Failure);
        unread.into_iter().chain(failure).collect()
    }
}

impl Form {
    fn start(&mut self, info: &RunInfo) {
        match &mut self.shape {
            Shape::Text {
                unicode,
                page,
                lines,
            } => *lines = Some(Lines::new(info, *unicode, page.as_ref())),
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
