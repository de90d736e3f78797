//! A configuration file as a tree of values, with its placeholders replaced.

use super::mistakes::Mistakes;
use crate::grammar::go_json;
use drumfire_compile::Host;
use serde_json::{Map, Value as Json};

/// A value of the file.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    /// An absent value: the key counts as absent.
    Null,
    /// A boolean.
    Bool(bool),
    /// A number, in the file's notation.
    Number(serde_json::Number),
    /// A text.
    Text(String),
    /// The value of a placeholder that was the whole text. It may be read as a number or as a
    /// boolean.
    Filled(String),
    /// Values in their order.
    List(Vec<Self>),
    /// Keys and values.
    Map(Vec<(String, Self)>),
}

impl Value {
    /// The type, as Go's messages name it.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Null => "nil",
            Self::Bool(_) => "bool",
            Self::Number(number) if number.is_f64() => "float64",
            Self::Number(_) => "int",
            Self::Text(_) | Self::Filled(_) => "string",
            Self::List(_) => "slice",
            Self::Map(_) => "map",
        }
    }

    /// The value as a message shows it.
    pub(super) fn shown(&self) -> String {
        match self {
            Self::Null => "nil".to_owned(),
            Self::Bool(on) => on.to_string(),
            Self::Number(number) => number.to_string(),
            Self::Text(text) | Self::Filled(text) => text.clone(),
            Self::List(_) => "[…]".to_owned(),
            Self::Map(_) => "{…}".to_owned(),
        }
    }
}

/// A format of configuration files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// YAML 1.2, the format of configurations: only `true` and `false` are booleans.
    Yaml,
    /// YAML 1.1, the format of scenario files.
    OldYaml,
    /// JSON.
    Json,
    /// TOML.
    Toml,
    /// HCL, in its native syntax.
    Hcl,
}

/// Parses the text of a file.
///
/// # Errors
/// The message of the format's parser.
pub(super) fn read(format: Format, text: &str) -> Result<Json, String> {
    if text.trim().is_empty() {
        return Ok(Json::Null);
    }
    match format {
        Format::Yaml => first_document(
            text,
            serde_saphyr::options! { strict_booleans: true, legacy_octal_numbers: true },
        ),
        Format::OldYaml => {
            first_document(text, serde_saphyr::options! { legacy_octal_numbers: true })
        }
        Format::Json => go_json::read(text),
        Format::Toml => toml::from_str(text).map_err(|error| format!("toml: {}", error.message())),
        Format::Hcl => hcl::from_str(text).map_err(|error| format!("hcl: {error}")),
    }
}

/// The first document of a text, as Go's YAML reader parses it.
fn first_document(text: &str, options: serde_saphyr::Options) -> Result<Json, String> {
    let mut bytes = text.as_bytes();
    let mut documents = serde_saphyr::read_with_options(&mut bytes, options);
    let first = documents.next().transpose();
    // Lines of the file may hold secrets.
    let first = first.map_err(|error| {
        let error = error.without_snippet().to_string();
        match error.split_once(", set DuplicateKeyPolicy in Options if acceptable") {
            Some((what, at)) => format!("yaml: {what}{at}; keep one of them"),
            None => format!("yaml: {error}"),
        }
    })?;
    Ok(first.unwrap_or_default())
}

/// Whether a text of YAML has a document after the first one. It is not read.
pub(super) fn has_more_documents(text: &str) -> bool {
    let mut bytes = text.as_bytes();
    let options = serde_saphyr::options! { legacy_octal_numbers: true };
    let mut documents = serde_saphyr::read_with_options::<_, Json>(&mut bytes, options);
    documents.nth(1).is_some()
}

/// Fills in the placeholders of a tree. `path` names the value in mistakes.
pub(super) fn filled(json: Json, path: &str, host: &dyn Host, mistakes: &Mistakes) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(on) => Value::Bool(on),
        Json::Number(number) => Value::Number(number),
        Json::String(text) => match fill(&text, host) {
            Ok(None) => Value::Text(text),
            Ok(Some(filled)) => filled,
            Err(why) => {
                mistakes.add(path, why);
                Value::Text(text)
            }
        },
        Json::Array(values) => {
            let values = values.into_iter().enumerate();
            let value = |(index, value)| filled(value, &format!("{path}[{index}]"), host, mistakes);
            Value::List(values.map(value).collect())
        }
        Json::Object(entries) => Value::Map(filled_map(entries, path, host, mistakes)),
    }
}

fn filled_map(
    entries: Map<String, Json>,
    path: &str,
    host: &dyn Host,
    mistakes: &Mistakes,
) -> Vec<(String, Value)> {
    let entry = |(key, value): (String, Json)| {
        let path = match path {
            "" => key.clone(),
            path => format!("{path}.{key}"),
        };
        let value = filled(value, &path, host, mistakes);
        (key, value)
    };
    entries.into_iter().map(entry).collect()
}

/// One placeholder in a text.
struct Placeholder<'a> {
    /// The whole placeholder, with its braces.
    whole: &'a str,
    /// The word before the first colon; empty without a colon.
    kind: &'a str,
    name: &'a str,
}

/// The placeholders of a text, `${NAME}` and `${KIND:NAME}`.
fn placeholders(text: &str) -> Vec<Placeholder<'_>> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = text[at..].find("${").map(|start| at + start) {
        let Some(end) = text[start..].find('}').map(|end| start + end) else {
            break;
        };
        let inner = &text[start + 2..end];
        let (kind, name) = inner.split_once(':').unwrap_or(("", inner));
        if !name.is_empty() && !name.contains('{') {
            found.push(Placeholder {
                whole: &text[start..=end],
                kind: kind.trim(),
                name: name.trim(),
            });
        }
        at = end + 1;
    }
    found
}

