//! What the flags mean for requests: the server, the path, the model, and the members of bodies.

use super::TOOL;
use super::args::{Args, mistake, parsed};
use super::backend::Backend;
use super::dataset::Dataset;
use super::load::GivenLoad;
use drumfire_compile::Host;
use drumfire_document::{Field, Place, Text};
use drumfire_plan::Url;
use serde_json::{Map, Value, json};

/// Sampling parameters: numbers that go to the body under the names of their flags.
const SAMPLING: [&str; 7] = [
    "frequency-penalty",
    "min-p",
    "presence-penalty",
    "repetition-penalty",
    "temperature",
    "top-k",
    "top-p",
];

/// What the flags mean.
pub(super) struct Meaning<'a> {
    pub(super) args: &'a Args,
    pub(super) backend: Backend,
    pub(super) dataset: Dataset,
    pub(super) load: GivenLoad,
    /// The URL of the server, without a path.
    pub(super) target: String,
    /// The path of the API.
    pub(super) path: String,
    /// The path before that of the API.
    base_path: String,
    /// The model in requests.
    pub(super) model: String,
    /// Members that are added to the bodies.
    pub(super) extra: Map<String, Value>,
    pub(super) headers: Vec<Field>,
    pub(super) key: Option<Text>,
}

impl<'a> Meaning<'a> {
    /// The meaning of a command line.
    ///
    /// # Errors
    /// The mistake in it.
    pub(super) fn new(args: &'a Args, host: &dyn Host) -> Result<Self, String> {
        let backend = Backend::from_args(args)?;
        let dataset = Dataset::from_args(args, backend)?;
        let load = GivenLoad::from_args(args, &dataset)?;
        let url = url(args)?;
        let base_path = url.target.trim_end_matches('/').to_owned();
        let endpoint = args.text("endpoint").unwrap_or(backend.path);
        let slash = if endpoint.starts_with('/') { "" } else { "/" };
        let extra = extra(args, backend, &dataset)?;
        Ok(Self {
            path: format!("{base_path}{slash}{endpoint}"),
            base_path,
            target: url.origin.to_string(),
            model: model(args)?,
            headers: headers(args)?,
            key: key(host),
            args,
            backend,
            dataset,
            load,
            extra,
        })
    }

    /// The URL of a path of the server.
    pub(super) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.target)
    }

    /// The URL of a path beside the API, such as `/start_profile`.
    pub(super) fn url_beside(&self, path: &str) -> String {
        format!("{}{}{path}", self.target, self.base_path)
    }

    /// The header fields of requests that no prompt is made for.
    pub(super) fn fields(&self) -> Vec<Field> {
        let mut fields = self.headers.clone();
        if let Some(key) = &self.key {
            fields.push(Field {
                name: TOOL.text("", &"Authorization"),
                value: key.with(format!("Bearer {}", key.value)),
            });
        }
        fields
    }
}

/// The server.
fn url(args: &Args) -> Result<Url, String> {
    let (name, text) = match args.text("base-url") {
        Some(url) => ("base-url", url.to_owned()),
        None => {
            let port: u16 = parsed("port", args.or_default("port"), "a port such as 8000")?;
            let host = args.or_default("host");
            let host = match host.contains(':') && !host.starts_with('[') {
                true => format!("[{host}]"),
                false => host.to_owned(),
            };
            ("host", format!("http://{host}:{port}"))
        }
    };
    Url::parse(&text).map_err(|error| mistake(name, error.message))
}

/// The models in requests, with their weights.
fn model(args: &Args) -> Result<String, String> {
    let adapters = args.values("lora-modules");
    if args.or_default("lora-assignment") != "random" {
        let why = "requests choose an adapter at random; leave it out";
        return Err(mistake("lora-assignment", why));
    }
    if !adapters.is_empty() {
        return Ok(adapters.join(","));
    }
    let model = args
        .text("served-model-name")
        .or_else(|| args.text("model"));
    let missing =
        || "--model is missing; `curl URL/v1/models` lists the models of a server".to_owned();
    model.map(str::to_owned).ok_or_else(missing)
}

fn headers(args: &Args) -> Result<Vec<Field>, String> {
    let fields = args.values("header").iter().map(|text| {
        let split = text.split_once('=');
        let (name, value) = split.ok_or_else(|| {
            let shown = text.escape_debug();
            mistake("header", format!("`{shown}` is not of the form NAME=VALUE"))
        })?;
        Ok(TOOL.field("--header", name.trim(), value.trim()))
    });
    fields.collect()
}

/// The key of the environment. The printed plan has a reference to it.
fn key(host: &dyn Host) -> Option<Text> {
    const NAME: &str = "OPENAI_API_KEY";
    let value = host.variable(NAME).filter(|value| !value.is_empty())?;
    Some(Text {
        written: Some(format!("${{secret:env:{NAME}}}").into()),
        ..Text::new(value, Place::Nowhere)
    })
}

/// Members of the bodies. Those of `--extra-body` win.
fn extra(args: &Args, backend: Backend, dataset: &Dataset) -> Result<Map<String, Value>, String> {
    let mut extra = Map::new();
    for name in SAMPLING {
        if args.has(name) {
            let number = args.number(name)?;
            let value = match name {
                "top-k" => json!(number as i64),
                _ => json!(number),
            };
            extra.insert(name.replace('-', "_"), value);
        }
    }
    if let Some(count) = args.given_count("logprobs")? {
        if backend.api != "completions" {
            let why = "only completions have a number of log probabilities; use --extra-body";
            return Err(mistake("logprobs", why));
        }
        extra.insert("logprobs".to_owned(), json!(count));
    }
    if backend.generates() && (dataset.ignores_end || args.has("ignore-eos")) {
        extra.insert("ignore_eos".to_owned(), json!(true));
    }
    if args.has("use-beam-search") {
        extra.insert("use_beam_search".to_owned(), json!(true));
    }
    if let Some(text) = args.text("extra-body") {
        let read: Value = parsed(
            "extra-body",
            text,
            "a JSON object such as {\"min_tokens\": 5}",
        )?;
        let Value::Object(members) = read else {
            return Err(mistake("extra-body", "it is not a JSON object"));
        };
        extra.extend(members);
    }
    Ok(extra)
}
