//! Comma-separated values (RFC 4180), as the crate `csv` reads them: `\n`, `\r\n` and `\r` end a
//! row, empty lines are skipped, and a quote has a meaning only at the beginning of a value.

use super::row_step::RowStep;
use csv_core::{ReadRecordResult, Reader, ReaderBuilder};
use std::sync::Arc;

/// The memory for the values of a row and for their number, which grows with longer rows.
const TEXT_BYTES: usize = 1 << 10;
const WIDTH: usize = 16;

/// How CSV is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CsvForm {
    /// The names of the columns; none where the first line has them.
    pub fields: Vec<String>,
    /// What separates values; a character of ASCII.
    pub delimiter: u8,
    /// What encloses values that have a delimiter or a line break; a character of ASCII.
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

/// Cuts rows of CSV and keeps the values of the last one.
#[derive(Debug)]
pub(super) struct CsvRows {
    form: Arc<CsvForm>,
    reader: Reader,
    /// The values of the row, one after the other.
    text: Vec<u8>,
    /// The end of each value in `text`.
    ends: Vec<usize>,
    width: usize,
}

impl Clone for CsvRows {
    /// Makes a new reader, because a clone of csv-core's does not have all of its tables.
    fn clone(&self) -> Self {
        Self::new(Arc::clone(&self.form))
    }
}

impl CsvRows {
    pub(super) fn new(form: Arc<CsvForm>) -> Self {
        Self {
            reader: reader(&form),
            form,
            text: vec![0; TEXT_BYTES],
            ends: vec![0; WIDTH],
            width: 0,
        }
    }

    /// Reads rows in the form of another reader; the memory stays.
    pub(super) fn reset(&mut self, other: &Self) {
        if !Arc::ptr_eq(&self.form, &other.form) {
            self.form.clone_from(&other.form);
            self.reader = reader(&self.form);
        }
    }

    /// Cuts the first row of a window; `is_last` means that nothing follows the window.
    pub(super) fn step(&mut self, window: &[u8], is_last: bool) -> RowStep {
        let blanks = window.iter().take_while(|byte| is_end(**byte)).count();
        if blanks > 0 || window.is_empty() {
            return RowStep::blank(blanks, is_last);
        }
        self.reader.reset();
        let mut input = window;
        let (mut read, mut written, mut width, mut is_ending) = (0, 0, 0, false);
        loop {
            let (result, bytes, text, ends) =
                self.reader
                    .read_record(input, &mut self.text[written..], &mut self.ends[width..]);
            (read, written, width) = (read + bytes, written + text, width + ends);
            input = &input[bytes..];
            match result {
                ReadRecordResult::OutputFull => self.text.resize(2 * self.text.len(), 0),
                ReadRecordResult::OutputEndsFull => self.ends.resize(2 * self.ends.len(), 0),
                ReadRecordResult::InputEmpty if !is_last => return RowStep::More,
                // A line end finishes the last row, unless a quote is open.
                ReadRecordResult::InputEmpty if !is_ending => (input, is_ending) = (b"\n", true),
                ReadRecordResult::InputEmpty | ReadRecordResult::End => {
                    return RowStep::broken(0, "a quote of the row that begins here is not closed");
                }
                ReadRecordResult::Record => {
                    self.width = width;
                    return RowStep::row(0..read - 1, read.min(window.len()));
                }
            }
        }
    }

    /// The number of values in the row.
    pub(super) const fn width(&self) -> usize {
        self.width
    }

    /// A value of the row; `None` if the row lacks it.
    pub(super) fn value(&self, column: usize) -> Option<&str> {
        let ends = &self.ends[..self.width];
        let start = match column.checked_sub(1) {
            Some(before) => *ends.get(before)?,
            None => 0,
        };
        std::str::from_utf8(&self.text[start..*ends.get(column)?]).ok()
    }
}

