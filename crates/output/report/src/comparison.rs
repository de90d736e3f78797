//! Comparisons of runs as text, Markdown and JSON. [`drumfire_compare`] makes and judges them; the
//! page is in `html`.

mod differences;
mod json;
mod tools;
mod words;

use crate::grid::Cell;
use crate::markdown;
use crate::section::{Body, Facts};
use crate::style::Style;
use crate::text::printed;
use drumfire_compare::Comparison;

pub use json::{json, json_of_baseline};
pub use tools::{tool_json, tool_markdown, tool_text};
pub use words::foreseen;
pub(crate) use words::{
    answer, answer_name, headline, interval_words, listed, percent, section, side, signed,
    to_decide, value,
};

/// A comparison as text: the answer in a sentence, both sides, the table of figures, and what limits
/// the answer.
#[must_use]
pub fn text(of: &Comparison, style: &Style) -> String {
    let (sentence, ink) = answer(of);
    let answer = Facts::lines("Answer", vec![Cell::new(sentence).inked(ink)]);
    let mut section = section(of);
    section.bodies.insert(0, Body::Facts(answer));
    printed(&[section], style)
}

/// A comparison as Markdown with the tables of GitHub. The answer is the heading.
#[must_use]
pub fn markdown(of: &Comparison) -> Vec<u8> {
    let answer = markdown::escaped(&answer(of).0);
    below(of, format!("## {answer}\n\n"))
}

/// A comparison as Markdown below the summary of a run.
#[must_use]
pub fn markdown_of_baseline(of: &Comparison) -> Vec<u8> {
    let answer = markdown::escaped(&answer(of).0);
    let heading = "### Comparison with the baseline";
    below(of, format!("{heading}\n\n{answer}\n\n"))
}

/// The section of a comparison below a heading, with one line feed at its end. The table comes
/// first: it has the reasons of the answer.
fn below(of: &Comparison, mut out: String) -> Vec<u8> {
    let mut section = section(of);
    section
        .bodies
        .sort_by_key(|body| matches!(body, Body::Facts(_)));
    markdown::print(&mut out, &section);
    out.truncate(out.trim_end().len());
    out.push('\n');
    out.into_bytes()
}
