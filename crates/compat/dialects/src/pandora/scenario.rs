//! Scenarios of HTTP requests and of gRPC calls: files in YAML or HCL, and their translation to
//! steps.

mod call;
mod function;
mod hcl_form;
mod hcl_size;
mod known;
mod lower;
mod mapping;
mod named;
mod scope;
mod surplus;
mod table;
mod template;
mod turns;

pub(super) use lower::{Lowered, lower};

use super::mistakes::Mistakes;
use super::section::ConfigSection;
use super::value::{self, Format, Value};
use crate::grammar::go_json;
use drumfire_compile::Host;
use table::Table;

/// A file of scenarios.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct File {
    /// The path, for messages.
    path: String,
    /// Notes on values that are surely not meant.
    notes: Vec<String>,
    sources: Vec<Source>,
    requests: Vec<Request>,
    calls: Vec<Call>,
    scenarios: Vec<Scenario>,
}

/// A source of variables.
#[derive(Clone, Debug, PartialEq)]
struct Source {
    name: String,
    kind: SourceKind,
}

#[derive(Clone, Debug, PartialEq)]
enum SourceKind {
    /// A table.
    Csv(Table),
    /// Any JSON.
    Json(serde_json::Value),
    /// Values in the file itself.
    Variables(serde_json::Value),
}

/// A request, which steps refer to by name.
#[derive(Clone, Debug, Default, PartialEq)]
struct Request {
    name: String,
    method: String,
    uri: String,
    headers: Vec<(String, String)>,
    body: Option<String>,
    /// Variables computed before the request, and their sources.
    mapping: Vec<(String, String)>,
    after: Vec<After>,
    /// Whether values in the request's templates are escaped for HTML.
    escapes: bool,
}

/// A gRPC call, which steps refer to by name.
#[derive(Clone, Debug, Default, PartialEq)]
struct Call {
    name: String,
    tag: String,
    /// `package.Service.Method`.
    call: String,
    metadata: Vec<(String, String)>,
    payload: String,
    /// Variables computed before the call, and their sources.
    mapping: Vec<(String, String)>,
    checks: Vec<CallCheck>,
}

/// A check of a reply.
#[derive(Clone, Debug, Default, PartialEq)]
struct CallCheck {
    /// Texts that the reply must contain.
    payload: Vec<String>,
    /// The expected HTTP status that corresponds to the gRPC status; 0 accepts any status.
    status: u64,
}

/// The postprocessing of a response.
#[derive(Clone, Debug, PartialEq)]
enum After {
    /// Variables from JSON paths.
    JsonPath(Vec<(String, String)>),
    /// Variables from XPaths in HTML.
    XPath(Vec<(String, String)>),
    /// Variables from header fields.
    Header(Vec<(String, String)>),
    /// Checks.
    Assert(Assert),
}

/// Checks of a response.
#[derive(Clone, Debug, Default, PartialEq)]
struct Assert {
    headers: Vec<(String, String)>,
    body: Vec<String>,
    status: u64,
    /// A comparison operator such as `>`, and a number.
    size: Option<(String, u64)>,
}

/// A scenario.
#[derive(Clone, Debug, Default, PartialEq)]
struct Scenario {
    name: String,
    weight: u64,
    min_waiting_time_ms: u64,
    requests: Vec<String>,
}

/// Reads a file.
///
/// # Errors
/// All mistakes of the file.
pub(super) fn read(path: &str, host: &dyn Host) -> Result<File, String> {
    let bytes = host.read(path);
    let bytes = bytes.map_err(|error| crate::go_text::open_failed(path, &error))?;
    let text = String::from_utf8(bytes).map_err(|_| format!("{path}: not valid UTF-8"))?;
    let extension = path
        .rsplit_once('.')
        .map(|(_, extension)| extension.to_ascii_lowercase());
    let tree = match extension.as_deref() {
        Some("hcl") => hcl_form::read(&text),
        Some("json") => value::read(Format::Json, &text),
        Some("yaml" | "yml") => value::read(Format::OldYaml, &text),
        _ => Err("file extension should be .hcl, .yaml, .yml or .json".to_owned()),
    };
    let tree = tree.map_err(|why| format!("{path}: {why}"))?;
    let mistakes = Mistakes::default();
    let filled = value::filled(tree, "", host, &mistakes);
    let mut file = File::default();
    if let Value::Map(entries) = &filled {
        file = file_of(ConfigSection::root(entries, &mistakes), host, &mistakes);
        path.clone_into(&mut file.path);
    } else {
        mistakes.add("", "expected a map");
    }
    let notes = mistakes.take_notes().into_iter();
    file.notes = notes.map(|note| format!("{path}: {note}")).collect();
    if extension.as_deref() == Some("json") {
        file.notes.extend(go_json::repeated(path, &text));
    }
    file.notes.extend(surplus::notes(&file));
    match mistakes.into_inner() {
        found if found.is_empty() => Ok(file),
        found => Err(format!("{path}: {}", found.join("\n  "))),
    }
}

