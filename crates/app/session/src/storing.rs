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
use drumfire_document::{Document, form};
use drumfire_measure::{Ending, RunEvent, RunInfo, Summary};
use drumfire_net::Clock;
use drumfire_plan::{Change, Command, secret};
use drumfire_report::{Naming, json};
use drumfire_store::{Beginning, Directory, Record, Recording, StoreError, read_plan};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The mark in the log of a run whose report shows settings as flags.
const FLAGS: &str = "flags";
/// The mark in the log of a run whose report shows settings as keys of a document.
const KEYS: &str = "keys";

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
