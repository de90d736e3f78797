//! A run, and its results.

use super::baseline::{self, BaselineCheck};
use super::ui;
use crate::display::{Display, DisplayWish};
use crate::document::Written;
use crate::exit::{Exit, Failure};
use crate::flags::OutputFlags;
use crate::github::{Github, Stdout};
use crate::output::{Destination, Output};
use crate::output_folder::OutputFolder;
use crate::results::{self, Beside, Content, ResultRow};
use crate::signals::Signals;
use crate::stream_names::{STDERR, STDOUT};
use crate::vllm_json::VllmJson;
use crate::{intervals, output, rows, session, store_place, terminal, trust};
use drumfire_capacity::Finding;
use drumfire_compare::{Against, Baseline};
use drumfire_compile::{Host, compile, sends_new_prompts};
use drumfire_document::form;
use drumfire_document::{Document, Outputs, Switch};
use drumfire_measure::{RunEvent, Summary, Transcript};
use drumfire_plan::Plan;
use drumfire_report::style::Style;
use drumfire_report::{Naming, RowAnswers, capacity, comparison, show, text};
use drumfire_session::{
    IntervalOutputs, IntervalShape, Keeper, Meter, NewPrompts, Observer, PromptsAre,
    RequestRowsOutput, ServerMetrics, Session, Shown, Storing,
};
use drumfire_ui::{RunPage, Subject};
use drumfire_units::ByteSize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The part of a run that is printed instead of running the load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Printed {
    Nothing,
    /// The plan, with `--print-plan`.
    Plan,
    /// The facts that are known before the load, with `--print-facts`.
    Facts,
}

impl Printed {
    pub(crate) const fn from_flags(plan: bool, facts: bool) -> Self {
        match (plan, facts) {
            (true, _) => Self::Plan,
            (false, true) => Self::Facts,
            (false, false) => Self::Nothing,
        }
    }
}

/// Runs a document and writes its outputs, or prints it. An invalid document is not printed.
pub(crate) fn run_or_print(
    written: &Written,
    host: &Arc<dyn Host>,
    flags: &OutputFlags,
    printed: Printed,
    output: &Output,
) -> Result<Exit, Failure> {
    let plan =
        compile(&written.document, host).map_err(|found| Failure::from_diagnostics(&found))?;
    let signals = Signals::default();
    of_plan(plan, written, flags, printed, &signals, output)?.ended
}

/// Runs a compiled document and writes its outputs, or prints it.
pub(crate) fn of_plan(
    plan: Plan,
    written: &Written,
    flags: &OutputFlags,
    printed: Printed,
    signals: &Signals,
    output: &Output,
) -> Result<Carried, Failure> {
    let document = &written.document;
    let destinations = destinations_of(written, output)?;
    if !flags.show {
        store_place::check(flags)?;
    }
    match printed {
        Printed::Nothing => {}
        Printed::Plan => {
            output.print_plan(&form::print(document))?;
            return Ok(Carried::unstored(Ok(Exit::Done)));
        }
        Printed::Facts => {
            let session = Session::new(session::ready(plan)?);
            output.print(&drumfire_measure::form::encode(session.info()))?;
            return Ok(Carried::unstored(Ok(Exit::Done)));
        }
    }
    let output = &output.colored(flags.color);
    if flags.show {
        let shown = show_once(plan, written, &destinations, signals, output);
        return Ok(Carried::unstored(shown));
    }
    carry_out(
        plan,
        written,
        &destinations,
        flags,
        output,
        |plan, output| {
            session::build_session(session::ready(plan)?, &written.notes, signals, output)
        },
    )
}

/// The destinations of the results of a document's run. From here on, its named secrets are masked.
pub(super) fn destinations_of(written: &Written, output: &Output) -> Result<Destinations, Failure> {
    let document = &written.document;
    let destinations = Destinations::from_outputs(&document.outputs)?;
    let baseline = baseline::read_baseline(&document.outputs, output)?;
    let destinations = destinations
        .of_plan(form::print_without_secrets(document))
        .of_baseline(baseline);
    output.redactor().hide_named(&form::secret_values(document));
    Ok(destinations)
}

