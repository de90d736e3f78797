//! Histories of runs as text and JSON. [`drumfire_compare`] searches them; the page is in `html`.

mod json;
mod words;

use crate::grid::Cell;
use crate::run_list::Listed;
use crate::section::{Body, Facts, Section};
use crate::style::Style;
use crate::text::printed;
use drumfire_compare::History;

pub use json::json;

/// Searches runs of one plan for changes. The oldest run comes first.
#[must_use]
pub fn search<'a>(runs: impl IntoIterator<Item = Listed<'a>>) -> History<Listed<'a>> {
    History::search(runs, |run| run.run.ok())
}

/// The columns beside a line of blocks.
const AROUND: usize = 45;
/// The maximum number of columns of a line of blocks.
const BLOCKS_MAX: usize = 100;

/// The changes in sentences, and the runs in a sentence.
pub(crate) fn changes(history: &History<Listed<'_>>) -> Option<Section> {
    let sentences = words::sentences(history).into_iter();
    let sentences = sentences.map(|(words, ink)| Cell::new(words).inked(ink));
    let runs = vec![Cell::new(words::runs_words(history))];
    let bodies = [
        Facts::lines("Changes", sentences.collect()),
        Facts::lines("Runs", runs),
    ];
    Section::new("changes", "Changes", "", bodies.map(Body::Facts).into())
}

/// The table of runs from the one with this number.
pub(crate) fn runs(history: &History<Listed<'_>>, from: usize) -> Option<Section> {
    let explanation = "Each row is a run of the plan. A change is listed at the first run after it. A \
                       change is listed only if it is unlikely to be chance (5 % for all figures \
                       together) and is at least 2 %; for failures, at least 0.1 % of all requests.";
    Section::table("runs", "Runs", words::runs(history, from), explanation)
}

/// A history as text: the changes, a line for each figure, and the newest `rows` runs. Changes and
/// lines are of all runs.
#[must_use]
pub fn text(history: &History<Listed<'_>>, rows: usize, style: &Style) -> String {
    let columns = style.width().saturating_sub(AROUND).clamp(1, BLOCKS_MAX);
    let tracks = words::tracks(history, columns, style.unicode);
    let tracks = Section::new("tracks", "", "", vec![Body::List("", tracks)]);
    let from = history.runs.len().saturating_sub(rows);
    let sections = [changes(history), tracks, runs(history, from)];
    printed(&sections.into_iter().flatten().collect::<Vec<_>>(), style)
}
