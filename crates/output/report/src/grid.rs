//! Tables of typed cells, before any printer has given them a width, letters or colours.

use crate::figure::Spark;
use crate::line::{Ink, Line};
use crate::quantity::{self, in_letters};
use crate::style::Unicode;
use crate::untrusted::{Untrusted, foreign};
use drumfire_measure::{Histogram, SpreadTime};
use drumfire_units::Nanos;

/// The kind of a column's cells, which decides about alignment and width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Names of rows, which a narrow terminal cuts.
    Names,
    /// Words, which are never cut.
    Words,
    /// Numbers, aligned at the right.
    Numbers,
    /// Sentences in the last column. A sentence that does not fit beside the row stands below it.
    Prose,
    /// Bars, which take the width that the other columns leave. The number is the maximum width.
    Bars(usize),
    /// Sparks. Markdown has neither bars nor sparks, and a page has pictures instead of bars.
    Sparks,
}

/// A column.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Column {
    /// The heading; may be empty.
    pub(crate) heading: &'static str,
    pub(crate) kind: Kind,
    /// The order in which columns give way on a narrow terminal: the highest number first, as a
    /// whole, since a cut number could be taken for another. A column with 0 stays.
    pub(crate) dispensable: u8,
}

impl Column {
    const fn new(heading: &'static str, kind: Kind, dispensable: u8) -> Self {
        Self {
            heading,
            kind,
            dispensable,
        }
    }

    /// A column of names, which always stays.
    pub(crate) const fn names(heading: &'static str) -> Self {
        Self::new(heading, Kind::Names, 0)
    }

    /// A column of words.
    pub(crate) const fn words(heading: &'static str, dispensable: u8) -> Self {
        Self::new(heading, Kind::Words, dispensable)
    }

    /// A column of numbers.
    pub(crate) const fn numbers(heading: &'static str, dispensable: u8) -> Self {
        Self::new(heading, Kind::Numbers, dispensable)
    }

    /// The last column of a list, with sentences.
    pub(crate) const fn prose(heading: &'static str) -> Self {
        Self::new(heading, Kind::Prose, 0)
    }

    /// A column of bars. `most` is the maximum width, in letters.
    pub(crate) const fn bars(most: usize) -> Self {
        Self::new("", Kind::Bars(most), 0)
    }

    /// A column of sparks.
    pub(crate) const fn sparks(heading: &'static str, dispensable: u8) -> Self {
        Self::new(heading, Kind::Sparks, dispensable)
    }
}

/// A table. Each row has one cell for each column.
#[derive(Clone, Debug)]
pub(crate) struct Grid {
    /// The columns from left to right.
    pub(crate) columns: Vec<Column>,
    /// The rows from the top.
    pub(crate) rows: Vec<Row>,
}

impl Grid {
    /// A table of these rows.
    pub(crate) fn new(columns: Vec<Column>, rows: impl IntoIterator<Item = Row>) -> Self {
        let rows: Vec<Row> = rows.into_iter().collect();
        debug_assert!(
            rows.iter().all(|row| row.cells.len() == columns.len()),
            "a cell for each column"
        );
        Self { columns, rows }
    }
}

/// A row.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) cells: Vec<Cell>,
    /// Whether the row belongs to the row above. A terminal prints it as a line of text.
    pub(crate) is_below: bool,
}

impl Row {
    /// A row that belongs to the row above.
    pub(crate) const fn below(cells: Vec<Cell>) -> Self {
        let is_below = true;
        Self { cells, is_below }
    }
}

impl From<Vec<Cell>> for Row {
    fn from(cells: Vec<Cell>) -> Self {
        let is_below = false;
        Self { cells, is_below }
    }
}

/// A cell of a table, or an item of a list.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    value: Value,
    /// The number behind a rounded text, in any unit that the whole column has. A page's program
    /// orders rows by it.
    number: Option<f64>,
    /// The address of the page to which a page links the text.
    link: Option<String>,
    /// The way in which the cell stands out.
    pub(crate) ink: Ink,
}

