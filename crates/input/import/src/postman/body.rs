//! The bodies of a collection.

use super::{EnabledPair, Reader};
use crate::exchange::{Body, Exchange, FormPart, PartBody, Words};
use crate::library::Node;
use crate::shape::shown;
use serde_json::{Value, json};

/// The methods whose bodies Postman does not send by default.
const WITHOUT_BODY: [&str; 5] = ["GET", "HEAD", "COPY", "PURGE", "UNLOCK"];

impl Reader {
    /// Adds the body of a request.
    pub(super) fn body(
        &mut self,
        exchange: &mut Exchange,
        body: Node<'_>,
        prunes: bool,
        name: &str,
    ) {
        if body.is_null() || body.get("disabled").is_true() {
            return;
        }
        let Some((made, media_type)) = self.made(exchange, body, name) else {
            return;
        };
        if prunes && WITHOUT_BODY.contains(&exchange.method.as_str()) {
            let finding = format!("a body of {} is left out, as Postman does", exchange.method);
            return self.all.notes.add_at(finding, || shown(name));
        }
        exchange.body = Some(made);
        if let Some(media_type) = media_type.filter(|_| !exchange.has("content-type")) {
            let field = ("Content-Type".to_owned(), Words::plain(media_type));
            exchange.headers.push(field);
        }
    }

    /// The body, and the media type that Postman sets.
    fn made(
        &mut self,
        exchange: &mut Exchange,
        body: Node<'_>,
        name: &str,
    ) -> Option<(Body, Option<&'static str>)> {
        let Some(mode) = body.get("mode").str() else {
            if body.own_entries().next().is_some() {
                let finding = "a body without a `mode` is left out".to_owned();
                self.all.notes.add_at(finding, || shown(name));
            }
            return None;
        };
        let given = body.get(mode);
        match mode {
            "none" => None,
            "raw" if given.text().is_none() && !given.is_null() => {
                let finding = "a raw body is not a text and is left out".to_owned();
                self.all.notes.add_at(finding, || given.place());
                None
            }
            "raw" => {
                let raw = given.text().filter(|raw| !raw.is_empty())?;
                let language = body.get("options").get("raw").get("language").str();
                Some((Body::Text(self.words(&raw)), Some(media_type(language))))
            }
            "urlencoded" => {
                let mut fields = Vec::new();
                for pair in self.checked_pairs(given) {
                    let value = self.words(&pair.text());
                    fields.push((self.key(&pair, name), value));
                }
                match given.text().filter(|text| !text.is_empty()) {
                    Some(text) => {
                        let kind = "application/x-www-form-urlencoded";
                        Some((Body::Text(self.words(&text)), Some(kind)))
                    }
                    None if fields.is_empty() => None,
                    None => Some((Body::Form(fields), None)),
                }
            }
            "formdata" => {
                let pairs = self.checked_pairs(given);
                let parts = self.parts(&pairs, name);
                (!parts.is_empty()).then(|| (exchange.take_parts(parts), None))
            }
            "graphql" => {
                let json = self.graphql(given, name)?;
                Some((Body::Text(self.words(&json)), Some("application/json")))
            }
            "file" => self.file(given, name).map(|body| (body, None)),
            mode => {
                let finding = format!("a body of the mode `{}` is not imported", shown(mode));
                self.all.notes.add_at(finding, || shown(name));
                None
            }
        }
    }

    /// The body that is the content of a file.
    fn file(&mut self, given: Node<'_>, name: &str) -> Option<Body> {
        let content = given.get("content").text();
        let content = content.map(|text| Body::Text(self.words(&text)));
        let path = given.text().or_else(|| given.get("src").text());
        let made = path.map(Body::File).or(content);
        if made.is_none() {
            let finding = "a body is a file without a name and is not imported".to_owned();
            self.all.notes.add_at(finding, || shown(name));
        }
        if let Some(Body::File(path)) = &made {
            self.note_file(path);
        }
        made
    }

