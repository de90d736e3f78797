//! Tables of values that requests draw on, whatever their rows come from.

mod csv_rows;
mod generated;
pub(crate) mod json_rows;
mod json_values;
mod range;
mod words;

pub use csv_rows::CsvForm;
pub use generated::{Generated, KINDS, Kind};
pub use range::Range;

use drumfire_plan::DataError;
use json_rows::JsonRows;
pub(crate) use json_values::{JsonNext, JsonValues};
use minijinja::Value;
use minijinja::value::ValueKind;
use std::fmt::{self, Write as _};

/// The name of the column of rows that are single values.
pub const VALUE: &str = "value";

/// A table with named columns and at least one row.
#[derive(Clone, Debug)]
pub struct Feed {
    columns: Vec<Column>,
    rows: u64,
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
    Cells(Vec<Value>),
    Range(Range),
    Generated(Generated),
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
    /// Reads comma-separated values (RFC 4180). All values are texts.
    ///
    /// # Errors
    /// A row of another length, text that is not UTF-8, a column without a name or named twice,
    /// or no row at all.
    pub fn from_csv(bytes: &[u8], form: &CsvForm) -> Result<Self, FeedError> {
        let rows = csv_rows::read(bytes, form)?;
        Self::of_cells(rows.columns, rows.cells)
    }

    /// Reads one JSON object a line; empty lines are passed over. Values keep their types, and an
    /// object may lack what others have. Lines may also be values that are no objects: of one
    /// column then.
    ///
    /// # Errors
    /// A line that is no JSON value, or no line at all.
    pub fn from_json_lines(bytes: &[u8]) -> Result<Self, FeedError> {
        let mut rows = JsonRows::default();
        for (line, text) in (1..).zip(text_of(bytes)?.lines()) {
            if !text.trim().is_empty() {
                rows.add(text, line)?;
            }
        }
        Self::of_json(rows)
    }

    /// Reads an array of JSON objects, or such objects one after the other.
    ///
    /// # Errors
    /// An element that is no JSON value, an array without an end, or no element at all.
    pub fn from_json(bytes: &[u8]) -> Result<Self, FeedError> {
        let mut rest = text_of(bytes)?;
        let mut values = JsonValues::default();
        let mut rows = JsonRows::default();
        let mut line = 1;
        loop {
            let next = values.next(rest.as_bytes(), true);
            let (start, end) = match next {
                JsonNext::Value { start, end } => (start, end),
                JsonNext::End | JsonNext::More => return Self::of_json(rows),
                JsonNext::Broken { at, message } => {
                    return Err(FeedError::at(line + lines_in(&rest[..at]), message));
                }
            };
            rows.add(&rest[start..end], line + lines_in(&rest[..start]))?;
            line += lines_in(&rest[..end]);
            rest = &rest[end..];
        }
    }

    /// The lines of a text, each a value; empty ones are passed over.
    ///
    /// # Errors
    /// Text that is not UTF-8, or no line at all.
    pub fn from_lines(bytes: &[u8]) -> Result<Self, FeedError> {
        let lines = text_of(bytes)?.lines().filter(|line| !line.is_empty());
        Self::of_cells(vec![VALUE.to_owned()], lines.map(Value::from).collect())
    }

    /// Rows of a plan as a JSON array: of objects, of lists of values for the columns named
    /// `fields`, or of values.
    ///
    /// # Errors
    /// Rows of several kinds or lengths, or none.
    pub fn from_inline(json: &str, fields: &[String]) -> Result<Self, FeedError> {
        let read: Result<Vec<serde_json::Value>, _> = serde_json::from_str(json);
        let rows = read.map_err(|_| FeedError::at(0, "the rows are a list"))?;
        if rows.iter().all(serde_json::Value::is_array) && !rows.is_empty() {
            return Self::of_lists(rows, fields);
        }
        let mut read = JsonRows::default();
        for (number, row) in (1..).zip(rows) {
            let of_row =
                |error: FeedError| FeedError::at(0, format!("row {number}: {}", error.message));
            read.add_value(row, 0).map_err(of_row)?;
        }
        if !fields.is_empty() {
            let message = "`fields` names the values of rows that are lists";
            return Err(FeedError::at(0, message));
        }
        Self::of_json(read)
    }

