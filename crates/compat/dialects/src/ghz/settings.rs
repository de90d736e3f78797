//! The settings of a run as reports show them. Values that may be secrets are hidden.

use super::options::{Options, Schedule, Texts};
use super::schedule;
use super::setup::{GivenData, GivenMetadata};
use crate::grammar::go_json::{check, compact, push_string};
use drumfire_report::secret;

/// One setting.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Setting {
    Text(String),
    Number(i128),
    Switch(bool),
    List(Vec<String>),
    Texts(Texts),
    /// Literal JSON.
    Json(String),
}

impl Setting {
    /// Whether ghz omits the setting because it is empty.
    fn is_empty(&self) -> bool {
        match self {
            Self::Text(text) | Self::Json(text) => text.is_empty(),
            Self::Number(number) => *number == 0,
            Self::Switch(on) => !on,
            Self::List(parts) => parts.is_empty(),
            Self::Texts(texts) => texts.is_empty(),
        }
    }

    /// Appends the setting as JSON.
    pub(super) fn push_json(&self, out: &mut String) {
        match self {
            Self::Text(text) => push_string(out, text),
            Self::Number(number) => out.push_str(&number.to_string()),
            Self::Switch(on) => out.push_str(if *on { "true" } else { "false" }),
            Self::Json(text) => out.push_str(text),
            Self::List(parts) => {
                out.push('[');
                for (n, part) in parts.iter().enumerate() {
                    out.push_str(if n > 0 { "," } else { "" });
                    push_string(out, part);
                }
                out.push(']');
            }
            Self::Texts(texts) => push_texts(out, texts),
        }
    }
}

/// Appends an object of texts.
pub(super) fn push_texts(out: &mut String, texts: &Texts) {
    out.push('{');
    for (n, (key, value)) in texts.iter().enumerate() {
        out.push_str(if n > 0 { "," } else { "" });
        push_string(out, key);
        out.push(':');
        push_string(out, value);
    }
    out.push('}');
}

