//! Results of each interval, written while a run goes on: lines of text, of JSON, of CSV.
//!
//! Each result has its own place with a thread behind it ([`Streams`]), so that an observer never
//! blocks on a reader. A place that fails writes no more, and its failure is the command's at the
//! end; the others go on. When the reader of a place goes, the load ends: the results were asked
//! for, and would be lost. The rest of the last interval, shorter than a whole one, has no row, for
//! its rates would mislead.

use crate::{
    EndRequests, Note, Observer, RunContext, SessionError, StreamError, StreamPlace, StreamWriter,
    Streams,
};
use drumfire_measure::{Interval, IntervalRow, Rows, RunEvent, RunInfo, Summary};
use drumfire_plan::StopReason;
use drumfire_report::interval::Lines;
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

/// The note on a run whose reader of results has gone.
const UNREAD: &str = "the reader of the results closed the pipe";

/// The run whose intervals they are.
struct Run {
    info: Arc<RunInfo>,
    rows: Rows,
}

/// One result.
///
/// Its place is written to by a thread of [`Streams`], so that a write here only hands bytes on; a
/// failure comes back with a later write.
struct Form {
    shape: Shape,
    out: StreamWriter,
    /// The failure after which nothing more is written.
    failure: Option<io::Error>,
}

/// Its shape.
enum Shape {
    Text {
        unicode: Unicode,
        page: Option<Style>,
        lines: Option<Lines>,
    },
    Json,
    Csv,
}

/// One result that is wanted, and the open place that it goes to.
pub struct IntervalOutput {
    /// Its shape.
    pub shape: IntervalShape,
    /// Its place, which is no other one's.
    pub place: StreamPlace,
}

/// The shape of a result of each interval.
#[derive(Clone, Debug)]
pub enum IntervalShape {
    /// Lines of text.
    Text {
        /// The page that they are cut to; a file has no width.
        page: Option<Style>,
        /// The letters of a file.
        unicode: Unicode,
    },
    /// An object of JSON a line.
    Json,
    /// A row of CSV.
    Csv,
}

impl IntervalOutputs {
    /// Writes these results.
    ///
    /// # Errors
    /// When there is no thread for one.
    pub fn start(outputs: Vec<IntervalOutput>) -> Result<Self, StreamError> {
        let (shapes, places): (Vec<_>, Vec<_>) = outputs
            .into_iter()
            .map(|output| (output.shape, output.place))
            .unzip();
        let streams = Streams::start(places)?;
        let forms = shapes.into_iter().zip(streams.writers());
        let form = |(shape, out)| Form {
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

    /// Begins every result: CSV has its header written, and text has its columns chosen for the
    /// run's interval and model.
    fn start_run(&mut self, info: &Arc<RunInfo>) {
        for form in &mut self.forms {
            form.start(info);
        }
        self.run = Some(Run {
            info: Arc::clone(info),
            rows: Rows::new(info),
        });
    }

    /// Adds a whole interval to every result. Its row is computed once for all of them, also where
    /// it is not written: a row counts on from the one before.
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
    /// Ends the load when a reader of the results goes.
    fn begin(&mut self, run: &RunContext) -> Result<(), SessionError> {
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

    /// Waits until everything is written, or the user asks once more for the end.
    ///
    /// One failure is given, of a result before that of the threads: mostly the second follows from
    /// the first.
    fn finish(self: Box<Self>, _summary: &Summary) -> Vec<Note> {
        let failed = self.forms.into_iter().find_map(|form| form.failure);
        let unread = self.streams.is_unread();
        let finished = self.streams.finish(&self.end_requests);
        let failure = match failed {
            Some(error) => Some(format!("can't write intervals: {error}")),
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
