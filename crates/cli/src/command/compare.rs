//! `drumfire compare`: stored runs against others.

use super::report::failure;
use crate::exit::{Exit, Failure};
use crate::flags::CompareFlags;
use crate::output::{Destination, Output};
use crate::runs_folder;
use drumfire_measure::Summary;
use drumfire_report::comparison::{Comparison, Terms};
use drumfire_session::stored;
use drumfire_store::{Index, Record};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The prefix of a side that is named by a tag.
const TAG: &str = "tag:";

/// Compares two sides, and ends with 4 where the candidate is worse.
pub(crate) fn run(flags: &CompareFlags, output: &Output) -> Result<Exit, Failure> {
    let destinations =
        ComparisonDestinations::of(flags.json.as_deref(), flags.markdown.as_deref())?;
    let base = side(&flags.base, output)?;
    let candidate = side(&flags.candidate, output)?;
    let terms = Terms {
        least: flags.least,
        any_target: flags.any_target,
    };
    let [base, candidate] =
        [&base, &candidate].map(|side| side.iter().map(Arc::as_ref).collect::<Vec<_>>());
    let comparison = Comparison::of(&base, &candidate, terms).map_err(Failure::usage)?;
    destinations.write(&comparison, &output.colored(flags.color))?;
    Ok(match comparison.is_worse() {
        true => Exit::Worse,
        false => Exit::Done,
    })
}

/// Where the forms of a comparison go, known to be writable.
pub(super) struct ComparisonDestinations {
    json: Option<Destination>,
    markdown: Option<Destination>,
}

impl ComparisonDestinations {
    /// # Errors
    /// When one can't be written, or both are one place.
    pub(super) fn of(json: Option<&Path>, markdown: Option<&Path>) -> Result<Self, Failure> {
        if json.is_some() && json == markdown {
            return Err(Failure::usage(
                "--json and --markdown name the same place; give each a file of its own",
            ));
        }
        let check =
            |flag, file: Option<&Path>| file.map(|file| Destination::check(flag, file)).transpose();
        Ok(Self {
            json: check("--json", json)?,
            markdown: check("--markdown", markdown)?,
        })
    }

    /// Writes the forms, and prints the text where none of them takes standard output.
    pub(super) fn write(&self, comparison: &Comparison, output: &Output) -> Result<(), Failure> {
        let forms = [
            (&self.json, comparison.json()),
            (&self.markdown, comparison.markdown()),
        ];
        let is_taken = forms
            .iter()
            .any(|(to, _)| matches!(to, Some(Destination::Stdout)));
        for (to, bytes) in &forms {
            if let Some(to) = to {
                to.write(bytes)?;
            }
        }
        match is_taken {
            true => Ok(()),
            false => output.print(comparison.text(&output.stdout_style()).as_bytes()),
        }
    }
}

/// The runs of a side as they were stored.
fn side(given: &str, output: &Output) -> Result<Vec<Arc<Summary>>, Failure> {
    let paths = match given.strip_prefix(TAG) {
        Some(tag) => tagged(tag, output)?,
        None => named(given)?,
    };
    paths.iter().map(|path| read(path)).collect()
}

/// A run with its end. One without it lacks an unknown part of its load.
fn read(path: &Path) -> Result<Arc<Summary>, Failure> {
    let record = Record::read(path).map_err(failure)?;
    if !record.is_whole() {
        let shown = path.display();
        return Err(Failure::usage(format!(
            "{shown} can't be compared: the run has no end yet, or was cut off"
        )));
    }
    Ok(stored(record))
}

/// The runs with a tag, the oldest first.
fn tagged(tag: &str, output: &Output) -> Result<Vec<PathBuf>, Failure> {
    let runs = runs_folder::runs().unwrap_or_default();
    let (rows, error) = Index::rows_of(&runs_folder::index(&runs), &runs);
    if let Some(error) = error {
        output.complain(&format!("{error}; the tags are read from the runs"));
    }
    let has_tag = |labels: &drumfire_store::Labels| labels.tags.iter().any(|of| of == tag);
    let found = rows
        .iter()
        .filter(|row| row.labels.as_ref().is_ok_and(has_tag));
    let found: Vec<PathBuf> = found.map(|row| runs.join(&row.id)).collect();
    match found.is_empty() {
        true => Err(Failure::usage(format!(
            "no stored run has the tag `{}`; `drumfire runs` lists them",
            tag.escape_default()
        ))),
        false => Ok(found),
    }
}

/// The runs that are named: each by its directory or id, or all below a directory that is none
/// itself.
fn named(given: &str) -> Result<Vec<PathBuf>, Failure> {
    let folder = Path::new(given);
    if folder.is_dir() && Record::version(folder).is_none() {
        let below = runs_folder::ids(folder);
        let below: Vec<PathBuf> = below.into_iter().map(|id| folder.join(id)).collect();
        return match below.is_empty() {
            true => Err(Failure::usage(format!(
                "{} is neither a run nor a directory of runs",
                folder.display()
            ))),
            false => Ok(below),
        };
    }
    given
        .split(',')
        .map(|name| runs_folder::find(name.trim()))
        .collect()
}
