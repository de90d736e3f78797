//! Aggregators: the destinations of a pool's results.

use super::section::{ConfigSection, Entry};
use super::value::Value;
use drumfire_units::Nanos;

/// The types of aggregators.
const TYPES: [&str; 5] = ["discard", "json", "jsonlines", "log", "phout"];

/// The destination of a pool's results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Output {
    /// Rows of twelve columns, as Yandex.Tank reads them.
    Phout {
        /// The destination of the rows.
        to: Place,
        /// Whether tags are followed by numbers.
        id: bool,
    },
    /// One JSON object per line.
    JsonLines {
        /// The destination of the lines.
        to: Place,
    },
    /// Rows in the log.
    Log,
    /// Nowhere.
    Discard,
}

/// A destination of lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
    /// A file.
    File(String),
}

impl Place {
    /// Parses a destination: a word, or a path.
    pub(super) fn named(name: &str) -> Self {
        match name {
            "stdout" => Self::Stdout,
            "stderr" => Self::Stderr,
            path => Self::File(path.to_owned()),
        }
    }
}

impl Output {
    /// Reads an aggregator; `None` if its type is unknown.
    pub(super) fn read(entry: &Entry<'_>) -> Option<Self> {
        let mut section = entry.section()?;
        let output = match section.plugin("core.Aggregator", &TYPES)? {
            "phout" => phout(&mut section),
            "json" | "jsonlines" => json_lines(&mut section)?,
            "log" => Self::Log,
            _ => Self::Discard,
        };
        section.finish();
        Some(output)
    }
}

fn phout(section: &mut ConfigSection<'_>) -> Output {
    let to = section.text("destination");
    // These keys tune Pandora's buffers; drumfire uses a bounded queue instead.
    section.span("flush-time", Nanos::from_secs(1));
    section.count("sample-queue-size", 0, 0);
    section.check_size("buffer-size");
    Output::Phout {
        to: to.map_or(Place::Stdout, Place::File),
        id: section.bool("id", false),
    }
}

fn json_lines(section: &mut ConfigSection<'_>) -> Option<Output> {
    section.span("flush-interval", Nanos::from_secs(1));
    section.count("sample-queue-size", 0, 0);
    section.check_size("buffer-size");
    section.bool("marshal-float-with-6-digits", false);
    section.bool("sort-map-keys", false);
    let Some(sink) = section.take("sink") else {
        section.wrong("sink", "validation failed on the 'required' tag");
        return None;
    };
    let to = sink_of(&sink)?;
    Some(Output::JsonLines { to })
}

/// The destination of a sink: a name, or a plugin.
fn sink_of(sink: &Entry<'_>) -> Option<Place> {
    if let Value::Text(name) | Value::Filled(name) = sink.value {
        return Some(Place::named(name));
    }
    let mut section = sink.section()?;
    let place = match section.plugin("core.DataSink", &["file", "stderr", "stdout"])? {
        "stdout" => Place::Stdout,
        "stderr" => Place::Stderr,
        _ => match section.text("path") {
            Some(path) => Place::File(path),
            None => {
                section.wrong("path", "validation failed on the 'required' tag");
                return None;
            }
        },
    };
    section.finish();
    Some(place)
}
