//! Writes a row for each request during a run.
//!
//! Rows come a whole interval at a time, after it was closed, and are formatted on this observer's
//! thread. At 100,000 requests/s, this is more work than any other observer does, and it may fall
//! behind. Two queues are limited: the samples before it, and the bytes after it ([`Streams`]).
//! Rows beyond the limits are lost, counted by comparison with the summary, and make the command
//! fail.

use crate::{
    EndRequests, Note, Observer, OutputError, Redactor, RunContext, SessionError, StreamPlace,
    StreamWriter, Streams,
};
use drumfire_measure::{Kept, RunEvent, Summary};
use drumfire_plan::StopReason;
use drumfire_report::{RequestRows, RowAnswers, RowForm};
use std::io::{self, Write as _};

/// The approximate length of the text that is written at once, in bytes.
const CHUNK: usize = 64 << 10;

/// The observer that writes a row for each request of a plan that keeps its samples.
/// The observer may be late by a limited number of rows ([limits]). Further rows are lost, and the
/// command fails with their number.
/// lost, and the command fails with their number.
///
/// [limits]: drumfire_engine::limits::KEPT_SAMPLES_MAX
pub struct RequestRowsOutput {
    form: RowForm,
    answers: RowAnswers,
    streams: Streams,
    /// The name of the place.
    name: String,
    out: StreamWriter,
    redactor: Redactor,
    rows: Option<RequestRows>,
    /// The number of rows written.
    count: u64,
    /// The failure after which nothing more is written.
    failure: Option<io::Error>,
    end_requests: EndRequests,
}

impl RequestRowsOutput {
    /// Writes rows of this form to a place, with the secrets of `redactor` masked.
    ///
    /// # Errors
    /// If no thread can be started.
    pub fn start(
        form: RowForm,
        answers: RowAnswers,
        place: StreamPlace,
        redactor: &Redactor,
    ) -> Result<Self, OutputError> {
        let name = place.name.clone();
        let streams = Streams::start(vec![place])?;
        let out = streams.writers().into_iter().next();
        Ok(Self {
            name,
            form,
            answers,
            out: out.expect("one place has one writer"),
            streams,
            redactor: redactor.clone(),
            rows: None,
            count: 0,
            failure: None,
            end_requests: EndRequests::default(),
        })
    }

    fn write(&mut self, text: &str) {
        if self.failure.is_none() {
            self.failure = self.out.write_all(text.as_bytes()).err();
        }
    }

    fn write_rows(&mut self, kept: &[Kept]) {
        let Some(rows) = self.rows.take() else {
            return;
        };
        let mut text = String::with_capacity(CHUNK);
        for kept in kept {
            let detail = kept.detail.as_ref().map(ToString::to_string);
            let detail = detail.as_deref().map(|detail| self.redactor.text(detail));
            rows.push(kept, detail.as_deref(), &mut text);
            if text.len() >= CHUNK {
                self.write(&text);
                text.clear();
            }
        }
        self.write(&text);
        self.count += kept.len() as u64;
        self.rows = Some(rows);
    }
}

impl Observer for RequestRowsOutput {
    /// Ends the load if the reader of the rows closes the pipe.
    fn run_started(&mut self, run: &RunContext) -> Result<(), SessionError> {
        self.end_requests = run.end_requests.clone();
        let control = run.control.clone();
        self.streams
            .when_unread(move || control.stop(StopReason::Signal));
        Ok(())
    }

    fn observe(&mut self, event: &RunEvent) {
        match event {
            RunEvent::Started(info) => {
                let rows = RequestRows::new(&self.redactor.info(info), self.form, self.answers);
                self.write(&rows.header());
                self.rows = Some(rows);
            }
            RunEvent::Kept(kept) => self.write_rows(kept),
            _ => {}
        }
    }

    /// Waits until everything is written, or until the user requests the end again.
    fn finish(self: Box<Self>, summary: &Summary) -> Vec<Note> {
        let counts = &summary.total.counts;
        let lost = (counts.ok + counts.failed).saturating_sub(self.count);
        let Self {
            name,
            streams,
            out,
            failure,
            end_requests,
            ..
        } = *self;
        // The place's thread ends when nothing more can come.
        drop(out);
        let finished = streams.finish(&end_requests);
        let failure = match (failure, finished) {
            (Some(error), _) => Some(OutputError::Write { name, error }.to_string()),
            (None, Err(error)) => Some(error.to_string()),
            (None, Ok(())) => None,
        };
        let lost = (lost > 0).then(|| {
            format!("{lost} request rows were lost: they came faster than they could be written")
        });
        let notes = failure.into_iter().chain(lost);
        notes.map(Note::Failure).collect()
    }
}