/// The settings in the order of ghz's JSON, with the keys used there.
#[derive(Clone, Debug, Default)]
pub(super) struct Settings(Vec<(&'static str, Setting)>);

impl Settings {
    /// The settings of a run.
    pub(super) fn from_options(
        options: &Options,
        total: u64,
        data: &GivenData,
        metadata: &GivenMetadata,
    ) -> Self {
        let mut list = Self::default();
        list.text("call", &options.call);
        list.text("host", &options.host);
        list.text("proto", &options.proto);
        list.text("protoset", &options.protoset);
        list.add("import-paths", Setting::List(import_paths(options)));
        list.add("enable-compression", Setting::Switch(options.compression));
        list.text("cacert", &options.cacert);
        list.text("cert", &options.cert);
        list.text("key", &options.key);
        list.text("cname", &options.cname);
        list.add("skipTLS", Setting::Switch(options.skip_tls));
        list.always("insecure", Setting::Switch(options.insecure));
        list.text("authority", &options.authority);
        list.number("rps", options.rate);
        list.schedule(&LOAD_KEYS, &options.load);
        list.number("concurrency", options.concurrency);
        list.schedule(&WORKER_KEYS, &options.workers);
        list.number("total", total);
        list.add("async", Setting::Switch(options.asynchronous));
        list.number("connections", options.connections.max(1));
        let duration = match options.max_duration.0 {
            0 => options.duration.0,
            longest => longest,
        };
        list.number("duration", duration);
        list.number("timeout", options.timeout.0);
        list.number("dial-timeout", options.connect_timeout.0);
        list.number("keepalive", options.keepalive.0);
        list.add("data", Setting::Json(data_text(data)));
        list.always(
            "binary",
            Setting::Switch(matches!(data, GivenData::Binary(_))),
        );
        match &options.metadata {
            Some(_) => list.always("metadata", metadata_of(metadata)),
            None => list.add("metadata", metadata_of(metadata)),
        }
        list.always("CPUs", Setting::Number(i128::from(options.cpus)));
        list.text("name", &options.name);
        list.number("skipFirst", options.skip_first);
        list.add("count-errors", Setting::Switch(options.count_errors));
        list
    }

    fn always(&mut self, key: &'static str, setting: Setting) {
        self.0.push((key, setting));
    }

    fn add(&mut self, key: &'static str, setting: Setting) {
        if !setting.is_empty() {
            self.0.push((key, setting));
        }
    }

    fn text(&mut self, key: &'static str, text: &str) {
        self.add(key, Setting::Text(text.to_owned()));
    }

    fn number(&mut self, key: &'static str, number: u64) {
        self.add(key, Setting::Number(i128::from(number)));
    }

    fn schedule(&mut self, keys: &[&'static str; 6], schedule: &Schedule) {
        let kind = match schedule.kind.as_str() {
            "" => "const".to_owned(),
            kind => kind.to_ascii_lowercase(),
        };
        let step_duration = match kind.as_str() {
            "line" => 1_000_000_000,
            _ => schedule.step_duration.0,
        };
        let numbers = [
            i128::from(schedule.start),
            i128::from(schedule.end),
            i128::from(schedule.step),
            i128::from(step_duration),
            i128::from(schedule.max_duration.0),
        ];
        self.always(keys[0], Setting::Text(kind));
        for (key, number) in keys[1..].iter().zip(numbers) {
            self.always(key, Setting::Number(number));
        }
    }

    /// Every setting in its order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&'static str, &Setting)> {
        self.0.iter().map(|(key, setting)| (*key, setting))
    }

    /// The setting with this key.
    pub(super) fn find(&self, key: &str) -> Option<&Setting> {
        self.iter().find(|(name, _)| *name == key).map(|(_, s)| s)
    }

    /// A number; 0 if it is absent.
    pub(super) fn number_of(&self, key: &str) -> i128 {
        match self.find(key) {
            Some(Setting::Number(number)) => *number,
            _ => 0,
        }
    }

    /// A text; empty if it is absent.
    pub(super) fn text_of(&self, key: &str) -> &str {
        match self.find(key) {
            Some(Setting::Text(text) | Setting::Json(text)) => text,
            _ => "",
        }
    }

    /// All settings as a JSON object.
    pub(super) fn json(&self) -> String {
        let mut out = String::from("{");
        for (n, (key, setting)) in self.iter().enumerate() {
            out.push_str(if n > 0 { "," } else { "" });
            push_string(&mut out, key);
            out.push(':');
            setting.push_json(&mut out);
        }
        out.push('}');
        out
    }
}

/// The keys of the rate's schedule.
pub(super) const LOAD_KEYS: [&str; 6] = [
    "load-schedule",
    "load-start",
    "load-end",
    "load-step",
    "load-step-duration",
    "load-max-duration",
];

/// The keys of the workers' schedule.
pub(super) const WORKER_KEYS: [&str; 6] = [
    "concurrency-schedule",
    "concurrency-start",
    "concurrency-end",
    "concurrency-step",
    "concurrency-step-duration",
    "concurrency-max-duration",
];

/// The paths for imports: the file's folder, the working directory, and the given paths. Empty
/// without a file.
fn import_paths(options: &Options) -> Vec<String> {
    let mut paths = Vec::new();
    if options.proto.is_empty() {
        return paths;
    }
    let folder = folder(&options.proto);
    if folder != "." {
        paths.push(folder);
    }
    paths.push(".".to_owned());
    paths.extend(options.import_paths.iter().cloned());
    paths
}

/// The folder of a file, like Go's `filepath.Dir`.
fn folder(path: &str) -> String {
    let (folder, root) = match path.rsplit_once('/') {
        Some((folder, _)) if path.starts_with('/') => (folder, "/"),
        Some((folder, _)) => (folder, ""),
        None => ("", ""),
    };
    let mut parts: Vec<&str> = Vec::new();
    for part in folder.split('/') {
        match (part, parts.last()) {
            ("" | ".", _) => {}
            ("..", Some(last)) if *last != ".." => {
                parts.pop();
            }
            ("..", _) if !root.is_empty() => {}
            (part, _) => parts.push(part),
        }
    }
    match format!("{root}{}", parts.join("/")) {
        empty if empty.is_empty() => ".".to_owned(),
        folder => folder,
    }
}

/// The data as JSON: unchanged, or as a text if it is a template of JSON.
fn data_text(data: &GivenData) -> String {
    match data {
        GivenData::Nothing | GivenData::Binary(_) => String::new(),
        // ghz treats `null` like absent data.
        GivenData::Json(text) if text.trim() == "null" => String::new(),
        GivenData::Json(text) if check(text).is_ok() => compact(text),
        GivenData::Json(text) => {
            let mut out = String::new();
            push_string(&mut out, text);
            out
        }
    }
}

/// The metadata without values that may be secrets.
fn metadata_of(metadata: &GivenMetadata) -> Setting {
    let texts = match metadata {
        GivenMetadata::Texts(texts) => texts.clone(),
        GivenMetadata::Raw(text) => crate::grammar::go_json::text_map(text).unwrap_or_default(),
    };
    let shown = texts.into_iter().map(|(key, value)| {
        let value = secret::header_value(&key, &value).to_owned();
        (key, value)
    });
    Setting::Texts(shown.collect())
}

/// Whether all settings of a schedule have their defaults.
pub(super) fn is_const(settings: &Settings, keys: &[&str; 6]) -> bool {
    schedule::is_const_name(settings.text_of(keys[0]))
}

#[cfg(test)]
mod tests {
    use super::folder;

    #[test]
    fn folders_are_those_of_go() {
        for (path, wanted) in [
            ("a.proto", "."),
            ("./a.proto", "."),
            ("./p/a.proto", "p"),
            ("p//q/./a.proto", "p/q"),
            ("p/../a.proto", "."),
            ("../../p/a.proto", "../../p"),
            ("/a.proto", "/"),
            ("/../p/a.proto", "/p"),
        ] {
            assert_eq!(folder(path), wanted, "{path}");
        }
    }
}
