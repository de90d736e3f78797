//! Runs as commands read them: stored, or as the JSON that a run wrote.

use crate::exit::Failure;
use crate::runs_folder;
use drumfire_compare::Compared;
use drumfire_session::stored;
use drumfire_store::{Record, StoreError};
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// The maximum size of a JSON file: 64 MiB.
const JSON_BYTES_MAX: u64 = 64 << 20;

/// The path of the given run: a JSON file, or a stored run.
pub(super) fn find(given: &str) -> Result<PathBuf, Failure> {
    let path = Path::new(given);
    match path.is_file() {
        true => Ok(path.to_owned()),
        false => runs_folder::find(given),
    }
}

/// Reads a run from a JSON file or from a stored run.
pub(super) fn read(path: &Path) -> Result<Compared, Failure> {
    if path.is_file() {
        return read_json(path);
    }
    let record = Record::read(path).map_err(failure)?;
    Ok(Compared::from_summary(stored(record)))
}

/// Reads a run from the file that `--json` wrote.
fn read_json(path: &Path) -> Result<Compared, Failure> {
    let bytes = json_bytes(path)?;
    Compared::from_json(&bytes).map_err(|why| uncompared(path, &why))
}

fn uncompared(path: &Path, why: &str) -> Failure {
    Failure::usage(format!("{} can't be compared: {why}", path.display()))
}

/// The content of a JSON file, at most 64 MiB.
pub(super) fn json_bytes(path: &Path) -> Result<Vec<u8>, Failure> {
    let wrong = |why: String| uncompared(path, &why);
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|error| wrong(error.to_string()))?;
    let mut file = file.take(JSON_BYTES_MAX + 1);
    file.read_to_end(&mut bytes)
        .map_err(|error| wrong(error.to_string()))?;
    if bytes.len() as u64 > JSON_BYTES_MAX {
        return Err(wrong("the file is larger than 64 MiB".to_owned()));
    }
    Ok(bytes)
}

/// Why a stored run can't be used.
pub(super) fn failure(error: StoreError) -> Failure {
    match error {
        StoreError::Write { .. } | StoreError::Read { .. } => Failure::failed(error),
        _ => Failure::usage(error),
    }
}
