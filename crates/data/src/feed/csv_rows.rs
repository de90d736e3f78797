//! Comma-separated values.

use super::{FeedError, check_columns, counted};
use csv::{Reader, ReaderBuilder, StringRecord};
use minijinja::Value;

/// How CSV is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CsvForm {
    /// The names of the columns; none where the first line has them.
    pub fields: Vec<String>,
    /// What separates values.
    pub delimiter: u8,
    /// What encloses values that have a delimiter or a line break.
    pub quote: Option<u8>,
    /// Whether the first line is no row.
    pub header: bool,
}

impl Default for CsvForm {
    fn default() -> Self {
        Self {
            fields: Vec::new(),
            delimiter: b',',
            quote: Some(b'"'),
            header: true,
        }
    }
}

/// A table's columns and cells.
pub(super) struct CsvRows {
    pub(super) columns: Vec<String>,
    pub(super) cells: Vec<Value>,
}

/// Reads a whole file.
pub(super) fn read(bytes: &[u8], form: &CsvForm) -> Result<CsvRows, FeedError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut reader = reader(bytes, form);
    let mut record = StringRecord::new();
    let mut columns = form.fields.clone();
    if form.header && next(&mut reader, &mut record)? && columns.is_empty() {
        columns = record.iter().map(|name| name.trim().to_owned()).collect();
    }
    check_columns(&columns, 1)?;
    let mut cells = Vec::new();
    let mut last = None;
    while next(&mut reader, &mut record)? {
        last = record.position().cloned();
        check_length(&record, columns.len())?;
        cells.extend(record.iter().map(Value::from));
    }
    if let Some(last) = last {
        check_end(bytes, &last, form)?;
    }
    Ok(CsvRows { columns, cells })
}

/// The reader of records; lengths are ours to check.
fn reader<'a>(bytes: &'a [u8], form: &CsvForm) -> Reader<&'a [u8]> {
    let mut builder = ReaderBuilder::new();
    builder
        .has_headers(false)
        .flexible(true)
        .delimiter(form.delimiter);
    match form.quote {
        Some(quote) => builder.quote(quote),
        None => builder.quoting(false),
    };
    builder.from_reader(bytes)
}

fn next(reader: &mut Reader<&[u8]>, record: &mut StringRecord) -> Result<bool, FeedError> {
    let read = reader.read_record(record);
    read.map_err(|error| {
        let line = error.position().map_or(0, csv::Position::line);
        let message = match error.kind() {
            csv::ErrorKind::Utf8 { .. } => "the text is not UTF-8".to_owned(),
            _ => error.to_string(),
        };
        FeedError::at(line, message)
    })
}

fn check_length(record: &StringRecord, columns: usize) -> Result<(), FeedError> {
    if record.len() == columns {
        return Ok(());
    }
    let has = counted(record.len(), "value");
    let columns = match columns {
        1 => "there is 1 column".to_owned(),
        columns => format!("there are {columns} columns"),
    };
    Err(FeedError::at(
        line_of(record),
        format!("it has {has}, and {columns}"),
    ))
}

fn line_of(record: &StringRecord) -> u64 {
    record.position().map_or(0, csv::Position::line)
}

/// A quote that nothing closes swallows the rest of the file: the last record then has an odd number
/// of them, of which one opens a value.
fn check_end(bytes: &[u8], last: &csv::Position, form: &CsvForm) -> Result<(), FeedError> {
    let start = usize::try_from(last.byte()).ok();
    let record = start.and_then(|start| bytes.get(start..));
    let (Some(quote), Some(record)) = (form.quote, record) else {
        return Ok(());
    };
    let count = record.iter().filter(|byte| **byte == quote).count();
    let opens = record.first() == Some(&quote)
        || record
            .windows(2)
            .any(|pair| pair == [form.delimiter, quote]);
    match count % 2 == 1 && opens {
        true => {
            let message = "a quote opens here and nothing closes it";
            Err(FeedError::at(last.line(), message))
        }
        false => Ok(()),
    }
}
