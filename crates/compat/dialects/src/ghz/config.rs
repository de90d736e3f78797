//! ghz's config file in JSON, TOML or YAML. Its keys are the names of the flags.

use super::args::FLAGS;
use super::options::Options;
use super::yaml_text::{self, Texts};
use crate::go_text::open_failed;
use crate::grammar::go_json;
use crate::grammar::kingpin::{Flag, Kind, Refusal};
use drumfire_compile::Host;
use drumfire_plan::suggestion;
use serde_json::{Map, Value};

/// Flags that are not allowed in a file.
const NOT_SETTABLE: [&str; 4] = ["config", "help", "version", "binary"];

/// The one setting that is not a flag.
const HOST: &str = "host";

/// The type of a key's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Text,
    Span,
    Whole,
    Signed,
    Switch,
    /// An object, or an array of objects.
    Data,
    /// An object of texts.
    Texts,
    /// An array of texts.
    List,
}

/// The type of a flag's value in a file.
fn form(flag: &Flag<Options>) -> Form {
    match (flag.kind, flag.name) {
        (Kind::Switch, _) => Form::Switch,
        (_, "data") => Form::Data,
        (_, "metadata" | "tags" | "reflect-metadata") => Form::Texts,
        (_, "import-paths" | "threshold") => Form::List,
        (_, "load-step" | "concurrency-step") => Form::Signed,
        (_, "timeout" | "duration" | "max-duration" | "connect-timeout" | "keepalive") => {
            Form::Span
        }
        (_, name) if name.starts_with("stream-") && name != "stream-call-count" => Form::Span,
        (_, name) if name.ends_with("-duration") => Form::Span,
        (_, "rps" | "total" | "concurrency" | "connections" | "cpus" | "skipFirst") => Form::Whole,
        (_, name) if name.ends_with("-start") || name.ends_with("-end") => Form::Whole,
        (_, "stream-call-count") => Form::Whole,
        _ => Form::Text,
    }
}

/// Stores the values of the file.
///
/// # Errors
/// A message for an unreadable file, an unknown key, or a value of the wrong type.
pub(super) fn apply(host: &dyn Host, options: &mut Options) -> Result<(), String> {
    let path = options.config.clone();
    let bytes = host
        .read(&path)
        .map_err(|error| open_failed(&path, &error))?;
    let file = read(&path, &bytes)?;
    for (key, value) in &file.values {
        set(&file, &path, key, value, options)?;
    }
    options.notes.extend(repeats(&file, &path, &bytes));
    Ok(())
}

/// Notes on keys of a file that stand twice: options, which JSON and TOML name in any case, and the
/// first other key. YAML refuses such a file, and TOML keys in one case.
fn repeats(file: &File, path: &str, bytes: &[u8]) -> Vec<String> {
    let mut notes = Vec::new();
    for (n, (key, _)) in file.values.iter().enumerate() {
        let mut before = file.values[..n].iter().map(|(known, _)| known);
        let Some(known) = before.find(|known| file.names(key, known)) else {
            continue;
        };
        let mut all = file.values.iter().map(|(key, _)| key);
        let last = all.rfind(|other| file.names(other, key)).unwrap_or(key);
        notes.push(match known == key {
            true => go_json::twice(path, key),
            false => format!(
                "{path}: the keys `{known}` and `{key}` are one option; the last value of `{last}` \
                 is used"
            ),
        });
    }
    if file.format == Format::Json {
        let within = go_json::repeated(path, &String::from_utf8_lossy(bytes));
        notes.extend(within.filter(|note| !notes.contains(note)));
    }
    notes
}

/// A file's format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Json,
    Toml,
    Yaml,
}

/// The keys and values of a file, in their order.
struct File {
    format: Format,
    values: Vec<(String, Value)>,
}

