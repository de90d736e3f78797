//! Descriptions of services: OpenAPI 3.0 and 3.1.

use crate::exchange::{Body, Exchange, Exchanges, MADE_UUID, Words};
use crate::json_value::{example, read as read_value, resolved, text};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use drumfire_plan::{Header, percent};
use serde_json::Value;

/// The methods that an item of `paths` may have.
const METHODS: [&str; 8] = [
    "get", "put", "post", "delete", "options", "head", "patch", "trace",
];

/// The methods that change nothing at the service (RFC 9110 section 9.2.1).
const SAFE: [&str; 4] = ["get", "options", "head", "trace"];

/// Reads a description: one request for each operation, with the examples that it has. Unless all
/// are to be kept, those that change something and those that are deprecated are left out.
pub(crate) fn read(content: &str, keeps_all: bool) -> Result<Exchanges, String> {
    let root = read_value(content)?;
    if let Some(version) = text(&root["swagger"]) {
        return Err(format!(
            "this is Swagger {version}; convert it to OpenAPI 3 first"
        ));
    }
    if !text(&root["openapi"]).is_some_and(|version| version.starts_with("3.")) {
        return Err("it has no `openapi: 3.…`".to_owned());
    }
    let mut all = Exchanges {
        target: target(&root),
        ..Exchanges::default()
    };
    let base = base_path(&root);
    let paths = root["paths"].as_object().into_iter().flatten();
    for (path, item) in paths {
        let item = resolved(item, &root);
        for method in METHODS {
            let operation = &item[method];
            if operation.is_object() {
                let shown = || format!("{} {base}{path}", method.to_uppercase());
                if !keeps_all && !SAFE.contains(&method) {
                    all.note(format!(
                        "{} is left out, because it may change something; use --all to keep it",
                        shown()
                    ));
                    continue;
                }
                if !keeps_all && operation["deprecated"] == true {
                    all.note(format!(
                        "{} is left out, because it is deprecated; use --all to keep it",
                        shown()
                    ));
                    continue;
                }
                let operation = Operation {
                    root: &root,
                    item,
                    operation,
                };
                let exchange = operation.exchange(method, &format!("{base}{path}"), &mut all);
                all.requests.push(exchange);
            }
        }
    }
    if root["webhooks"].is_object() {
        all.note("`webhooks` are left out: they are requests that the service makes".to_owned());
    }
    Ok(all)
}

/// The URL of the first server, with the defaults of its variables.
fn server(root: &Value) -> Option<String> {
    let server = &root["servers"][0];
    let mut url = text(&server["url"])?;
    for (name, variable) in server["variables"].as_object().into_iter().flatten() {
        let value = text(&variable["default"]).unwrap_or_default();
        url = url.replace(&format!("{{{name}}}"), &value);
    }
    Some(url.trim_end_matches('/').to_owned())
}

/// The origin of the first server, if it has one.
fn target(root: &Value) -> Option<Words> {
    let url = server(root)?;
    let (origin, _) = crate::exchange::origin(&url)?;
    Some(Words::plain(origin))
}

/// The path that the first server's URL has.
fn base_path(root: &Value) -> String {
    let url = server(root).unwrap_or_default();
    let path = crate::exchange::origin(&url).map(|(_, path)| path);
    path.unwrap_or(url).trim_end_matches('/').to_owned()
}

/// An operation of a path.
struct Operation<'a> {
    root: &'a Value,
    item: &'a Value,
    operation: &'a Value,
}

impl<'a> Operation<'a> {
    fn exchange(&self, method: &str, path: &str, all: &mut Exchanges) -> Exchange {
        let mut url = path.to_owned();
        let mut query = Vec::new();
        let mut headers = Vec::new();
        let mut cookies = Vec::new();
        for parameter in self.parameters() {
            let Some(name) = parameter["name"].as_str() else {
                continue;
            };
            let is_required = parameter["required"].as_bool() == Some(true);
            let value = self.example_of(parameter);
            let value = text(&value).unwrap_or_else(|| match value.get(0).and_then(text) {
                Some(first) => first,
                None => value.to_string(),
            });
            match parameter["in"].as_str() {
                Some("path") => {
                    url = url.replace(&format!("{{{name}}}"), &encoded(&value));
                }
                Some("query") if is_required => {
                    query.push(format!("{}={}", encoded(name), encoded(&value)));
                }
                Some("header") if is_required && Header::new(name, b"").is_err() => {
                    all.note(format!(
                        "the header parameter `{name}` of {} {path} is left out: a header can't \
                         have this name",
                        method.to_uppercase()
                    ));
                }
                Some("header") if is_required => {
                    headers.push((name.to_owned(), Words::of_document(&value)))
                }
                Some("cookie") if is_required => cookies.push(format!("{name}={value}")),
                Some(place) => all.note(format!(
                    "the optional {place} parameter `{name}` of {} {path} is left out",
                    method.to_uppercase()
                )),
                None => {}
            }
        }
        if !query.is_empty() {
            url = format!("{url}?{}", query.join("&"));
        }
        let mut exchange = Exchange::new(method, Words::of_document(&url));
        exchange.name = text(&self.operation["operationId"])
            .or_else(|| Some(format!("{} {path}", method.to_uppercase())));
        exchange.headers = headers;
        if !cookies.is_empty() {
            exchange
                .headers
                .push(("Cookie".to_owned(), Words::of_document(&cookies.join("; "))));
        }
        self.body(&mut exchange, all);
        self.secure(&mut exchange, all);
        exchange
    }

