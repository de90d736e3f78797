//! A file of rows, as it is read once before the run.

use super::csv_rows::Quotes;
use super::json_rows::{JsonColumns, RowValues};
use super::row_reader::{FeedFormat, RowReader};
use super::row_step::RowStep;
use super::stored_rows::{RowIndex, StoredRows};
use super::{Column, Feed, FeedError, Table, VALUE, check_columns, counted};
use crate::read_at::{MEMORY_BYTES_MAX, ReadAt, Window};
use minijinja::Value;
use std::sync::Arc;

/// Rows as far as they were read.
struct Reading<'a> {
    format: &'a FeedFormat,
    /// The names of columns of CSV and of lines.
    columns: Vec<String>,
    json: JsonColumns,
    rows: u64,
    /// The first line with quotes within a value that does not begin with one.
    quotes_within: Option<u64>,
    kept: Kept,
}

/// What stays of the rows.
enum Kept {
    /// The values of CSV and of lines.
    Cells(Vec<Value>),
    /// The values of JSON.
    Json(RowValues),
    /// The places where rows begin.
    Index(RowIndex),
}

/// Reads a file: a small one stays in memory, and of a large one the places of its rows.
pub(super) fn read(source: Arc<dyn ReadAt>, format: &FeedFormat) -> Result<Feed, FeedError> {
    let is_large = source.size() > MEMORY_BYTES_MAX;
    read_with(source, format, is_large.then(RowIndex::default))
}

/// Reads a file into memory, or into an index.
pub(super) fn read_with(
    source: Arc<dyn ReadAt>,
    format: &FeedFormat,
    index: Option<RowIndex>,
) -> Result<Feed, FeedError> {
    let opened = Window::open(Arc::clone(&source));
    let mut window = opened.map_err(|error| FeedError::at_line(0, error))?;
    let mut reading = Reading::new(format, index);
    let reader = reading.read(&mut window)?;
    reading.into_feed(source, reader, window.offset())
}

impl<'a> Reading<'a> {
    fn new(format: &'a FeedFormat, index: Option<RowIndex>) -> Self {
        Self {
            format,
            columns: match format {
                FeedFormat::Csv(form) => form.fields.clone(),
                FeedFormat::Lines => vec![VALUE.to_owned()],
                FeedFormat::Json | FeedFormat::JsonLines => Vec::new(),
            },
            json: JsonColumns::default(),
            rows: 0,
            quotes_within: None,
            kept: match (index, format) {
                (Some(index), _) => Kept::Index(index),
                (None, FeedFormat::Json | FeedFormat::JsonLines) => Kept::Json(Vec::new()),
                (None, FeedFormat::Csv(_) | FeedFormat::Lines) => Kept::Cells(Vec::new()),
            },
        }
    }

    /// Reads to the end; returns the reader as it reads any row but the first.
    fn read(&mut self, window: &mut Window) -> Result<RowReader, FeedError> {
        let mut reader = RowReader::new(self.format);
        let mut has_names = matches!(self.format, FeedFormat::Csv(form) if form.header);
        if !has_names {
            check_columns(&self.columns, 1)?;
        }
        let mut line = 1;
        loop {
            let rest = window.rest();
            match reader.step(rest, window.is_last()) {
                RowStep::Row { row, bytes } => {
                    let at = line + window.lines_before(row.start);
                    if let FeedFormat::Csv(form) = self.format {
                        let checked = form.check_quotes(&rest[row.clone()]);
                        let quotes = checked.map_err(|stray| {
                            let before = window.lines_before(row.start + stray.at);
                            FeedError::at_line(line + before, stray.message)
                                .with_advice(stray.advice)
                        })?;
                        if quotes == Quotes::Within {
                            self.quotes_within.get_or_insert(at);
                        }
                    }
                    let text = text(&rest[row], at)?;
                    if has_names {
                        has_names = false;
                        self.name(&reader, text)?;
                    } else {
                        let offset = window.offset();
                        self.add_row(&reader, text, at, offset)?;
                    }
                    self.cover(&rest[..bytes]);
                    line += window.consume(bytes);
                }
                RowStep::Blank { bytes } => {
                    self.cover(&rest[..bytes]);
                    line += window.consume(bytes);
                }
                RowStep::More => window.grow().map_err(|error| self.too_long(line, error))?,
                RowStep::Broken { at, message } => {
                    return Err(FeedError::at_line(line + window.lines_before(at), message));
                }
                RowStep::End => return Ok(reader),
            }
        }
    }

    /// Takes note of bytes that the reader has passed.
    fn cover(&mut self, bytes: &[u8]) {
        if let Kept::Index(index) = &mut self.kept {
            index.cover(bytes);
        }
    }

    /// A row that is too long, or a file that can't be read.
    fn too_long(&self, line: u64, error: String) -> FeedError {
        match self.format {
            FeedFormat::Csv(form) if form.quote.is_some() => {
                FeedError::at_line(line, format!("{error}; is a closing quote missing?"))
            }
            _ => FeedError::at_line(line, error),
        }
    }

