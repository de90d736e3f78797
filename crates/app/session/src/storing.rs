//! Stores a run while it is active. A slow disk delays nothing else, and a failing disk ends the
//! storing but not the run.
//!
//! [`Storing`] describes what to store, and [`Keeper`] is the observer that stores it. The store is
//! opened before the run, so that an unwritable directory is known before a request is sent. If the
//! user named the directory, this ends the session; in the folder of all runs, it only causes a
//! note. Afterwards, a failure of the disk ends the storing.
//!
//! Nothing is stored with a secret in it. Facts, commands, messages of failures and bodies are
//! masked first. Secrets in the bodies of failures are overwritten in place, so that the bodies
//! keep their lengths. The caller's settings are stored as a document, with references instead of
//! secrets.
//!
//! [`Storing::new`] or [`Storing::resumed`] sets the place. [`Keeper`] then has four states:
//! planned until `open`, recording until its first failure or the end, and skipped or failed for
//! the rest. In the last two states it ignores events, so that a full disk costs nothing.
//!
//! The store has an order: the facts come before the first interval, and the ending after the last
//! one. By the ending, a reader recognises that a run was not cut off.

use crate::limits::{connections_max, within_limits};
use crate::{Console, Note, Observer, Redactor, SessionError};
use drumfire_capacity::Finding;
use drumfire_document::{Document, form};
use drumfire_measure::{self as measure, Ending, RunEvent, RunInfo, Summary};
use drumfire_net::Clock;
use drumfire_plan::{Change, Command, secret};
use drumfire_report::{Naming, json};
use drumfire_store::{Beginning, Directory, Record, Recording, StoreError, add_finding, read_plan};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The mark in the log of a run whose report shows settings as flags.
const FLAGS: &str = "flags";
/// The mark in the log of a run whose report shows settings as keys of a document.
const KEYS: &str = "keys";
/// The mark in the log of a run whose report shows settings as options of a script.
const SCRIPT: &str = "script";

/// The beginning of a stored plan's first line.
const FOLDER: &str = "# Relative paths lead from ";

/// A run to be stored, before it begins.
pub struct Storing {
    place: Place,
    /// The document as stored; its first line has the folder of relative paths.
    plan: String,
    naming: Naming,
}

/// The directory of a stored run.
pub enum StorePlace {
    /// The directory that the user named. If the run cannot be stored there, it does not start.
    Named {
        /// The directory.
        directory: Directory,
        /// The folder of all runs, which gets a link to the directory.
        runs: Option<PathBuf>,
    },
    /// The folder in which the run gets a directory. If the run cannot be stored there, the report
    /// contains a note.
    Among(PathBuf),
}

enum Place {
    New(StorePlace),
    /// The directory of a resumed run, and its record so far.
    Resumed(Directory, Box<Record>),
}

impl Storing {
    /// A run of this document; `folder` is the folder of its relative paths.
    #[must_use]
    pub fn new(place: StorePlace, document: &Document, folder: &Path, naming: Naming) -> Self {
        let absolute = std::path::absolute(folder.join("."));
        let absolute = absolute.unwrap_or_else(|_| folder.to_owned());
        let plan = format!(
            "{FOLDER}{}\n{}",
            absolute.display(),
            form::print_without_secrets(document)
        );
        Self {
            place: Place::New(place),
            plan,
            naming,
        }
    }

    /// A further part of a stored run with this record.
    #[must_use]
    pub fn resumed(directory: Directory, record: Record) -> Self {
        Self {
            place: Place::Resumed(directory, Box::new(record)),
            plan: String::new(),
            naming: Naming::Flags,
        }
    }

    /// Removes everything that was created for a run that never begins.
    pub fn abandon(self) {
        if let Place::New(StorePlace::Named { directory, .. }) = self.place {
            directory.abandon();
        }
    }

