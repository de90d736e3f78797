//! Postman collections, versions 2.0 and 2.1.

mod body;
mod keys;
mod url;

use crate::exchange::{Exchange, Exchanges, Words, literal};
use crate::json;
use crate::library::{Library, Node, text};
use crate::shape::{Seen, shown};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use drumfire_plan::{Header, percent};
use serde_json::Value;
use std::collections::BTreeMap;

/// The maximum nesting depth of folders and of variables.
const DEPTH_MAX: usize = 64;

/// Postman's dynamic values, and their equivalents in a plan.
const DYNAMIC: [(&str, &str); 7] = [
    ("$guid", "{{ uuid }}"),
    ("$isoTimestamp", "{{ time }}"),
    ("$randomAlphaNumeric", "{{ random_string(1) }}"),
    ("$randomBoolean", "{{ choose(['true', 'false']) }}"),
    ("$randomInt", "{{ random_int(0, 1000) }}"),
    ("$randomUUID", "{{ new_uuid() }}"),
    ("$timestamp", "{{ unix }}"),
];

/// An enabled pair: of a header, a query, a form, an authentication.
struct Pair<'a> {
    key: String,
    node: Node<'a>,
    value: Node<'a>,
}

impl Pair<'_> {
    fn has_value(&self) -> bool {
        !self.value.is_null()
    }

    /// The value as text; a list or an object as JSON.
    fn text(&self) -> String {
        match self.value.value() {
            Value::Null => String::new(),
            value => text(value).unwrap_or_else(|| value.to_string()),
        }
    }
}

/// The pairs of a list, or of a mapping in version 2.0.
fn pairs(list: Node<'_>) -> Vec<Pair<'_>> {
    let of_list = list.list().filter(|node| {
        let is_off =
            node.get("disabled").is_true() || node.get("enabled").value() == &Value::Bool(false);
        node.value().is_object() && !is_off
    });
    let mut pairs: Vec<Pair<'_>> = of_list
        .map(|node| {
            let key = node.get("key").text().or_else(|| node.get("id").text());
            Pair {
                key: key.unwrap_or_default(),
                node,
                value: node.get("value"),
            }
        })
        .collect();
    pairs.extend(list.entries().map(|(key, value)| Pair {
        key: key.to_owned(),
        node: list,
        value,
    }));
    pairs
}

/// A credential of the client: a field of the header or the query.
struct Proof {
    place: &'static str,
    field: String,
    value: Words,
}

/// The use of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Use {
    Text,
    /// For a URL: invalid characters are encoded.
    Url,
}

/// Reads a collection.
pub(crate) fn read(content: &str) -> Result<Exchanges, String> {
    let given =
        json::parsed(content).map_err(|error| format!("not a Postman collection: {error}"))?;
    // Postman's API wraps the collection.
    let is_wrapped = given["item"].is_null() && given["collection"].is_object();
    let given = if is_wrapped {
        given["collection"].clone()
    } else {
        given
    };
    if given["requests"].is_array() && given["item"].is_null() {
        return Err("this is a collection of version 1; export it as version 2.1".to_owned());
    }
    if !given["item"].is_array() {
        return Err("not a Postman collection: it has no list `item`".to_owned());
    }
    let library = Library::of(given);
    let root = library.root();
    let mut reader = Reader::default();
    reader
        .seen
        .check(root, &keys::COLLECTION, &mut reader.all.notes);
    for pair in pairs(root.get("variable")) {
        reader.values.insert(pair.key.clone(), pair.text());
    }
    for (key, value) in reader.values.clone() {
        let value = Words::Plan(reader.plan_words(&value, Use::Text));
        reader.all.vars.push((name_of(&key), value));
    }
    reader.scripts("the collection", root);
    let prunes = !root
        .get("protocolProfileBehavior")
        .get("disableBodyPruning")
        .is_true();
    let inherited = Inherited {
        auth: root.get("auth"),
        prunes,
    };
    for item in root.get("item").list() {
        reader.item(item, "", inherited, 0);
    }
    Ok(reader.all)
}

/// The settings that items inherit from their folder.
#[derive(Clone, Copy)]
struct Inherited<'a> {
    auth: Node<'a>,
    /// Whether methods without a body lose theirs.
    prunes: bool,
}

/// The state of reading a collection.
#[derive(Default)]
struct Reader {
    all: Exchanges,
    seen: Seen,
    /// The variables of the collection.
    values: BTreeMap<String, String>,
}

