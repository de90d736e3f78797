//! Ammo: the requests that a pool sends.

use super::section::{ConfigSection, Entry};

/// The types of ammo.
const TYPES: [&str; 10] = [
    "dummy",
    "grpc/json",
    "grpc/scenario",
    "http",
    "http/json",
    "http/scenario",
    "json",
    "raw",
    "uri",
    "uripost",
];

/// The formats of HTTP ammo, by the values of `decoder`.
const DECODERS: [(&str, Format); 4] = [
    ("uri", Format::Uri),
    ("uripost", Format::UriPost),
    ("raw", Format::Raw),
    ("jsonline", Format::JsonLine),
];

/// A format of ammo.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// One URI per line, and header fields in brackets.
    Uri,
    /// URIs with bodies, one per line, and header fields in brackets.
    UriPost,
    /// Whole requests, each after its length.
    Raw,
    /// JSON objects.
    JsonLine,
    /// gRPC calls as JSON objects.
    GrpcJson,
    /// Scenarios of HTTP requests.
    HttpScenario,
    /// Scenarios of gRPC calls.
    GrpcScenario,
}

/// The source of ammo.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// A file.
    File(String),
    /// Lines in the configuration.
    Lines(Vec<String>),
}

/// The requests that a pool sends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Ammo {
    pub(super) format: Format,
    pub(super) source: Source,
    /// Header fields of every request: names and values.
    pub(super) headers: Vec<(String, String)>,
    /// The maximum number of requests; 0 means unlimited.
    pub(super) limit: u64,
    /// The maximum number of passes through the file; 0 means unlimited.
    pub(super) passes: u64,
    /// The tags of requests to send; empty means all.
    pub(super) chosen: Vec<String>,
    /// Whether the file is read before the run.
    pub(super) preload: bool,
    /// Whether invalid lines are skipped.
    pub(super) lenient: bool,
    pub(super) dates: Vec<Date>,
}

/// A header field that contains the time of the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Date {
    pub(super) name: String,
    pub(super) location: String,
}

impl Ammo {
    /// Reads ammo; `None` if there is nothing to send.
    pub(super) fn read(entry: &Entry<'_>) -> Option<Self> {
        let mut section = entry.section()?;
        let kind = section.plugin("core.Provider", &TYPES)?;
        let format = format(&mut section, kind)?;
        let source = source(&mut section, format);
        let ammo = Self {
            headers: headers(&mut section, format),
            limit: section.count("limit", 0, 0),
            passes: section.count("passes", 0, 0),
            chosen: match format {
                Format::HttpScenario | Format::GrpcScenario => Vec::new(),
                _ => section.texts("chosencases"),
            },
            preload: is_http(format) && section.bool("preload", false),
            lenient: section.bool("continueonerror", false),
            dates: match is_http(format) {
                true => dates(&mut section),
                false => Vec::new(),
            },
            format,
            source: source?,
        };
        // Parsed only to check it: Pandora ignores the value too.
        section.check_size("maxammosize");
        section.finish();
        Some(ammo)
    }
}

/// Whether a format contains plain HTTP requests.
const fn is_http(format: Format) -> bool {
    matches!(
        format,
        Format::Uri | Format::UriPost | Format::Raw | Format::JsonLine
    )
}

fn format(section: &mut ConfigSection<'_>, kind: &str) -> Option<Format> {
    Some(match kind {
        "uri" => Format::Uri,
        "uripost" => Format::UriPost,
        "raw" => Format::Raw,
        "http/json" => Format::JsonLine,
        "grpc/json" => Format::GrpcJson,
        "http/scenario" => Format::HttpScenario,
        "grpc/scenario" => Format::GrpcScenario,
        "http" => {
            let name = section.text("decoder").unwrap_or_default();
            let found = DECODERS.iter().find(|(known, _)| *known == name);
            if found.is_none() {
                let name = name.escape_debug();
                let message =
                    format!("unknown decoder faced: `{name}`; use uri, uripost, raw or jsonline");
                section.wrong("decoder", message);
            }
            found?.1
        }
        other => {
            let message =
                format!("`{other}` needs a gun of a custom program, which drumfire does not have");
            section.wrong("type", message);
            return None;
        }
    })
}

/// The source: the file or the lines.
fn source(section: &mut ConfigSection<'_>, format: Format) -> Option<Source> {
    let mut file = section.text("file");
    if format == Format::GrpcJson
        && file.is_none()
        && let Some(mut source) = section.section("source")
    {
        match source.plugin("core.DataSource", &["file"]) {
            Some(_) => file = source.text("path"),
            None => return None,
        }
        source.finish();
    }
    let lines = match is_http(format) {
        true => section.texts("uris"),
        false => Vec::new(),
    };
    match (file, lines.is_empty()) {
        (Some(file), true) => Some(Source::File(file)),
        (None, false) if format == Format::Uri => {
            let lines = lines.into_iter().map(with_slash);
            Some(Source::Lines(lines.collect()))
        }
        (None, false) => {
            section.wrong("uris", "`uris` expect for `uri` decoder only; use `file`");
            None
        }
        (Some(_), false) => {
            section.wrong("uris", "`file` and `uris` exclude each other; remove one");
            None
        }
        (None, true) => {
            let message = match format {
                Format::Uri => "`file` or `uris` is required",
                _ => "validation failed on the 'required' tag",
            };
            section.wrong("file", message);
            None
        }
    }
}

/// A line of `uris`, with a leading slash added to a path. Header fields in brackets and URLs are
/// left unchanged.
fn with_slash(line: String) -> String {
    let path = line.trim_start();
    let target = path.split(char::is_whitespace).next().unwrap_or_default();
    let stands = target.is_empty() || target.starts_with(['/', '[']) || target.contains("://");
    match stands {
        true => line,
        false => format!("/{path}"),
    }
}

/// Header fields, each in the form `[Name: value]`.
fn headers(section: &mut ConfigSection<'_>, format: Format) -> Vec<(String, String)> {
    let mut headers = Vec::new();
    if !is_http(format) {
        return headers;
    }
    for text in section.texts("headers") {
        match header(&text) {
            Ok(header) => headers.push(header),
            Err(why) => section.wrong("headers", why),
        }
    }
    headers
}

/// Parses `[Name: value]`.
///
/// # Errors
/// In Pandora's words.
pub(super) fn header(text: &str) -> Result<(String, String), String> {
    let shown = text.escape_debug();
    let inner = text
        .trim()
        .strip_prefix('[')
        .and_then(|text| text.strip_suffix(']'));
    let Some(inner) = inner else {
        return Err(format!(
            "`{shown}`: header line should be like '[key: value]'"
        ));
    };
    let Some((name, value)) = inner.split_once(':') else {
        return Err(format!(
            "`{shown}`: missing colon; header line should be like '[key: value]'"
        ));
    };
    match name.trim() {
        "" => Err(format!("`{shown}`: missing header key")),
        name => Ok((name.to_owned(), value.trim().to_owned())),
    }
}

fn dates(section: &mut ConfigSection<'_>) -> Vec<Date> {
    let Some(entry) = section.take("middlewares") else {
        return Vec::new();
    };
    let mut dates = Vec::new();
    for entry in entry.list().unwrap_or_default() {
        let Some(mut section) = entry.section() else {
            continue;
        };
        if section
            .plugin("httpscenario.Middleware", &["header/date"])
            .is_some()
        {
            dates.push(Date {
                name: section
                    .text("headername")
                    .unwrap_or_else(|| "Date".to_owned()),
                location: section.text("location").unwrap_or_else(|| "UTC".to_owned()),
            });
            section.finish();
        }
    }
    dates
}
