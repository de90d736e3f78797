//! Tables of values that requests draw on: CSV with a header, or one JSON object a line.

use minijinja::Value;
use std::collections::{BTreeMap, HashMap};
use std::fmt;

/// A table with named columns and at least one row.
#[derive(Clone, Debug)]
pub struct Feed {
    columns: Vec<String>,
    /// Cells row by row, `columns.len()` each; undefined where a row lacks one.
    cells: Vec<Value>,
}

/// Why a feed could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeedError {
    /// The line it was found in, from 1; 0 when it concerns the whole.
    pub line: u64,
    /// The mistake.
    pub message: String,
}

impl fmt::Display for FeedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => f.write_str(&self.message),
            line => write!(f, "line {line}: {}", self.message),
        }
    }
}

impl std::error::Error for FeedError {}

impl FeedError {
    fn at(line: u64, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { line, message }
    }
}

impl Feed {
    /// Reads comma-separated values (RFC 4180) whose first line names the columns. All values are
    /// texts.
    ///
    /// # Errors
    /// A row of another length, text that is not UTF-8, a column without a name or named twice,
    /// or no row at all.
    pub fn from_csv(bytes: &[u8]) -> Result<Self, FeedError> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let mut reader = csv::Reader::from_reader(bytes);
        let header = reader.headers().map_err(|error| csv_error(&error))?;
        let columns: Vec<String> = header.iter().map(|name| name.trim().to_owned()).collect();
        check_columns(&columns)?;
        let mut cells = Vec::new();
        let mut record = csv::StringRecord::new();
        while reader
            .read_record(&mut record)
            .map_err(|error| csv_error(&error))?
        {
            cells.extend(record.iter().map(Value::from));
        }
        Self::new(columns, cells)
    }

    /// Reads one JSON object a line; empty lines are passed over. Values keep their types, and an
    /// object may lack what others have.
    ///
    /// # Errors
    /// A line that is no JSON object, or no line at all.
    pub fn from_json_lines(bytes: &[u8]) -> Result<Self, FeedError> {
        let text = std::str::from_utf8(bytes).map_err(|error| {
            let before = &bytes[..error.valid_up_to()];
            let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
            FeedError::at(line as u64, "the text is not UTF-8")
        })?;
        let mut columns = Vec::new();
        let mut places = HashMap::new();
        let mut rows = Vec::new();
        for (line, object) in (1..)
            .zip(text.lines())
            .filter(|(_, text)| !text.trim().is_empty())
        {
            let object: serde_json::Map<String, serde_json::Value> =
                serde_json::from_str(object)
                    .map_err(|error| FeedError::at(line, format!("no JSON object: {error}")))?;
            let mut row = Vec::with_capacity(object.len());
            for (name, value) in object {
                let place = *places.entry(name).or_insert_with_key(|name| {
                    columns.push(name.clone());
                    columns.len() - 1
                });
                row.push((place, from_json(value)));
            }
            rows.push(row);
        }
        let mut cells = vec![Value::UNDEFINED; columns.len() * rows.len()];
        for (row, values) in cells.chunks_mut(columns.len().max(1)).zip(rows) {
            for (place, value) in values {
                row[place] = value;
            }
        }
        Self::new(columns, cells)
    }

    fn new(columns: Vec<String>, cells: Vec<Value>) -> Result<Self, FeedError> {
        if cells.is_empty() {
            return Err(FeedError::at(0, "the feed has no rows"));
        }
        Ok(Self { columns, cells })
    }

    /// The names of the columns.
    #[must_use]
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// How many rows there are; at least 1.
    #[must_use]
    pub fn rows(&self) -> u64 {
        (self.cells.len() / self.columns.len()) as u64
    }

    /// Whether a column has nothing but texts and numbers.
    pub(crate) fn is_plain(&self, column: usize) -> bool {
        use minijinja::value::ValueKind::{Number, String, Undefined};
        let mut values = self.cells.iter().skip(column).step_by(self.columns.len());
        values.all(|value| matches!(value.kind(), Number | String | Undefined))
    }

    /// Which column has this name.
    pub(crate) fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column == name)
    }

    /// The value in a row, counted from 0; undefined where there is none.
    pub(crate) fn cell(&self, row: u64, column: usize) -> &Value {
        let at = usize::try_from(row).ok();
        at.and_then(|row| self.cells.get(row * self.columns.len() + column))
            .unwrap_or(&Value::UNDEFINED)
    }
}