/// A reader of this form.
fn reader(form: &CsvForm) -> Reader {
    let mut builder = ReaderBuilder::new();
    builder.delimiter(form.delimiter);
    match form.quote {
        Some(quote) => builder.quote(quote),
        None => builder.quoting(false),
    };
    builder.build()
}

/// Whether a byte ends a row.
const fn is_end(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

#[cfg(test)]
mod tests {
    use super::{Arc, CsvForm, CsvRows};
    use crate::feed::row_step::RowStep;
    use csv::{ReaderBuilder, StringRecord};
    use proptest::prelude::*;

    /// The rows of a text, cut from windows that grow by `by`.
    fn rows(text: &str, form: &CsvForm, by: usize) -> Option<Vec<Vec<String>>> {
        let (mut from, mut to) = (0, by.min(text.len()));
        let (mut rows, mut reader) = (Vec::new(), CsvRows::new(Arc::new(form.clone())));
        loop {
            match reader.step(&text.as_bytes()[from..to], to == text.len()) {
                RowStep::Row { bytes, .. } => {
                    let values = (0..reader.width()).map(|column| {
                        let value = reader.value(column).expect("a whole row is text");
                        value.to_owned()
                    });
                    rows.push(values.collect());
                    from += bytes;
                }
                RowStep::Blank { bytes } => from += bytes,
                RowStep::More => to = (to + by).min(text.len()),
                RowStep::End => return Some(rows),
                RowStep::Broken { .. } => return None,
            }
        }
    }

    /// The rows as the crate reads them, to which a quote that nothing closes is closed by the end.
    fn rows_of_crate(text: &str, form: &CsvForm) -> Vec<Vec<String>> {
        let mut builder = ReaderBuilder::new();
        builder.has_headers(false).flexible(true);
        builder.delimiter(form.delimiter);
        match form.quote {
            Some(quote) => builder.quote(quote),
            None => builder.quoting(false),
        };
        let mut reader = builder.from_reader(text.as_bytes());
        let rows = reader.records().map(|row| row.expect("it is text"));
        let values = |row: StringRecord| row.iter().map(str::to_owned).collect();
        rows.map(values).collect()
    }

    #[test]
    fn quotes_enclose_what_would_end_a_value() {
        let form = CsvForm::default();
        for (text, row) in [
            ("a,\"b,\r\n\"\"c\"\"\",d", &["a", "b,\r\n\"c\"", "d"][..]),
            ("\"\",", &["", ""]),
            ("\"a\"b\"c,d", &["ab\"c", "d"]),
            ("a\"b\",\"\"\"\"", &["a\"b\"", "\""]),
            (" \"a\",b ", &[" \"a\"", "b "]),
        ] {
            for by in 1..9 {
                assert_eq!(
                    rows(text, &form, by),
                    Some(vec![row.iter().map(|value| (*value).to_owned()).collect()])
                );
            }
        }
        for text in ["a,\"b\nc,d", "\"", "\"a\"\""] {
            assert_eq!(rows(text, &form, 2), None, "{text}");
        }
    }

    proptest! {
        /// Any text has the rows that the crate finds in it, whatever windows it is read in.
        #[test]
        fn rows_are_those_of_the_crate(
            text in "[ab,;\"'\r\n\u{e4} ]{0,40}",
            by in 1_usize..9,
            which in 0_usize..3,
        ) {
            let form = CsvForm {
                delimiter: b",;,"[which],
                quote: [Some(b'"'), Some(b'\''), None][which],
                ..CsvForm::default()
            };
            // Windows end between characters here; what cuts them is checked row by row.
            let text = text.replace('\u{e4}', if by % 2 == 0 { "\u{e4}" } else { "e" });
            if by % 2 == 1 || text.is_ascii() {
                prop_assert_eq!(rows(&text, &form, by), rows(&text, &form, text.len() + 1));
            }
            if let Some(found) = rows(&text, &form, text.len() + 1) {
                prop_assert_eq!(found, rows_of_crate(&text, &form));
            }
        }
    }
}
