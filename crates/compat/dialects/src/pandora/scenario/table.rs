//! CSV tables: the names of their columns, and their rows.

use super::known::{Cells, Column};
use crate::pandora::TOOL;
use drumfire_compile::Host;
use drumfire_data::{CsvForm, Feed};
use drumfire_document::{Feed as Written, FeedRows};
use serde_json::{Map, Value as Json};

/// The maximum number of rows; a larger table can only be read as a feed.
const ROWS_MAX: usize = 100_000;

/// The maximum length of the first record, in bytes.
const FIRST_BYTES: usize = 1 << 20;

/// A source that is a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Table {
    pub(super) file: String,
    pub(super) fields: Vec<String>,
    pub(super) delimiter: Option<String>,
    pub(super) ignore_first_line: bool,
}

impl Table {
    /// The columns: as many as the first row has, then the columns that only `fields` lists, which
    /// are empty. Blanks in names become underscores; a column without a name is named by its
    /// number.
    ///
    /// # Errors
    /// If the file is needed and can't be read.
    pub(super) fn columns(&self, host: &dyn Host) -> Result<Vec<Column>, String> {
        let first = self.first(host);
        let (names, width): (Vec<String>, usize) = match (self.fields.is_empty(), first) {
            (true, first) => {
                let first = first?;
                (first.iter().enumerate().map(named).collect(), first.len())
            }
            // An unreadable file is reported where its rows are read.
            (false, first) => {
                let width = first.map_or(self.fields.len(), |first| first.len());
                let fields = self.fields.iter().map(String::as_str);
                let fields = fields.chain(std::iter::repeat(""));
                let count = self.fields.len().max(width);
                (fields.take(count).enumerate().map(named).collect(), width)
            }
        };
        let column = |(place, name): (usize, &String)| match place {
            place if place >= width => Column {
                name: name.clone(),
                cells: Cells::Empty,
            },
            place if names[place + 1..].contains(name) => Column {
                name: hidden(place, &names),
                cells: Cells::Hidden,
            },
            _ => Column {
                name: name.clone(),
                cells: Cells::Texts,
            },
        };
        Ok(names.iter().enumerate().map(column).collect())
    }

    /// The first record of the file.
    fn first(&self, host: &dyn Host) -> Result<csv::StringRecord, String> {
        let mut bytes = vec![0; FIRST_BYTES];
        let read = host
            .open(&self.file)
            .and_then(|source| source.read_at(0, &mut bytes));
        let read = read.map_err(|error| crate::go_text::open_failed(&self.file, &error))?;
        let mut records = self.reader(&bytes[..read]).into_records();
        let first = records.next().transpose();
        let first = first.map_err(|error| format!("{}: {error}", self.file))?;
        Ok(first.unwrap_or_default())
    }

    /// The rows, each as an object.
    ///
    /// # Errors
    /// If the file can't be read, or has too many rows.
    pub(super) fn rows(&self, host: &dyn Host) -> Result<Vec<Json>, String> {
        let columns = self.columns(host)?;
        let bytes = self.read(host)?;
        self.check(&columns, &bytes)?;
        let passed = usize::from(self.has_header());
        let mut rows = Vec::new();
        for record in self.reader(&bytes).into_records().skip(passed) {
            let record = record.map_err(|error| format!("{}: {error}", self.file))?;
            let cells = record.iter().chain(std::iter::repeat(""));
            let cells = columns.iter().zip(cells);
            let cells = cells.filter(|(column, _)| column.cells != Cells::Hidden);
            let cells = cells.map(|(column, cell)| (column.name.clone(), Json::from(cell)));
            rows.push(Json::Object(cells.collect::<Map<_, _>>()));
            if rows.len() > ROWS_MAX {
                let file = &self.file;
                return Err(format!(
                    "{file} has more than {ROWS_MAX} rows, too many for one value; use [next] or \
                     [rand]"
                ));
            }
        }
        Ok(rows)
    }

    /// Checks the rows as those of a feed: the crate `csv` accepts text after a closing quote, which
    /// Go's reader refuses.
    fn check(&self, columns: &[Column], bytes: &[u8]) -> Result<(), String> {
        let delimiter = self.delimiter.as_ref().and_then(|text| text.bytes().next());
        let columns = columns.iter().filter(|column| column.cells != Cells::Empty);
        let form = CsvForm {
            fields: (0..columns.count()).map(|n| n.to_string()).collect(),
            delimiter: delimiter.unwrap_or(b','),
            header: false,
            ..CsvForm::default()
        };
        match Feed::from_csv(bytes, &form) {
            // A file without rows is an empty list.
            Err(error) if error.line > 0 => {
                Err(format!("{}:{}: {}", self.file, error.line, error.message))
            }
            Ok(_) | Err(_) => Ok(()),
        }
    }

    /// The feed of the rows, without a name.
    pub(super) fn feed(&self, columns: &[Column]) -> Written {
        let delimiter = self.delimiter.as_ref().and_then(|text| text.chars().next());
        // drumfire reads such a file by tabs, and Pandora by commas.
        let has_tabs = self.file.to_ascii_lowercase().ends_with(".tsv");
        let delimiter = delimiter.or_else(|| has_tabs.then_some(','));
        let columns = columns.iter();
        let columns = columns.filter(|column| column.cells != Cells::Empty);
        Written {
            rows: FeedRows::Csv(TOOL.text("file", &self.file)),
            // Without a value, a first line with these names would be refused.
            header: Some(TOOL.switch("ignore_first_line", self.has_header())),
            fields: columns
                .map(|column| TOOL.text("fields", &column.name))
                .collect(),
            delimiter: delimiter
                .filter(|c| has_tabs || *c != ',')
                .map(|c| match c {
                    '\t' => TOOL.text("delimiter", &"tab"),
                    c => TOOL.text("delimiter", &c),
                }),
            ..Written::default()
        }
    }

    /// Whether the first line is a header.
    const fn has_header(&self) -> bool {
        self.ignore_first_line || self.fields.is_empty()
    }

    fn read(&self, host: &dyn Host) -> Result<Vec<u8>, String> {
        let bytes = host.read(&self.file);
        bytes.map_err(|error| crate::go_text::open_failed(&self.file, &error))
    }

    fn reader<'a>(&self, bytes: &'a [u8]) -> csv::Reader<&'a [u8]> {
        let delimiter = self.delimiter.as_ref().and_then(|text| text.bytes().next());
        csv::ReaderBuilder::new()
            .has_headers(false)
            .delimiter(delimiter.unwrap_or(b','))
            .from_reader(bytes)
    }
}

/// A name for an inaccessible column.
fn hidden(place: usize, names: &[String]) -> String {
    let free = (0..).map(|n: usize| format!("column_{place}_{n}"));
    let mut free = free.filter(|name| !names.contains(name));
    free.next().unwrap_or_default()
}

/// The name of a column.
fn named((number, name): (usize, impl AsRef<str>)) -> String {
    match name.as_ref() {
        "" => number.to_string(),
        name => name.replace(' ', "_"),
    }
}
