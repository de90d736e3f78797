//! Rows of CSV: a column for each system tag, and one for all other tags.

use drumfire_units::Nanos;

use crate::metrics::{Registry, Sample, Tags};
use crate::summary::time;

/// How times are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TimeFormat {
    /// Seconds since 1970.
    #[default]
    Unix,
    /// Milliseconds since 1970.
    UnixMilli,
    /// Microseconds since 1970.
    UnixMicro,
    /// Nanoseconds since 1970.
    UnixNano,
    /// RFC 3339 with whole seconds, in UTC.
    Rfc3339,
    /// RFC 3339 with as many digits as the time has, in UTC.
    Rfc3339Nano,
}

const TIME_FORMATS: [(&str, TimeFormat); 6] = [
    ("unix", TimeFormat::Unix),
    ("unix_milli", TimeFormat::UnixMilli),
    ("unix_micro", TimeFormat::UnixMicro),
    ("unix_nano", TimeFormat::UnixNano),
    ("rfc3339", TimeFormat::Rfc3339),
    ("rfc3339_nano", TimeFormat::Rfc3339Nano),
];

impl TimeFormat {
    /// Parse a name.
    ///
    /// # Errors
    ///
    /// The name is unknown.
    pub fn parse(text: &str) -> Result<Self, String> {
        let known = TIME_FORMATS.iter().find(|(name, _)| *name == text);
        known.map(|(_, format)| *format).ok_or_else(|| {
            format!("unknown time format `{text}`; use unix, unix_milli, unix_micro, unix_nano, rfc3339 or rfc3339_nano")
        })
    }

    fn text(self, since_1970: Nanos) -> String {
        match self {
            Self::Unix => (since_1970.0 / 1_000_000_000).to_string(),
            Self::UnixMilli => (since_1970.0 / 1_000_000).to_string(),
            Self::UnixMicro => (since_1970.0 / 1000).to_string(),
            Self::UnixNano => since_1970.0.to_string(),
            Self::Rfc3339 => time(Nanos(since_1970.0 / 1_000_000_000 * 1_000_000_000)),
            Self::Rfc3339Nano => time(since_1970),
        }
    }
}

/// Where rows go, and when: the argument of `--out csv=…`, over the environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CsvTarget {
    /// The file. Empty or `-` means: the standard output. A name that ends with `.gz` means: compressed.
    pub file: String,
    /// The longest time for which rows are held back.
    pub save_interval: Nanos,
    /// How times are written.
    pub time_format: TimeFormat,
}

impl CsvTarget {
    /// Parse `FILE`, or `fileName=FILE,saveInterval=TIME,timeFormat=FORMAT` with any of these. The
    /// environment has `K6_CSV_FILENAME`, `K6_CSV_SAVE_INTERVAL` and `K6_CSV_TIME_FORMAT`.
    ///
    /// # Errors
    ///
    /// What is wrong with a value.
    pub fn parse(
        argument: &str,
        environment: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, String> {
        let mut target = Self {
            file: "file.csv".to_owned(),
            save_interval: Nanos(1_000_000_000),
            time_format: TimeFormat::Unix,
        };
        for (name, key) in [
            ("K6_CSV_FILENAME", "fileName"),
            ("K6_CSV_SAVE_INTERVAL", "saveInterval"),
            ("K6_CSV_TIME_FORMAT", "timeFormat"),
        ] {
            if let Some(value) = environment(name) {
                target
                    .set(key, &value)
                    .map_err(|why| format!("{name}: {why}"))?;
            }
        }
        if argument.contains('=') {
            for part in argument.split(',') {
                let (key, value) = part.split_once('=').ok_or_else(|| {
                    format!("--out csv: `{part}` has no value; use fileName=FILE")
                })?;
                target
                    .set(key, value)
                    .map_err(|why| format!("--out csv: {why}"))?;
            }
        } else if !argument.is_empty() {
            argument.clone_into(&mut target.file);
        }
        Ok(target)
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        match key {
            "fileName" => value.clone_into(&mut self.file),
            "saveInterval" => self.save_interval = crate::parse_duration(value)?,
            "timeFormat" => self.time_format = TimeFormat::parse(value)?,
            _ => {
                return Err(format!(
                    "unknown key `{key}`; use fileName, saveInterval or timeFormat"
                ));
            }
        }
        Ok(())
    }
}

/// Writes rows of CSV.
#[derive(Clone, Debug)]
pub struct CsvRows {
    columns: Vec<String>,
    time_format: TimeFormat,
}

impl CsvRows {
    /// Rows with a column for each of the system tags that are on.
    pub fn new<'a>(
        system_tags: impl IntoIterator<Item = &'a str>,
        time_format: TimeFormat,
    ) -> Self {
        let mut columns: Vec<String> = system_tags.into_iter().map(str::to_owned).collect();
        columns.sort_unstable();
        columns.dedup();
        Self {
            columns,
            time_format,
        }
    }

    /// Append the names of the columns.
    pub fn write_header(&self, out: &mut Vec<u8>) {
        let columns = self.columns.iter().map(String::as_str);
        let first = ["metric_name", "timestamp", "metric_value"];
        let last = ["extra_tags", "metadata"];
        write(first.into_iter().chain(columns).chain(last), out);
    }

    /// Append a sample.
    pub fn write(&self, registry: &Registry, sample: &Sample<'_>, out: &mut Vec<u8>) {
        let time = self.time_format.text(sample.time);
        let value = format!("{:.6}", sample.value);
        let tags = self
            .columns
            .iter()
            .map(|name| sample.tags.value(name).unwrap_or_default());
        let is_extra = |name: &str| {
            self.columns
                .binary_search_by(|column| column.as_str().cmp(name))
                .is_err()
        };
        let extra = joined(sample.tags, is_extra);
        let metadata = joined(sample.metadata, |_| true);
        let first = [registry.metric(sample.metric).name.as_str(), &time, &value];
        let last = [extra.as_str(), &metadata];
        write(first.into_iter().chain(tags).chain(last), out);
    }
}

/// Tags as `name=value`, joined with `&`.
fn joined(tags: &Tags, wanted: impl Fn(&str) -> bool) -> String {
    let tags: Vec<String> = tags
        .iter()
        .filter(|(name, _)| wanted(name))
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    tags.join("&")
}

/// A row of RFC 4180, with a line feed at the end. Go's writer, which k6 uses, quotes a field that starts with
/// a blank, too.
fn write<'a>(fields: impl IntoIterator<Item = &'a str>, out: &mut Vec<u8>) {
    for (at, field) in fields.into_iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        let is_quoted = field.contains([',', '"', '\r', '\n'])
            || field.starts_with(char::is_whitespace)
            || field == "\\.";
        if is_quoted {
            out.extend_from_slice(format!("\"{}\"", field.replace('"', "\"\"")).as_bytes());
        } else {
            out.extend_from_slice(field.as_bytes());
        }
    }
    out.push(b'\n');
}