    /// Its parameters, and those of its path that it does not name.
    fn parameters(&self) -> Vec<&'a Value> {
        let list = |of: &'a Value| of["parameters"].as_array().into_iter().flatten();
        let own: Vec<&Value> = list(self.operation)
            .map(|p| resolved(p, self.root))
            .collect();
        let is_new = |p: &&Value| {
            !own.iter()
                .any(|own| own["name"] == p["name"] && own["in"] == p["in"])
        };
        let shared: Vec<&Value> = list(self.item)
            .map(|p| resolved(p, self.root))
            .filter(is_new)
            .collect();
        own.into_iter().chain(shared).collect()
    }

    /// The example of a parameter, or of a kind of body.
    fn example_of(&self, of: &Value) -> Value {
        let named = of["examples"].as_object().into_iter().flatten();
        let named = named.map(|(_, example)| &resolved(example, self.root)["value"]);
        let given = std::iter::once(&of["example"]).chain(named);
        match given.into_iter().find(|given| !given.is_null()) {
            Some(given) => given.clone(),
            None => example(&of["schema"], self.root),
        }
    }

    fn body(&self, exchange: &mut Exchange, all: &mut Exchanges) {
        let body = resolved(&self.operation["requestBody"], self.root);
        let Some(content) = body["content"].as_object() else {
            return;
        };
        let is_json = |name: &str| name.contains("json");
        let chosen = content
            .iter()
            .find(|(name, _)| is_json(name))
            .or_else(|| content.iter().next());
        let Some((media_type, kind)) = chosen else {
            return;
        };
        let value = self.example_of(kind);
        exchange.body = match media_type.as_str() {
            name if is_json(name) => {
                let json = Words::of_document(&value.to_string());
                // A plan takes such a string for JSON in quotes.
                let is_taken_for_tree = |value: &str| {
                    value.trim_start().starts_with(['{', '[']) || value.starts_with(MADE_UUID)
                };
                Some(match value.as_str().is_some_and(is_taken_for_tree) {
                    true => Body::Text(json),
                    false => Body::Json(json),
                })
            }
            "application/x-www-form-urlencoded" => {
                let fields = value.as_object().into_iter().flatten();
                let fields = fields.filter_map(|(name, value)| {
                    Some((name.clone(), Words::of_document(&text(value)?)))
                });
                Some(Body::Form(fields.collect()))
            }
            name if name.starts_with("multipart/") => {
                all.note(format!(
                    "the multipart body of {} is not imported",
                    exchange.url.as_str()
                ));
                None
            }
            _ => text(&value).map(|text| Body::Text(Words::of_document(&text))),
        };
        // Trees of JSON and forms have their media types of themselves.
        let own = match &exchange.body {
            Some(Body::Json(_)) => Some("application/json"),
            Some(Body::Form(_)) => Some("application/x-www-form-urlencoded"),
            _ => None,
        };
        if exchange.body.is_some() && own != Some(media_type.as_str()) {
            exchange
                .headers
                .push(("Content-Type".to_owned(), Words::plain(media_type)));
        }
    }

    /// The fields by which the first way to prove who asks is followed; what they hold comes from
    /// the environment.
    fn secure(&self, exchange: &mut Exchange, all: &mut Exchanges) {
        let own = &self.operation["security"];
        let security = if own.is_null() {
            &self.root["security"]
        } else {
            own
        };
        let Some(schemes) = security[0].as_object() else {
            return;
        };
        for name in schemes.keys() {
            let scheme = resolved(&self.root["components"]["securitySchemes"][name], self.root);
            let kind = (scheme["type"].as_str(), scheme["scheme"].as_str());
            let (field, value) = match kind {
                (Some("http"), Some(way)) if way.eq_ignore_ascii_case("basic") => {
                    let usual = STANDARD.encode("user:password");
                    (
                        "Authorization",
                        format!("Basic ${{secret:env:BASIC:-{usual}}}"),
                    )
                }
                (Some("http" | "oauth2" | "openIdConnect"), _) => (
                    "Authorization",
                    "Bearer ${secret:env:TOKEN:-none-yet}".to_owned(),
                ),
                (Some("apiKey"), _) if scheme["in"] == "header" => {
                    let field = scheme["name"].as_str().unwrap_or("X-Api-Key");
                    (field, "${secret:env:API_KEY:-none-yet}".to_owned())
                }
                _ => {
                    all.note(format!("the security scheme `{name}` is not imported"));
                    continue;
                }
            };
            if Header::new(field, b"").is_err() {
                all.note(format!(
                    "the header `{field}` of the security scheme `{name}` is left out: a header \
                     can't have this name"
                ));
                continue;
            }
            all.note(format!(
                "`{field}` reads its secret from the environment; see the plan"
            ));
            exchange
                .headers
                .push((field.to_owned(), Words::Plan(value)));
        }
    }
}

