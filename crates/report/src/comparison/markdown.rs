//! A comparison as Markdown: for a comment on a change, or the page of a job.
//!
//! The answer stands first, then both sides, the table, and what makes the answer less than it
//! seems. The words and numbers are those of `text`, without a width.

use super::text::{self, probability, value};
use super::{Comparison, Runs};
use crate::markdown::{escaped, table};
use crate::style::{Color, Style, Unicode};

/// The style of words that no page wraps.
const STYLE: Style = Style::new(u16::MAX, Color::Off, Unicode::On);

impl Comparison {
    /// The comparison as Markdown with the tables of GitHub.
    #[must_use]
    pub fn markdown(&self) -> Vec<u8> {
        let (answer, _) = self.answer(&STYLE);
        let mut out = format!("## {}\n\n", escaped(&answer));
        for (name, side) in [("Base", &self.base), ("Candidate", &self.candidate)] {
            let Runs { ids, .. } = side;
            let words = escaped(&side.words(&STYLE));
            out.push_str(&format!("- **{name}**: {words}"));
            // A set has more ids than a comment has room for.
            out.push_str(match ids.len() {
                1 => "\n",
                _ => "; one value of each run\n",
            });
        }
        out.push('\n');
        let is_pair = self.is_pair();
        let mut heads = vec!["figure", "base", "candidate", "shift", "95 % interval"];
        if !is_pair {
            heads.extend(["p", "answer"]);
        }
        let rows = self.rows.iter().map(|row| {
            let mut cells = vec![
                row.figure.name().to_owned(),
                value(row.figure, row.medians[0], STYLE.unicode),
                value(row.figure, row.medians[1], STYLE.unicode),
                row.shift_words(&STYLE),
                row.interval_words(&STYLE),
            ];
            if !is_pair {
                cells.push(escaped(&row.p.map_or_else(String::new, probability)));
                cells.push(text::answer_name(row, self.terms.least));
            }
            cells
        });
        table(&mut out, &heads, rows.collect());
        for sentence in self.cautions.iter().chain(self.resolution(&STYLE).iter()) {
            out.push_str(&format!("{}\n\n", escaped(sentence)));
        }
        // One end of line is the last.
        out.truncate(out.trim_end().len());
        out.push('\n');
        out.into_bytes()
    }
}
