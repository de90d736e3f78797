//! Collections of Postman, version 2.1.

use crate::exchange::{Body, Exchange, Exchanges, FormPart, PartContent, Words};
use crate::json_value::text;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::Value;

/// Folders in folders.
const DEPTH_MAX: usize = 64;

/// Values that Postman makes, and what a plan has for them.
const DYNAMIC: [(&str, &str); 7] = [
    ("$guid", "{{ uuid }}"),
    ("$isoTimestamp", "{{ time }}"),
    ("$randomAlphaNumeric", "{{ random_string(1) }}"),
    ("$randomBoolean", "{{ choose(['true', 'false']) }}"),
    ("$randomInt", "{{ random_int(0, 1000) }}"),
    ("$randomUUID", "{{ new_uuid() }}"),
    ("$timestamp", "{{ unix }}"),
];

#[derive(Deserialize)]
struct Collection {
    item: Vec<Item>,
    #[serde(default)]
    variable: Vec<Pair>,
    #[serde(default)]
    auth: Value,
    #[serde(default)]
    event: Vec<Value>,
}

#[derive(Deserialize)]
struct Item {
    #[serde(default)]
    name: String,
    /// Of a folder.
    #[serde(default)]
    item: Option<Vec<Self>>,
    #[serde(default)]
    request: Value,
    #[serde(default)]
    auth: Value,
    #[serde(default)]
    event: Vec<Value>,
}

#[derive(Deserialize)]
struct Pair {
    #[serde(default)]
    key: String,
    #[serde(default)]
    value: Value,
    #[serde(default)]
    disabled: bool,
    /// `text` or `file`, of a form's part.
    #[serde(default, rename = "type")]
    kind: Value,
    /// The path of such a file.
    #[serde(default, rename = "src")]
    source: Value,
    /// The media type of a part.
    #[serde(default, rename = "contentType")]
    media_type: Value,
}

/// Reads a collection.
pub(crate) fn read(content: &str) -> Result<Exchanges, String> {
    let collection: Collection = serde_json::from_str(content)
        .map_err(|error| format!("not a Postman collection: {error}"))?;
    let mut reader = Reader::default();
    let variables = collection.variable.iter().filter(|pair| !pair.disabled);
    reader.names = variables.map(|pair| pair.key.clone()).collect();
    for pair in collection.variable.iter().filter(|pair| !pair.disabled) {
        let value = reader.words(&text(&pair.value).unwrap_or_default());
        let name = name_of(&pair.key);
        reader.all.vars.push((name, value));
    }
    reader.scripts("the collection", &collection.event);
    for item in &collection.item {
        reader.item(item, "", &collection.auth, 0);
    }
    Ok(reader.all)
}

/// A collection as far as it was read.
#[derive(Default)]
struct Reader {
    all: Exchanges,
    /// The variables that the collection has.
    names: Vec<String>,
}

impl Reader {
    fn scripts(&mut self, name: &str, events: &[Value]) {
        let has_code = |event: &Value| {
            let lines = event["script"]["exec"].as_array().into_iter().flatten();
            lines
                .filter_map(Value::as_str)
                .any(|line| !line.trim().is_empty())
        };
        if events.iter().any(has_code) {
            self.all
                .note(format!("the scripts of {name} are not imported"));
        }
    }

    fn item(&mut self, item: &Item, folder: &str, auth: &Value, depth: usize) {
        let name = match folder {
            "" => item.name.clone(),
            folder => format!("{folder}/{}", item.name),
        };
        self.scripts(&name, &item.event);
        let auth = if item.auth.is_object() {
            &item.auth
        } else {
            auth
        };
        if let Some(items) = &item.item {
            if depth >= DEPTH_MAX {
                self.all.note(format!(
                    "the folder {name} is nested too deeply and is left out"
                ));
                return;
            }
            for below in items {
                self.item(below, &name, auth, depth + 1);
            }
            return;
        }
        self.request(&name, &item.request, auth);
    }

