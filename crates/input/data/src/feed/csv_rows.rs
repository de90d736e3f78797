//! Comma-separated values (RFC 4180), as the crate `csv` reads them: `\n`, `\r\n` and `\r` end a
//! row, empty lines are skipped, and a quote has a meaning only at the beginning of a value.
//!
//! The crate reads any text. [`CsvForm::check_quotes`] refuses rows in which a quote encloses only a
//! part of a value, and [`CsvForm::other_delimiter`] finds rows with another delimiter.

use super::row_step::RowStep;
use csv_core::{ReadRecordResult, Reader, ReaderBuilder};
use memchr::memchr;
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

/// The usual delimiters, with the words for a plan.
const DELIMITERS: [(u8, &str); 4] = [(b'\t', "tab"), (b';', "';'"), (b',', "','"), (b'|', "'|'")];

/// A quote that encloses only a part of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StrayQuote {
    /// The bytes of the row before the mistake.
    pub(super) at: usize,
    /// The mistake.
    pub(super) message: String,
    /// The correction.
    pub(super) advice: &'static str,
}

/// The quotes of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quotes {
    /// None, or around whole values.
    Whole,
    /// Some are within a value that does not begin with one, which RFC 4180 does not allow. They are
    /// part of the value.
    Within,
}

impl CsvForm {
    /// Checks that each value of a row is enclosed in quotes as a whole, or not at all. Quotes within
    /// a value that does not begin with one are part of it.
    ///
    /// # Errors
    /// The first value with a blank before its opening quote, or with text after its closing one.
    pub(super) fn check_quotes(&self, row: &[u8]) -> Result<Quotes, StrayQuote> {
        let Some(quote) = self.quote.filter(|quote| memchr(*quote, row).is_some()) else {
            return Ok(Quotes::Whole);
        };
        let mut quotes = Quotes::Whole;
        let is_blank = |byte: &&u8| matches!(**byte, b' ' | b'\t') && **byte != self.delimiter;
        let mut at = 0;
        for column in 1_u32.. {
            let rest = &row[at..];
            let opening = at + rest.iter().take_while(is_blank).count();
            if row.get(opening) == Some(&quote) {
                if opening > at {
                    return Err(StrayQuote {
                        at: opening,
                        message: format!("value {column} has a blank before its opening quote"),
                        advice: "remove the blank, or set `quote: none` if quotes are part of the \
                                 values",
                    });
                }
                at = closing(row, opening + 1, quote) + 1;
                if row.get(at).is_some_and(|byte| *byte != self.delimiter) {
                    return Err(StrayQuote {
                        at,
                        message: format!("value {column} has text after its closing quote"),
                        advice: "write a quote within a value twice, or set `quote: none` if quotes \
                                 are part of the values",
                    });
                }
            } else {
                let length = memchr(self.delimiter, rest).unwrap_or(rest.len());
                if memchr(quote, &rest[..length]).is_some() {
                    quotes = Quotes::Within;
                }
                at += length;
            }
            if at >= row.len() {
                break;
            }
            at += 1;
        }
        Ok(quotes)
    }

    /// The word for another usual delimiter that a text contains.
    pub(super) fn other_delimiter(&self, text: &str) -> Option<&'static str> {
        let mut others = DELIMITERS
            .iter()
            .filter(|(byte, _)| *byte != self.delimiter);
        let found = others.find(|(byte, _)| text.as_bytes().contains(byte));
        found.map(|(_, word)| *word)
    }
}

/// The place of the quote that closes a value, of which `from` is the first byte; a quote that
/// stands twice is part of the value.
fn closing(row: &[u8], mut from: usize, quote: u8) -> usize {
    while let Some(at) = row.get(from..).and_then(|rest| memchr(quote, rest)) {
        from += at;
        if row.get(from + 1) != Some(&quote) {
            return from;
        }
        from += 2;
    }
    row.len()
}

