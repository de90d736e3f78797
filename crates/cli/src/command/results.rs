//! A run, and its results.

use crate::document::Written;
use crate::exit::{Exit, Failure};
use crate::flags::OutputFlags;
use crate::intervals::{self, IntervalOutputs};
use crate::metering::Metering;
use crate::output::{self, Destination};
use crate::session::{self, Beside, Shown, Watch};
use crate::storing::Storing;
use crate::terminal;
use drumfire_compile::{Host, compile};
use drumfire_document::form;
use drumfire_document::{Outputs, Switch, Text};
use drumfire_engine::Control;
use drumfire_measure::{RunEvent, Summary};
use drumfire_plan::Plan;
use drumfire_report::style::Style;
use drumfire_report::{csv, json, show, text};
use std::path::Path;
use std::sync::Arc;

/// Runs a document and writes its outputs, or prints it with `--print-plan`. A document that can't
/// be run is not printed.
pub(crate) fn of(
    written: &Written,
    host: &Arc<dyn Host>,
    flags: &OutputFlags,
    print_plan: bool,
) -> Result<Exit, Failure> {
    let plan = compile(&written.document, host).map_err(|found| Failure::of(&found))?;
    of_plan(plan, written, flags, print_plan)
}

/// The same of a document that was compiled.
pub(crate) fn of_plan(
    plan: Plan,
    written: &Written,
    flags: &OutputFlags,
    print_plan: bool,
) -> Result<Exit, Failure> {
    if flags.show {
        return show_once(plan, written, flags, print_plan);
    }
    let document = &written.document;
    let color = flags.color;
    let outputs = &document.outputs;
    let destinations = Destinations::of(outputs)?;
    Storing::check(flags)?;
    if print_plan {
        output::print_plan(&form::print(document))?;
        return Ok(Exit::Done);
    }
    let mut watch = Watch::new(&plan, shown(outputs), color).naming(written.naming);
    let mut intervals = IntervalOutputs::open(outputs)?;
    let beside = Beside {
        metering: Metering::open(outputs)?,
        storing: Storing::of(flags, written)?,
    };
    let mut observe = |event: &RunEvent, control: &Control| {
        watch.observe(event, control);
        intervals.observe(event);
    };
    let notes = &written.notes;
    let summary = session::execute_beside(plan, notes, beside, &mut |_| {}, &mut observe)?;
    // Lines on standard output stand above the report.
    let streamed = intervals.finish();
    let style = terminal::stdout_style(color).naming(written.naming);
    destinations.write(&summary, is_on(&outputs.explain), &style)?;
    streamed?;
    Ok(session::exit_of(&summary, is_on(&outputs.strict)))
}

/// What is shown of a run before its report.
pub(super) fn shown(outputs: &Outputs) -> Shown {
    let live = outputs.live.as_ref().is_none_or(|live| live.value);
    let lines = outputs.lines.as_ref().map(|lines| &*lines.value);
    match (is_on(&outputs.quiet), lines, live) {
        (true, ..) => Shown::Nothing,
        // Lines among which a line replaced itself could be read by nobody.
        (false, Some(intervals::STDERR | intervals::STDOUT), _) => Shown::Remarks,
        (false, _, true) => Shown::Live,
        (false, _, false) => Shown::Heartbeat,
    }
}

/// Sends each pool's requests once, and prints the exchanges in full in place of the report.
fn show_once(
    plan: Plan,
    written: &Written,
    flags: &OutputFlags,
    print_plan: bool,
) -> Result<Exit, Failure> {
    let document = &written.document;
    let destinations = Destinations::of(&document.outputs)?;
    if print_plan {
        output::print_plan(&form::print(document))?;
        return Ok(Exit::Done);
    }
    let mut transcripts = Vec::new();
    let plan = plan.keeping_transcripts();
    let summary = session::execute(plan, &written.notes, &mut |_| {}, &mut |event, _| {
        if let RunEvent::Transcripts(more) = event {
            transcripts.extend(more.iter().cloned());
        }
    })?;
    transcripts.sort_by_key(|transcript| transcript.sample.end);
    let style = terminal::stdout_style(flags.color).naming(written.naming);
    let text = show::exchanges(&transcripts, &summary, &style);
    destinations.write_text(&text)?;
    destinations.write_files(&summary)?;
    Ok(session::exit_of(&summary, false))
}

/// Whether a switch is on.
fn is_on(switch: &Option<Switch>) -> bool {
    switch.as_ref().is_some_and(|switch| switch.value)
}

/// Finds two results that name one place.
fn check_places(outputs: &Outputs) -> Result<(), Failure> {
    let named = [
        ("--json", &outputs.json),
        ("--csv", &outputs.csv),
        ("--lines", &outputs.lines),
        ("--json-lines", &outputs.json_lines),
        ("--csv-intervals", &outputs.csv_intervals),
    ];
    let named = named.iter();
    let named: Vec<_> = named
        .filter_map(|(flag, path)| Some((flag, &path.as_ref()?.value)))
        .collect();
    for (at, (flag, path)) in named.iter().enumerate() {
        if let Some((other, _)) = named[..at].iter().find(|(_, earlier)| earlier == path) {
            return Err(Failure::usage(format!(
                "{other} and {flag} name the same place; give each a file of its own"
            )));
        }
    }
    Ok(())
}

/// Where the results go, known to be writable.
pub(super) struct Destinations {
    json: Option<Destination>,
    csv: Option<Destination>,
    /// Whether intervals are written to standard output in place of the text.
    streamed: bool,
}

impl Destinations {
    pub(super) fn of(outputs: &Outputs) -> Result<Self, Failure> {
        let check = |path: &Option<Text>| {
            let path = path.as_ref();
            path.map(|path| Destination::check(&path.place.to_string(), Path::new(&path.value)))
                .transpose()
        };
        check_places(outputs)?;
        let is_stdout = |path: &Option<Text>| {
            let path = path.as_ref();
            path.is_some_and(|path| path.value == intervals::STDOUT)
        };
        Ok(Self {
            streamed: is_stdout(&outputs.json_lines) || is_stdout(&outputs.csv_intervals),
            json: check(&outputs.json)?,
            csv: check(&outputs.csv)?,
        })
    }

    /// Writes every result, the text first: a file that can't be written takes nothing with it.
    pub(super) fn write(
        &self,
        summary: &Summary,
        explain: bool,
        style: &Style,
    ) -> Result<(), Failure> {
        let text = if explain {
            text::summary_explained(summary, style)
        } else {
            text::summary(summary, style)
        };
        let text = match terminal::rows() {
            // What scrolls out of sight is said again.
            Some(rows) if text.lines().count() >= rows => {
                format!("{text}\n{}", text::last_lines(summary, style))
            }
            _ => text,
        };
        let printed = self.write_text(&text);
        let files = self.write_files(summary);
        printed.and(files)
    }

    /// Prints a text, unless another result takes its place.
    fn write_text(&self, text: &str) -> Result<(), Failure> {
        let taken = [&self.json, &self.csv]
            .iter()
            .any(|d| matches!(d, Some(Destination::Stdout)));
        match taken || self.streamed {
            true => Ok(()),
            false => output::print(text.as_bytes()),
        }
    }

    /// Writes the results that have a place of their own.
    fn write_files(&self, summary: &Summary) -> Result<(), Failure> {
        let json = self
            .json
            .as_ref()
            .map_or(Ok(()), |to| to.write_json(&json::summary(summary)));
        let csv = self
            .csv
            .as_ref()
            .map_or(Ok(()), |to| to.write_text(&csv::histogram(summary)));
        json.and(csv)
    }
}
