//! Comparisons of runs as text, Markdown and JSON. [`drumfire_compare`] makes and judges them; the
//! page is in `html`.

mod differences;
mod json;
mod markdown;
mod text;

pub use json::{json, json_of_baseline};
pub use markdown::{markdown, markdown_of_baseline};
pub(crate) use text::{Cells, answer, cells, difference, percent, remarks, signed, value, words};
pub use text::{foreseen, text};
