//! Feeds, as written.
//!
//! A feed is a table with a name, from which each iteration takes a row by `order`; templates read
//! its columns. The rows come from one source. Each setting applies only to some of the sources,
//! which the compiler checks.

use crate::{Count, Field, Switch, Text};

/// A table that templates read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Feed {
    /// The name in templates.
    pub name: Text,
    /// The rows.
    pub rows: FeedRows,
    /// The names of the columns, if the rows lack names.
    pub fields: Vec<Text>,
    /// The delimiter between CSV values.
    pub delimiter: Option<Text>,
    /// The quote around CSV values, or `none`.
    pub quote: Option<Text>,
    /// Whether the first line of a CSV file contains the names of the columns.
    pub header: Option<Switch>,
    /// The number of generated rows.
    pub count: Option<Count>,
    /// The seed of generated rows, which overrides the plan's.
    pub seed: Option<Count>,
    /// `in_order`, `random`, `unique` or `once`: which row an iteration takes.
    pub order: Option<Text>,
    /// `wrap`, `stop` or `fail`: what happens to iterations after the last row.
    pub at_end: Option<Text>,
}

/// The source of the rows of a feed.
#[derive(Clone, Debug, PartialEq)]
pub enum FeedRows {
    /// A file of comma-separated values.
    Csv(Text),
    /// A file with an array of JSON objects.
    Json(Text),
    /// A file with one JSON object per line.
    JsonLines(Text),
    /// A file in which each line is a value.
    Lines(Text),
    /// The rows themselves, as a JSON array.
    Inline(Text),
    /// Whole numbers, such as `1..1000`.
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
    /// The file with the rows, if there is one.
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