    /// Starts to store the run with these facts, in which secrets are masked.
    fn start_recording(
        self,
        info: &RunInfo,
        console: &dyn Console,
    ) -> Result<Recording, StoreError> {
        let (directory, listed_in) = match self.place {
            Place::New(StorePlace::Named { directory, runs }) => (directory, runs),
            Place::New(StorePlace::Among(runs)) => (Directory::create(&runs.join(&info.id))?, None),
            Place::Resumed(directory, record) => {
                return Recording::resume(directory, &record, info);
            }
        };
        let beginning = Beginning {
            info,
            info_json: &json::facts(info),
            plan: &self.plan,
            caller: match self.naming {
                Naming::Flags => FLAGS,
                Naming::Keys => KEYS,
                Naming::Script => SCRIPT,
            },
        };
        let recording = Recording::create(directory, beginning)?;
        // List the run only after its facts are stored, so that a listed run can be reported.
        let listed = listed_in.map(|runs| recording.directory().list_in(&runs, &info.id));
        if let Some(Err(error)) = listed {
            console.note(&format!("`drumfire runs` will not list the run: {error}"));
        }
        Ok(recording)
    }

    /// Whether the user requested the storing, so that a failure must be an error.
    fn is_named(&self) -> bool {
        !matches!(self.place, Place::New(StorePlace::Among(_)))
    }
}

/// How the report of a stored run shows its settings.
#[must_use]
pub fn naming_of(record: &Record) -> Naming {
    match record.caller.as_str() {
        KEYS => Naming::Keys,
        SCRIPT => Naming::Script,
        _ => Naming::Flags,
    }
}

/// The folder of the relative paths in a stored plan; empty if the plan does not contain it.
#[must_use]
pub fn folder_of(plan: &str) -> PathBuf {
    let first = plan.lines().next().unwrap_or_default();
    first.strip_prefix(FOLDER).unwrap_or_default().into()
}

/// A stored plan without the line about its relative paths.
fn without_folder(plan: &str) -> &str {
    match plan.split_once('\n') {
        Some((first, rest)) if first.starts_with(FOLDER) => rest,
        _ => plan,
    }
}

/// The plan of a stored run, without secrets and without the folder of its paths; empty if it
/// cannot be read, because the run's results can be read without it.
#[must_use]
pub fn stored_plan(run: &Path) -> String {
    let plan = read_plan(run).unwrap_or_default();
    without_folder(&String::from_utf8_lossy(&plan)).to_owned()
}

/// The summary of a stored run, as the run itself printed it.
#[must_use]
pub fn stored(record: Record) -> Arc<Summary> {
    within_limits(Arc::new(record.summary), record.connections_max)
}

/// Adds the result of the search for a capacity to the stored run of the search, with the redactor's
/// secrets masked.
///
/// # Errors
/// If the directory contains no run, another program uses it, or a file cannot be written.
pub fn store_finding(run: &Path, finding: &Finding, redactor: &Redactor) -> Result<(), StoreError> {
    let masked = |text: &str| redactor.text(text).into_owned();
    let finding = finding.clone().with_texts(&masked);
    add_finding(run, &measure::form::encode(&finding))
}

/// The result of the search for a capacity that made a stored run; `None` for every other run.
///
/// # Errors
/// If the stored result cannot be read; the text has the reason.
pub fn finding_of(record: &Record) -> Result<Option<Finding>, String> {
    let stored = record.finding.as_deref();
    let finding = stored.map(measure::form::decode::<Finding>).transpose();
    finding.map_err(|error| format!("can't read the result of the search: {error}"))
}

/// The observer that stores a run.
pub struct Keeper {
    state: State,
    redactor: Redactor,
    console: Arc<dyn Console>,
}

/// The state of the storing.
enum State {
    /// The run has not begun.
    Planned(Storing),
    /// The run is stored up to the last event.
    Recording(Box<Recording>),
    /// The run is not stored at all.
    Skipped,
    /// The rest of the run is not stored.
    Failed(StoreError),
}

