//! Runs another tool's command line, and prints the output of that tool.

use super::phases;
use crate::exit::{Exit, Failure};
use crate::host::Machine;
use crate::output::{Destination, Output, Reader};
use crate::signals::{self, Signals};
use crate::tool_output::ToolOutput;
use crate::{session, spool};
use drumfire_dialects::{Dialect, Outcome, Presentation, Run, Stream, parse};
use drumfire_document::{Phase, form};
use drumfire_engine::Control;
use drumfire_measure::{RunEvent, RunInfo, Summary};
use drumfire_net::Clock;
use drumfire_plan::{Plan, StopReason};
use drumfire_session::{
    Console as _, EndRequests, Note, Observer, RunContext, SessionError, Streams, TextServer,
};
use std::io::Write;
use std::path::Path;

/// The flag of our own that every dialect has.
const PRINT_PLAN: &str = "--print-plan";

/// Runs a dialect's command line, or prints its plan.
pub(crate) fn run(dialect: Dialect, args: &[String], output: &Output) -> Result<Exit, Failure> {
    let seed = Clock::unix_time() ^ u64::from(std::process::id());
    let print_plan = args.iter().any(|arg| arg == PRINT_PLAN);
    let own: Vec<String> = args
        .iter()
        .filter(|arg| *arg != PRINT_PLAN)
        .cloned()
        .collect();
    match parse(dialect, &own, &Machine::here(output), seed) {
        Outcome::Print {
            stdout,
            stderr,
            exit,
        } => {
            end_unread(ToolOutput::new(dialect, output).print(&stdout)?);
            output.remark(&stderr);
            Ok(Exit::from_dialect(exit))
        }
        Outcome::Run(run) if print_plan => {
            output.print(form::print(&run.document).as_bytes())?;
            Ok(Exit::Done)
        }
        Outcome::Run(run) => {
            signals::quit_as_go()
                .map_err(|error| Failure::failed(format!("can't watch for signals: {error}")))?;
            let shown = around(dialect, *run, output);
            shown.map_err(|failure| in_terms_of(dialect, failure))
        }
    }
}

/// Runs the load between the requests that the tool sends before and after it.
fn around(dialect: Dialect, run: Run, output: &Output) -> Result<Exit, Failure> {
    let Run {
        document,
        plan,
        mut presentation,
    } = run;
    let signals = Signals::default();
    phases::run_of_document(Phase::Setup, &document, &signals, output)?;
    let shown = show(dialect, plan, &mut *presentation, &signals, output);
    let after = phases::run_of_document(Phase::Teardown, &document, &signals.afresh(), output);
    let exit = shown?;
    after.map(|()| exit)
}

/// A failure with the tool's exit code and without our own flags.
fn in_terms_of(dialect: Dialect, failure: Failure) -> Failure {
    let exit = match failure.exit {
        Exit::Usage => Exit::from_dialect(dialect.mistake_exit()),
        exit => exit,
    };
    Failure {
        exit,
        ..failure.with_remedy("")
    }
}

/// Ends the program if the reader of its output has closed the pipe: the tools die of SIGPIPE.
fn end_unread(reader: Reader) {
    if reader == Reader::Gone {
        signals::die_of_closed_pipe();
    }
}

/// Runs the plan and writes the tool's output.
fn show(
    dialect: Dialect,
    plan: Plan,
    presentation: &mut dyn Presentation,
    signals: &Signals,
    output: &Output,
) -> Result<Exit, Failure> {
    let text = ToolOutput::new(dialect, output);
    for note in presentation.notes() {
        output.remark(&format!("{note}\n"));
    }
    let places = presentation.places().into_iter();
    let places: Vec<Destination> = places
        .map(|path| match path {
            None => Ok(Destination::Stdout),
            Some(path) => Destination::check("output", Path::new(path)),
        })
        .collect::<Result<_, _>>()?;
    // A run that cannot start leaves the files of another run unchanged, so the streams are opened
    // last.
    let prepared = session::prepared(plan)?;
    let counters = counters(presentation)?;
    if presentation.needs_spool() {
        presentation.set_spool(Box::new(spool::unlinked()?));
    }
    let streams = streams(presentation, &text)?;
    let mut end_requests = EndRequests::default();
    let showing = Showing {
        presentation: &mut *presentation,
        streams: &streams,
        end_requests: &mut end_requests,
        counters,
        text: &text,
        control: None,
        closed: None,
    };
    let outcome = session::of_dialect(prepared, &[], signals, output)?
        .observed_by(showing)
        .run()?;
    session::lacking(&outcome)?;
    let summary = &outcome.summary;
    presentation.finish(summary);
    // Write the remaining lines now.
    presentation.set_streams(Vec::new());
    let mut reader = match streams.is_unread() {
        true => Reader::Gone,
        false => Reader::There,
    };
    streams.finish(&end_requests)?;
    output.draw(&presentation.epilogue(summary, &output.style()));
    if let Some(fault) = presentation.fault() {
        return Err(Failure::failed(fault));
    }
    let mut written = Ok(());
    for (place, destination) in places.iter().enumerate() {
        // If one destination cannot be written, the others still are.
        let mut write = |out: &mut dyn Write| presentation.write(place, summary, out);
        let one = match destination {
            Destination::File(_) => destination.stream(&mut write).map_err(|failure| Failure {
                exit: Exit::from_dialect(dialect.lost_file_exit()),
                ..failure
            }),
            Destination::Stdout => text.stream(&mut write).map(|there| {
                if there == Reader::Gone {
                    reader = there;
                }
            }),
        };
        written = written.and(one);
    }
    written?;
    end_unread(reader);
    Ok(Exit::from_dialect(presentation.exit_code(summary)))
}

