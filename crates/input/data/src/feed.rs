//! Tables of values that requests draw on, whatever their rows come from.

mod csv_rows;
mod file_rows;
mod generated;
pub(crate) mod json_rows;
mod json_skim;
mod json_values;
mod range;
mod row_reader;
mod row_step;
mod stored_rows;
#[cfg(test)]
mod tests;
mod words;

pub use csv_rows::CsvForm;
pub use generated::{Generated, KINDS, Kind};
pub use range::Range;
pub use row_reader::FeedFormat;

use crate::ReadAt;
use drumfire_plan::DataError;
use json_rows::JsonColumns;
pub(crate) use json_values::{JsonNext, JsonValues};
use minijinja::Value;
use minijinja::value::ValueKind;
use std::collections::HashSet;
use std::fmt::{self, Write as _};
use std::sync::Arc;
use stored_rows::StoredRows;

/// The name of the column of rows that are single values.
pub const VALUE: &str = "value";

/// A table with named columns and at least one row.
#[derive(Clone, Debug)]
pub struct Feed {
    columns: Vec<Column>,
    rows: u64,
    /// A remark on the rows of a file, which are read all the same.
    note: Option<String>,
    table: Table,
}

/// A column.
#[derive(Clone, Debug)]
struct Column {
    name: String,
    /// Whether it has nothing but texts and numbers.
    is_plain: bool,
}

#[derive(Clone, Debug)]
enum Table {
    /// Row by row, a cell for each column; undefined where a row lacks one.
    Cells(Arc<[Value]>),
    /// In a file that is larger than memory perhaps.
    Stored(Arc<StoredRows>),
    Range(Range),
    Generated(Generated),
    Computed(Arc<dyn ComputedRows>),
}

/// Rows of which each value is made when it is used.
pub(crate) trait ComputedRows: fmt::Debug + Send + Sync {
    /// The value in a row, counted from 0; undefined where there is none.
    fn value(self: Arc<Self>, row: u64, column: usize) -> Result<Value, DataError>;

    /// Appends the text of that value.
    fn push(&self, row: u64, column: usize, out: &mut String) -> Result<(), DataError>;
}

/// Why a feed could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeedError {
    /// The line it was found in, from 1; 0 when it concerns the whole.
    pub line: u64,
    /// The mistake.
    pub message: String,
    /// The correction, which names keys of a plan; may be empty.
    pub advice: String,
}

impl fmt::Display for FeedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => f.write_str(&self.message)?,
            line => write!(f, "line {line}: {}", self.message)?,
        }
        match self.advice.as_str() {
            "" => Ok(()),
            advice => write!(f, "; {advice}"),
        }
    }
}

impl std::error::Error for FeedError {}

impl FeedError {
    pub(crate) fn at_line(line: u64, message: impl Into<String>) -> Self {
        Self {
            line,
            message: message.into(),
            advice: String::new(),
        }
    }

    fn with_advice(self, advice: impl Into<String>) -> Self {
        Self {
            advice: advice.into(),
            ..self
        }
    }
}

impl Feed {
    /// Reads a file. The rows of a small one stay in memory; those of a large one stay in the file,
    /// and an index of a bounded size says where they begin.
    ///
    /// # Errors
    /// Text that is not UTF-8, a row that the format has not, columns that can't be told apart, or
    /// no row at all.
    pub fn read(source: Arc<dyn ReadAt>, format: &FeedFormat) -> Result<Self, FeedError> {
        file_rows::read(source, format)
    }

    /// Reads comma-separated values.
    ///
    /// # Errors
    /// As [`Feed::read`].
    pub fn from_csv(bytes: &[u8], form: &CsvForm) -> Result<Self, FeedError> {
        Self::read(Arc::new(bytes.to_vec()), &FeedFormat::Csv(form.clone()))
    }

    /// Reads JSON values, one a line.
    ///
    /// # Errors
    /// As [`Feed::read`].
    pub fn from_json_lines(bytes: &[u8]) -> Result<Self, FeedError> {
        Self::read(Arc::new(bytes.to_vec()), &FeedFormat::JsonLines)
    }