fn check_columns(columns: &[String]) -> Result<(), FeedError> {
    for (at, name) in columns.iter().enumerate() {
        if name.is_empty() {
            let message = format!("column {} has no name", at + 1);
            return Err(FeedError::at(1, message));
        }
        if columns[..at].contains(name) {
            return Err(FeedError::at(1, format!("two columns are named `{name}`")));
        }
    }
    Ok(())
}

/// The reader's error, with its line.
fn csv_error(error: &csv::Error) -> FeedError {
    let line = error.position().map_or(0, csv::Position::line);
    let message = match error.kind() {
        csv::ErrorKind::Utf8 { .. } => "the text is not UTF-8".to_owned(),
        csv::ErrorKind::UnequalLengths {
            expected_len, len, ..
        } => {
            format!("{len} values where the header has {expected_len}")
        }
        _ => error.to_string(),
    };
    FeedError::at(line, message)
}

/// A JSON value as templates see it. The reader of JSON has bounded its depth.
fn from_json(value: serde_json::Value) -> Value {
    use serde_json::Value as Json;
    match value {
        Json::Null => Value::from(()),
        Json::Bool(value) => Value::from(value),
        Json::Number(number) => match (number.as_i64(), number.as_u64(), number.as_f64()) {
            (Some(value), ..) => Value::from(value),
            (None, Some(value), _) => Value::from(value),
            (None, None, value) => Value::from(value.unwrap_or(f64::NAN)),
        },
        Json::String(text) => Value::from(text),
        Json::Array(list) => list.into_iter().map(from_json).collect(),
        Json::Object(map) => {
            let values = map.into_iter().map(|(key, value)| (key, from_json(value)));
            Value::from(values.collect::<BTreeMap<String, Value>>())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Feed;

    fn table(feed: &Feed) -> Vec<Vec<String>> {
        let columns = feed.columns().len();
        let row = |row| {
            (0..columns)
                .map(|column| feed.cell(row, column).to_string())
                .collect()
        };
        (0..feed.rows()).map(row).collect()
    }

    #[test]
    fn csv_has_a_header_and_quotes() {
        let feed = Feed::from_csv(b"\xef\xbb\xbfname, age\r\n\"a \"\"b\"\"\n,c\",7\nd,\n").unwrap();
        assert_eq!(feed.columns(), ["name", "age"]);
        assert_eq!(table(&feed), [["a \"b\"\n,c", "7"], ["d", ""]]);
    }

    #[test]
    fn json_lines_keep_types_and_may_lack_values() {
        let text = "{\"a\": 9007199254740993, \"b\": \"x\"}\n\n{\"c\": [1.5, null], \"a\": true}\n";
        let feed = Feed::from_json_lines(text.as_bytes()).unwrap();
        assert_eq!(feed.columns(), ["a", "b", "c"]);
        assert_eq!(
            table(&feed),
            [["9007199254740993", "x", ""], ["True", "", "[1.5, None]"]]
        );
        assert!(feed.cell(1, 1).is_undefined() && feed.cell(9, 0).is_undefined());
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        let csv = |text: &str| {
            Feed::from_csv(text.as_bytes())
                .map(drop)
                .unwrap_err()
                .to_string()
        };
        assert_eq!(
            csv("a,b\n1,2\n3\n"),
            "line 3: 1 values where the header has 2"
        );
        assert_eq!(csv("a,a\n1,2\n"), "line 1: two columns are named `a`");
        assert_eq!(csv("a,\n1,2\n"), "line 1: column 2 has no name");
        assert_eq!(csv("a,b\n"), "the feed has no rows");
        assert_eq!(csv(""), "the feed has no rows");
        let json = |text: &[u8]| {
            Feed::from_json_lines(text)
                .map(drop)
                .unwrap_err()
                .to_string()
        };
        assert!(json(b"{}\n[1]\n").starts_with("line 2: no JSON object"));
        assert_eq!(json(b"{\"a\":1}\n\xff"), "line 2: the text is not UTF-8");
        assert_eq!(json(b"{}\n"), "the feed has no rows");
    }
}