fn file_of(mut root: ConfigSection<'_>, host: &dyn Host, mistakes: &Mistakes) -> File {
    // `locals` has values that only anchors refer to.
    root.take("locals");
    let mut each = |key| {
        let entries = root.take(key).and_then(|entry| entry.list());
        entries.unwrap_or_default()
    };
    let file = File {
        path: String::new(),
        notes: Vec::new(),
        sources: each("variable_sources")
            .iter()
            .filter_map(|entry| source(entry.section()?, host, mistakes))
            .collect(),
        requests: each("requests")
            .iter()
            .filter_map(|entry| Some(request(entry.section()?)))
            .collect(),
        calls: each("calls")
            .iter()
            .filter_map(|entry| Some(call(entry.section()?)))
            .collect(),
        scenarios: each("scenarios")
            .iter()
            .filter_map(|entry| Some(scenario(entry.section()?)))
            .collect(),
    };
    root.finish();
    file
}

fn source(mut section: ConfigSection<'_>, host: &dyn Host, mistakes: &Mistakes) -> Option<Source> {
    let name = section.text("name").unwrap_or_default();
    let kind = section.plugin("VariableSource", &["file/csv", "file/json", "variables"])?;
    let kind = match kind {
        "file/csv" => {
            let table = Table {
                file: section.text("file")?,
                fields: section.texts("fields"),
                delimiter: section.text("delimiter"),
                ignore_first_line: section.bool("ignore_first_line", false),
            };
            // The file must exist even if no template reads it.
            if let Err(error) = host.open(&table.file) {
                section.wrong("file", crate::go_text::open_failed(&table.file, &error));
            }
            SourceKind::Csv(table)
        }
        "file/json" => SourceKind::Json(json_file(&mut section, host, mistakes)?),
        _ => SourceKind::Variables(variables(&mut section)?),
    };
    section.finish();
    Some(Source { name, kind })
}

/// The values in the file itself, with valid function calls.
fn variables(section: &mut ConfigSection<'_>) -> Option<serde_json::Value> {
    let entry = section.take("variables")?;
    let values = plain(entry.value);
    if let Err(why) = function::check(&values) {
        entry.wrong(why);
    }
    Some(values)
}

fn json_file(
    section: &mut ConfigSection<'_>,
    host: &dyn Host,
    mistakes: &Mistakes,
) -> Option<serde_json::Value> {
    let path = section.text("file")?;
    let bytes = host.read(&path);
    let read = bytes
        .map_err(|error| crate::go_text::open_failed(&path, &error))
        .and_then(|bytes| {
            // As in Pandora, text after the first value is ignored.
            let mut values = serde_json::Deserializer::from_slice(&bytes).into_iter();
            let first = values.next().unwrap_or(Ok(serde_json::Value::Null));
            let (first_bytes, rest) = bytes.split_at(values.byte_offset());
            if first.is_ok() && !rest.trim_ascii().is_empty() {
                mistakes.note(
                    "",
                    format!("{path}: text after the first value is not used"),
                );
            }
            if let Ok(text) = str::from_utf8(first_bytes)
                && let Some(note) = go_json::repeated(&path, text)
            {
                mistakes.note("", note);
            }
            first.map_err(|error| format!("{path}: {error}"))
        });
    match read {
        Ok(value) => Some(value),
        Err(why) => {
            section.wrong("file", why);
            None
        }
    }
}