/// The content of a cell.
#[derive(Clone, Debug)]
enum Value {
    /// Unknown, or not supported by the number of samples.
    Missing,
    /// A text of this program: a word, or a rounded number with its unit.
    Own(String),
    /// A text that a server, a file or a plan supplied.
    Foreign(String),
    /// An address, a name or a rule that a server, a file or a plan supplied.
    Code(String),
    /// Texts of this program, each with an ink.
    Inked(Vec<(String, Ink)>),
    /// A part of a whole, drawn as a bar.
    Bar(u64, u64),
    /// A small picture, and its name for screen readers.
    Spark(Spark, String),
}

impl Cell {
    /// A cell with a text of this program.
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self::plain(Value::Own(text.into()))
    }

    /// A cell with a text from outside. Printers mask and escape it.
    pub(crate) fn foreign(text: impl Into<String>) -> Self {
        Self::plain(Value::Foreign(text.into()))
    }

    /// A cell with an address, a name or a rule from outside. Printers mask and escape it; Markdown
    /// prints it as code, in which an address is no link.
    pub(crate) fn code(text: impl Into<String>) -> Self {
        Self::plain(Value::Code(text.into()))
    }

    const fn plain(value: Value) -> Self {
        Self {
            value,
            number: None,
            link: None,
            ink: Ink::Plain,
        }
    }

    /// A cell for an unknown value: a dash.
    pub(crate) const fn missing() -> Self {
        Self {
            value: Value::Missing,
            number: None,
            link: None,
            ink: Ink::Dim,
        }
    }

    /// A cell with a rounded number as a text of this program.
    pub(crate) fn measured(number: f64, text: impl Into<String>) -> Self {
        Self::new(text).numbered(Some(number))
    }

    /// The cell with the number behind its text.
    pub(crate) fn numbered(self, number: Option<f64>) -> Self {
        Self { number, ..self }
    }

    /// The cell with a link, which only a page has.
    pub(crate) fn linked(self, link: String) -> Self {
        Self {
            link: Some(link),
            ..self
        }
    }

    /// The address of the link.
    pub(crate) fn link(&self) -> Option<&str> {
        self.link.as_deref()
    }

    /// The cell in this ink.
    pub(crate) fn inked(self, ink: Ink) -> Self {
        Self { ink, ..self }
    }

    /// The cell in bold, unless it has an ink.
    pub(crate) fn emphasized(self) -> Self {
        match self.ink {
            Ink::Plain => self.inked(Ink::Bold),
            _ => self,
        }
    }

    /// A cell with a text of this program, or a dash.
    pub(crate) fn optional(text: Option<String>) -> Self {
        text.map_or_else(Self::missing, Self::new)
    }

    /// A number of things.
    pub(crate) fn count(n: u64) -> Self {
        Self::measured(n as f64, quantity::count(n))
    }

    /// A number of failures. Zero is dim, so that failures are seen.
    pub(crate) fn failures(n: u64) -> Self {
        let ink = if n > 0 { Ink::Bad } else { Ink::Dim };
        Self::count(n).inked(ink)
    }

    /// A rate per second.
    pub(crate) fn rate(per_s: f64) -> Self {
        Self::measured(per_s, quantity::rate(per_s))
    }

    /// A latency.
    pub(crate) fn latency(time: Nanos) -> Self {
        Self::measured(time.0 as f64, quantity::latency(time, Unicode::On))
    }

    /// A latency that may be a lower bound.
    pub(crate) fn spread(reading: Option<SpreadTime>) -> Self {
        let Some(SpreadTime { time, is_at_least }) = reading else {
            return Self::missing();
        };
        let text = match is_at_least {
            true => quantity::latency_at_least(time, Unicode::On),
            false => quantity::latency(time, Unicode::On),
        };
        Self::measured(time.0 as f64, text)
    }

    /// A quantile, from 0 to 1; a dash if the number of samples does not support it.
    pub(crate) fn quantile(times: &Histogram, q: f64) -> Self {
        let number = times.quantile(q).map(|time| time.0 as f64);
        Self::optional(quantity::quantile(times, q, Unicode::On)).numbered(number)
    }

    /// The length of a run, or a time in it.
    pub(crate) fn span(time: Nanos) -> Self {
        Self::measured(time.0 as f64, quantity::span(time, Unicode::On))
    }

    /// A share of a whole to tenths of a percent.
    pub(crate) fn share_tenths(part: u64, whole: u64) -> Self {
        let ratio = part as f64 / whole.max(1) as f64;
        Self::measured(ratio, quantity::share_tenths(part, whole))
    }

    /// Texts of this program, each with an ink. The ink of the cell is the one of bad news, if any
    /// text has it.
    pub(crate) fn pieces(pieces: Vec<(String, Ink)>) -> Self {
        let is_bad = pieces.iter().any(|(_, ink)| *ink == Ink::Bad);
        let ink = if is_bad { Ink::Bad } else { Ink::Plain };
        Self::plain(Value::Inked(pieces)).inked(ink)
    }

    /// A part of a whole as a bar.
    pub(crate) const fn bar(part: u64, whole: u64) -> Self {
        Self::plain(Value::Bar(part, whole))
    }

    /// A spark with its name for screen readers; nothing without one.
    pub(crate) fn spark(spark: Option<Spark>, name: String) -> Self {
        spark.map_or_else(
            || Self::new(""),
            |spark| Self::plain(Value::Spark(spark, name)),
        )
    }

    /// The text in the letters that the reader has, with foreign text masked and escaped.
    pub(crate) fn text(&self, unicode: Unicode) -> String {
        match &self.value {
            Value::Missing => in_letters("–", unicode),
            Value::Own(text) => Untrusted::new(&in_letters(text, unicode)).escaped(unicode),
            Value::Inked(pieces) => {
                let pieces = pieces.iter().map(|(text, _)| in_letters(text, unicode));
                pieces.collect()
            }
            Value::Foreign(text) | Value::Code(text) => {
                foreign(&in_letters(text, unicode), unicode)
            }
            Value::Bar(..) => String::new(),
            Value::Spark(spark, _) => spark.blocks(unicode),
        }
    }

    /// The number behind the text; `None` for words. A cell without a value has no number either.
    pub(crate) const fn number(&self) -> Option<f64> {
        self.number
    }

    /// Whether the cell has no value.
    pub(crate) const fn is_missing(&self) -> bool {
        matches!(self.value, Value::Missing)
    }

    /// Whether the text is code.
    pub(crate) const fn is_code(&self) -> bool {
        matches!(self.value, Value::Code(_))
    }

    /// Whether the cell is a text without letters.
    pub(crate) const fn is_empty(&self) -> bool {
        matches!(&self.value, Value::Own(text) if text.is_empty())
    }

    /// The text with its ink.
    pub(crate) fn line(&self, unicode: Unicode) -> Line {
        match &self.value {
            Value::Inked(pieces) => pieces.iter().fold(Line::new(), |line, (text, ink)| {
                line.with(in_letters(text, unicode), *ink)
            }),
            _ => Line::single(self.text(unicode), self.ink),
        }
    }

    /// The part and the whole, if the cell is a bar.
    pub(crate) const fn as_bar(&self) -> Option<(u64, u64)> {
        match self.value {
            Value::Bar(part, whole) => Some((part, whole)),
            _ => None,
        }
    }

    /// The spark and its name, if the cell is a spark.
    pub(crate) const fn as_spark(&self) -> Option<(&Spark, &String)> {
        match &self.value {
            Value::Spark(spark, name) => Some((spark, name)),
            _ => None,
        }
    }
}
