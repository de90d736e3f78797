//! A run that is stored while it goes on, by an observer with a thread of its own: a slow disk
//! delays nothing else, and one that fails ends the storing and not the run.

use crate::document::Written;
use crate::exit::Failure;
use crate::flags::OutputFlags;
use crate::session::remote;
use crate::{output, runs_folder, session};
use drumfire_document::form;
use drumfire_engine::Events;
use drumfire_measure::{Changed, Ending, RunEvent, RunInfo, Summary};
use drumfire_net::Clock;
use drumfire_plan::secret;
use drumfire_report::{Naming, json};
use drumfire_store::{Beginning, Directory, Record, Recording, StoreError};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::{self, JoinHandle};

/// Names of files and forms that other tools take after `-o`.
const FORMS: [&str; 8] = [
    "csv", "html", "json", "pretty", "summary", "text", "txt", "xml",
];

/// How a stored run's settings are named in its report, as the log has it.
const FLAGS: &str = "flags";
const KEYS: &str = "keys";

/// How the settings of a stored run are named.
pub(crate) fn naming_of(record: &Record) -> Naming {
    match record.caller.as_str() {
        KEYS => Naming::Keys,
        _ => Naming::Flags,
    }
}

/// The beginning of a stored plan's first line.
const FOLDER: &str = "# Relative paths lead from ";

/// A run to be stored, before it begins.
pub(crate) struct Storing {
    place: Place,
    plan: String,
    naming: Naming,
}

enum Place {
    /// The directory that the user named.
    Named(Directory),
    /// The folder in which the run gets a directory.
    Among(PathBuf),
    /// That of a run which goes on.
    Resumed(Directory, Box<Record>),
}

impl Storing {
    /// Finds what is wrong with the place that the flags name, before anything is made.
    pub(crate) fn check(flags: &OutputFlags) -> Result<(), Failure> {
        flags.store.as_deref().map_or(Ok(()), check_name)
    }

    /// What is to be stored of a document's run, if anything. A directory that was named is ours
    /// from here on.
    pub(crate) fn of(flags: &OutputFlags, written: &Written) -> Result<Option<Self>, Failure> {
        let place = match &flags.store {
            _ if flags.no_store => return Ok(None),
            Some(path) => Place::Named(named(path)?),
            None => match runs_folder::runs() {
                Some(runs) => Place::Among(runs),
                None => return Ok(None),
            },
        };
        let folder = std::path::absolute(written.folder.join("."));
        let folder = folder.unwrap_or_else(|_| written.folder.clone());
        let plan = format!(
            "{FOLDER}{}\n{}",
            folder.display(),
            form::print_without_secrets(&written.document)
        );
        let naming = written.naming;
        Ok(Some(Self {
            place,
            plan,
            naming,
        }))
    }

    /// A further part of a stored run, of which this is the record so far.
    pub(crate) fn resumed(directory: Directory, record: Record) -> Self {
        Self {
            place: Place::Resumed(directory, Box::new(record)),
            plan: String::new(),
            naming: Naming::Flags,
        }
    }

    /// Begins to store the run.
    pub(crate) fn begin(self, info: &RunInfo) -> Result<Recording, StoreError> {
        let info = without_secrets(info);
        let directory = match self.place {
            Place::Named(directory) => directory,
            Place::Among(runs) => Directory::create(&runs.join(&info.id))?,
            Place::Resumed(directory, record) => {
                return Recording::resume(directory, &record, &info);
            }
        };
        let beginning = Beginning {
            info: &info,
            info_json: &json::facts(&info),
            plan: &self.plan,
            caller: match self.naming {
                Naming::Flags => FLAGS,
                Naming::Keys => KEYS,
            },
        };
        Recording::begin(directory, beginning)
    }

    /// Whether the user asked for it.
    pub(crate) fn is_named(&self) -> bool {
        !matches!(self.place, Place::Among(_))
    }
}

/// Where the relative paths of a stored plan lead from.
pub(crate) fn folder_of(plan: &str) -> PathBuf {
    let first = plan.lines().next().unwrap_or_default();
    first.strip_prefix(FOLDER).unwrap_or_default().into()
}

/// The directory that `-o` names.
fn named(path: &Path) -> Result<Directory, Failure> {
    check_name(path)?;
    Directory::create(path).map_err(|error| Failure::usage(format!("-o: {error}")))
}

/// Finds a name that is one of a file, as other tools' `-o` takes it.
fn check_name(path: &Path) -> Result<(), Failure> {
    let name = path.to_string_lossy();
    let extension = path
        .extension()
        .map(|extension| extension.to_string_lossy());
    let is_form = |text: &str| FORMS.contains(&text.to_ascii_lowercase().as_str());
    if path.exists() || !(is_form(&name) || extension.is_some_and(|text| is_form(&text))) {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "-o names a directory that the run is stored in, and `{}` is the name of a file; figures \
         are written by --json FILE",
        name.escape_default()
    )))
}

