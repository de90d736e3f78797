//! Service descriptions in OpenAPI 3.0 to 3.2.

mod body;
mod keys;
mod security;
mod server;
mod style;
mod xml;

use crate::Source;
use crate::exchange::{Exchange, ImportedRequests, Words};
use crate::library::{FileLibrary, Node, Siblings};
use crate::notes::Notes;
use crate::sample::sample;
use crate::shape::{Seen, shown};
use drumfire_plan::{Header, percent};
use serde_json::Value;
use server::Server;
use style::{Encoding, ParameterStyle, written};

/// The possible methods of an item of `paths`.
const METHODS: [&str; 9] = [
    "get", "put", "post", "delete", "options", "head", "patch", "trace", "query",
];

/// The safe methods, which do not change state (RFC 9110 section 9.2.1).
const SAFE: [&str; 5] = ["get", "options", "head", "trace", "query"];

/// Headers that parameters can't set (OpenAPI, "Parameter Object").
const IGNORED: [&str; 3] = ["accept", "content-type", "authorization"];

/// The value of a parameter without a known type: valid as a text and as a number.
const UNKNOWN: &str = "1";

/// Reads a description: one request for each operation, with its examples. Unless `keeps_all` is
/// set, operations that change state and deprecated ones are left out.
pub(crate) fn read(source: &Source<'_>, keeps_all: bool) -> Result<ImportedRequests, String> {
    let mut library = FileLibrary::read(source)?;
    let root = library.root();
    if let Some(version) = root.get("swagger").text() {
        return Err(format!(
            "this is Swagger {version}; convert it to OpenAPI 3 first"
        ));
    }
    let version = root.get("openapi").text().unwrap_or_default();
    if !version.starts_with("3.") {
        return Err("it has no `openapi: 3.…`".to_owned());
    }
    if !version.starts_with("3.0") {
        library.siblings = Siblings::Read;
    }
    let mut reader = Reader::new(&library, keeps_all);
    reader.document();
    Ok(reader.all)
}

/// The state of reading a description.
struct Reader<'a> {
    root: Node<'a>,
    keeps_all: bool,
    server: Server,
    seen: Seen,
    all: ImportedRequests,
}

/// An operation of a path.
#[derive(Clone, Copy)]
struct Operation<'a> {
    method: &'a str,
    path: &'a str,
    item: Node<'a>,
    node: Node<'a>,
}

impl Operation<'_> {
    /// `GET /a`, the name in notes.
    fn shown(&self) -> String {
        format!("{} {}", self.method.to_uppercase(), self.path)
    }
}

/// The serialized parameters of a request.
#[derive(Default)]
struct Written {
    /// The path parameters, by name.
    path: Vec<(String, String)>,
    query: Vec<String>,
    headers: Vec<(String, Words)>,
    cookies: Vec<String>,
}

impl<'a> Reader<'a> {
    fn new(library: &'a FileLibrary, keeps_all: bool) -> Self {
        let root = library.root();
        let mut all = ImportedRequests::default();
        let server = server::first(root.get("servers"), &mut all.notes).unwrap_or_default();
        all.target = server.origin.as_deref().map(Words::plain);
        Self {
            root,
            keeps_all,
            server,
            seen: Seen::default(),
            all,
        }
    }

    fn document(&mut self) {
        let notes = &mut self.all.notes;
        self.seen.check(self.root, &keys::DOCUMENT, notes);
        let paths = self.root.get("paths");
        match paths.resolved() {
            Err(why) => notes.add_at(why, || paths.place()),
            Ok(paths) if !paths.is_mapping() => {
                notes.add_at("`paths` is not a mapping".to_owned(), || paths.place());
            }
            Ok(_) => {}
        }
        for (path, given) in paths.entries() {
            if path.starts_with("x-") {
                continue;
            }
            match given.resolved() {
                Ok(item) => self.path(path, given, item),
                Err(why) => {
                    let finding = format!("a path is left out, because {why}");
                    self.all.notes.add_at(finding, || shown(path));
                }
            }
        }
        if self.root.get("webhooks").value().is_object() {
            self.all.note(
                "`webhooks` are left out: they are requests that the service makes".to_owned(),
            );
        }
    }