impl File {
    /// Whether this key of the file sets the setting `name`. JSON and TOML ignore the case of keys.
    fn names(&self, key: &str, name: &str) -> bool {
        match self.format {
            Format::Yaml => key == name,
            Format::Json | Format::Toml => key.eq_ignore_ascii_case(name),
        }
    }

    /// Converts a value to a whole number if it should be one: in YAML, a number with the fraction
    /// 0 counts as whole.
    fn whole(&self, value: &Value) -> Value {
        match (self.format, value.as_f64()) {
            (Format::Yaml, Some(number)) if value.is_f64() && is_whole(number) => {
                Value::from(number as i64)
            }
            _ => value.clone(),
        }
    }
}

/// Whether a double is a whole number in the range where doubles represent all whole numbers
/// exactly.
fn is_whole(number: f64) -> bool {
    number.fract() == 0.0 && number.abs() < 1e15
}

/// Reads the file's keys and values, in the format of its extension; with another extension, each
/// format is tried. An empty file sets nothing.
fn read(path: &str, bytes: &[u8]) -> Result<File, String> {
    let extension = path.rsplit_once('.').map(|(_, extension)| extension);
    let formats: &[Format] = match extension.map(str::to_ascii_lowercase).as_deref() {
        Some("json") => &[Format::Json],
        Some("toml") => &[Format::Toml],
        Some("yaml" | "yml") => &[Format::Yaml],
        _ => &[Format::Toml, Format::Json, Format::Yaml],
    };
    let mut why = String::new();
    let text = || str::from_utf8(bytes).map_err(|_| "not valid UTF-8".to_owned());
    for &format in formats {
        let read = match format {
            _ if bytes.trim_ascii().is_empty() => Ok(Vec::new()),
            // Go's JSON reader replaces invalid UTF-8 by U+FFFD.
            Format::Json => of_json(&String::from_utf8_lossy(bytes)),
            Format::Toml => text().and_then(of_toml),
            Format::Yaml => text()
                .and_then(of_yaml)
                .map(|values| values.into_iter().collect()),
        };
        match read {
            Ok(values) => return Ok(File { format, values }),
            Err(error) => why = error,
        }
    }
    Err(format!("{path}: {why}"))
}

fn of_json(text: &str) -> Result<Vec<(String, Value)>, String> {
    match go_json::read(text)? {
        Value::Null => Ok(Vec::new()),
        // If a key occurs in two cases, the last one counts.
        Value::Object(_) => go_json::entries(text),
        other => {
            let kind = go_json::kind(&other);
            Err(format!(
                "json: cannot unmarshal {kind} into Go value of type runner.Config"
            ))
        }
    }
}

fn of_toml(text: &str) -> Result<Vec<(String, Value)>, String> {
    let table: toml::Table = text
        .parse()
        .map_err(|error: toml::de::Error| error.message().to_owned())?;
    let entries = table.into_iter();
    let entry = |(key, value)| Ok((key, json_of(value)?));
    entries.map(entry).collect()
}

/// TOML's values as JSON; dates become texts.
///
/// # Errors
/// A number that JSON can't represent, in Go's words.
fn json_of(value: toml::Value) -> Result<Value, String> {
    Ok(match value {
        toml::Value::String(text) => text.into(),
        toml::Value::Integer(number) => number.into(),
        toml::Value::Float(number) if !number.is_finite() => return Err(unsupported(number)),
        toml::Value::Float(number) => number.into(),
        toml::Value::Boolean(on) => on.into(),
        toml::Value::Datetime(moment) => instant(moment).into(),
        toml::Value::Array(values) => {
            let values = values.into_iter().map(json_of);
            Value::Array(values.collect::<Result<_, _>>()?)
        }
        toml::Value::Table(table) => {
            let entry = |(key, value)| Ok((key, json_of(value)?));
            Value::Object(
                table
                    .into_iter()
                    .map(entry)
                    .collect::<Result<_, String>>()?,
            )
        }
    })
}

