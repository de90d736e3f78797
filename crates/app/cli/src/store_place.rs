//! The directory in which a run is stored, from its flags.

use crate::document::Written;
use crate::exit::Failure;
use crate::flags::OutputFlags;
use crate::runs_folder;
use drumfire_session::{StorePlace, Storing};
use drumfire_store::Directory;
use std::path::Path;

/// File names and formats that other tools take after `-o`.
const FORMS: [&str; 8] = [
    "csv", "html", "json", "pretty", "summary", "text", "txt", "xml",
];

/// Checks the place in the flags before anything is created.
pub(crate) fn check(flags: &OutputFlags) -> Result<(), Failure> {
    flags.store.as_deref().map_or(Ok(()), check_name)
}

/// The storing of a document's run, unless it is disabled. A given directory is claimed from here
/// on.
pub(crate) fn storing(flags: &OutputFlags, written: &Written) -> Result<Option<Storing>, Failure> {
    let place = match &flags.store {
        _ if flags.no_store => return Ok(None),
        Some(path) => StorePlace::Named {
            directory: named(path)?,
            runs: runs_folder::own_runs(),
        },
        None => match runs_folder::own_runs() {
            Some(runs) => StorePlace::Among(runs),
            None => return Ok(None),
        },
    };
    let (document, folder) = (&written.document, &written.folder);
    Ok(Some(Storing::new(place, document, folder, written.naming)))
}

/// The directory given with `-o`.
fn named(path: &Path) -> Result<Directory, Failure> {
    check_name(path)?;
    Directory::create(path).map_err(|error| Failure::usage(format!("-o: {error}")))
}

/// Rejects a file name, which the `-o` of other tools takes.
fn check_name(path: &Path) -> Result<(), Failure> {
    let name = path.to_string_lossy();
    let extension = path
        .extension()
        .map(|extension| extension.to_string_lossy());
    let is_form = |text: &str| FORMS.contains(&text.to_ascii_lowercase().as_str());
    if path.exists() || !(is_form(&name) || extension.is_some_and(|text| is_form(&text))) {
        return Ok(());
    }
    let is = match is_form(&name) {
        true => "an output format",
        false => "a file name",
    };
    Err(Failure::usage(format!(
        "-o takes a directory to store the run in, but `{}` is {is}; to write the summary, use \
         --json FILE",
        name.escape_debug()
    )))
}