    fn path(&mut self, path: &'a str, given: Node<'a>, item: Node<'a>) {
        self.seen.check(given, &keys::PATH, &mut self.all.notes);
        // Keys next to the reference override the keys of the target in every version.
        let own = |key: &str| Some(given.get(key)).filter(|it| !it.is_null());
        let find = |key: &str| own(key).unwrap_or_else(|| item.get(key));
        let usual = METHODS.map(|method| (method, find(method)));
        let others = find("additionalOperations").entries();
        for (method, node) in usual.into_iter().chain(others) {
            if node.is_null() {
                continue;
            }
            let node = match node.resolved() {
                Ok(node) => node,
                Err(why) => {
                    let finding = format!("an operation is left out, because {why}");
                    let place = || format!("{} {}", method.to_uppercase(), shown(path));
                    self.all.notes.add_at(finding, place);
                    continue;
                }
            };
            let operation = Operation {
                method,
                path,
                item: if own("parameters").is_some() {
                    given
                } else {
                    item
                },
                node,
            };
            if let Some(why) = self.left_out(&operation) {
                let finding =
                    format!("operations are left out, because {why}; use --all to keep them");
                self.all.notes.add_at(finding, || operation.shown());
                continue;
            }
            let servers = [node.get("servers"), find("servers")];
            let exchange = self.exchange(&operation, servers);
            self.all.requests.push(exchange);
        }
    }

    /// The reason why an operation is left out, if it is.
    fn left_out(&self, operation: &Operation<'_>) -> Option<&'static str> {
        let is_deprecated = operation.node.get("deprecated").is_true();
        match self.keeps_all {
            true => None,
            false if !SAFE.contains(&operation.method) => Some("they may change something"),
            false if is_deprecated => Some("they are deprecated"),
            false => None,
        }
    }

    fn exchange(&mut self, operation: &Operation<'a>, servers: [Node<'a>; 2]) -> Exchange {
        let notes = &mut self.all.notes;
        self.seen.check(operation.node, &keys::OPERATION, notes);
        let mut server = servers
            .into_iter()
            .find_map(|servers| server::first(servers, notes));
        if let Some(own) = &mut server
            && own.origin.is_none()
        {
            own.origin.clone_from(&self.server.origin);
        }
        let server = server.unwrap_or_else(|| self.server.clone());
        let mut made = Written::default();
        for parameter in self.parameters(operation) {
            self.parameter(parameter, operation, &mut made);
        }
        let path = self.filled(operation, &made.path);
        // A server other than the target requires a complete URL.
        let origin = server
            .origin
            .filter(|own| Some(own) != self.server.origin.as_ref());
        let mut url = format!(
            "{}{}{path}",
            origin.unwrap_or_default(),
            escaped(&server.path)
        );
        let sign = if url.contains('?') { '&' } else { '?' };
        if !made.query.is_empty() {
            url = format!("{url}{sign}{}", made.query.join("&"));
        }
        let mut exchange = Exchange::new(operation.method, Words::of_document(&url));
        let id = operation.node.get("operationId").text();
        let whole = format!(
            "{} {}{}",
            operation.method.to_uppercase(),
            server.path,
            operation.path
        );
        exchange.name = Some(id.unwrap_or(whole));
        exchange.headers = made.headers;
        if !made.cookies.is_empty() {
            let cookies = Words::of_document(&made.cookies.join("; "));
            exchange.headers.push(("Cookie".to_owned(), cookies));
        }
        self.body(operation.node, &mut exchange, &operation.shown());
        self.secure(operation.node, &mut exchange);
        exchange
    }