/// Go's error for a number that JSON can't represent.
fn unsupported(number: f64) -> String {
    let shown = match (number.is_nan(), number > 0.0) {
        (true, _) => "NaN",
        (false, true) => "+Inf",
        (false, false) => "-Inf",
    };
    format!("json: unsupported value: {shown}")
}

/// A TOML datetime as Go writes it, with date, time and zone, whichever parts TOML omits.
fn instant(mut moment: toml::value::Datetime) -> String {
    use toml::value::{Date, Offset, Time};
    moment.date.get_or_insert(Date {
        year: 0,
        month: 1,
        day: 1,
    });
    let time = moment.time.get_or_insert(Time {
        hour: 0,
        minute: 0,
        second: Some(0),
        nanosecond: None,
    });
    time.nanosecond = time.nanosecond.filter(|nanosecond| *nanosecond > 0);
    moment.offset.get_or_insert(Offset::Z);
    moment.to_string()
}

/// The YAML reader's message for a number that JSON can't represent.
const NOT_FINITE: &str = "non-finite float";

fn of_yaml(text: &str) -> Result<Map<String, Value>, String> {
    // YAML 1.1 reads 017 as an octal number, 15.
    let options = serde_saphyr::options! { legacy_octal_numbers: true };
    let read = match serde_saphyr::from_str_with_options(text, options.clone()) {
        Err(error) if error.to_string().contains(NOT_FINITE) => {
            yaml_text::all(text, options, texts)
        }
        read => read,
    };
    let read = read.map_err(|error| {
        // The snippet is removed, because lines of the file may contain secrets.
        let error = error.without_snippet().to_string();
        if error.contains("DuplicateKeyPolicy") {
            return "duplicate key; keep one".to_owned();
        }
        if error.contains("multiple YAML documents") {
            return "several YAML documents; keep one".to_owned();
        }
        if error.contains(NOT_FINITE) {
            return "infinite numbers and NaN can't be sent".to_owned();
        }
        error
    });
    let mut values = read?;
    yaml_text::replace_texts(text, texts, &mut values);
    Ok(values)
}

/// The texts of a key's value.
fn texts(key: &str) -> Texts {
    let flag = FLAGS.iter().find(|flag| flag.name == key);
    match flag.map(form) {
        Some(Form::Text) => Texts::One,
        Some(Form::Texts) => Texts::Many,
        None if key == HOST => Texts::One,
        _ => Texts::None,
    }
}

/// Stores one setting.
fn set(
    file: &File,
    path: &str,
    key: &str,
    value: &Value,
    options: &mut Options,
) -> Result<(), String> {
    if file.names(key, HOST) {
        options.host = text_of(HOST, value, "string")?;
        return Ok(());
    }
    let settable = |flag: &&Flag<Options>| !NOT_SETTABLE.contains(&flag.name);
    let Some(flag) = FLAGS
        .iter()
        .filter(settable)
        .find(|flag| file.names(key, flag.name))
    else {
        let names = FLAGS.iter().filter(settable).map(|flag| flag.name);
        let near = suggestion(key, names.chain([HOST]));
        return Err(format!(
            "{path} has an unknown key `{}`{near}",
            key.escape_debug()
        ));
    };
    let value = match form(flag) {
        Form::Whole | Form::Signed => file.whole(value),
        _ => value.clone(),
    };
    for text in texts_of(flag, &value)? {
        (flag.set)(options, &text).map_err(|refusal| {
            let (Refusal::Parser(why) | Refusal::Tool(why)) = refusal;
            why
        })?;
    }
    Ok(())
}