    /// The key of a pair; an unknown variable is left in the key and noted.
    fn key(&mut self, pair: &EnabledPair<'_>, name: &str) -> String {
        self.fixed(&pair.key).unwrap_or_else(|| {
            let finding = "the name of a field has a variable without a value and stays as it is";
            let place = || format!("`{}` of {}", shown(&pair.key), shown(name));
            self.all.notes.add_at(finding.to_owned(), place);
            pair.key.clone()
        })
    }

    /// The parts of a form.
    fn parts(&mut self, pairs: &[EnabledPair<'_>], name: &str) -> Vec<FormPart> {
        let mut parts = Vec::new();
        for pair in pairs {
            let source = pair.node.get("src");
            let kind = pair.node.get("type").text().unwrap_or_default();
            let is_file = kind == "file";
            if !["", "default", "file", "text"].contains(&kind.as_str()) {
                let finding = format!(
                    "a part of a form has the unknown type `{}` and is sent as a text",
                    shown(&kind)
                );
                let place = || format!("`{}` of {}", shown(&pair.key), shown(name));
                self.all.notes.add_at(finding, place);
            }
            let mut paths: Vec<String> = source.list().filter_map(Node::text).collect();
            paths.extend(source.text());
            let contents: Vec<PartBody> = match is_file {
                true => paths.into_iter().map(PartBody::File).collect(),
                false => vec![PartBody::Text(self.words(&pair.text()))],
            };
            if contents.is_empty() {
                let finding = "a part of a form is a file without a name and is left out";
                let place = || format!("`{}` of {}", shown(&pair.key), shown(name));
                self.all.notes.add_at(finding.to_owned(), place);
            }
            let key = self.key(pair, name);
            for content in contents {
                if let PartBody::File(path) = &content {
                    self.note_file(path);
                }
                parts.push(FormPart {
                    name: key.clone(),
                    content,
                    file_name: pair.node.get("fileName").text(),
                    media_type: pair
                        .node
                        .get("contentType")
                        .text()
                        .filter(|it| !it.is_empty()),
                });
            }
        }
        parts
    }

    /// Notes a file of this machine that a request sends, because the collection may be untrusted.
    fn note_file(&mut self, path: &str) {
        let finding = "the plan sends files that the collection names".to_owned();
        self.all
            .notes
            .add_at(finding, || format!("`{}`", shown(path)));
    }

    /// The JSON of a GraphQL request.
    fn graphql(&mut self, given: Node<'_>, name: &str) -> Option<String> {
        let query = given.get("query").text();
        let Some(query) = query.filter(|query| !query.trim().is_empty()) else {
            let finding = "a GraphQL body without a `query` is left out".to_owned();
            self.all.notes.add_at(finding, || shown(name));
            return None;
        };
        let mut json = json!({ "query": query });
        let variables = given.get("variables");
        let operation = given
            .get("operationName")
            .text()
            .filter(|it| !it.is_empty());
        if let Some(operation) = operation {
            json["operationName"] = Value::from(operation);
        }
        let text = variables.text().unwrap_or_default();
        match (variables.value(), text.trim()) {
            (tree @ Value::Object(_), _) => json["variables"] = tree.clone(),
            (_, "") => {}
            (_, text) => match serde_json::from_str::<Value>(text) {
                Ok(tree) => json["variables"] = tree,
                // `{"id": {{id}}}` becomes valid JSON only after the variable is replaced.
                Err(_) => {
                    let fixed = self
                        .fixed(text)
                        .and_then(|text| serde_json::from_str(&text).ok());
                    match fixed {
                        Some(tree) => json["variables"] = tree,
                        None => {
                            let finding =
                                "the variables of a GraphQL body are not JSON and are left out";
                            self.all.notes.add_at(finding.to_owned(), || shown(name));
                        }
                    }
                }
            },
        }
        Some(json.to_string())
    }
}

/// The media type of a raw body.
fn media_type(language: Option<&str>) -> &'static str {
    match language {
        Some("json") => "application/json",
        Some("xml") => "application/xml",
        Some("html") => "text/html",
        Some("javascript") => "application/javascript",
        _ => "text/plain",
    }
}
