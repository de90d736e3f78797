//! Finds stored runs by their tags.

use crate::exit::Failure;
use crate::output::Output;
use crate::runs_folder;
use drumfire_store::{Index, Labels};
use std::path::PathBuf;

/// The runs with a tag, newest first.
pub(super) fn runs(tag: &str, output: &Output) -> Result<Vec<PathBuf>, Failure> {
    let runs = runs_folder::runs().unwrap_or_default();
    let (rows, error) = Index::rows_of(&runs_folder::index(&runs), &runs);
    if let Some(error) = error {
        output.complain(&format!(
            "{error}; reading the tags from the runs themselves"
        ));
    }
    let has_tag = |labels: &Labels| labels.tags.iter().any(|of| of == tag);
    let found = rows
        .iter()
        .filter(|row| row.labels.as_ref().is_ok_and(has_tag));
    let found: Vec<PathBuf> = found.map(|row| runs.join(&row.id)).collect();
    match found.is_empty() {
        true => Err(Failure::usage(format!(
            "no stored run has the tag `{}`; `drumfire runs` lists the stored runs",
            tag.escape_debug()
        ))),
        false => Ok(found),
    }
}

/// The newest run with a tag.
pub(super) fn newest(tag: &str, output: &Output) -> Result<PathBuf, Failure> {
    let mut runs = runs(tag, output)?;
    Ok(runs.swap_remove(0))
}