/// Runs the session that `open` creates from a plan, with the observers that the document's outputs
/// need, and writes its results.
pub(super) fn carry_out<'a>(
    plan: Plan,
    written: &Written,
    destinations: &Destinations,
    flags: &OutputFlags,
    output: &Output,
    open: impl FnOnce(Plan, &Output) -> Result<Session<'a>, Failure>,
) -> Result<Carried, Failure> {
    let outputs = &written.document.outputs;
    let wish = display_wish(outputs)?;
    let (display, output) = Display::for_plan(&plan, wish, written.naming, output);
    let output = &output;
    let (session, observers) =
        open_observed(plan, written, destinations, flags, (display, output), open)?;
    let page = observers.show_page(&session);
    let outcome = observers.attached_to(session, output).run()?;
    let summary = &outcome.summary;
    let style = output.stdout_style().naming(written.naming);
    let github = Github::from_environment(outputs);
    let results = github.quoting(destinations.stdout(), output, || {
        destinations.write(summary, Report::from_outputs(outputs), &style, output)
    });
    github.show(summary, style.naming, destinations.stdout(), output);
    note_page(page.as_deref(), output);
    let lacking = || session::lacking(&outcome);
    let exit = session::exit_of(summary, is_on(&outputs.strict));
    let ended = results.and_then(|()| lacking()).map(|()| exit);
    Ok(Carried {
        ended: ended.map_err(|failure| failure.of_run(exit)),
        stored: outcome.stored.clone(),
        pages: destinations.pages(&outcome.summary, written.naming),
        goes_on: false,
    })
}

/// A load that was carried out.
pub(super) struct Carried {
    /// The exit of the command, as far as the load determines it.
    pub(super) ended: Result<Exit, Failure>,
    /// The directory in which its run is stored.
    pub(super) stored: Option<PathBuf>,
    /// The pages of the run that were written.
    pub(super) pages: Option<RunPages>,
    /// Whether another process continues the run, or may continue it.
    pub(super) goes_on: bool,
}

impl Carried {
    /// The result of a load that is not stored.
    pub(super) fn unstored(ended: Result<Exit, Failure>) -> Self {
        Self {
            ended,
            stored: None,
            pages: None,
            goes_on: false,
        }
    }
}

/// The pages of a run. If the teardown fails, they are written again.
pub(super) struct RunPages {
    destinations: Destinations,
    summary: Arc<Summary>,
    naming: Naming,
}

impl RunPages {
    /// The pages of the run of a search.
    pub(super) fn of_search(self, finding: Finding) -> Self {
        Self {
            destinations: self.destinations.of_search(Some(finding)),
            ..self
        }
    }

    /// Writes the pages again, for a run whose teardown failed.
    pub(super) fn write_again(self, message: String, output: &Output) -> Result<(), Failure> {
        let destinations = self.destinations.of_teardown(Some(message));
        let baseline = destinations.baseline();
        // The reason for a missing comparison was reported with the first page.
        let against = baseline.and_then(|baseline| baseline.against(&self.summary).ok());
        let ended = Ended {
            summary: &self.summary,
            naming: self.naming,
            against: against.as_ref(),
            finding: destinations.finding.as_ref(),
        };
        destinations.write_files(&ended, output)
    }
}

/// The observers that the outputs require.
pub(super) struct Observers {
    pub(super) display: Display,
    pub(super) intervals: IntervalOutputs,
    pub(super) rows: Option<RequestRowsOutput>,
    pub(super) vllm: Option<VllmJson>,
    pub(super) server: Option<ServerMetrics>,
    pub(super) new_prompts: Option<NewPrompts>,
    pub(super) meter: Option<Meter>,
    pub(super) page: Option<RunPage>,
    pub(super) storing: Option<Storing>,
    /// The run to compare with.
    pub(super) baseline: Option<Baseline>,
}