/// The texts of a value, as flags take them; empty for an empty value.
fn texts_of(flag: &Flag<Options>, value: &Value) -> Result<Vec<String>, String> {
    let key = flag.name;
    if value.is_null() {
        return Ok(Vec::new());
    }
    let text = match form(flag) {
        Form::Text => text_of(key, value, "string")?,
        Form::Span if value.is_number() => value.to_string(),
        Form::Span => text_of(key, value, "string")?,
        Form::Whole if value.is_u64() => value.to_string(),
        Form::Signed if value.is_i64() => value.to_string(),
        Form::Whole => return Err(mismatch(key, value, "uint")),
        Form::Signed => return Err(mismatch(key, value, "int")),
        Form::Switch if value.is_boolean() => value.to_string(),
        Form::Switch => return Err(mismatch(key, value, "bool")),
        Form::Data => data_of(value)?,
        Form::Texts => {
            let texts = go_json::map_of(value).map_err(|unfit| {
                let go_json::TypeMismatch { kind, .. } = unfit;
                unmarshal(kind, key, "map[string]string")
            })?;
            Value::from_iter(texts).to_string()
        }
        Form::List => {
            let parts = value.as_array();
            let parts = parts.ok_or_else(|| mismatch(key, value, "[]string"))?;
            let parts: Vec<String> = parts
                .iter()
                .map(|part| text_of(key, part, "string"))
                .collect::<Result<_, _>>()?;
            return Ok(match key {
                "import-paths" => vec![parts.join(",")],
                _ => parts,
            });
        }
    };
    Ok(vec![text])
}

fn text_of(key: &str, value: &Value, wanted: &str) -> Result<String, String> {
    let text = value.as_str().map(str::to_owned);
    text.ok_or_else(|| mismatch(key, value, wanted))
}

/// Go's error for a value of the wrong type.
fn mismatch(key: &str, value: &Value, wanted: &str) -> String {
    let kind = match value {
        Value::Number(number) if wanted.ends_with("int") => format!("number {number}"),
        other => go_json::kind(other).to_owned(),
    };
    unmarshal(&kind, key, wanted)
}

fn unmarshal(kind: &str, key: &str, wanted: &str) -> String {
    format!("json: cannot unmarshal {kind} into Go struct field Config.{key} of type {wanted}")
}