impl Reader {
    fn scripts(&mut self, name: &str, of: Node<'_>) {
        let has_code = |event: Node<'_>| {
            let script = event.get("script");
            let lines = [script.get("exec"), script];
            let is_code = |line: Node<'_>| line.str().is_some_and(|line| !line.trim().is_empty());
            let is_disabled = event.get("disabled").is_true();
            !is_disabled
                && lines
                    .into_iter()
                    .any(|it| is_code(it) || it.list().any(is_code))
        };
        if of.get("event").list().any(has_code) {
            self.all
                .notes
                .at("scripts are not imported".to_owned(), || shown(name));
        }
    }

    fn item(&mut self, item: Node<'_>, folder: &str, outer: Inherited<'_>, depth: usize) {
        self.seen.check(item, &keys::ITEM, &mut self.all.notes);
        let own = item.get("name").text().unwrap_or_default();
        let name = match folder {
            "" => own,
            folder => format!("{folder}/{own}"),
        };
        self.scripts(&name, item);
        let auth = item.get("auth");
        let pruning = item
            .get("protocolProfileBehavior")
            .get("disableBodyPruning");
        let inherited = Inherited {
            auth: if auth.value().is_object() {
                auth
            } else {
                outer.auth
            },
            prunes: pruning
                .value()
                .as_bool()
                .map_or(outer.prunes, |is_disabled| !is_disabled),
        };
        if item.get("item").value().is_array() {
            if depth >= DEPTH_MAX {
                let finding = "a folder is nested too deeply and is left out".to_owned();
                return self.all.notes.at(finding, || shown(&name));
            }
            for below in item.get("item").list() {
                self.item(below, &name, inherited, depth + 1);
            }
            return;
        }
        self.request(&name, item.get("request"), inherited);
    }

    fn request(&mut self, name: &str, request: Node<'_>, outer: Inherited<'_>) {
        let is_text = request.str().is_some();
        if !is_text {
            self.seen
                .check(request, &keys::REQUEST, &mut self.all.notes);
        }
        let given = if is_text { request } else { request.get("url") };
        let Some(url) = self.url(given, name) else {
            let finding = "a request has no URL and is left out".to_owned();
            return self.all.notes.at(finding, || format!("`{}`", shown(name)));
        };
        let method = request.get("method").str().unwrap_or("GET");
        let method = self
            .fixed_or_note(method, "method", name)
            .unwrap_or_else(|| "GET".to_owned());
        let mut exchange = Exchange::new(&method, url);
        exchange.name = Some(name.to_owned()).filter(|name| !name.is_empty());
        self.headers(&mut exchange, request.get("header"), name);
        let auth = request.get("auth");
        let auth = if auth.value().is_object() {
            auth
        } else {
            outer.auth
        };
        self.auth(&mut exchange, auth);
        self.body(&mut exchange, request.get("body"), outer.prunes, name);
        self.all.requests.push(exchange);
    }

    fn headers(&mut self, exchange: &mut Exchange, given: Node<'_>, name: &str) {
        let mut fields: Vec<(String, String)> = Vec::new();
        for pair in pairs(given) {
            self.seen.check(pair.node, &keys::PAIR, &mut self.all.notes);
            fields.push((pair.key.clone(), pair.text()));
        }
        for line in given.str().unwrap_or_default().lines() {
            if let Some((key, value)) = line.split_once(':') {
                fields.push((key.trim().to_owned(), value.trim().to_owned()));
            }
        }
        for (key, value) in fields {
            let Some(key) = self.fixed_or_note(&key, "header", name) else {
                continue;
            };
            if Header::new(&key, b"").is_err() {
                let finding = "a header is left out: a header can't have this name".to_owned();
                let place = || format!("`{}` of {}", shown(&key), shown(name));
                self.all.notes.at(finding, place);
                continue;
            }
            let value = self.words(value.trim());
            exchange.headers.push((key, value));
        }
    }

    /// A text whose variables are replaced by known values; adds a note if some are unknown.
    fn fixed_or_note(&mut self, given: &str, what: &str, name: &str) -> Option<String> {
        let fixed = self.fixed(given);
        if fixed.is_none() {
            let finding =
                format!("a {what} is left out, because its name has a variable without a value");
            let place = || format!("`{}` of {}", shown(given), shown(name));
            self.all.notes.at(finding, place);
        }
        fixed
    }

    /// Adds the client's credentials.
    fn auth(&mut self, exchange: &mut Exchange, auth: Node<'_>) {
        let Some(kind) = auth.get("type").str() else {
            return;
        };
        let Some(proof) = self.proof(kind, &pairs(auth.get(kind))) else {
            return;
        };
        let Proof {
            place,
            field,
            value,
        } = proof;
        if place == "query" {
            let pair = self.plan_words(&field, Use::Url);
            let url = exchange.url.in_plan();
            let sign = if url.contains('?') { '&' } else { '?' };
            exchange.url = Words::Plan(format!("{url}{sign}{pair}={}", value.in_plan()));
            return;
        }
        let request = exchange.name.clone().unwrap_or_default();
        let Some(field) = self.fixed_or_note(&field, "header", &request) else {
            return;
        };
        if Header::new(&field, b"").is_err() {
            let finding =
                "a key of an authentication is left out: a header can't have its name".to_owned();
            let place = || format!("`{}` of {}", shown(&field), shown(&request));
            return self.all.notes.at(finding, place);
        }
        if !exchange.has(&field) {
            exchange.headers.push((field, value));
        }
    }

    /// The credential that an authentication sends.
    fn proof(&mut self, kind: &str, own: &[Pair<'_>]) -> Option<Proof> {
        let value = |key: &str| {
            let found = own.iter().find(|pair| pair.key == key);
            found.map(Pair::text).unwrap_or_default()
        };
        let authorization = |value: Words| Proof {
            place: "header",
            field: "Authorization".to_owned(),
            value,
        };
        let secret = |scheme: &str, variable: &str| {
            Words::Plan(format!("{scheme} ${{secret:env:{variable}:-none-yet}}"))
        };
        Some(match kind {
            "noauth" => return None,
            "bearer" => authorization(self.words(&format!("Bearer {}", value("token")))),
            "basic" => {
                let pair = format!("{}:{}", value("username"), value("password"));
                match self.fixed(&pair) {
                    Some(pair) => {
                        authorization(Words::Plain(format!("Basic {}", STANDARD.encode(pair))))
                    }
                    None => {
                        self.all.note(
                            "basic authentication has variables without a value; the plan reads \
                             `user:password` in base64 from the environment variable BASIC"
                                .to_owned(),
                        );
                        authorization(secret("Basic", "BASIC"))
                    }
                }
            }
            "apikey" if value("in") == "query" => Proof {
                place: "query",
                field: value("key"),
                value: Words::Plan(self.plan_words(&value("value"), Use::Url)),
            },
            "apikey" => Proof {
                place: "header",
                field: value("key"),
                value: self.words(&value("value")),
            },
            "oauth2" if value("accessToken").is_empty() => {
                self.all.note(
                    "`Authorization` reads its token from the environment variable TOKEN"
                        .to_owned(),
                );
                authorization(secret("Bearer", "TOKEN"))
            }
            "oauth2" if value("addTokenTo") == "queryParams" => Proof {
                place: "query",
                field: "access_token".to_owned(),
                value: Words::Plan(self.plan_words(&value("accessToken"), Use::Url)),
            },
            "oauth2" => {
                let prefix = value("headerPrefix");
                let prefix = Some(prefix.trim()).filter(|prefix| !prefix.is_empty());
                let prefix = prefix.unwrap_or("Bearer");
                authorization(self.words(&format!("{prefix} {}", value("accessToken"))))
            }
            kind => {
                let finding = format!("authentication by `{}` is not imported", shown(kind));
                self.all.note(finding);
                return None;
            }
        })
    }

    /// A text with each `{{name}}` replaced by the collection's value; `None` if a value is
    /// unknown.
    fn fixed(&self, given: &str) -> Option<String> {
        let mut text = given.to_owned();
        for _ in 0..DEPTH_MAX {
            let Some((before, rest)) = text.split_once("{{") else {
                return Some(text);
            };
            let (name, behind) = rest.split_once("}}")?;
            let value = self.values.get(name.trim())?;
            text = format!("{before}{value}{behind}");
        }
        None
    }

    /// A text with each `{{name}}` as a variable of the plan.
    fn words(&mut self, given: &str) -> Words {
        match ["{{", "{%", "{#"].iter().any(|tag| given.contains(tag)) {
            true => Words::Plan(self.plan_words(given, Use::Text)),
            false => Words::plain(given),
        }
    }

    fn plan_words(&mut self, given: &str, purpose: Use) -> String {
        let text = |text: &str| match purpose {
            Use::Text => literal(text),
            Use::Url => literal(&percent::escaped(text)),
        };
        let mut out = String::new();
        let mut rest = given;
        while let Some(at) = rest.find("{{") {
            let Some(length) = rest[at..].find("}}") else {
                break;
            };
            out.push_str(&text(&rest[..at]));
            let name = rest[at + 2..at + length].trim();
            rest = &rest[at + length + 2..];
            if let Some((_, template)) = DYNAMIC.iter().find(|(known, _)| *known == name) {
                if out.ends_with('{') {
                    // `{{{` would begin another tag.
                    out.pop();
                    out.push_str("{{ '{' }}");
                }
                out.push_str(template);
                continue;
            }
            let inline = self
                .fixed(&format!("{{{{{name}}}}}"))
                .filter(|value| purpose == Use::Url && percent::escaped(value) != value.as_str());
            if let Some(value) = inline {
                // A template of the variable can't be part of a URL, so its value is inserted.
                out.push_str(&text(&value));
            } else if self.values.contains_key(name) {
                out.extend(["${", &name_of(name), "}"]);
            } else {
                let variable = name_of(name).to_uppercase();
                out.push_str(&self.of_environment(name, &variable));
            }
        }
        out.push_str(&text(rest));
        out
    }

    /// The reference for a variable that the collection lacks.
    fn of_environment(&mut self, name: &str, usual: &str) -> String {
        let variable = name_of(name).to_uppercase();
        self.all.note(format!(
            "`{{{{{}}}}}` is not a variable of the collection; the plan reads the \
             environment variable {variable}",
            shown(name)
        ));
        format!("${{env:{variable}:-{usual}}}")
    }
}

/// A variable's name in a plan.
fn name_of(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let name: String = name.chars().map(plain).collect();
    match name.starts_with(|c: char| c.is_ascii_digit()) {
        true => format!("_{name}"),
        false => name,
    }
}

#[cfg(test)]
mod tests;