impl Observers {
    /// Shows the address of the run's page on the screen. Returns the address if there is a screen.
    pub(super) fn show_page(&self, session: &Session<'_>) -> Option<String> {
        self.display
            .show_page(self.page.as_ref(), &session.info().id)
    }

    /// A session with these observers.
    pub(super) fn attached_to<'a>(self, session: Session<'a>, output: &Output) -> Session<'a> {
        let mut session = self.display.attached_to(session);
        // The first of the others ends last, and stores what they report.
        if let Some(storing) = self.storing {
            let keeper = Keeper::new(storing, output.redactor(), output.console());
            session = session.observed_beside("store", keeper);
        }
        if let Some(meter) = self.meter {
            session = session.observed_beside("metrics", meter);
        }
        if let Some(page) = self.page {
            session = session.observed_beside("page", page);
        }
        if let Some(rows) = self.rows {
            session = session.observed_beside("rows", rows);
        }
        if let Some(vllm) = self.vllm {
            session = session.observed_beside("vllm", vllm);
        }
        if let Some(server) = self.server {
            session = session.observed_beside("server", server);
        }
        if let Some(new_prompts) = self.new_prompts {
            session = session.observed_by(new_prompts);
        }
        if let Some(baseline) = self.baseline {
            session = session.observed_by(BaselineCheck(baseline));
        }
        session.observed_by(self.intervals)
    }
}

/// Opens a session and the observers of its outputs. The caller attaches the observers to the
/// session.
pub(super) fn open_observed<'a>(
    plan: Plan,
    written: &Written,
    destinations: &Destinations,
    flags: &OutputFlags,
    (display, output): (Display, &Output),
    open: impl FnOnce(Plan, &Output) -> Result<Session<'a>, Failure>,
) -> Result<(Session<'a>, Observers), Failure> {
    let outputs = &written.document.outputs;
    let subject = Subject {
        plan: &plan,
        text: destinations.plan(),
        naming: written.naming,
        redactor: output.redactor(),
    };
    let page = ui::page(outputs, &subject, output)?;
    let meter = meter(outputs, output)?;
    let vllm = VllmJson::open(&written.document, output.redactor())?;
    let server = outputs.monitoring.metrics_from.as_ref();
    let prompts = match written.document.pools.iter().all(sends_new_prompts) {
        true => PromptsAre::New,
        false => PromptsAre::Repeated,
    };
    let server = server.map(|url| ServerMetrics::new(url, prompts));
    let server = server.transpose()?;
    let storing = store_place::storing(flags, written)?;
    let answers = match plan.reads_answers() {
        true => RowAnswers::With,
        false => RowAnswers::Without,
    };
    let opened = open(plan, output).and_then(|session| {
        let intervals = intervals::open(outputs)?;
        let rows = rows::open(outputs, answers, output.redactor())?;
        Ok((session, intervals, rows))
    });
    let (session, intervals, rows) = match opened {
        Ok(opened) => opened,
        Err(failure) => {
            // A run that never started is removed, so that the same command line works again.
            if let Some(storing) = storing {
                storing.abandon();
            }
            return Err(failure);
        }
    };
    let observers = Observers {
        display,
        page,
        intervals,
        rows,
        vllm,
        server,
        new_prompts: new_prompts(&written.document),
        meter,
        storing,
        baseline: destinations.baseline().cloned(),
    };
    Ok((session, observers))
}

/// The observer that judges whether new prompts were new, if a pool sends such prompts.
pub(super) fn new_prompts(document: &Document) -> Option<NewPrompts> {
    let pools = document.pools.iter();
    NewPrompts::new(pools.map(sends_new_prompts).collect())
}

/// The metrics that the outputs require.
pub(super) fn meter(outputs: &Outputs, output: &Output) -> Result<Option<Meter>, Failure> {
    trust::check_for_receivers(outputs)?;
    let console = (!is_quiet(outputs)).then(|| output.console());
    Ok(Meter::open(outputs, output.redactor(), console)?)
}