/// The facts of a run without secrets.
pub(crate) fn without_secrets(info: &RunInfo) -> RunInfo {
    if !output::has_secrets() {
        return info.clone();
    }
    info.clone().with_texts(&output::without_secrets)
}

/// The thread that stores a run.
pub(crate) struct Keeper(JoinHandle<Result<Recording, StoreError>>);

impl Keeper {
    /// Stores what happens from now on.
    pub(crate) fn start(recording: Recording, events: Events) -> Result<Self, Failure> {
        let thread = thread::Builder::new().name("store".to_owned());
        let thread = thread.spawn(move || keep(recording, events));
        let wrong = |error| Failure::failed(format!("a thread can't be started: {error}"));
        thread.map(Self).map_err(wrong)
    }

    /// Stores the end of the run, once its events have ended. An error was reported; it is given
    /// back for the notes.
    pub(crate) fn finish(
        self,
        summary: &Summary,
        connections_max: Option<u64>,
    ) -> Result<(), StoreError> {
        let kept = self.0.join();
        let recording = kept.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        let ending = summary.ending(connections_max);
        let ending = without_bodies(ending.with_texts(&output::without_secrets));
        let is_part = recording.is_part();
        let ended = recording.end(&ending).and_then(|directory| {
            let json = match is_part {
                false => json::summary(summary),
                true => json::summary(&stored(Record::read(directory.path())?)),
            };
            directory.write_summary(&output::json_without_secrets(&json))
        });
        ended.inspect_err(report)
    }
}

/// The ending with the secrets in the bodies of failures overwritten.
fn without_bodies(mut ending: Ending) -> Ending {
    for mut body in ending.failed_bodies.take() {
        let content = &mut body.body;
        content.text = content.text.as_deref().map(overwritten);
        if let Ok(text) = std::str::from_utf8(&content.bytes) {
            content.bytes = overwritten(text).into_bytes();
        }
        ending.failed_bodies.add(body);
    }
    ending
}

/// A body with stars over its secrets: as long as it was, so that what a report says of its length
/// stays true, and masked by the report in the same way.
fn overwritten(text: &str) -> String {
    let masked = secret::body(text, &[]);
    if masked == text {
        return masked;
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
        let parted = at.and_then(|at| rest.split_at_checked(at));
        let found = parted.and_then(|(hidden, rest)| Some((hidden, rest.strip_prefix(piece)?)));
        let Some((hidden, behind)) = found else {
            return masked;
        };
        out.extend(std::iter::repeat_n('*', hidden.len()));
        out.push_str(piece);
        rest = behind;
    }
    match out.len() == text.len() && secret::body(&out, &[]) == masked {
        true => out,
        false => masked,
    }
}

/// The summary of a stored run, as the run itself printed it.
pub(crate) fn stored(record: Record) -> Arc<Summary> {
    session::within_limits(Arc::new(record.summary), record.connections_max)
}

/// Stores all events of a run.
fn keep(mut recording: Recording, events: Events) -> Result<Recording, StoreError> {
    let mut info: Option<Arc<RunInfo>> = None;
    for event in events {
        if let RunEvent::Started(facts) = &event {
            info = Some(Arc::clone(facts));
        }
        if let (RunEvent::Changed(command), Some(info)) = (&event, &info) {
            let note = output::without_secrets(&remote::note(command, info));
            let changed = Changed::by(command, note);
            recording.changed(&changed).inspect_err(report)?;
        }
        add(&mut recording, &event).inspect_err(report)?;
    }
    Ok(recording)
}

fn add(recording: &mut Recording, event: &RunEvent) -> Result<(), StoreError> {
    if let RunEvent::IntervalClosed(interval) = event {
        if !output::has_secrets() {
            return recording.interval(interval);
        }
        let mut interval = (**interval).clone();
        interval.rewrite_messages(&output::without_secrets);
        return recording.interval(&interval);
    }
    match json::event(event, Clock::unix_time()) {
        Some(line) => recording.event(&output::json_without_secrets(&line)),
        None => Ok(()),
    }
}

/// Says that nothing more is stored.
fn report(error: &StoreError) {
    output::complain(&format!("{}; the run goes on", note(error)));
}

/// The note of a run that is not stored to its end.
pub(crate) fn note(error: &StoreError) -> String {
    format!("the run is not stored to its end: {error}")
}

#[cfg(test)]
mod tests {
    use super::overwritten;

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
    }
}
