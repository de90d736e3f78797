//! Feeds as they were written.
//!
//! A feed is a table with a name, from which each iteration takes a row by `order`; templates read
//! its columns. The rows come from one source, and each setting is for some of the sources alone,
//! which the compiler checks.

use crate::{Count, Field, Switch, Text};

/// A table that templates draw on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Feed {
    /// Its name in templates.
    pub name: Text,
    /// Its rows.
    pub rows: FeedRows,
    /// The names of the columns, where the rows have none.
    pub fields: Vec<Text>,
    /// The character between the values of CSV.
    pub delimiter: Option<Text>,
    /// The character around values of CSV, or `none`.
    pub quote: Option<Text>,
    /// Whether the first line of CSV names the columns.
    pub header: Option<Switch>,
    /// The number of rows that are generated.
    pub count: Option<Count>,
    /// The seed of generated rows, in place of the plan's.
    pub seed: Option<Count>,
    /// `in_order`, `random`, `unique` or `once`: the row that an iteration takes.
    pub order: Option<Text>,
    /// `wrap`, `stop` or `fail`: the treatment of iterations beyond the last row.
    pub at_end: Option<Text>,
}

/// The source of the rows of a feed.
#[derive(Clone, Debug, PartialEq)]
pub enum FeedRows {
    /// A file of comma-separated values.
    Csv(Text),
    /// A file with an array of JSON objects.
    Json(Text),
    /// A file with a JSON object a line.
    JsonLines(Text),
    /// A file of which each line is a value.
    Lines(Text),
    /// The rows themselves, as a JSON array.
    Inline(Text),
    /// Whole numbers, as `1..1000`.
    Range(Text),
    /// Columns and the kind of value of each.
    Generated(Vec<Field>),
}

impl Default for FeedRows {
    /// Generated rows without columns.
    fn default() -> Self {
        Self::Generated(Vec::new())
    }
}

impl FeedRows {
    /// The file that has the rows, if one has.
    #[must_use]
    pub const fn file(&self) -> Option<&Text> {
        match self {
            Self::Csv(file) | Self::Json(file) | Self::JsonLines(file) | Self::Lines(file) => {
                Some(file)
            }
            Self::Inline(_) | Self::Range(_) | Self::Generated(_) => None,
        }
    }
}