impl Keeper {
    /// Stores a run with the redactor's secrets masked. The console shows a failure at once.
    #[must_use]
    pub fn new(storing: Storing, redactor: &Redactor, console: Arc<dyn Console>) -> Self {
        Self {
            state: State::Planned(storing),
            redactor: redactor.clone(),
            console,
        }
    }

    /// Stores an event.
    fn keep(&self, recording: &mut Recording, event: &RunEvent) -> Result<(), StoreError> {
        if let RunEvent::Started(info) = event {
            let info = self.redactor.info(info);
            recording.start(&info, &json::facts(&info))?;
        }
        if let RunEvent::Changed(command) = event {
            recording.changed(&self.redacted(command))?;
        }
        if let RunEvent::IntervalClosed(interval) = event {
            if !self.redactor.has_secrets() {
                return recording.interval(interval);
            }
            let mut interval = (**interval).clone();
            interval.rewrite_messages(&|text| self.redactor.text(text).into_owned());
            return recording.interval(&interval);
        }
        match json::event(event, Clock::unix_time()) {
            Some(line) => recording.event(&self.redactor.json(&line)),
            None => Ok(()),
        }
    }

    /// A command with the redactor's secrets masked; the text of a mark may contain one.
    fn redacted(&self, command: &Command) -> Command {
        let mut command = command.clone();
        if let Change::Mark { text } = &mut command.change {
            *text = self.redactor.text(text).into_owned();
        }
        command
    }

    /// Stores the end of the run. Returns its directory.
    fn store_end(&self, recording: Recording, summary: &Summary) -> Result<PathBuf, StoreError> {
        let ending = summary.ending(connections_max());
        let masked = |text: &str| self.redactor.text(text).into_owned();
        let ending = without_bodies(ending, &masked).with_texts(&masked);
        let is_part = recording.is_part();
        let directory = recording.finish(&ending)?;
        let json = match is_part {
            false => json::summary(summary),
            true => json::summary(&stored(Record::read(directory.path())?)),
        };
        directory.write_summary(&self.redactor.json(&json))?;
        Ok(directory.path().to_owned())
    }

    /// Reports that nothing more is stored.
    fn report(&self, error: &StoreError) {
        self.console
            .note(&format!("{}; the run continues", note(error)));
    }
}

impl Observer for Keeper {
    fn open(&mut self, info: &mut RunInfo) -> Result<(), SessionError> {
        let State::Planned(storing) = std::mem::replace(&mut self.state, State::Skipped) else {
            return Ok(());
        };
        let is_named = storing.is_named();
        match storing.start_recording(&self.redactor.info(info), &*self.console) {
            Ok(recording) => self.state = State::Recording(Box::new(recording)),
            Err(error) if is_named => return Err(SessionError::Store(error)),
            Err(error) => {
                let note = format!("the run is not stored: {error}");
                self.console.note(&note);
                info.notes.push(note);
            }
        }
        Ok(())
    }

    fn observe(&mut self, event: &RunEvent) {
        match std::mem::replace(&mut self.state, State::Skipped) {
            State::Recording(mut recording) => {
                self.state = match self.keep(&mut recording, event) {
                    Ok(()) => State::Recording(recording),
                    Err(error) => {
                        self.report(&error);
                        State::Failed(error)
                    }
                };
            }
            other => self.state = other,
        }
    }

    fn finish(mut self: Box<Self>, summary: &Summary) -> Vec<Note> {
        let ended = match std::mem::replace(&mut self.state, State::Skipped) {
            State::Planned(_) | State::Skipped => return Vec::new(),
            State::Failed(error) => Err(error),
            State::Recording(recording) => {
                let ended = self.store_end(*recording, summary);
                ended.inspect_err(|error| self.report(error))
            }
        };
        vec![match ended {
            Ok(path) => Note::Stored(path),
            Err(error) => Note::Report(note(&error)),
        }]
    }
}