/// A value of the file as JSON.
fn plain(value: &Value) -> serde_json::Value {
    match value {
        Value::Null => serde_json::Value::Null,
        Value::Bool(on) => (*on).into(),
        Value::Number(number) => number.clone().into(),
        Value::Text(text) | Value::Filled(text) => text.clone().into(),
        Value::List(values) => values.iter().map(plain).collect(),
        Value::Map(entries) => {
            let entries = entries.iter();
            entries
                .map(|(key, value)| (key.clone(), plain(value)))
                .collect()
        }
    }
}

fn request(mut section: ConfigSection<'_>) -> Request {
    let mut request = Request {
        name: section.text("name").unwrap_or_default(),
        method: section.text("method").unwrap_or_else(|| "GET".to_owned()),
        uri: section.text("uri").unwrap_or_default(),
        headers: section.text_map("headers"),
        body: section.text("body"),
        ..Request::default()
    };
    // Pandora ignores the tag too.
    section.text("tag");
    if let Some(mut before) = section.section("preprocessor") {
        request.mapping = before.text_map("mapping");
        before.finish();
    }
    if let Some(mut templater) = section.section("templater") {
        request.escapes = templater.plugin("Templater", &["html", "text"]) == Some("html");
        templater.finish();
    }
    let after = section
        .take("postprocessors")
        .and_then(|entry| entry.list());
    for entry in after.unwrap_or_default() {
        request.after.extend(entry.section().and_then(after_of));
    }
    section.finish();
    request
}

fn call(mut section: ConfigSection<'_>) -> Call {
    let mut call = Call {
        name: section.text("name").unwrap_or_default(),
        tag: section.text("tag").unwrap_or_default(),
        call: section.text("call").unwrap_or_default(),
        metadata: section.text_map("metadata"),
        payload: section.text("payload").unwrap_or_default(),
        ..Call::default()
    };
    let before = section.take("preprocessors").and_then(|entry| entry.list());
    for entry in before.unwrap_or_default() {
        if let Some(mut section) = entry.section() {
            section.plugin("Preprocessor", &["prepare"]);
            call.mapping.extend(section.text_map("mapping"));
            section.finish();
        }
    }
    let after = section
        .take("postprocessors")
        .and_then(|entry| entry.list());
    for entry in after.unwrap_or_default() {
        if let Some(mut section) = entry.section() {
            section.plugin("Postprocessor", &["assert/response"]);
            call.checks.push(CallCheck {
                payload: section.texts("payload"),
                status: section.count("status_code", 0, 0),
            });
            section.finish();
        }
    }
    section.finish();
    call
}

fn after_of(mut section: ConfigSection<'_>) -> Option<After> {
    let known = ["assert/response", "var/header", "var/jsonpath", "var/xpath"];
    let after = match section.plugin("Postprocessor", &known)? {
        "var/jsonpath" => After::JsonPath(section.text_map("mapping")),
        "var/header" => After::Header(section.text_map("mapping")),
        "var/xpath" => After::XPath(section.text_map("mapping")),
        _ => After::Assert(Assert {
            headers: section.text_map("headers"),
            body: section.texts("body"),
            status: status(&mut section),
            size: size(&mut section),
        }),
    };
    section.finish();
    Some(after)
}

/// The status that a response must have; 0 is any.
fn status(section: &mut ConfigSection<'_>) -> u64 {
    let status = section.count("status_code", 0, 0);
    if !matches!(status, 0 | 100..=599) {
        let message = format!("{status} is not a status of HTTP; use 100 to 599");
        section.wrong("status_code", message);
    }
    status
}

/// The comparison of a body's size; `lt` and `gt` have their bounds in them.
fn size(section: &mut ConfigSection<'_>) -> Option<(String, u64)> {
    let mut size = section.section("size")?;
    let value = size.count("val", 0, 0);
    let op = size.text("op").unwrap_or_default();
    let sign = match op.as_str() {
        "eq" | "=" => "=",
        "lt" | "<" => "<=",
        "gt" | ">" => ">=",
        _ => {
            size.wrong("op", "write =, < or >");
            "="
        }
    };
    size.finish();
    Some((sign.to_owned(), value))
}

fn scenario(mut section: ConfigSection<'_>) -> Scenario {
    let scenario = Scenario {
        name: section.text("name").unwrap_or_default(),
        weight: section.count("weight", 1, 0).max(1),
        min_waiting_time_ms: section.count("min_waiting_time", 0, 0),
        requests: section.texts("requests"),
    };
    section.finish();
    scenario
}

#[cfg(test)]
mod tests;