    /// Reads a JSON array, or JSON values one after the other.
    ///
    /// # Errors
    /// As [`Feed::read`].
    pub fn from_json(bytes: &[u8]) -> Result<Self, FeedError> {
        Self::read(Arc::new(bytes.to_vec()), &FeedFormat::Json)
    }

    /// Reads lines.
    ///
    /// # Errors
    /// As [`Feed::read`].
    pub fn from_lines(bytes: &[u8]) -> Result<Self, FeedError> {
        Self::read(Arc::new(bytes.to_vec()), &FeedFormat::Lines)
    }

    /// Rows of a plan as a JSON array: of objects, of lists of values for the columns named
    /// `fields`, or of values.
    ///
    /// # Errors
    /// Rows of several kinds or lengths, or none.
    pub fn from_inline(json: &str, fields: &[String]) -> Result<Self, FeedError> {
        let read: Result<Vec<serde_json::Value>, _> = serde_json::from_str(json);
        let rows = read.map_err(|_| FeedError::at_line(0, "the rows must be a list"))?;
        if rows.iter().all(serde_json::Value::is_array) && !rows.is_empty() {
            return Self::of_lists(rows, fields);
        }
        let mut columns = JsonColumns::default();
        let mut read = Vec::with_capacity(rows.len());
        for (number, row) in (1..).zip(rows) {
            let of_row = |error: FeedError| {
                FeedError::at_line(0, format!("row {number}: {}", error.message))
            };
            read.push(columns.row(row, 0).map_err(of_row)?);
        }
        if !fields.is_empty() {
            let message = "`fields` is only for rows that are lists";
            return Err(FeedError::at_line(0, message));
        }
        let names = columns.list().map(|(name, _)| name.to_owned()).collect();
        Self::of_cells(names, columns.cells(read))
    }

    /// Rows that are lists of values.
    fn of_lists(rows: Vec<serde_json::Value>, fields: &[String]) -> Result<Self, FeedError> {
        let mut cells = Vec::new();
        for (number, row) in (1..).zip(rows) {
            let serde_json::Value::Array(values) = row else {
                continue;
            };
            if values.len() != fields.len() {
                let (has, wants) = (counted(values.len() as u64, "value"), fields.len());
                let message = format!("row {number} has {has}, but `fields` has {wants}");
                return Err(FeedError::at_line(0, message));
            }
            cells.extend(values.into_iter().map(json_rows::from_json));
        }
        check_columns(fields, 0)?;
        Self::of_cells(fields.to_vec(), cells)
    }

    /// Whole numbers, one a row.
    #[must_use]
    pub fn from_range(range: Range) -> Self {
        Self {
            columns: vec![Column::plain(VALUE.to_owned())],
            rows: range.count(),
            note: None,
            table: Table::Range(range),
        }
    }

    /// Generated values.
    #[must_use]
    pub fn from_generated(generated: Generated) -> Self {
        let names = generated.names();
        Self {
            columns: names.map(|name| Column::plain(name.to_owned())).collect(),
            rows: generated.rows(),
            note: None,
            table: Table::Generated(generated),
        }
    }

    /// Rows that are computed, in columns with these names, with a remark for the report.
    pub(crate) fn from_computed(
        names: &[&str],
        rows: u64,
        note: Option<String>,
        computed: Arc<dyn ComputedRows>,
    ) -> Self {
        let columns = names.iter().map(|name| Column::plain((*name).to_owned()));
        Self {
            columns: columns.collect(),
            rows,
            note,
            table: Table::Computed(computed),
        }
    }

    fn of_cells(names: Vec<String>, cells: Vec<Value>) -> Result<Self, FeedError> {
        if cells.is_empty() {
            return Err(FeedError::at_line(0, "the feed has no rows"));
        }
        let rows = cells.len() / names.len();
        let columns = names.into_iter().enumerate().map(|(at, name)| {
            let mut values = cells.iter().skip(at).step_by(cells.len() / rows);
            let is_plain = values.all(is_plain);
            Column { name, is_plain }
        });
        Ok(Self {
            columns: columns.collect(),
            rows: rows as u64,
            note: None,
            table: Table::Cells(cells.into()),
        })
    }

    /// A remark on the rows of a file, which are read all the same.
    #[must_use]
    pub fn note(&self) -> Option<&str> {
        self.note.as_deref()
    }

