//! Samples as rows, and results as files.

use super::flags::Flags;
use super::{code, configuration, failure};
use crate::exit::Failure;
use drumfire_k6::{CsvRows, CsvTarget, JsonRows, Registry, SYSTEM_TAGS, Sample};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;
use serde_json::ser::{PrettyFormatter, Serializer};
use std::fs::{self, File};
use std::io::{self, Write};

/// The bytes of rows that are held back.
const HELD_BACK: usize = 64 * 1024;

enum Rows {
    Json(JsonRows),
    Csv(CsvRows),
}

/// Where rows go.
enum Sink {
    Plain(Box<dyn Write>),
    /// A file whose name ends in `.gz`.
    Gzip(Box<GzEncoder<File>>),
}

impl Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Plain(to) => to.write_all(bytes),
            Self::Gzip(to) => to.write_all(bytes),
        }
    }

    /// Writes what the compressor holds back.
    fn finish(self) -> io::Result<()> {
        match self {
            Self::Plain(mut to) => to.flush(),
            Self::Gzip(to) => to.finish().map(drop),
        }
    }
}

/// One output of rows.
struct Writer {
    rows: Rows,
    buffer: Vec<u8>,
    to: Sink,
    name: String,
    failed: Option<String>,
}

impl Writer {
    fn flush(&mut self) {
        if self.failed.is_none()
            && let Err(error) = self.to.write(&self.buffer)
        {
            self.failed = Some(format!("can't write {}: {error}", self.name));
        }
        self.buffer.clear();
    }

    /// Writes what is held back, and closes the output. Returns the first error of the output.
    fn finish(mut self) -> Option<String> {
        self.flush();
        let finished = self.to.finish();
        let failed = || Some(format!("can't write {}: {}", self.name, finished.err()?));
        self.failed.or_else(failed)
    }
}

/// The outputs of rows of a run.
#[derive(Default)]
pub(super) struct Outputs(Vec<Writer>);

impl Outputs {
    /// No outputs.
    pub(super) fn none() -> Self {
        Self::default()
    }

    /// Opens the outputs of `--out`.
    pub(super) fn open(flags: &Flags) -> Result<Self, Failure> {
        let mut writers = Vec::new();
        for out in &flags.outs {
            let (kind, argument) = out.split_once('=').unwrap_or((out, ""));
            let (rows, file) = match kind {
                "json" => (Rows::Json(JsonRows::default()), argument.to_owned()),
                "csv" => {
                    let target = CsvTarget::parse(argument, |name| std::env::var(name).ok());
                    let target = target.map_err(configuration)?;
                    let rows = CsvRows::new(SYSTEM_TAGS, target.time_format);
                    (Rows::Csv(rows), target.file)
                }
                "cloud" => {
                    return Err(configuration(
                        "drumfire sends nothing to Grafana Cloud; use --out json or csv",
                    ));
                }
                other => {
                    return Err(configuration(format!(
                        "the output `{other}` is not available; use --out json=FILE or --out csv=FILE"
                    )));
                }
            };
            let mut buffer = Vec::new();
            if let Rows::Csv(rows) = &rows {
                rows.write_header(&mut buffer);
            }
            writers.push(Writer {
                rows,
                buffer,
                to: opened(&file)?,
                name: file,
                failed: None,
            });
        }
        Ok(Self(writers))
    }

    pub(super) fn sample(&mut self, registry: &Registry, sample: &Sample<'_>) {
        for writer in &mut self.0 {
            match &mut writer.rows {
                Rows::Json(rows) => rows.write(registry, sample, &mut writer.buffer),
                Rows::Csv(rows) => rows.write(registry, sample, &mut writer.buffer),
            }
            if writer.buffer.len() > HELD_BACK {
                writer.flush();
            }
        }
    }

    /// Writes what is held back, and closes the outputs.
    pub(super) fn finish(&mut self) -> Result<(), String> {
        let mut failed = None;
        for writer in std::mem::take(&mut self.0) {
            let of_writer = writer.finish();
            failed = failed.or(of_writer);
        }
        failed.map_or(Ok(()), Err)
    }
}

fn opened(file: &str) -> Result<Sink, Failure> {
    if file.is_empty() || file == "-" {
        return Ok(Sink::Plain(Box::new(io::stdout())));
    }
    let created = File::create(file);
    let created =
        created.map_err(|error| failure(code::OTHER, format!("can't write {file}: {error}")))?;
    Ok(match file.ends_with(".gz") {
        true => Sink::Gzip(Box::new(GzEncoder::new(created, Compression::fast()))),
        false => Sink::Plain(Box::new(created)),
    })
}

/// Writes a value with four blanks for each level.
pub(super) fn write_json(path: &str, value: &Value) -> Result<(), Failure> {
    let mut bytes = Vec::new();
    let formatter = PrettyFormatter::with_indent(b"    ");
    let mut serializer = Serializer::with_formatter(&mut bytes, formatter);
    let written = serde::Serialize::serialize(value, &mut serializer);
    written.map_err(|error| failure(code::OTHER, error.to_string()))?;
    fs::write(path, bytes)
        .map_err(|error| failure(code::OTHER, format!("can't write {path}: {error}")))
}