    fn request(&mut self, name: &str, request: &Value, auth: &Value) {
        let url = match request {
            Value::String(url) => url.clone(),
            request => {
                let raw = text(&request["url"]["raw"]).or_else(|| text(&request["url"]));
                raw.unwrap_or_default()
            }
        };
        if url.is_empty() {
            self.all
                .note(format!("`{name}` has no URL and is left out"));
            return;
        }
        let url = self.with_path_variables(url, &request["url"]["variable"]);
        let scheme = if url.contains("://") || url.starts_with("{{") {
            ""
        } else {
            "http://"
        };
        let url = self.words(&format!("{scheme}{url}"));
        let method = request["method"].as_str().unwrap_or("GET");
        let mut exchange = Exchange::new(method, url);
        exchange.name = Some(name.to_owned());
        for pair in pairs(&request["header"]) {
            let value = self.words(&text(&pair.value).unwrap_or_default());
            exchange.headers.push((pair.key, value));
        }
        let auth = if request["auth"].is_object() {
            &request["auth"]
        } else {
            auth
        };
        self.auth(&mut exchange, auth);
        self.body(&mut exchange, &request["body"]);
        self.all.requests.push(exchange);
    }

    /// `:id` in a path, with its value.
    fn with_path_variables(&self, url: String, variables: &Value) -> String {
        let at = url.find(['?', '#']).unwrap_or(url.len());
        let (path, query) = url.split_at(at);
        let mut url = path.to_owned();
        for pair in pairs(variables) {
            let value = text(&pair.value).unwrap_or_default();
            let segments = url
                .split('/')
                .map(|segment| match segment.strip_prefix(':') {
                    Some(name) if name == pair.key => value.as_str(),
                    _ => segment,
                });
            url = segments.collect::<Vec<_>>().join("/");
        }
        url + query
    }

    fn auth(&mut self, exchange: &mut Exchange, auth: &Value) {
        let Some(kind) = auth["type"].as_str() else {
            return;
        };
        let own = pairs(&auth[kind]);
        let value = |key: &str| {
            let found = own.iter().find(|pair| pair.key == key);
            found.and_then(|pair| text(&pair.value)).unwrap_or_default()
        };
        let field = match kind {
            "noauth" => return,
            "bearer" => (
                "Authorization".to_owned(),
                format!("Bearer {}", value("token")),
            ),
            "basic" => {
                let pair = format!("{}:{}", value("username"), value("password"));
                if pair.contains("{{") {
                    self.all
                        .note("basic authentication with variables is not imported".to_owned());
                    return;
                }
                (
                    "Authorization".to_owned(),
                    format!("Basic {}", STANDARD.encode(pair)),
                )
            }
            "apikey" if value("in") == "query" => {
                let pair = format!("{}={}", value("key"), value("value"));
                exchange.url = self.with_query(&exchange.url, &pair);
                return;
            }
            "apikey" => (value("key"), value("value")),
            kind => {
                self.all
                    .note(format!("authentication by `{kind}` is not imported"));
                return;
            }
        };
        if !exchange.has(&field.0) {
            let value = self.words(&field.1);
            exchange.headers.push((field.0, value));
        }
    }

    /// A URL with one more pair in its query.
    fn with_query(&mut self, url: &Words, pair: &str) -> Words {
        let sign = if url.as_str().contains('?') { '&' } else { '?' };
        let pair = self.words(pair);
        match (url, &pair) {
            (Words::Plain(url), Words::Plain(pair)) => Words::Plain(format!("{url}{sign}{pair}")),
            (url, pair) => Words::Plan(format!("{}{sign}{}", url.in_plan(), pair.in_plan())),
        }
    }