    /// The parameters of the operation, and the path's parameters with other names.
    fn parameters(&mut self, operation: &Operation<'a>) -> Vec<Node<'a>> {
        let mut all: Vec<Node<'a>> = Vec::new();
        for of in [operation.node, operation.item] {
            let inner = all.len();
            let parameters = of.get("parameters");
            let whole = parameters.resolved();
            let why = match &whole {
                Ok(list) if list.value().is_array() || list.is_null() => None,
                Ok(_) => Some("`parameters` is not a list"),
                Err(why) => Some(why.as_str()),
            };
            if let Some(why) = why {
                let finding = format!("parameters are left out, because {why}");
                self.all.notes.add_at(finding, || operation.shown());
            }
            for given in parameters.list() {
                let parameter = match given.resolved() {
                    Ok(parameter) => parameter,
                    Err(why) => {
                        let finding = format!("a parameter is left out, because {why}");
                        self.all.notes.add_at(finding, || operation.shown());
                        continue;
                    }
                };
                let key = |of: Node<'a>| (of.get("name").str(), of.get("in").str());
                let is_known = all[..inner]
                    .iter()
                    .any(|known| key(*known) == key(parameter));
                if !is_known {
                    all.push(parameter);
                }
            }
        }
        all
    }

    fn parameter(&mut self, parameter: Node<'a>, operation: &Operation<'_>, made: &mut Written) {
        let place = parameter.get("in").str().unwrap_or_default();
        let name = parameter.get("name").str().unwrap_or_default();
        let at = || format!("`{}` of {}", shown(name), operation.shown());
        let is_known = ["path", "query", "header", "cookie", "querystring"].contains(&place);
        if !is_known || (name.is_empty() && place != "querystring") {
            let finding = format!(
                "a parameter whose place is `{}` is not imported",
                shown(place)
            );
            return self.all.notes.add_at(finding, at);
        }
        let required = parameter.get("required");
        if !required.is_null() && required.value().as_bool().is_none() {
            let finding = "`required` is not `true` or `false`".to_owned();
            self.all.notes.add_at(finding, || required.place());
        }
        if place != "path" && !required.is_true() {
            let finding = format!("optional {place} parameters are left out");
            return self.all.notes.add_at(finding, at);
        }
        if place == "header" && Header::new(name, b"").is_err() {
            let finding =
                "a header parameter is left out: a header can't have this name".to_owned();
            return self.all.notes.add_at(finding, at);
        }
        let mut ignored = IGNORED.iter().filter(|_| place == "header");
        if ignored.any(|own| name.eq_ignore_ascii_case(own)) {
            let finding = "a parameter for this header is left out, as OpenAPI has it: it follows \
                           from the body or the security scheme";
            return self.all.notes.add_at(finding.to_owned(), at);
        }
        self.seen
            .check(parameter, &keys::PARAMETER, &mut self.all.notes);
        let written = self.value_of(parameter, place, name, at);
        match place {
            "path" => made.path.push((name.to_owned(), written.joined("&"))),
            "header" => {
                let text = Words::of_document(&written.joined(","));
                made.headers.push((name.to_owned(), text));
            }
            // A list without items has no pairs.
            _ if written.pairs.is_empty() => {}
            "cookie" => made.cookies.push(written.joined("; ")),
            _ => made.query.push(written.joined("&")),
        }
    }

    /// A parameter with its serialized value.
    fn value_of(
        &mut self,
        parameter: Node<'_>,
        place: &str,
        name: &str,
        at: impl FnOnce() -> String + Copy,
    ) -> style::Written {
        let reserved = parameter.get("allowReserved").is_true();
        let encoding = match place {
            "header" | "cookie" => Encoding::Nothing,
            _ if reserved => Encoding::Reserved,
            _ => Encoding::All,
        };
        if let Some(content) = parameter.get("content").entries().next() {
            return self.content_of(parameter, content, (place, name), encoding, at);
        }
        let value = example(parameter, &mut self.all.notes);
        let mut value = value
            .filter(|it| !it.is_null())
            .unwrap_or_else(|| Value::from(UNKNOWN));
        if place == "path" && value.as_str() == Some("") {
            let finding = "the example of a path parameter is empty, so the plan has 1";
            self.all.notes.add_at(finding.to_owned(), at);
            value = Value::from(UNKNOWN);
        }
        let usual = if matches!(place, "path" | "header") {
            ParameterStyle::Simple
        } else {
            ParameterStyle::Form
        };
        let style = match parameter.get("style").str() {
            None => usual,
            Some(given) => match ParameterStyle::named(given).filter(|style| style.fits(place)) {
                Some(style) => style,
                None => {
                    let finding = format!(
                        "the style `{}` does not fit a {place} parameter",
                        shown(given)
                    );
                    self.all.notes.add_at(finding, at);
                    usual
                }
            },
        };
        let explode = parameter.get("explode").value().as_bool();
        let pairs = written(
            name,
            &value,
            style,
            explode.unwrap_or(style == ParameterStyle::Form),
            encoding,
        );
        if pairs.is_nested {
            self.note_nested(at);
        }
        pairs
    }

    /// A parameter with a media type instead of a style.
    fn content_of(
        &mut self,
        parameter: Node<'_>,
        (media_type, media): (&str, Node<'_>),
        (place, name): (&str, &str),
        encoding: Encoding,
        at: impl FnOnce() -> String,
    ) -> style::Written {
        let value = example(parameter, &mut self.all.notes);
        let value = value.or_else(|| example(media, &mut self.all.notes));
        let value = value.unwrap_or_default();
        let is_json = media_type.contains("json");
        let text = match crate::library::text(&value).filter(|_| !is_json) {
            Some(text) => text,
            None => self.query_text(place, &value, media_type, at),
        };
        let encoding = match place {
            "querystring" => Encoding::Reserved,
            _ => encoding,
        };
        let own_name = match place {
            "query" | "cookie" => encoding.encoded(name),
            _ => String::new(),
        };
        style::Written {
            pairs: vec![(own_name, encoding.encoded(&text))],
            is_nested: false,
        }
    }

    /// A value serialized by the media type of a parameter's content.
    fn query_text(
        &mut self,
        place: &str,
        value: &Value,
        media_type: &str,
        at: impl FnOnce() -> String,
    ) -> String {
        let is_form = media_type.starts_with("application/x-www-form-urlencoded");
        if place == "querystring" && is_form {
            return written("", value, ParameterStyle::Form, true, Encoding::All).joined("&");
        }
        if !media_type.contains("json") {
            let finding = format!(
                "a parameter of the type {} has a value in JSON",
                shown(media_type)
            );
            self.all.notes.add_at(finding, at);
        }
        value.to_string()
    }

    /// The path of an operation with the values of its parameters. A parameter without a
    /// description also gets a value.
    fn filled(&mut self, operation: &Operation<'_>, values: &[(String, String)]) -> String {
        let given = operation.path;
        let (path, fragment) = given.split_once('#').unwrap_or((given, ""));
        if !fragment.is_empty() {
            let finding = "what follows a `#` in a path is left out".to_owned();
            self.all.notes.add_at(finding, || operation.shown());
        }
        let slash = if path.starts_with('/') { "" } else { "/" };
        let mut out = slash.to_owned();
        let mut used = Vec::new();
        let mut rest = path;
        while let Some((before, inner)) = rest.split_once('{') {
            out.push_str(&escaped(before));
            let end = inner.find('}');
            let name = end.map(|end| &inner[..end]);
            // `{{x}}` and `${x}` are not parameters.
            let is_tag = before.ends_with('$') || out.ends_with('{');
            let Some(name) = name.filter(|name| !is_tag && !name.contains(['{', '/'])) else {
                out.push('{');
                rest = inner;
                continue;
            };
            rest = &inner[name.len() + 1..];
            // `{+name}` and `{name*}`, which do not exist in OpenAPI.
            let plain = name.trim_matches(['+', '#', '.', '/', ';', '?', '&', '*']);
            let known = |own: &str| own == name || own == plain;
            match values.iter().find(|(own, _)| known(own)) {
                Some((own, value)) => {
                    out.push_str(value);
                    used.push(own);
                }
                None => {
                    let finding = "a parameter of a path is not described, so the plan has 1";
                    let place = || format!("`{}` of {}", shown(name), operation.shown());
                    self.all.notes.add_at(finding.to_owned(), place);
                    out.push_str(UNKNOWN);
                }
            }
        }
        out.push_str(&escaped(rest));
        if out.contains(['{', '}']) {
            let finding = "a path has braces that are no parameters; they are sent as they are";
            self.all
                .notes
                .add_at(finding.to_owned(), || operation.shown());
        }
        for (name, _) in values {
            if !used.contains(&name) {
                let finding = "a path parameter is left out, because its path has no such place";
                let place = || format!("`{}` of {}", shown(name), operation.shown());
                self.all.notes.add_at(finding.to_owned(), place);
            }
        }
        out
    }
}

/// The example of a parameter or a media type, or one generated from its schema.
fn example(of: Node<'_>, notes: &mut Notes) -> Option<Value> {
    let mut given = Some(of.get("example")).filter(|it| !it.is_null());
    for (name, example) in of.get("examples").entries() {
        if given.is_some() {
            break;
        }
        match example.resolved() {
            Ok(example) => {
                let values = [example.get("value"), example.get("dataValue")];
                given = values.into_iter().find(|value| !value.is_null());
            }
            Err(why) => notes.add_at(why, || format!("`{}` of {}", shown(name), of.place())),
        }
    }
    match given {
        Some(given) => Some(given.value().clone()),
        None => Some(of.get("schema"))
            .filter(|it| !it.is_null())
            .and_then(|it| sample(it, notes)),
    }
}

/// A text of a description for a path, with characters encoded that a request can't contain.
fn escaped(text: &str) -> String {
    percent::encoded_for_target(text).into_owned()
}

#[cfg(test)]
mod tests;