    /// Takes the names of columns from the first line, unless the plan has them.
    fn name(&mut self, reader: &RowReader, row: &str) -> Result<(), FeedError> {
        if self.columns.is_empty() {
            for column in 0..reader.width().unwrap_or(0) {
                let mut name = String::new();
                let pushed = reader.push(row, column, &mut name);
                pushed.map_err(|error| FeedError::at_line(1, error.words))?;
                self.columns.push(name.trim().to_owned());
            }
            self.check_delimiter()?;
        }
        check_columns(&self.columns, 1)
    }

    /// Refuses names that show that the values have another delimiter: all in one column, or with
    /// tabs, which no name has.
    fn check_delimiter(&self) -> Result<(), FeedError> {
        let FeedFormat::Csv(form) = self.format else {
            return Ok(());
        };
        let is_one = self.columns.len() == 1;
        let mut names = self.columns.iter();
        let name = names.find(|name| is_one || name.contains('\t'));
        let other = name.and_then(|name| Some((name, form.other_delimiter(name)?)));
        let Some((name, word)) = other else {
            return Ok(());
        };
        let message = format!("a column is named `{}`", name.escape_debug());
        Err(FeedError::at_line(1, message).with_advice(format!(
            "if the values have another delimiter, set `delimiter: {word}`; otherwise, name the \
             columns with `fields` and set `header: true`"
        )))
    }

    /// The advice on a row that is one value instead of several, and has another delimiter.
    fn advice(&self, row: &str, width: usize) -> String {
        let form = match self.format {
            FeedFormat::Csv(form) if width == 1 => form,
            _ => return String::new(),
        };
        match form.other_delimiter(row) {
            Some(word) => format!("if the values have another delimiter, set `delimiter: {word}`"),
            None => String::new(),
        }
    }

    /// Adds a row, which begins in a line and in a place of the file.
    fn add_row(
        &mut self,
        reader: &RowReader,
        row: &str,
        line: u64,
        offset: u64,
    ) -> Result<(), FeedError> {
        let wanted = self.columns.len();
        let width = reader.width().filter(|width| *width != wanted);
        if let Some(width) = width {
            let columns = match wanted {
                1 => "there is 1 column".to_owned(),
                columns => format!("there are {columns} columns"),
            };
            let message = format!(
                "the row has {}, but {columns}",
                counted(width as u64, "value")
            );
            return Err(FeedError::at_line(line, message).with_advice(self.advice(row, width)));
        }
        match &mut self.kept {
            Kept::Index(index) => {
                if matches!(self.format, FeedFormat::Json | FeedFormat::JsonLines) {
                    self.json.note(row, line)?;
                }
                index.note(self.rows, offset);
            }
            Kept::Json(rows) => rows.push(self.json.read(row, line)?),
            Kept::Cells(cells) => {
                for column in 0..wanted {
                    let value = reader.value(row, column);
                    cells.push(value.map_err(|error| FeedError::at_line(line, error.words))?);
                }
            }
        }
        self.rows += 1;
        Ok(())
    }

    fn into_feed(
        self,
        source: Arc<dyn ReadAt>,
        reader: RowReader,
        end: u64,
    ) -> Result<Feed, FeedError> {
        let columns: Vec<Column> = match self.format {
            FeedFormat::Csv(_) | FeedFormat::Lines => {
                self.columns.into_iter().map(Column::plain).collect()
            }
            FeedFormat::Json | FeedFormat::JsonLines => {
                let columns = self.json.list();
                let column = |(name, is_plain): (&str, bool)| Column {
                    name: name.to_owned(),
                    is_plain,
                };
                columns.map(column).collect()
            }
        };
        if self.rows == 0 || columns.is_empty() {
            return Err(FeedError::at_line(0, "the feed has no rows"));
        }
        Ok(Feed {
            columns,
            rows: self.rows,
            note: self.quotes_within.map(|line| {
                format!(
                    "line {line} has a quote within a value that does not begin with one; it is part \
                     of the value, though RFC 4180 does not allow it"
                )
            }),
            table: match self.kept {
                Kept::Cells(cells) => Table::Cells(cells.into()),
                Kept::Json(rows) => Table::Cells(self.json.cells(rows).into()),
                Kept::Index(index) => Table::Stored(Arc::new(StoredRows::new(
                    source,
                    [RowReader::new(self.format), reader],
                    self.json,
                    index.finish(end),
                ))),
            },
        })
    }
}

/// A row as text.
fn text(row: &[u8], line: u64) -> Result<&str, FeedError> {
    std::str::from_utf8(row).map_err(|error| {
        let before = &row[..error.valid_up_to()];
        let lines = before.iter().filter(|&&byte| byte == b'\n').count();
        FeedError::at_line(line + lines as u64, "the text is not UTF-8")
    })
}
