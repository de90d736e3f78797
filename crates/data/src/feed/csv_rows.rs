//! Comma-separated values (RFC 4180), as the crate `csv` reads them: `\n`, `\r\n` and `\r` end a row,
//! empty lines are none, and a quote has no meaning but at the beginning of a value.

use super::row_step::RowStep;
use memchr::{memchr, memchr3};
use std::ops::Range;

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

/// A value, by its place in what the row was cut from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CsvField {
    at: Range<usize>,
    is_quoted: bool,
}

/// Cuts the first row of a window into its fields; `is_last` says that nothing follows the window.
pub(super) fn step(
    window: &[u8],
    is_last: bool,
    form: &CsvForm,
    fields: &mut Vec<CsvField>,
) -> RowStep {
    let blanks = window.iter().take_while(|byte| is_end(**byte)).count();
    if blanks > 0 || window.is_empty() {
        return RowStep::blank(blanks, is_last);
    }
    fields.clear();
    let mut at = 0;
    loop {
        let is_quoted = form.quote.is_some() && window.get(at) == form.quote.as_ref();
        let behind = match (form.quote, is_quoted) {
            (Some(quote), true) => closed(window, at + 1, quote),
            _ => Some(at),
        };
        let Some(behind) = behind else {
            let message = "a quote that opens here is not closed";
            return match is_last {
                true => RowStep::broken(at, message),
                false => RowStep::More,
            };
        };
        let rest = &window[behind..];
        let end = memchr3(form.delimiter, b'\n', b'\r', rest).map(|end| behind + end);
        let field = |end| CsvField {
            at: at..end,
            is_quoted,
        };
        match end {
            None if !is_last => return RowStep::More,
            None => {
                fields.push(field(window.len()));
                return RowStep::row(0..window.len(), window.len());
            }
            Some(end) => {
                fields.push(field(end));
                if is_end(window[end]) {
                    return RowStep::row(0..end, end + 1);
                }
                at = end + 1;
            }
        }
    }
}

/// Whether a byte ends a row.
const fn is_end(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

/// The place behind the quote that closes a value, which is read from `at` on. Two quotes are one of
/// the value's own.
fn closed(window: &[u8], mut at: usize, quote: u8) -> Option<usize> {
    loop {
        at += memchr(quote, window.get(at..)?)? + 1;
        if window.get(at) != Some(&quote) {
            return Some(at);
        }
        at += 1;
    }
}

/// Appends a field's value; `row` is the text that it was cut from.
pub(super) fn push(row: &str, field: &CsvField, form: &CsvForm, out: &mut String) {
    let text = row.get(field.at.clone()).unwrap_or_default();
    let quote = form.quote.filter(|_| field.is_quoted).map(char::from);
    let Some((quote, mut rest)) = quote.and_then(|quote| Some((quote, text.strip_prefix(quote)?)))
    else {
        return out.push_str(text);
    };
    while let Some((before, behind)) = rest.split_once(quote) {
        out.push_str(before);
        rest = behind;
        match rest.strip_prefix(quote) {
            Some(behind) => {
                out.push(quote);
                rest = behind;
            }
            // What stands behind the closing quote is taken as it stands.
            None => break,
        }
    }
    out.push_str(rest);
}

#[cfg(test)]
mod tests {
    use super::{CsvForm, push, step};
    use crate::feed::row_step::RowStep;
    use csv::{ReaderBuilder, StringRecord};
    use proptest::prelude::*;

    /// The rows of a text, cut from windows that grow by `by`.
    fn rows(text: &str, form: &CsvForm, by: usize) -> Option<Vec<Vec<String>>> {
        let (mut from, mut to) = (0, by.min(text.len()));
        let (mut rows, mut fields) = (Vec::new(), Vec::new());
        loop {
            match step(
                &text.as_bytes()[from..to],
                to == text.len(),
                form,
                &mut fields,
            ) {
                RowStep::Row { row, bytes } => {
                    let row = &text[from..to][row];
                    let values = fields.iter().map(|field| {
                        let mut value = String::new();
                        push(row, field, form, &mut value);
                        value
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