/// Opens the presentation's streams, and gives them to it.
fn streams(presentation: &mut dyn Presentation, text: &ToolOutput) -> Result<Streams, Failure> {
    let opened = presentation.streams();
    let opened = opened.iter().map(|place| text.open(place));
    let streams = Streams::start(opened.collect::<Result<_, _>>()?)?;
    let writers = streams.writers().into_iter();
    presentation.set_streams(
        writers
            .map(|writer| Box::new(writer) as Box<dyn Stream>)
            .collect(),
    );
    Ok(streams)
}

/// The server of the presentation's counters, if it has a page of them.
fn counters(presentation: &dyn Presentation) -> Result<Option<TextServer>, Failure> {
    let Some(page) = presentation.counters_page() else {
        return Ok(None);
    };
    let server = TextServer::start(&page.address, page.path, page.media_type);
    let address = page.address;
    let wrong = |error| Failure::failed(format!("can't listen on {address}: {error}"));
    Ok(Some(server.map_err(wrong)?))
}

/// The observer that shows a run as the tool does.
struct Showing<'a> {
    presentation: &'a mut dyn Presentation,
    streams: &'a Streams,
    /// Requests to end the run, once it has started.
    end_requests: &'a mut EndRequests,
    counters: Option<TextServer>,
    text: &'a ToolOutput,
    control: Option<Control>,
    /// Why the first lines could not be printed.
    closed: Option<Failure>,
}

impl Observer for Showing<'_> {
    fn open(&mut self, info: &mut RunInfo) -> Result<(), SessionError> {
        let start = self.presentation.render_start(info);
        match self.text.print(&start) {
            Ok(reader) => end_unread(reader),
            Err(failure) => self.closed = Some(failure),
        }
        Ok(())
    }

    fn run_started(&mut self, run: &RunContext) -> Result<(), SessionError> {
        self.control = Some(run.control.clone());
        *self.end_requests = run.end_requests.clone();
        // SIGPIPE would end the tool itself.
        let control = run.control.clone();
        self.streams
            .when_unread(move || control.stop_now(StopReason::Command));
        Ok(())
    }

    /// Shows an event, and ends the run if the presentation fails.
    fn observe(&mut self, event: &RunEvent) {
        let was_sound = self.presentation.fault().is_none();
        let was_done = self.presentation.is_done();
        self.presentation.observe(event);
        let is_done = !was_done && self.presentation.is_done();
        if let Some(control) = self.control.as_ref().filter(|_| is_done) {
            control.stop(StopReason::Command);
        }
        let is_faulty = was_sound && self.presentation.fault().is_some();
        if let Some(control) = self.control.as_ref().filter(|_| is_faulty) {
            control.stop_now(StopReason::Command);
        }
        if let RunEvent::Stopping {
            reason: StopReason::Signal,
        } = event
        {
            let text = self.presentation.render_interrupted();
            // A closed stdout is detected when the result is written.
            let _shown = self.text.print(text);
        }
        if let Some(counters) = &self.counters {
            counters.set(self.presentation.counters());
        }
    }

    fn finish(self: Box<Self>, _summary: &Summary) -> Vec<Note> {
        let closed = self.closed.into_iter();
        closed
            .map(|failure| Note::Failure(failure.message))
            .collect()
    }
}