    /// Rows that are lists of values.
    fn of_lists(rows: Vec<serde_json::Value>, fields: &[String]) -> Result<Self, FeedError> {
        let mut cells = Vec::new();
        for (number, row) in (1..).zip(rows) {
            let serde_json::Value::Array(values) = row else {
                continue;
            };
            if values.len() != fields.len() {
                let (has, wants) = (counted(values.len(), "value"), fields.len());
                let message = format!("row {number} has {has} and `fields` names {wants}");
                return Err(FeedError::at(0, message));
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
            table: Table::Generated(generated),
        }
    }

    fn of_json(rows: JsonRows) -> Result<Self, FeedError> {
        let (columns, cells) = rows.into_cells();
        Self::of_cells(columns, cells)
    }

    fn of_cells(names: Vec<String>, cells: Vec<Value>) -> Result<Self, FeedError> {
        if cells.is_empty() {
            return Err(FeedError::at(0, "the feed has no rows"));
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
            table: Table::Cells(cells),
        })
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
    pub(crate) fn value(&self, row: u64, column: usize) -> Value {
        match &self.table {
            Table::Cells(cells) => self.cell(cells, row, column).clone(),
            Table::Range(range) => range.value(row),
            Table::Generated(generated) => generated.value(row, column),
        }
    }

    /// Appends the text of the value in a row of a plain column.
    pub(crate) fn push(&self, row: u64, column: usize, out: &mut String) -> Result<(), DataError> {
        match &self.table {
            Table::Cells(cells) => push_value(self.cell(cells, row, column), out)?,
            Table::Range(range) => range.push(row, out),
            Table::Generated(generated) => generated.push(row, column, out),
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
        let message = "the feed's row for this request lacks the value";
        return Err(DataError(message.to_owned()));
    }
    match value.as_str() {
        Some(text) => out.push_str(text),
        // Writing to a string does not fail.
        None => drop(write!(out, "{value}")),
    }
    Ok(())
}

/// The bytes as text, without a byte order mark.
fn text_of(bytes: &[u8]) -> Result<&str, FeedError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    std::str::from_utf8(bytes).map_err(|error| {
        let before = &bytes[..error.valid_up_to()];
        let lines = before.iter().filter(|&&byte| byte == b'\n').count();
        FeedError::at(1 + lines as u64, "the text is not UTF-8")
    })
}

/// How many lines end in a text.
fn lines_in(text: &str) -> u64 {
    text.bytes().filter(|byte| *byte == b'\n').count() as u64
}

/// A number of things, in words.
fn counted(count: usize, thing: &str) -> String {
    match count {
        1 => format!("1 {thing}"),
        count => format!("{count} {thing}s"),
    }
}

/// Whether columns can be told apart; they are named in a line, or with 0 in a plan.
fn check_columns(columns: &[String], line: u64) -> Result<(), FeedError> {
    for (at, name) in columns.iter().enumerate() {
        if name.is_empty() {
            let message = format!("column {} has no name", at + 1);
            return Err(FeedError::at(line, message));
        }
        if columns[..at].contains(name) {
            return Err(FeedError::at(
                line,
                format!("two columns are named `{name}`"),
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{CsvForm, Feed, FeedError, Generated, Kind, Range};

    fn table(feed: &Feed) -> Vec<Vec<String>> {
        let columns = feed.columns().count();
        let row = |row| {
            (0..columns)
                .map(|column| feed.value(row, column).to_string())
                .collect()
        };
        (0..feed.rows()).map(row).collect()
    }

    fn csv(text: &[u8]) -> Result<Feed, FeedError> {
        Feed::from_csv(text, &CsvForm::default())
    }

    fn names(feed: &Feed) -> Vec<&str> {
        feed.columns().collect()
    }

    #[test]
    fn csv_has_a_header_and_quotes() {
        let feed = csv(b"\xef\xbb\xbfname, age\r\n\"a \"\"b\"\"\n,c\",7\nd,\n").unwrap();
        assert_eq!(names(&feed), ["name", "age"]);
        assert_eq!(table(&feed), [["a \"b\"\n,c", "7"], ["d", ""]]);
    }

    #[test]
    fn csv_may_have_its_names_from_the_plan_and_other_marks() {
        let form = |header| CsvForm {
            fields: vec!["a".to_owned(), "b".to_owned()],
            delimiter: b';',
            quote: Some(b'\''),
            header,
        };
        let text = b"x;y\n'1;2';\"3\"\n";
        let feed = Feed::from_csv(text, &form(false)).unwrap();
        assert_eq!(names(&feed), ["a", "b"]);
        assert_eq!(table(&feed), [["x", "y"], ["1;2", "\"3\""]]);
        let feed = Feed::from_csv(text, &form(true)).unwrap();
        assert_eq!(table(&feed), [["1;2", "\"3\""]]);
        let no_quote = CsvForm {
            quote: None,
            ..form(false)
        };
        let feed = Feed::from_csv(text, &no_quote);
        let error = feed.map(drop).unwrap_err().to_string();
        assert_eq!(error, "line 2: it has 3 values, and there are 2 columns");
    }

    #[test]
    fn json_keeps_types_and_may_lack_values() {
        let text = "{\"a\": 9007199254740993, \"b\": \"x\"}\n\n{\"c\": [1.5, null], \"a\": true}\n";
        let array = format!(
            "\n[{},\n {}]",
            text.lines().next().unwrap(),
            "{\"c\": [1.5, null], \"a\": true}"
        );
        for feed in [
            Feed::from_json_lines(text.as_bytes()).unwrap(),
            Feed::from_json(text.as_bytes()).unwrap(),
            Feed::from_json(array.as_bytes()).unwrap(),
        ] {
            assert_eq!(names(&feed), ["a", "b", "c"]);
            assert_eq!(
                table(&feed),
                [["9007199254740993", "x", ""], ["True", "", "[1.5, None]"]]
            );
            assert!(feed.value(1, 1).is_undefined() && feed.value(9, 0).is_undefined());
        }
    }

    #[test]
    fn values_without_names_are_one_column() {
        for feed in [
            Feed::from_lines(b"a b\r\n\n7\n").unwrap(),
            Feed::from_json_lines(b"\"a b\"\n7\n").unwrap(),
            Feed::from_json(b"[\"a b\", 7]").unwrap(),
            Feed::from_inline("[\"a b\", 7]", &[]).unwrap(),
        ] {
            assert!(feed.is_single());
            assert_eq!(table(&feed), [["a b"], ["7"]]);
        }
        let fields = ["x".to_owned(), "y".to_owned()];
        let feed = Feed::from_inline("[[1, 2], [3, \"4\"]]", &fields).unwrap();
        assert_eq!(
            (names(&feed), table(&feed)),
            (
                vec!["x", "y"],
                vec![
                    vec!["1".to_owned(), "2".to_owned()],
                    vec!["3".to_owned(), "4".to_owned()]
                ]
            )
        );
        let feed = Feed::from_inline("[{\"x\": 1}, {\"y\": 2}]", &[]).unwrap();
        assert_eq!(names(&feed), ["x", "y"]);
    }

    #[test]
    fn computed_rows_need_no_memory() {
        let range: Range = "1..1000000000000".parse().unwrap();
        let feed = Feed::from_range(range);
        assert_eq!(feed.rows(), 1_000_000_000_000);
        assert_eq!(feed.value(999_999_999_999, 0).to_string(), "1000000000000");
        let columns = vec![("who".to_owned(), "name".parse::<Kind>().unwrap())];
        let feed = Feed::from_generated(Generated::new(columns, u64::MAX, 1));
        assert_eq!((names(&feed), feed.rows()), (vec!["who"], u64::MAX));
    }

    fn check(feed: Result<Feed, FeedError>, message: &str) {
        assert_eq!(feed.map(drop).unwrap_err().to_string(), message);
    }

    #[test]
    fn mistakes_in_csv_have_their_line() {
        for (text, message) in [
            (
                "a,b\n1,2\n3\n",
                "line 3: it has 1 value, and there are 2 columns",
            ),
            ("a,a\n1,2\n", "line 1: two columns are named `a`"),
            ("a,\n1,2\n", "line 1: column 2 has no name"),
            ("a,b\n", "the feed has no rows"),
            ("", "the feed has no rows"),
            (
                "a\n1\n\"2\n3\n",
                "line 3: a quote opens here and nothing closes it",
            ),
        ] {
            check(csv(text.as_bytes()), message);
        }
        check(csv(b"a\n1\n\xff\n"), "line 3: the text is not UTF-8");
    }

    #[test]
    fn mistakes_in_json_have_their_line() {
        let lines = |text: &[u8]| Feed::from_json_lines(text);
        check(
            lines(b"{}\n{\"a\":}\n"),
            "line 2: no JSON: expected value at column 6",
        );
        check(
            lines(b"{\"a\":1}\n[1]\n"),
            "line 2: a row is an object here, and this is an array",
        );
        check(lines(b"{\"a\":1}\n\xff"), "line 2: the text is not UTF-8");
        check(lines(b"{}\n"), "the feed has no rows");
        for (text, message) in [
            (
                "[{\"a\":1},\n2]",
                "line 2: a row is an object here, and this is a number",
            ),
            (
                "[{\"a\":1}\n{\"a\":2}]",
                "line 2: a comma or the array's end is missing here",
            ),
            ("[{\"a\":1},\n", "line 2: the array is not closed"),
            ("[{\"a\":\n1},\n{\"b\"", "line 3: the value is not closed"),
            (
                "[{\"a\":1}]\n\n7",
                "line 3: something follows the array's end",
            ),
            (
                "[1,\n{\"b\": 2}]",
                "line 2: a row is a single value here, and this is an object",
            ),
            (
                "[{\"a\":1},\n{\"b\": x}]",
                "line 2: no JSON: expected value at column 7",
            ),
            ("[]", "the feed has no rows"),
            (" ", "the feed has no rows"),
        ] {
            check(Feed::from_json(text.as_bytes()), message);
        }
    }

    #[test]
    fn mistakes_in_a_plan_have_their_row() {
        let fields = ["a".to_owned(), "a".to_owned()];
        for (text, fields, message) in [
            ("{}", &[][..], "the rows are a list"),
            ("[]", &[], "the feed has no rows"),
            (
                "[{\"a\":1}, 2]",
                &[],
                "row 2: a row is an object here, and this is a number",
            ),
            ("[[1]]", &fields, "row 1 has 1 value and `fields` names 2"),
            ("[[1, 2]]", &fields, "two columns are named `a`"),
            (
                "[1]",
                &fields,
                "`fields` names the values of rows that are lists",
            ),
        ] {
            check(Feed::from_inline(text, fields), message);
        }
    }
}