/// The call's data: one object or several.
fn data_of(value: &Value) -> Result<String, String> {
    match value {
        Value::Object(_) => Ok(value.to_string()),
        Value::String(text) if text == super::args::STDIN => Ok(text.clone()),
        Value::Array(parts) if parts.is_empty() => Err("data array must not be empty".to_owned()),
        Value::Array(parts) if parts.iter().all(Value::is_object) => Ok(value.to_string()),
        Value::Array(_) => Err("data array contains unsupported type".to_owned()),
        _ => Err("unsupported type for Data".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use drumfire_document::Environment;
    use drumfire_units::Nanos;

    #[derive(Debug)]
    struct OneVariable(&'static str);

    /// A file with bytes that are not UTF-8.
    #[derive(Debug)]
    struct BytesFile(&'static [u8]);

    impl Environment for BytesFile {
        fn read(&self, _: &str) -> std::io::Result<Vec<u8>> {
            Ok(self.0.to_vec())
        }
    }

    impl Host for BytesFile {}

    #[test]
    fn what_is_no_text_is_one_in_json_alone() {
        let load = |name: &str, bytes| {
            let mut options = Options::of_config();
            name.clone_into(&mut options.config);
            apply(&BytesFile(bytes), &mut options).map(|()| options.name)
        };
        let json = load("c.json", b"{\"name\": \"caf\xe9 \\ud800\"}");
        assert_eq!(json.as_deref(), Ok("caf\u{fffd} \u{fffd}"));
        for name in ["c.toml", "c.yaml"] {
            let refused = load(name, b"name: \xe9");
            assert_eq!(refused, Err(format!("{name}: not valid UTF-8")));
        }
    }

    impl Environment for OneVariable {
        fn read(&self, _: &str) -> std::io::Result<Vec<u8>> {
            Ok(self.0.as_bytes().to_vec())
        }
    }

    impl Host for OneVariable {}

    fn load(name: &str, text: &'static str) -> Result<Options, String> {
        let mut options = Options::of_config();
        name.clone_into(&mut options.config);
        apply(&OneVariable(text), &mut options)?;
        Ok(options)
    }

    const JSON: &str = r#"{"total": 5000, "timeout": "5s", "insecure": true, "host": "h:1",
        "load-step": -3, "import-paths": ["a", "b"], "data": [{"a": {"b": 9007199254740993}}],
        "metadata": {"k": "v"}}"#;
    const TOML: &str = "total = 5000\ntimeout = '5s'\ninsecure = true\nhost = 'h:1'\nload-step = -3\nimport-paths = ['a', 'b']\n[[data]]\na = { b = 9007199254740993 }\n[metadata]\nk = 'v'\n";
    const YAML: &str = "total: 5000\ntimeout: 5s\ninsecure: true\nhost: h:1\nload-step: -3\nimport-paths: [a, b]\ndata:\n  - a:\n      b: 9007199254740993\nmetadata:\n  k: v\n";

    #[test]
    fn three_formats_say_the_same() {
        let json = load("c.json", JSON).unwrap();
        assert_eq!((json.total, json.load.step), (5000, -3));
        assert_eq!(json.timeout, Nanos::from_secs(5));
        assert_eq!(
            json.data.as_deref(),
            Some(r#"[{"a":{"b":9007199254740993}}]"#)
        );
        assert_eq!(json.import_paths, ["a", "b"]);
        for (name, text) in [("c.toml", TOML), ("c.yaml", YAML), ("c.json", JSON)] {
            let mut other = load(name, text).unwrap();
            other.config.clone_from(&json.config);
            assert_eq!(other, json, "{name}");
        }
        assert_eq!(load("c", JSON).unwrap().total, 5000);
        assert_eq!(load("c", TOML).unwrap().total, 5000);
    }

    #[test]
    fn each_format_has_its_own_leniency() {
        let tags = |options: &Options, key: &str| options.tags.get(key).cloned();
        let yaml = "name: 123\ntags:\n  build: 17\n  ok: true\nmetadata: {k: 5}\n";
        let yaml = load("c.yaml", yaml).unwrap();
        assert_eq!(yaml.name, "123");
        assert_eq!(tags(&yaml, "build").as_deref(), Some("17"));
        assert_eq!(tags(&yaml, "ok").as_deref(), Some("true"));
        assert_eq!(yaml.metadata.unwrap()["k"], "5");
        let yaml = load("c.yaml", "total: 1e3\nload-step: -2.0\n").unwrap();
        assert_eq!((yaml.total, yaml.load.step), (1000, -2));
        assert!(load("c.yaml", "total: 3.7").is_err());
        assert!(load("c.json", r#"{"total": 1e3}"#).is_err());
        let empty = load("c.json", r#"{"metadata": {"k": null}, "tags": null}"#).unwrap();
        assert_eq!(empty.metadata.unwrap()["k"], "");
        for (moment, shown) in [
            ("2024-01-01T00:00:00Z", "2024-01-01T00:00:00Z"),
            (
                "2024-01-01 00:00:00.50+01:00",
                "2024-01-01T00:00:00.5+01:00",
            ),
            ("2024-01-01T02:03:04", "2024-01-01T02:03:04Z"),
            ("2024-01-01", "2024-01-01T00:00:00Z"),
            ("07:32:00", "0000-01-01T07:32:00Z"),
        ] {
            let text = format!("[data]\nts = {moment}\n");
            let date = load("c.toml", text.leak()).unwrap();
            assert_eq!(date.data, Some(format!("{{\"ts\":\"{shown}\"}}")));
        }
        for (number, shown) in [("inf", "+Inf"), ("-inf", "-Inf"), ("nan", "NaN")] {
            let text = format!("[data]\na = [{{b = {number}}}]\n");
            let refused = load("c.toml", text.leak()).map(drop);
            let words = format!("c.toml: json: unsupported value: {shown}");
            assert_eq!(refused, Err(words));
        }
        for (name, text) in [("c.json", r#"{"Total": 7}"#), ("c.toml", "TOTAL = 7")] {
            assert_eq!(load(name, text).unwrap().total, 7, "{name}");
        }
        for (text, total) in [
            (r#"{"total": 2, "Total": 3}"#, 3),
            (r#"{"Total": 3, "total": 2}"#, 2),
            (r#"{"total": 2, "total": 4}"#, 4),
        ] {
            assert_eq!(load("c.json", text).unwrap().total, total, "{text}");
        }
        assert!(load("c.yaml", "Total: 7").is_err());
        for name in ["c.json", "c.toml", "c.yaml", "c"] {
            assert_eq!(load(name, "").unwrap().total, 200, "{name}");
        }
        let double = load("c.yaml", "total: 7\ntotal: 8\n").unwrap_err();
        assert_eq!(double, "c.yaml: duplicate key; keep one");
        let second = load("c.yaml", "total: 7\n---\ntotal: 8\n").unwrap_err();
        assert_eq!(second, "c.yaml: several YAML documents; keep one");
        let octal = load("c.yaml", "total: 017\ndata: {a: 010, b: 0o10}\n").unwrap();
        assert_eq!(octal.total, 15);
        assert_eq!(octal.data.as_deref(), Some(r#"{"a":8,"b":8}"#));
        for text in [
            "name: .inf\ntags: {a: .nan, b: -.Inf, c: .inf}\ntotal: 7\n",
            "total: 7\ntags: {a: .nan, b: -.Inf, c: .inf}\nname: .inf\n",
        ] {
            let yaml = load("c.yaml", text).unwrap();
            assert_eq!((&*yaml.name, yaml.total), (".inf", 7));
            let tag = |key| tags(&yaml, key).unwrap();
            assert_eq!([tag("a"), tag("b"), tag("c")], [".nan", "-.Inf", ".inf"]);
        }
        let nan = load("c.yaml", "data:\n  a: .nan\n").unwrap_err();
        assert!(!nan.contains("policy"), "{nan}");
        assert!(load("c.json", r#"{"name": 5}"#).is_err());
    }

    #[test]
    fn every_flag_takes_its_default_from_a_file() {
        for flag in FLAGS {
            let Kind::Value(default) = flag.kind else {
                continue;
            };
            let value = match form(flag) {
                Form::Text | Form::Span => Value::from(default.trim_matches('"')),
                Form::Whole => Value::from(default.parse::<u64>().unwrap()),
                Form::Signed => Value::from(default.parse::<i64>().unwrap()),
                _ => continue,
            };
            if !default.is_empty() {
                let texts = texts_of(flag, &value).unwrap();
                assert!(
                    (flag.set)(&mut Options::default(), &texts[0]).is_ok(),
                    "{}",
                    flag.name
                );
            }
        }
    }

    #[test]
    fn mistakes_are_told() {
        for (text, message) in [
            (
                r#"{"concurreny": 5}"#,
                "c.json has an unknown key `concurreny`; did you mean `concurrency`?",
            ),
            (r#"{"binary": true}"#, "c.json has an unknown key `binary`"),
            (
                r#"{"total": "5"}"#,
                "json: cannot unmarshal string into Go struct field Config.total of type uint",
            ),
            (
                r#"{"timeout": 5000000000}"#,
                r#"time: missing unit in duration "5000000000""#,
            ),
            (r#"{"data": 5}"#, "unsupported type for Data"),
            (r#"{"data": []}"#, "data array must not be empty"),
            (r#"{"data": [1]}"#, "data array contains unsupported type"),
            (
                r#"{"max-recv-message-size": 5}"#,
                "json: cannot unmarshal number into Go struct field Config.max-recv-message-size of type string",
            ),
            (
                "{bad",
                "c.json: invalid character 'b' looking for beginning of object key string",
            ),
        ] {
            assert_eq!(load("c.json", text).map(drop), Err(message.to_owned()));
        }
    }
}