/// The display of a run before its report.
///
/// # Errors
/// If its form is unknown.
pub(super) fn display_wish(outputs: &Outputs) -> Result<DisplayWish, Failure> {
    let wish = DisplayWish::from_outputs(outputs)?;
    let lines = outputs.lines.as_ref().map(|lines| &*lines.value);
    Ok(match (is_quiet(outputs), lines) {
        (true, _) => DisplayWish::without_screen(Shown::Nothing),
        // A line that replaces itself would make the lines unreadable.
        (false, Some(STDERR | STDOUT)) => DisplayWish::without_screen(Shown::Remarks),
        (false, _) => wish,
    })
}

/// Prints the address of a run's page that the screen has shown, after the report.
pub(super) fn note_page(page: Option<&str>, output: &Output) {
    if let Some(page) = page {
        let text = format!("the run's page was {page}; `drumfire ui` serves stored runs");
        output.console().note(&text);
    }
}

/// Sends each pool's requests once, and prints the exchanges in full instead of the report.
fn show_once(
    plan: Plan,
    written: &Written,
    destinations: &Destinations,
    signals: &Signals,
    output: &Output,
) -> Result<Exit, Failure> {
    let mut transcripts = Vec::new();
    let session = session::build_session(session::ready(plan)?, &written.notes, signals, output)?;
    let session = session.observed_by(Transcribed(&mut transcripts));
    let summary = session.run()?.summary;
    transcripts.sort_by_key(|transcript| transcript.sample.end);
    let style = output.stdout_style().naming(written.naming);
    let text = show::exchanges(&transcripts, &summary, &style);
    destinations.write_text(&text, output)?;
    let ended = Ended::alone(&summary, style.naming);
    destinations.write_whole(&ended, output, Place::Stdout)?;
    destinations.write_files(&ended, output)?;
    Ok(session::exit_of(&summary, false))
}

/// Collects exchanges in full.
pub(super) struct Transcribed<'a>(pub(super) &'a mut Vec<Transcript>);

impl Observer for Transcribed<'_> {
    fn observe(&mut self, event: &RunEvent) {
        if let RunEvent::Transcripts(more) = event {
            self.0.extend(more.iter().cloned());
        }
    }
}

/// Whether only the result is shown.
pub(super) fn is_quiet(outputs: &Outputs) -> bool {
    is_on(&outputs.quiet)
}

/// Whether a switch is on.
pub(super) fn is_on(switch: &Option<Switch>) -> bool {
    switch.as_ref().is_some_and(|switch| switch.value)
}

/// The form of the text report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Report {
    Plain,
    /// With an explanation of each part.
    Explained,
    /// One line.
    Brief,
}

impl Report {
    /// The form that the outputs select.
    pub(super) fn from_outputs(outputs: &Outputs) -> Self {
        match (is_on(&outputs.brief), is_on(&outputs.explain)) {
            (true, _) => Self::Brief,
            (false, true) => Self::Explained,
            (false, false) => Self::Plain,
        }
    }
}

/// The kind of destination of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Standard output, instead of the text.
    Stdout,
    /// A file.
    File,
}

impl Place {
    const fn from_destination(to: &Destination) -> Self {
        match to {
            Destination::Stdout => Self::Stdout,
            Destination::File(_) => Self::File,
        }
    }
}

/// A finished run, as its results show it.
pub(super) struct Ended<'a> {
    summary: &'a Summary,
    naming: Naming,
    /// The comparison with the baseline.
    against: Option<&'a Against>,
    /// The result of the search that made the run.
    finding: Option<&'a Finding>,
}

impl<'a> Ended<'a> {
    /// A run without a baseline.
    pub(super) const fn alone(summary: &'a Summary, naming: Naming) -> Self {
        Self {
            summary,
            naming,
            against: None,
            finding: None,
        }
    }