/// Cuts rows of CSV and keeps the values of the last one.
#[derive(Debug)]
pub(super) struct CsvCutter {
    form: Arc<CsvForm>,
    reader: Reader,
    /// The values of the row, one after the other.
    text: Vec<u8>,
    /// The end of each value in `text`.
    ends: Vec<usize>,
    width: usize,
}

impl Clone for CsvCutter {
    /// Makes a new reader, because a clone of csv-core's does not have all of its tables.
    fn clone(&self) -> Self {
        Self::new(Arc::clone(&self.form))
    }
}

impl CsvCutter {
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
    use super::{Arc, CsvCutter, CsvForm};
    use crate::feed::row_step::RowStep;
    use csv::{ReaderBuilder, StringRecord};
    use proptest::prelude::*;

    /// The rows of a text, cut from windows that grow by `by`.
    fn rows(text: &str, form: &CsvForm, by: usize) -> Option<Vec<Vec<String>>> {
        let (mut from, mut to) = (0, by.min(text.len()));
        let (mut rows, mut reader) = (Vec::new(), CsvCutter::new(Arc::new(form.clone())));
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

    /// The mistake in the quotes of a row, with the bytes before it.
    fn stray(row: &str, form: &CsvForm) -> Option<(usize, String)> {
        let stray = form.check_quotes(row.as_bytes()).err()?;
        Some((stray.at, stray.message))
    }

    #[test]
    fn quotes_enclose_whole_values() {
        let comma = CsvForm::default();
        let tab = CsvForm {
            delimiter: b'\t',
            ..CsvForm::default()
        };
        for (form, row, found) in [
            (&comma, "\"a\",\"\",\"b,\n\"\"\"\"c\"", None),
            (&comma, "a \"b\" c,5\"", None),
            (&comma, "a,", None),
            (&comma, "\"", None),
            (
                &comma,
                "\"a\"b,c",
                Some((3, "value 1 has text after its closing quote")),
            ),
            (
                &comma,
                "a,\"b\" ,c",
                Some((5, "value 2 has text after its closing quote")),
            ),
            (
                &comma,
                "\"a\"\"b\"c",
                Some((6, "value 1 has text after its closing quote")),
            ),
            (
                &comma,
                "a,\"x\ny\"\"\"z",
                Some((9, "value 2 has text after its closing quote")),
            ),
            (
                &comma,
                "a, \"b,c\"",
                Some((3, "value 2 has a blank before its opening quote")),
            ),
            (
                &comma,
                "\t\"b\"",
                Some((1, "value 1 has a blank before its opening quote")),
            ),
            (&tab, "\t\"b\"\t\"c\"", None),
            (
                &tab,
                "\t \"b\"",
                Some((2, "value 2 has a blank before its opening quote")),
            ),
        ] {
            let found = found.map(|(at, message)| (at, message.to_owned()));
            assert_eq!(stray(row, form), found, "{row}");
        }
        let none = CsvForm {
            quote: None,
            ..CsvForm::default()
        };
        assert_eq!(stray("\"a\"b", &none), None);
    }

    proptest! {
        /// A row whose quotes pass the check is written again from its values: nothing is lost.
        #[test]
        fn rows_that_pass_the_check_lose_nothing(row in "[ab,\"\n ]{1,20}") {
            let form = CsvForm::default();
            let row = row.trim_matches('\n');
            let cut = rows(row, &form, row.len() + 1);
            let cut = cut.filter(|rows| rows.len() == 1 && stray(row, &form).is_none());
            let mut rest = row;
            for (column, value) in cut.into_iter().flatten().flatten().enumerate() {
                if column > 0 {
                    prop_assert!(rest.starts_with(','), "{} in {}", rest, row);
                    rest = &rest[1..];
                }
                let written = match rest.starts_with('"') {
                    true => format!("\"{}\"", value.replace('"', "\"\"")),
                    false => value,
                };
                prop_assert!(rest.starts_with(&written), "{} in {}", written, row);
                rest = &rest[written.len()..];
            }
        }

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