    /// The names of the columns.
    pub fn columns(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|column| column.name.as_str())
    }

    /// Whether the feed's own name stands for its one column.
    #[must_use]
    pub const fn is_single(&self) -> bool {
        self.columns.len() == 1
    }

    /// Whether the first row has the names of the columns.
    #[must_use]
    pub fn begins_with_names(&self) -> bool {
        let mut columns = self.columns.iter().enumerate();
        columns.all(|(column, Column { name, .. })| {
            let value = self.value(0, column).ok();
            value.is_some_and(|value| value.as_str() == Some(name.as_str()))
        })
    }

    /// How many rows there are; at least 1.
    #[must_use]
    pub const fn rows(&self) -> u64 {
        self.rows
    }

    /// Whether a column has nothing but texts and numbers.
    pub(crate) fn is_plain(&self, column: usize) -> bool {
        let column = self.columns.get(column);
        column.is_some_and(|column| column.is_plain)
    }

    /// Which column has this name.
    pub(crate) fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }

    /// The value in a row, counted from 0; undefined where there is none.
    pub(crate) fn value(&self, row: u64, column: usize) -> Result<Value, DataError> {
        Ok(match &self.table {
            Table::Cells(cells) => self.cell(cells, row, column).clone(),
            Table::Stored(rows) => rows.value(row, column)?,
            Table::Range(range) => range.value(row),
            Table::Generated(generated) => generated.value(row, column),
            Table::Computed(rows) => Arc::clone(rows).value(row, column)?,
        })
    }

    /// Appends the text of the value in a row of a plain column.
    pub(crate) fn push(&self, row: u64, column: usize, out: &mut String) -> Result<(), DataError> {
        match &self.table {
            Table::Cells(cells) => push_value(self.cell(cells, row, column), out)?,
            Table::Stored(rows) => rows.push(row, column, out)?,
            Table::Range(range) => range.push(row, out),
            Table::Generated(generated) => generated.push(row, column, out),
            Table::Computed(rows) => rows.push(row, column, out)?,
        }
        Ok(())
    }

    fn cell<'a>(&self, cells: &'a [Value], row: u64, column: usize) -> &'a Value {
        let at = usize::try_from(row).ok();
        at.and_then(|row| cells.get(row * self.columns.len() + column))
            .unwrap_or(&Value::UNDEFINED)
    }
}

impl Column {
    const fn plain(name: String) -> Self {
        let is_plain = true;
        Self { name, is_plain }
    }
}

/// Whether a value is a text or a number, or missing.
fn is_plain(value: &Value) -> bool {
    use ValueKind::{Number, String, Undefined};
    matches!(value.kind(), Number | String | Undefined)
}

/// Appends a value's text.
fn push_value(value: &Value, out: &mut String) -> Result<(), DataError> {
    if value.is_undefined() {
        let message = "the row of the request has no value";
        return Err(DataError::new(message));
    }
    match value.as_str() {
        Some(text) => out.push_str(text),
        // Writing to a string does not fail.
        None => drop(write!(out, "{value}")),
    }
    Ok(())
}

/// A number of things, in words.
pub(crate) fn counted(count: u64, thing: &str) -> String {
    match count {
        1 => format!("1 {thing}"),
        count => format!("{count} {thing}s"),
    }
}

/// Whether columns can be told apart; they are named in a line, or with 0 in a plan. One without a
/// name can't be read.
fn check_columns(columns: &[String], line: u64) -> Result<(), FeedError> {
    if !columns.is_empty() && columns.iter().all(String::is_empty) {
        return Err(FeedError::at_line(line, "no column has a name"));
    }
    let mut known = HashSet::with_capacity(columns.len());
    for (at, name) in columns.iter().enumerate() {
        // Programs leave the column of row numbers without a name.
        if name.is_empty() {
            continue;
        }
        if name.contains(char::is_control) {
            let message = format!("the name of column {} has a control character", at + 1);
            return Err(FeedError::at_line(line, message));
        }
        if !known.insert(name) {
            return Err(FeedError::at_line(
                line,
                format!("two columns are named `{name}`"),
            ));
        }
    }
    Ok(())
}
