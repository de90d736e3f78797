//! The formats of files of rows, each a cutter that takes a file row by row.

use super::csv_rows::CsvCutter;
use super::json_rows::JsonColumns;
use super::row_step::{ChangedRow, RowStep};
use super::{CsvForm, JsonNext, JsonValues, push_value};
use drumfire_plan::DataError;
use memchr::memchr;
use minijinja::Value;
use std::sync::Arc;

/// How the file of a feed is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FeedFormat {
    /// Comma-separated values (RFC 4180), all of them texts.
    Csv(CsvForm),
    /// An array of JSON objects, or such objects one after the other. Values keep their types, and
    /// an object may lack what others have. There may be values that are no objects instead: of one
    /// column then.
    Json,
    /// The same, one a line; empty lines are passed over.
    JsonLines,
    /// Lines, each a value; empty ones are passed over.
    Lines,
}

/// A reader of rows: how they are cut, and the values of one of them.
#[derive(Clone, Debug)]
pub(super) enum RowReader {
    Csv(Box<CsvCutter>),
    Json {
        values: JsonValues,
        cells: Vec<Value>,
    },
    JsonLines {
        cells: Vec<Value>,
    },
    Lines,
}

impl RowReader {
    pub(super) fn new(format: &FeedFormat) -> Self {
        match format {
            FeedFormat::Csv(form) => Self::Csv(Box::new(CsvCutter::new(Arc::new(form.clone())))),
            FeedFormat::Json => Self::Json {
                values: JsonValues::default(),
                cells: Vec::new(),
            },
            FeedFormat::JsonLines => Self::JsonLines { cells: Vec::new() },
            FeedFormat::Lines => Self::Lines,
        }
    }

    /// Becomes a copy of another reader; the memory for values stays.
    pub(super) fn reset(&mut self, other: &Self) {
        match (&mut *self, other) {
            (Self::Csv(rows), Self::Csv(other)) => rows.reset(other),
            (Self::Json { values, .. }, Self::Json { values: other, .. }) => *values = *other,
            (Self::JsonLines { .. }, Self::JsonLines { .. }) => {}
            (reader, other) => reader.clone_from(other),
        }
    }

    /// Finds the next row of a window; `is_last` says that nothing follows the window. A row of CSV
    /// is cut into its values with it.
    pub(super) fn step(&mut self, window: &[u8], is_last: bool) -> RowStep {
        match self {
            Self::Csv(rows) => rows.step(window, is_last),
            Self::Json { values, .. } => match values.next(window, is_last) {
                JsonNext::Value { start, end } => RowStep::row(start..end, end),
                JsonNext::More => RowStep::More,
                JsonNext::End => RowStep::End,
                JsonNext::Broken { at, message } => RowStep::broken(at, message),
            },
            Self::JsonLines { .. } => line(window, is_last, |line| line.trim_ascii().is_empty()),
            Self::Lines => line(window, is_last, <[u8]>::is_empty),
        }
    }

    /// Reads the values of a row that was found once, and of whose file these are the columns.
    ///
    /// # Errors
    /// When it is no such row any more.
    pub(super) fn decode(&mut self, row: &[u8], columns: &JsonColumns) -> Result<(), ChangedRow> {
        match self {
            Self::Csv(rows) => match rows.step(row, true) {
                RowStep::Row { .. } => Ok(()),
                _ => Err(ChangedRow),
            },
            Self::Json { cells, .. } | Self::JsonLines { cells } => columns.decode(row, cells),
            Self::Lines => Ok(()),
        }
    }

    /// How many values a row of CSV has.
    pub(super) const fn width(&self) -> Option<usize> {
        match self {
            Self::Csv(rows) => Some(rows.width()),
            _ => None,
        }
    }

    /// Appends the text of a value of the row that was decoded last.
    ///
    /// # Errors
    /// When the row lacks it.
    pub(super) fn push(&self, row: &str, column: usize, out: &mut String) -> Result<(), DataError> {
        match self {
            Self::Csv(rows) => out.push_str(rows.value(column).ok_or(ChangedRow)?),
            Self::Json { cells, .. } | Self::JsonLines { cells } => match cells.get(column) {
                Some(value) => push_value(value, out)?,
                None => return Err(ChangedRow.into()),
            },
            Self::Lines => out.push_str(row),
        }
        Ok(())
    }

    /// A value of the row that was decoded last; undefined if the row lacks it.
    ///
    /// # Errors
    /// When it is no such row any more.
    pub(super) fn value(&self, row: &str, column: usize) -> Result<Value, DataError> {
        match self {
            Self::Json { cells, .. } | Self::JsonLines { cells } => {
                cells.get(column).cloned().ok_or_else(|| ChangedRow.into())
            }
            _ => {
                let mut text = String::new();
                self.push(row, column, &mut text)?;
                Ok(Value::from(text))
            }
        }
    }
}

/// The first line of a window.
fn line(window: &[u8], is_last: bool, is_blank: impl Fn(&[u8]) -> bool) -> RowStep {
    let (end, bytes) = match memchr(b'\n', window) {
        Some(end) => (end, end + 1),
        None if !is_last => return RowStep::More,
        None => (window.len(), window.len()),
    };
    let line = &window[..end];
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    match is_blank(line) {
        true => RowStep::blank(bytes, is_last),
        false => RowStep::row(0..line.len(), bytes),
    }
}