/// The text with its placeholders replaced; `None` for a text without placeholders. Placeholders of
/// an unknown kind are left unchanged.
fn fill(text: &str, host: &dyn Host) -> Result<Option<Value>, String> {
    let found = placeholders(text);
    if found.is_empty() {
        return Ok(None);
    }
    let mut filled = text.to_owned();
    for placeholder in &found {
        let value = match placeholder.kind.to_ascii_lowercase().as_str() {
            "" | "env" => variable(placeholder.name, host)?,
            "property" => property(placeholder.name, host)?,
            _ => continue,
        };
        filled = filled.replace(placeholder.whole, &value);
    }
    let alone = found.len() == 1 && text.trim() == found[0].whole;
    Ok(Some(match alone {
        true => Value::Filled(filled),
        false => Value::Text(filled),
    }))
}

/// An environment variable.
fn variable(name: &str, host: &dyn Host) -> Result<String, String> {
    let value = host.variable(name).filter(|value| !value.is_empty());
    value.ok_or_else(|| format!("get ENV variable {name} failed: the variable is not set or empty"))
}

/// The value in a line `KEY=value` of a file: `FILE#KEY`.
fn property(name: &str, host: &dyn Host) -> Result<String, String> {
    let Some((path, key)) = name.rsplit_once('#') else {
        return Err(format!(
            "`{name}` is not a property; use ${{property:FILE#KEY}}"
        ));
    };
    let bytes = host.read(path);
    let bytes = bytes.map_err(|error| crate::go_text::open_failed(path, &error))?;
    let text = String::from_utf8_lossy(&bytes);
    let lines = text.lines().filter_map(|line| line.split_once('='));
    let mut values = lines.filter(|(name, _)| name.trim() == key);
    let value = values.next().map(|(_, value)| value.trim().to_owned());
    value.ok_or_else(|| format!("no such property in {path}: {key}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use drumfire_document::Environment;

    /// Two variables and a file.
    #[derive(Debug)]
    struct Machine;

    impl Environment for Machine {
        fn read(&self, path: &str) -> std::io::Result<Vec<u8>> {
            match path {
                "a.properties" => Ok(b"other=1\nport = 8080\n".to_vec()),
                _ => Err(std::io::ErrorKind::NotFound.into()),
            }
        }

        fn variable(&self, name: &str) -> Option<String> {
            let known = [("HOST", "localhost"), ("TIMES", "5")];
            let value = known.iter().find(|(known, _)| *known == name);
            Some(value.map_or_else(String::new, |(_, value)| (*value).to_owned()))
        }
    }

    impl Host for Machine {}

    #[test]
    fn placeholders_are_filled_in() {
        let text = |text: &str| Ok(Some(Value::Text(text.to_owned())));
        let alone = |text: &str| Ok(Some(Value::Filled(text.to_owned())));
        for (given, wanted) in [
            ("plain", Ok(None)),
            ("${HOST}", alone("localhost")),
            (" ${ENV:TIMES} ", alone(" 5 ")),
            ("${HOST}:80", text("localhost:80")),
            ("${HOST}:${env:TIMES}", text("localhost:5")),
            ("${property:a.properties#port}", alone("8080")),
            ("${other:x}", alone("${other:x}")),
            ("${", Ok(None)),
            ("$HOST", Ok(None)),
        ] {
            assert_eq!(fill(given, &Machine), wanted, "{given}");
        }
        for given in ["${NONE}", "${property:a.properties#no}", "${property:b#no}"] {
            assert!(fill(given, &Machine).is_err(), "{given}");
        }
    }

    #[test]
    fn only_the_first_document_is_read() {
        let two = "a: 1\n---\nb: 2\n";
        assert_eq!(read(Format::Yaml, two), Ok(serde_json::json!({"a": 1})));
        assert!(has_more_documents(two));
        for one in ["a: 1\n", "---\na: 1\n", "a: 1\n...\n", ""] {
            assert!(!has_more_documents(one), "{one:?}");
        }
        let twice = read(Format::Yaml, "a: 1\nb: 2\na: 3\n").unwrap_err();
        assert_eq!(
            twice,
            "yaml: duplicate mapping key: a at line 3, column 1; keep one of them"
        );
    }

    #[test]
    fn every_format_makes_the_same_tree() {
        let wanted = serde_json::json!({"pools": [{"id": "a", "rps": {"ops": 1.5, "times": 3}}]});
        for (format, text) in [
            (Format::Yaml, "pools: [{id: a, rps: {ops: 1.5, times: 3}}]"),
            (
                Format::Json,
                r#"{"pools":[{"id":"a","rps":{"ops":1.5,"times":3}}]}"#,
            ),
            (
                Format::Toml,
                "[[pools]]\nid = 'a'\nrps = { ops = 1.5, times = 3 }\n",
            ),
            (
                Format::Hcl,
                "pools = [{ id = \"a\", rps = { ops = 1.5, times = 3 } }]\n",
            ),
        ] {
            assert_eq!(read(format, text), Ok(wanted.clone()), "{text}");
            assert_eq!(read(format, " \n"), Ok(Json::Null));
        }
    }
}
