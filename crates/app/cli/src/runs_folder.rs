//! The folder of all runs that are stored without `-o`, and the folder of the sockets of active
//! runs.

use crate::exit::Failure;
use drumfire_store::{Record, own_folder};
use rustix::process::geteuid;
use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The name for the newest run.
const LAST: &str = "last";

/// The folder of runs: below `XDG_STATE_HOME`, or `~/.local/state`. `None` without a home
/// directory.
pub(crate) fn runs() -> Option<PathBuf> {
    let folder = |name: &str| {
        let value = env::var_os(name).map(PathBuf::from);
        // The XDG Base Directory Specification requires that relative paths are ignored.
        value.filter(|path| path.is_absolute())
    };
    let state = folder("XDG_STATE_HOME").or_else(|| Some(folder("HOME")?.join(".local/state")));
    Some(state?.join("drumfire/runs"))
}

/// The folder of runs for writing. The folder around the runs is made private to its user, if
/// possible.
pub(crate) fn own_runs() -> Option<PathBuf> {
    let runs = runs()?;
    if let Some(state) = runs.parent() {
        // The home directory of another user, such as after `su`, is left unchanged.
        let _as_it_is = own_folder(state);
    }
    Some(runs)
}

/// A folder next to the folder of runs that only its user may enter; without a home directory, a
/// temporary folder.
///
/// # Errors
/// If the folder cannot be created, or belongs to another user.
pub(crate) fn own_beside(name: &str) -> io::Result<PathBuf> {
    let folder = beside(name);
    if let Some(parent) = folder.parent().filter(|_| runs().is_none()) {
        own_folder(parent)?;
    }
    own_folder(&folder)?;
    Ok(folder)
}

/// The path of such a folder.
pub(crate) fn beside(name: &str) -> PathBuf {
    let temporary = || {
        let user = geteuid().as_raw();
        env::temp_dir().join(format!("drumfire-{user}")).join(name)
    };
    own_runs().map_or_else(temporary, |runs| runs.with_file_name(name))
}

/// The folder of the sockets through which runs receive commands.
///
/// # Errors
/// If no folder is private to the user.
pub(crate) fn sockets() -> io::Result<PathBuf> {
    let runtime = env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    drumfire_session::socket_folder(runtime, &env::temp_dir())
}

/// The index of the runs in this folder; the index is next to the folder.
pub(crate) fn index(runs: &Path) -> PathBuf {
    runs.with_file_name("index.sqlite")
}

/// The directory of the given run: by path, by id, by a prefix of its id, or `last`.
pub(crate) fn find(given: &str) -> Result<PathBuf, Failure> {
    let path = Path::new(given);
    if path.is_dir() {
        return Ok(path.to_owned());
    }
    let shown = given.escape_debug();
    if given.is_empty() {
        let message = "the name of the run is empty; use its directory, its id or `last`";
        return Err(Failure::usage(message));
    }
    if path.is_file() {
        return Err(Failure::usage(format!(
            "`{shown}` is a file, but a stored run is a directory; `drumfire runs` lists the stored runs"
        )));
    }
    let ids = runs().map(|runs| own_ids(&runs)).unwrap_or_default();
    let whole = match given {
        LAST => ids.last(),
        _ => ids.iter().find(|id| **id == given),
    };
    let found: Vec<&String> = match whole {
        Some(id) => vec![id],
        None => ids.iter().filter(|id| id.starts_with(given)).collect(),
    };
    match (found.as_slice(), runs()) {
        ([id], Some(runs)) => Ok(runs.join(id)),
        ([], _) if given == LAST => Err(Failure::usage("no run is stored yet")),
        ([], _) => Err(Failure::usage(format!(
            "`{shown}` is neither a directory nor the id of a stored run; `drumfire runs` lists the ids"
        ))),
        (several, _) => Err(Failure::usage(format!(
            "`{shown}` matches {} runs; use a longer prefix",
            several.len()
        ))),
    }
}

/// The ids in the folder of all runs, oldest first, because an id begins with the time. A link
/// counts if its target exists and is the run with the link's name.
fn own_ids(runs: &Path) -> Vec<String> {
    let mut ids = names(runs);
    ids.retain(|id| Record::is_named(&runs.join(id)));
    ids
}

/// All names in a folder, in any order. The kinds of the entries are not checked, because that costs
/// a system call for each.
pub(crate) fn entries(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    names.collect()
}

/// The names of the directories in a folder, and of links to directories, sorted. A user may have
/// chosen the names.
pub(crate) fn names(runs: &Path) -> Vec<String> {
    let entries = fs::read_dir(runs).into_iter().flatten();
    let entries = entries.filter_map(|entry| entry.ok().filter(|entry| entry.path().is_dir()));
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}