/// Percent-encodes what has a meaning in a path or a query; values that are made stay.
fn encoded(text: &str) -> String {
    let parts: Vec<_> = text.split(MADE_UUID).map(percent::encoded).collect();
    parts.join(MADE_UUID)
}

#[cfg(test)]
mod tests {
    use crate::{Form, Wishes, import};
    use drumfire_document::Environment;
    use drumfire_document::form::{self, Source, Syntax};
    use std::io;
    use std::sync::Mutex;

    /// A machine that notes every file and variable that it is asked for.
    #[derive(Debug, Default)]
    struct Asked(Mutex<Vec<String>>);

    impl Environment for Asked {
        fn read(&self, path: &str) -> io::Result<Vec<u8>> {
            self.0.lock().unwrap().push(path.to_owned());
            Ok(b"content".to_vec())
        }

        fn variable(&self, name: &str) -> Option<String> {
            self.0.lock().unwrap().push(name.to_owned());
            Some("value".to_owned())
        }
    }

    /// A description with a reference in each of its texts.
    const HOSTILE: &str = r#"{"openapi": "3.0.0", "info": {"title": "${file:t}", "version": "1"},
        "servers": [{"url": "http://${env:H}.test/${file:s}/{v}", "variables": {"v": {"default": "${file:v}"}}}],
        "paths": {"/a/${file:id}/{p}": {"post": {"operationId": "${env:OP}", "parameters": [
            {"name": "p", "in": "path", "required": true, "example": "{{ ${file:p} }}"},
            {"name": "q${env:Q}", "in": "query", "required": true, "example": "${env:QV}"},
            {"name": "X-A${env:A}", "in": "header", "required": true, "example": "${env:AV}$${env:AV}"},
            {"name": "c${file:c}", "in": "cookie", "required": true, "example": "${file:cv}"}],
          "requestBody": {"content": {"application/x-www-form-urlencoded": {"example": {"k${env:K}": "${env:KV}"}}}}},
        "put": {"requestBody": {"content": {"application/json": {"example": {"k${env:J}": "${env:JV}"}}}}},
        "patch": {"requestBody": {"content": {"text/${env:M}": {"example": "${file:b}"}}}}}}}"#;

    #[test]
    fn no_text_of_a_description_refers_to_a_file_or_a_variable() {
        let wishes = Wishes {
            keeps_all: true,
            ..Wishes::default()
        };
        let imported = import(Form::OpenApi, HOSTILE, &wishes).unwrap();
        assert_eq!(imported.document.pools[0].requests.len(), 3);
        let text = form::print(&imported.document);
        let machine = Asked::default();
        let read = form::draft(&Source {
            text: &text,
            name: "plan.yaml",
            syntax: Syntax::Yaml,
            settings: &[],
            environment: &machine,
        });
        assert_eq!(read.found, [], "{text}");
        assert_eq!(*machine.0.lock().unwrap(), [""; 0], "{text}");
        assert!(text.contains("/a/$${file:id}/"), "{text}");
    }

    #[test]
    fn names_that_no_header_can_have_are_left_out_with_a_note() {
        let text = r#"{"openapi": "3.0.0", "security": [{"key": []}],
            "components": {"securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "my key"}}},
            "servers": [{"url": "http://a.test"}],
            "paths": {"/a": {"get": {"parameters": [
                {"name": "X-${file:id}", "in": "header", "required": true, "example": "v"},
                {"name": "X-Id", "in": "header", "required": true, "example": "v"}]}}}}"#;
        let imported = import(Form::OpenApi, text, &Wishes::default()).unwrap();
        let plan = form::print(&imported.document);
        assert!(plan.contains("X-Id") && !plan.contains("file:id"), "{plan}");
        assert!(!plan.contains("my key"), "{plan}");
        for said in [
            "header parameter `X-${file:id}` of GET /a",
            "header `my key` of",
        ] {
            let is_said = imported.notes.iter().any(|note| note.contains(said));
            assert!(is_said, "{said}: {:?}", imported.notes);
        }
    }
}
