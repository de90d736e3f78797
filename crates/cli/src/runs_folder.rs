//! The folders of all runs: of those that are stored without a directory of their own being named,
//! and of the sockets of those that go on.

use crate::exit::Failure;
use drumfire_store::{Record, own_folder};
use rustix::process::geteuid;
use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The name that stands for the newest run.
const LAST: &str = "last";

/// The folder of runs: below `XDG_STATE_HOME`, or `~/.local/state`. `None` where there is no home.
pub(crate) fn runs() -> Option<PathBuf> {
    let folder = |name: &str| {
        let value = env::var_os(name).map(PathBuf::from);
        // The XDG Base Directory Specification has relative paths ignored.
        value.filter(|path| path.is_absolute())
    };
    let state = folder("XDG_STATE_HOME").or_else(|| Some(folder("HOME")?.join(".local/state")));
    Some(state?.join("drumfire/runs"))
}

/// The folder of runs, to be written: what is around the runs is their user's alone, too, as far as
/// that can be arranged.
pub(crate) fn own_runs() -> Option<PathBuf> {
    let runs = runs()?;
    if let Some(state) = runs.parent() {
        // Somebody else's home, as of a user who has become another one, is left as it is.
        let _as_it_is = own_folder(state);
    }
    Some(runs)
}

/// A folder beside that of runs which only its user may enter; where there is no home, among the
/// temporary ones.
///
/// # Errors
/// If it can't be made, or is another user's.
pub(crate) fn own_beside(name: &str) -> io::Result<PathBuf> {
    let folder = beside(name);
    if let Some(parent) = folder.parent().filter(|_| runs().is_none()) {
        own_folder(parent)?;
    }
    own_folder(&folder)?;
    Ok(folder)
}

/// The place of such a folder.
pub(crate) fn beside(name: &str) -> PathBuf {
    let temporary = || {
        let user = geteuid().as_raw();
        env::temp_dir().join(format!("drumfire-{user}")).join(name)
    };
    own_runs().map_or_else(temporary, |runs| runs.with_file_name(name))
}

/// The folder of the sockets through which runs take commands.
///
/// # Errors
/// When there is none that is the user's alone.
pub(crate) fn sockets() -> io::Result<PathBuf> {
    let runtime = env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    drumfire_session::socket_folder(runtime, &env::temp_dir())
}

/// The index of the runs in this folder, beside it.
pub(crate) fn index(runs: &Path) -> PathBuf {
    runs.with_file_name("index.sqlite")
}

/// The directory of a run that the user names: by its path, by its id or the beginning of one, or
/// as the last one.
pub(crate) fn find(given: &str) -> Result<PathBuf, Failure> {
    let path = Path::new(given);
    if path.is_dir() {
        return Ok(path.to_owned());
    }
    let shown = given.escape_default();
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

/// The ids in the folder of all runs, the oldest first: an id begins with the time. A link leads to
/// a run in a directory of its own, as long as that is there and no other run's.
fn own_ids(runs: &Path) -> Vec<String> {
    let mut ids = names(runs);
    ids.retain(|id| Record::is_named(&runs.join(id)));
    ids
}

/// The names of the directories in a folder, in their order, and of links to such, which a user may
/// have named at will.
pub(crate) fn names(runs: &Path) -> Vec<String> {
    let entries = fs::read_dir(runs).into_iter().flatten();
    let entries = entries.filter_map(|entry| entry.ok().filter(|entry| entry.path().is_dir()));
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}