    /// The parts of a form of the request `name`.
    fn parts(&mut self, pairs: Vec<Pair>, name: &str) -> Vec<FormPart> {
        let mut parts = Vec::with_capacity(pairs.len());
        for pair in pairs {
            let content = if pair.kind != "file" {
                let value = text(&pair.value).unwrap_or_default();
                PartContent::Text(self.words(&value))
            } else if let Some(path) = text(&pair.source) {
                PartContent::File(path)
            } else {
                self.all.note(format!(
                    "the part `{}` of `{name}` has no file name",
                    pair.key
                ));
                continue;
            };
            parts.push(FormPart {
                name: pair.key,
                content,
                file_name: None,
                media_type: text(&pair.media_type),
            });
        }
        parts
    }

    fn body(&mut self, exchange: &mut Exchange, body: &Value) {
        let name = exchange.name.clone().unwrap_or_default();
        let fields = |mode: &str| pairs(&body[mode]);
        let (made, media_type) = match body["mode"].as_str() {
            Some("raw") => {
                let raw = text(&body["raw"]).unwrap_or_default();
                let is_json = body["options"]["raw"]["language"] == "json";
                (
                    Body::Text(self.words(&raw)),
                    is_json.then_some("application/json"),
                )
            }
            Some("urlencoded") => {
                let fields = fields("urlencoded").into_iter().map(|pair| {
                    let value = self.words(&text(&pair.value).unwrap_or_default());
                    (pair.key, value)
                });
                (Body::Form(fields.collect()), None)
            }
            Some("formdata") => {
                let parts = self.parts(fields("formdata"), &name);
                (exchange.take_parts(parts), None)
            }
            Some("graphql") => {
                let graphql = &body["graphql"];
                let variables = text(&graphql["variables"]).unwrap_or_default();
                let variables: Value = serde_json::from_str(&variables).unwrap_or(Value::Null);
                let json = serde_json::json!({ "query": graphql["query"], "variables": variables });
                (
                    Body::Text(self.words(&json.to_string())),
                    Some("application/json"),
                )
            }
            Some("file") => match text(&body["file"]["src"]) {
                Some(path) => (Body::File(path), None),
                None => return,
            },
            Some(mode) => {
                self.all
                    .note(format!("the body of `{name}` ({mode}) is not imported"));
                return;
            }
            None => return,
        };
        exchange.body = Some(made);
        if let Some(media_type) = media_type.filter(|_| !exchange.has("content-type")) {
            exchange
                .headers
                .push(("Content-Type".to_owned(), Words::plain(media_type)));
        }
    }

    /// A text whose `{{name}}` are variables, as a plan has it.
    fn words(&mut self, given: &str) -> Words {
        if !given.contains("{{") {
            return Words::plain(given);
        }
        let mut out = String::new();
        let mut rest = given;
        while let Some(at) = rest.find("{{") {
            out.push_str(&rest[..at].replace("${", "$${"));
            let Some(length) = rest[at..].find("}}") else {
                rest = &rest[at..];
                break;
            };
            let name = rest[at + 2..at + length].trim();
            rest = &rest[at + length + 2..];
            if let Some((_, template)) = DYNAMIC.iter().find(|(known, _)| *known == name) {
                out.push_str(template);
            } else if self.names.iter().any(|known| known == name) {
                out.extend(["${", &name_of(name), "}"]);
            } else {
                let variable = name_of(name).to_uppercase();
                self.all.note(format!(
                    "`{{{{{name}}}}}` is not a variable of the collection; the plan reads the \
                     environment variable {variable}"
                ));
                out.extend(["${env:", &variable, ":-", &variable, "}"]);
            }
        }
        out.push_str(&rest.replace("${", "$${"));
        Words::Plan(out)
    }
}

/// Pairs that are not switched off.
fn pairs(list: &Value) -> Vec<Pair> {
    let items = list.as_array().into_iter().flatten();
    let pairs = items.filter_map(|item| Pair::deserialize(item).ok());
    pairs.filter(|pair| !pair.disabled).collect()
}

/// A variable's name as a plan may have it.
fn name_of(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let name: String = name.chars().map(plain).collect();
    match name.starts_with(|c: char| c.is_ascii_digit()) {
        true => format!("_{name}"),
        false => name,
    }
}