    /// The run of a search for a capacity, with its result.
    pub(super) const fn of_search(self, finding: &'a Finding) -> Self {
        Self {
            finding: Some(finding),
            ..self
        }
    }
}

/// The destinations of the results of the whole run, checked to be writable.
pub(super) struct Destinations {
    whole: Vec<(&'static ResultRow, Destination)>,
    folders: Vec<(&'static ResultRow, OutputFolder)>,
    /// Whether intervals are written to standard output instead of the text.
    streamed: bool,
    /// The plan of the run, without secrets; empty if it is unknown.
    plan: String,
    /// Why the teardown failed, if it has ended.
    teardown: Option<String>,
    /// The run to compare with.
    baseline: Option<Baseline>,
    /// The result of the search that made the run.
    finding: Option<Finding>,
    /// Whether a written page is announced on standard error.
    announces: bool,
}

impl Destinations {
    pub(super) fn from_outputs(outputs: &Outputs) -> Result<Self, Failure> {
        results::check_places(outputs)?;
        let (mut whole, mut folders) = (Vec::new(), Vec::new());
        let mut streamed = false;
        for (row, path) in results::wanted(outputs) {
            match &row.content {
                Content::Whole { .. } => {
                    let place = path.place.to_string();
                    whole.push((row, Destination::check(&place, Path::new(&path.value))?));
                }
                Content::Folder { is_name, .. } => {
                    let flag = path.place.to_string();
                    let folder = OutputFolder::check(&flag, Path::new(&path.value), *is_name)?;
                    folders.push((row, folder));
                }
                // Lines of text precede the report.
                Content::Intervals(shape) => {
                    let is_text = matches!(shape(path), IntervalShape::Text { .. });
                    streamed |= path.value == STDOUT && !is_text;
                }
                Content::Requests(_) | Content::Answers => streamed |= path.value == STDOUT,
            }
        }
        Ok(Self {
            whole,
            folders,
            streamed,
            plan: String::new(),
            teardown: None,
            baseline: None,
            finding: None,
            announces: !is_quiet(outputs),
        })
    }

    /// Sets the plan of the run, without secrets.
    pub(super) fn of_plan(self, plan: String) -> Self {
        Self { plan, ..self }
    }

    /// Sets the message with which the teardown failed.
    pub(super) fn of_teardown(self, teardown: Option<String>) -> Self {
        Self { teardown, ..self }
    }

    /// Sets the result of the search that made the run.
    pub(super) fn of_search(self, finding: Option<Finding>) -> Self {
        Self { finding, ..self }
    }

    /// Sets the run to compare with.
    pub(super) fn of_baseline(self, baseline: Option<Baseline>) -> Self {
        Self { baseline, ..self }
    }

    /// The pages of a finished run that are files; `None` if there are no such pages.
    pub(super) fn pages(&self, summary: &Arc<Summary>, naming: Naming) -> Option<RunPages> {
        let whole = self.whole.iter();
        let pages =
            whole.filter(|(row, to)| row.is_page() && Place::from_destination(to) == Place::File);
        let whole: Vec<_> = pages.map(|(row, to)| (*row, to.clone())).collect();
        (!whole.is_empty()).then(|| RunPages {
            destinations: Self {
                whole,
                folders: Vec::new(),
                streamed: false,
                plan: self.plan.clone(),
                teardown: None,
                baseline: self.baseline.clone(),
                finding: None,
                announces: false,
            },
            summary: Arc::clone(summary),
            naming,
        })
    }

    /// The run to compare with.
    pub(super) const fn baseline(&self) -> Option<&Baseline> {
        self.baseline.as_ref()
    }

    /// Writes every result, files before standard output. A file that cannot be written does not
    /// affect the other results, and a reader that does not read does not delay the files.
    pub(super) fn write(
        &self,
        summary: &Summary,
        report: Report,
        style: &Style,
        output: &Output,
    ) -> Result<(), Failure> {
        let text = match report {
            Report::Plain => text::summary(summary, style),
            Report::Explained => text::summary_explained(summary, style),
            Report::Brief => text::one_line(summary, style),
        };
        let text = match &self.finding {
            Some(finding) if report != Report::Brief => {
                format!("{}\n{text}", capacity::text(finding, style))
            }
            _ => text,
        };
        let text = match terminal::rows() {
            // Repeat the last lines if the beginning scrolls out of sight.
            Some(rows) if text.lines().count() >= rows => {
                format!("{text}\n{}", text::last_lines(summary, style))
            }
            _ => text,
        };
        let against = baseline::against(self.baseline(), summary, output);
        let against = against.as_ref();
        let text = match against {
            Some(against) => format!(
                "{text}\nComparison with the baseline\n\n{}",
                comparison::text(&against.comparison, style)
            ),
            None => text,
        };
        let ended = Ended {
            summary,
            naming: style.naming,
            against,
            finding: self.finding.as_ref(),
        };
        let files = self.write_files(&ended, output);
        let printed = self.write_text(&text, output);
        let stdout = self.write_whole(&ended, output, Place::Stdout);
        printed.and(stdout).and(files)
    }

    /// Writes the results to files and folders.
    pub(super) fn write_files(&self, ended: &Ended<'_>, output: &Output) -> Result<(), Failure> {
        let files = self.write_whole(ended, output, Place::File);
        let folders = self.write_folders(ended.summary, output);
        files.and(folders)
    }

    /// The plan of the run, without secrets; empty if it is unknown.
    pub(super) fn plan(&self) -> &str {
        &self.plan
    }

    /// The use of standard output.
    pub(super) fn stdout(&self) -> Stdout {
        let mut whole = self.whole.iter();
        let is_taken = whole.any(|(_, to)| matches!(to, Destination::Stdout));
        match is_taken || self.streamed {
            true => Stdout::Taken,
            false => Stdout::Text,
        }
    }

    /// Prints a text, unless another result replaces it. If results are in files, a missing
    /// standard output is not an error.
    fn write_text(&self, text: &str, output: &Output) -> Result<(), Failure> {
        let in_files = self
            .whole
            .iter()
            .any(|(_, to)| Place::from_destination(to) == Place::File);
        match self.stdout() {
            Stdout::Taken => Ok(()),
            Stdout::Text if in_files && output::check_stdout().is_err() => Ok(()),
            Stdout::Text => output.print(text.as_bytes()),
        }
    }

    /// Writes the results that are one file and go to this kind of destination.
    fn write_whole(&self, ended: &Ended<'_>, output: &Output, place: Place) -> Result<(), Failure> {
        let redactor = output.redactor();
        let beside = Beside {
            naming: ended.naming,
            against: ended.against,
            finding: ended.finding,
            plan: &self.plan,
            teardown: self.teardown.as_deref(),
            redactor,
        };
        let mut written = Ok(());
        for (row, to) in self
            .whole
            .iter()
            .filter(|(_, to)| Place::from_destination(to) == place)
        {
            if let Content::Whole { render, redact } = &row.content {
                // If one result cannot be written, the others still are.
                let rendered = render(ended.summary, &beside);
                let bytes = redact(redactor, &rendered);
                let one = to.write(&bytes);
                if let (Ok(()), true, Destination::File(path)) = (&one, row.is_page(), to)
                    && self.announces
                {
                    let size = ByteSize(bytes.len() as u64);
                    output.remark(&format!("page: {} ({size})\n", path.display()));
                }
                written = written.and(one);
            }
        }
        written
    }

    /// Writes the results that consist of several files.
    fn write_folders(&self, summary: &Summary, output: &Output) -> Result<(), Failure> {
        let redactor = output.redactor();
        let mut written = Ok(());
        for (row, to) in &self.folders {
            if let Content::Folder { render, redact, .. } = &row.content {
                let mut files = render(summary);
                for file in &mut files {
                    file.bytes = redact(redactor, &file.bytes).into_owned();
                }
                let one = to.write(&files);
                written = written.and(one);
            }
        }
        written
    }
}
