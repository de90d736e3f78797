//! A comparison as Markdown: for a comment on a change, or the page of a job.
//!
//! The answer stands first, then both sides, the table, and what makes the answer less than it
//! seems. The words and numbers are those of `text`, without a width.

use super::text::{Cells, answer, cells, difference, remarks, words};
use crate::markdown::{escaped, table};
use crate::style::{Color, Style, Unicode};
use drumfire_compare::{Comparison, Runs};

/// The style of words that no page wraps.
const STYLE: Style = Style::new(u16::MAX, Color::Off, Unicode::On);

/// The comparison as Markdown with the tables of GitHub.
#[must_use]
pub fn markdown(of: &Comparison) -> Vec<u8> {
    let (answer, _) = answer(of, &STYLE);
    below(of, &format!("## {}", escaped(&answer)))
}

/// The same below the summary of a run, whose heading it does not repeat.
#[must_use]
pub fn markdown_of_baseline(of: &Comparison) -> Vec<u8> {
    let (answer, _) = answer(of, &STYLE);
    below(
        of,
        &format!("### Comparison with the baseline\n\n{}", escaped(&answer)),
    )
}

/// Both sides, the table, and what makes the answer less than it seems, below a heading.
fn below(of: &Comparison, heading: &str) -> Vec<u8> {
    let mut out = format!("{heading}\n\n");
    for (name, side) in [("Base", &of.base), ("Candidate", &of.candidate)] {
        let Runs { ids, .. } = side;
        let words = escaped(&words(side, &STYLE));
        out.push_str(&format!("- **{name}**: {words}"));
        // A set has more ids than a comment has room for.
        out.push_str(match ids.len() {
            1 => "\n",
            _ => "; one value per run\n",
        });
    }
    out.push('\n');
    if let Some(sentence) = difference(of, &STYLE) {
        out.push_str(&format!("{}\n\n", escaped(&sentence)));
    }
    let Cells { heads, rows } = cells(of, &STYLE);
    let rows = rows.into_iter().map(|row| {
        let cells = row.into_iter().map(|cell| escaped(&cell));
        cells.collect()
    });
    table(&mut out, &heads, rows.collect());
    for sentence in remarks(of, &STYLE) {
        out.push_str(&format!("{}\n\n", escaped(&sentence)));
    }
    // One end of line is the last.
    out.truncate(out.trim_end().len());
    out.push('\n');
    out.into_bytes()
}
