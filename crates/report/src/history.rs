//! Histories of runs as text and JSON. [`drumfire_compare`] searches them; the page is in `html`.

mod json;
mod text;

use crate::listing::Listed;
use drumfire_compare::History;

pub use json::json;
pub use text::text;
pub(crate) use text::{runs_words, sentences};

/// Searches runs of one plan for changes, the oldest first.
#[must_use]
pub fn search<'a>(runs: impl IntoIterator<Item = Listed<'a>>) -> History<Listed<'a>> {
    History::search(runs, |run| run.run.ok())
}