/// The ending, in which the secrets in the bodies of failures are overwritten: secrets that
/// `masked` knows, and secrets that the body itself names.
fn without_bodies(mut ending: Ending, masked: &dyn Fn(&str) -> String) -> Ending {
    let hidden = |text: &str| {
        let masked = masked(text);
        overwritten(&starred(text, &masked).unwrap_or(masked))
    };
    for mut body in ending.failed_bodies.take() {
        let content = &mut body.body;
        content.text = content.text.as_deref().map(hidden);
        if let Ok(text) = std::str::from_utf8(&content.bytes) {
            content.bytes = hidden(text).into_bytes();
        }
        ending.failed_bodies.add(body);
    }
    ending
}

/// A body with stars over its secrets. The body keeps its length, so that its length in a report is
/// correct, and a report masks it in the same way. If the masked parts cannot be located by
/// position, the result is the masked text itself.
fn overwritten(text: &str) -> String {
    let masked = secret::body(text, &[]);
    match starred(text, &masked) {
        Some(out) if secret::body(&out, &[]) == masked => out,
        _ => masked,
    }
}

/// A text in which stars replace each mask of `masked`, as many as the text has bytes there. `None`
/// if the masked parts cannot be located by position.
fn starred(text: &str, masked: &str) -> Option<String> {
    if masked == text {
        return Some(text.to_owned());
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let pieces: Vec<&str> = masked.split(secret::MASK).collect();
    for (n, piece) in pieces.iter().enumerate() {
        let at = match n {
            0 => Some(0),
            n if n + 1 == pieces.len() => rest.len().checked_sub(piece.len()),
            _ => rest.find(piece),
        };
        let (hidden, found) = at.and_then(|at| rest.split_at_checked(at))?;
        let behind = found.strip_prefix(piece)?;
        out.extend(std::iter::repeat_n('*', hidden.len()));
        out.push_str(piece);
        rest = behind;
    }
    (out.len() == text.len()).then_some(out)
}

/// The note about a run that is not completely stored.
fn note(error: &StoreError) -> String {
    format!("the stored run is incomplete: {error}")
}

#[cfg(test)]
mod tests {
    use super::{overwritten, starred};
    use drumfire_capacity::{
        Answer, Bottleneck, Capacity, Confirmation, CourseStage, Finding, KneeRow, Stage, Trend,
        Why,
    };
    use drumfire_measure::{Histogram, Model, Objective, PoolInfo, RunInfo, form};
    use drumfire_plan::Threshold;
    use drumfire_testkit::check_form;
    use drumfire_units::Nanos;
    use std::fmt::Write as _;

    /// Findings with every answer and every reason.
    fn findings() -> Vec<Finding> {
        let median = Trend::Median {
            before: (80.0, Nanos(1)),
            now: (70.0, Nanos(2)),
        };
        let trend = Trend::Capacity {
            from: 90.0,
            to: 80.0,
        };
        let tried = vec![(50.0, 0.25)];
        let unknown = |why| Answer::Unknown {
            why,
            kept: Some(10.0),
            missed: None,
        };
        let found = |why, confirmation| {
            Answer::Found(Capacity {
                rate: 90.5,
                low: 88.0,
                high: 93.0,
                slo: 1,
                held: 60.0,
                confirmation,
                trend: Some(trend),
                why,
            })
        };
        let confirmation = Confirmation {
            rate: 88.0,
            shares: vec![0.001, 0.0],
            requests: 5_280.0,
            is_kept: true,
            made: 2,
        };
        let too_short = Why::TooShort {
            slo: 0,
            rate: 88.0,
            requests: 368.0,
            gap: Some(2.5),
            seconds: 30.0,
        };
        let answers = [
            found(None, Some(confirmation)),
            found(Some(Why::Slower(median)), None),
            found(Some(too_short), None),
            found(Some(Why::Unproven), None),
            Answer::Below(20.0),
            Answer::Above(400.0),
            Answer::Generator {
                rate: 300.0,
                kept: None,
            },
            unknown(Why::Ended),
            unknown(Why::NotRecovered {
                overload: 640.0,
                rate: 10.0,
                share: 0.5,
            }),
            unknown(Why::Behind { rate: 90.0 }),
            unknown(Why::Independent {
                slo: 1,
                tried: tried.clone(),
            }),
            unknown(Why::Missed {
                slo: 0,
                tried,
                trend: None,
            }),
            unknown(Why::Time { announced: 120.0 }),
        ];
        answers.map(finding).into()
    }

    fn finding(answer: Answer) -> Finding {
        let info = RunInfo::new(vec![PoolInfo::new("p", Model::Open, ["a", "b"])]);
        let objective = |text: &str| {
            let rule: Threshold = text.parse().expect("a rule");
            Objective::from_rule(&rule, &info).expect("an objective")
        };
        let mut times = Histogram::small();
        for ms in [3, 4, 90] {
            times.record(Nanos::from_millis(ms));
        }
        let row = |stage| KneeRow {
            stage,
            rate: 90.0,
            span: Nanos::from_secs(3),
            ended: 3,
            times: times.clone(),
            shares: vec![0.25, 0.0],
        };
        Finding {
            run: "r\u{e9}".to_owned(),
            target: "http://h/".to_owned(),
            answer,
            objectives: vec![objective("p99<50ms"), objective("step(b).failed<1%")],
            knee: vec![row(Stage::Climb), row(Stage::Hold)],
            course: vec![CourseStage {
                stage: Stage::Confirm,
                start: Nanos(7),
                low: 20.0,
                high: 90.0,
            }],
            bottleneck: Some(Bottleneck::Connections),
            failure: Some("status 503".to_owned()),
            reasons: vec!["late".to_owned()],
            is_cut_short: true,
        }
    }

    #[test]
    fn findings_keep_the_properties_of_forms() {
        findings().iter().for_each(check_form);
    }

    /// Stored searches of this version must be readable by the next one.
    #[test]
    #[expect(
        clippy::disallowed_methods,
        reason = "the environment says whether to bless"
    )]
    fn findings_have_the_bytes_of_version_1() {
        let mut all = String::new();
        for finding in &findings() {
            form::encode(finding)
                .iter()
                .for_each(|byte| write!(all, "{byte:02x}").unwrap());
            all.push('\n');
        }
        let kept = concat!(env!("CARGO_MANIFEST_DIR"), "/src/finding.hex");
        if std::env::var_os("DRUMFIRE_BLESS").is_some() {
            std::fs::write(kept, &all).unwrap();
        }
        assert_eq!(all, std::fs::read_to_string(kept).unwrap());
    }

    #[test]
    fn no_secret_of_a_finding_is_stored() {
        let finding = finding(Answer::Above(1.0)).with_texts(&|text| text.replace("late", "***"));
        assert_eq!(finding.reasons, ["***"]);
        let all = finding.with_texts(&|_| "*".to_owned());
        let expressions = all.objectives.iter().map(|it| &it.expression);
        let texts = expressions.chain([&all.run, &all.target]);
        assert!(
            texts
                .chain(&all.failure)
                .chain(&all.reasons)
                .all(|it| it == "*")
        );
    }

    #[test]
    fn stars_are_as_long_as_what_they_hide() {
        for (text, expected) in [
            ("nothing to hide", "nothing to hide"),
            (
                "{\"password\":\"hunter2\",\"n\":1,\"token\":\"abc\"}",
                "{\"password\":\"*******\",\"n\":1,\"token\":\"***\"}",
            ),
            ("user=ada&password=hunter2", "user=ada&password=*******"),
        ] {
            assert_eq!(overwritten(text), expected);
        }
        for (text, masked, expected) in [
            ("key is hunter2!", "key is ***!", Some("key is *******!")),
            ("hunter2 and abc", "*** and ***", Some("******* and ***")),
            ("as it is", "as it is", Some("as it is")),
            ("a hunter2", "b ***", None),
        ] {
            assert_eq!(starred(text, masked).as_deref(), expected);
        }
    }
}
