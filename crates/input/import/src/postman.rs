//! Postman collections, versions 2.0 and 2.1.

mod auth;
mod body;
mod dynamic;
mod keys;
mod url;

use crate::exchange::{Exchange, ImportedRequests, Words, literal};
use crate::json;
use crate::library::{FileLibrary, Node, text};
use crate::shape::{Seen, shown};
use drumfire_plan::{Header, percent};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The maximum nesting depth of folders and of variables.
const DEPTH_MAX: usize = 64;
/// The place of the collection's own variables and scripts.
const COLLECTION: &str = "the collection";

/// An enabled pair: of a header, a query, a form, an authentication.
struct EnabledPair<'a> {
    key: String,
    node: Node<'a>,
    value: Node<'a>,
}

impl EnabledPair<'_> {
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
fn pairs(list: Node<'_>) -> Vec<EnabledPair<'_>> {
    let of_list = list.list().filter(|node| {
        let is_off =
            node.get("disabled").is_true() || node.get("enabled").value() == &Value::Bool(false);
        node.value().is_object() && !is_off
    });
    let mut pairs: Vec<EnabledPair<'_>> = of_list
        .map(|node| {
            let key = node.get("key").text().or_else(|| node.get("id").text());
            EnabledPair {
                key: key.unwrap_or_default(),
                node,
                value: node.get("value"),
            }
        })
        .collect();
    pairs.extend(list.entries().map(|(key, value)| EnabledPair {
        key: key.to_owned(),
        node: list,
        value,
    }));
    pairs
}

/// The use of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TextUse {
    Text,
    /// For a URL: invalid characters are encoded.
    Url,
}

/// Reads a collection.
pub(crate) fn read(content: &str) -> Result<ImportedRequests, String> {
    let given =
        json::parsed(content).map_err(|error| format!("not a Postman collection: {error}"))?;
    // Postman's API wraps the collection.
    let is_wrapped = given["item"].is_null() && given["collection"].is_object();
    let given = if is_wrapped {
        given["collection"].clone()
    } else {
        given
    };
    if let Some(scope) = given["_postman_variable_scope"].as_str() {
        return Err(format!(
            "this is a Postman file of variables ({}); export the collection instead, and set the \
             variables in the environment of drumfire",
            shown(scope)
        ));
    }
    if given["requests"].is_array() && given["item"].is_null() {
        return Err("this is a collection of version 1; export it as version 2.1".to_owned());
    }
    if !given["item"].is_array() {
        return Err("not a Postman collection: it has no list `item`".to_owned());
    }
    let library = FileLibrary::from_value(given);
    let root = library.root();
    let mut reader = Reader::default();
    reader
        .seen
        .check(root, &keys::COLLECTION, &mut reader.all.notes);
    COLLECTION.clone_into(&mut reader.place);
    reader.variables(&pairs(root.get("variable")));
    reader.scripts(COLLECTION, root);
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
    all: ImportedRequests,
    seen: Seen,
    /// The variables of the collection.
    values: BTreeMap<String, String>,
    /// The names of these variables in the plan.
    names: BTreeMap<String, String>,
    /// The name of the request that is read, for notes.
    place: String,
    /// The columns of generated values that the request uses, each with its filter.
    columns: Vec<(&'static str, &'static str)>,
}

impl Reader {
    /// Adds the variables of the collection.
    fn variables(&mut self, given: &[EnabledPair<'_>]) {
        for pair in given {
            let finding = match (pair.key.as_str(), self.values.contains_key(&pair.key)) {
                ("", _) => Some("a variable without a name is left out"),
                (_, true) => Some("a variable occurs twice, and its last value is used"),
                (_, false) => None,
            };
            if let Some(finding) = finding {
                let place = || format!("`{}`", shown(&pair.key));
                self.all.notes.add_at(finding.to_owned(), place);
            }
            if !pair.key.is_empty() {
                self.values.insert(pair.key.clone(), pair.text());
            }
        }
        let keys: Vec<String> = self.values.keys().cloned().collect();
        let endless: Vec<&String> = keys.iter().filter(|key| self.is_endless(key)).collect();
        for key in endless {
            let finding = "a variable refers to itself and is left out".to_owned();
            self.all
                .notes
                .add_at(finding, || format!("`{}`", shown(key)));
            self.values.remove(key);
        }
        let mut used = BTreeSet::new();
        for key in self.values.keys() {
            let mut name = name_of(key);
            while !used.insert(name.clone()) {
                name.push('_');
            }
            self.names.insert(key.clone(), name);
        }
        for (key, value) in self.values.clone() {
            let value = Words::Plan(self.plan_words(&value, TextUse::Text));
            let name = self.names.get(&key).cloned().unwrap_or_default();
            self.all.vars.push((name, value));
        }
    }

    /// Whether the value of a variable contains the variable itself.
    fn is_endless(&self, key: &str) -> bool {
        let mut seen = BTreeSet::new();
        let mut open = vec![key];
        while let Some(value) = open.pop().and_then(|name| self.values.get(name)) {
            for part in value.split("{{").skip(1) {
                let Some((name, _)) = part.split_once("}}") else {
                    continue;
                };
                let name = name.trim();
                if name == key {
                    return true;
                }
                if self.values.contains_key(name) && seen.insert(name) {
                    open.push(name);
                }
            }
        }
        false
    }

    fn scripts(&mut self, name: &str, of: Node<'_>) {
        let has_code = |event: Node<'_>| {
            let script = event.get("script");
            let lines = [script.get("exec"), script];
            let is_code = |line: Node<'_>| line.str().is_some_and(|line| !line.trim().is_empty());
            let is_disabled = event.get("disabled").is_true();
            let has_lines = lines
                .into_iter()
                .any(|it| is_code(it) || it.list().any(is_code));
            !is_disabled && (has_lines || !script.get("src").is_null())
        };
        if of.get("event").list().any(has_code) {
            self.all
                .notes
                .add_at("scripts are not imported".to_owned(), || shown(name));
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
                return self.all.notes.add_at(finding, || shown(&name));
            }
            if !item.get("request").is_null() {
                let finding = "a folder has a request, which is left out, as Postman does";
                self.all.notes.add_at(finding.to_owned(), || shown(&name));
            }
            for below in item.get("item").list() {
                self.item(below, &name, inherited, depth + 1);
            }
            return;
        }
        self.request(&name, item.get("request"), inherited);
    }

    fn request(&mut self, name: &str, request: Node<'_>, outer: Inherited<'_>) {
        self.place = shown(name);
        self.columns.clear();
        let is_text = request.str().is_some();
        if !is_text {
            self.seen
                .check(request, &keys::REQUEST, &mut self.all.notes);
        }
        let given = if is_text { request } else { request.get("url") };
        let Some(url) = self.url(given, name) else {
            let finding = "a request has no URL and is left out".to_owned();
            return self
                .all
                .notes
                .add_at(finding, || format!("`{}`", shown(name)));
        };
        let method = request.get("method");
        if method.str().is_none() && !method.is_null() {
            let finding = "a method is not a text, so the plan has GET".to_owned();
            self.all.notes.add_at(finding, || method.place());
        }
        let method = self
            .fixed_or_note(method.str().unwrap_or("GET"), "method", name)
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
        for pair in self.checked_pairs(given) {
            fields.push((pair.key.clone(), pair.text()));
        }
        for line in given.str().unwrap_or_default().lines() {
            match line.split_once(':') {
                Some((key, value)) => fields.push((key.trim().to_owned(), value.trim().to_owned())),
                None if line.trim().is_empty() => {}
                None => {
                    let finding = "a header is left out: it has no colon".to_owned();
                    let place = || format!("`{}` of {}", shown(line), shown(name));
                    self.all.notes.add_at(finding, place);
                }
            }
        }
        for (key, value) in fields {
            let Some(key) = self.fixed_or_note(&key, "header", name) else {
                continue;
            };
            if Header::new(&key, b"").is_err() {
                let finding = "a header is left out: a header can't have this name".to_owned();
                let place = || format!("`{}` of {}", shown(&key), shown(name));
                self.all.notes.add_at(finding, place);
                continue;
            }
            let value = self.words(value.trim());
            exchange.headers.push((key, value));
        }
    }

    /// The enabled pairs of a list, whose keys are checked.
    fn checked_pairs<'a>(&mut self, list: Node<'a>) -> Vec<EnabledPair<'a>> {
        for item in list.list().filter(|item| !item.value().is_object()) {
            self.seen.check(item, &keys::PAIR, &mut self.all.notes);
        }
        let pairs = pairs(list);
        for pair in &pairs {
            self.seen.check(pair.node, &keys::PAIR, &mut self.all.notes);
        }
        pairs
    }

    /// A text whose variables are replaced by known values; adds a note if some are unknown.
    fn fixed_or_note(&mut self, given: &str, what: &str, name: &str) -> Option<String> {
        let fixed = self.fixed(given);
        if fixed.is_none() {
            let finding =
                format!("a {what} is left out, because its name has a variable without a value");
            let place = || format!("`{}` of {}", shown(given), shown(name));
            self.all.notes.add_at(finding, place);
        }
        fixed
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
            true => Words::Plan(self.plan_words(given, TextUse::Text)),
            false => Words::plain(given),
        }
    }

    fn plan_words(&mut self, given: &str, purpose: TextUse) -> String {
        let text = |text: &str| match purpose {
            TextUse::Text => literal(text),
            TextUse::Url => literal(&percent::escaped(text)),
        };
        let mut out = String::new();
        let mut rest = given;
        while let Some(at) = rest.find("{{") {
            let Some(length) = rest[at..].find("}}") else {
                break;
            };
            let end = at + length;
            let begin = at + rest[at..end].rfind("{{").unwrap_or(0);
            if begin > at {
                let finding = "a variable within the name of a variable is not supported";
                let place = shown(&self.place);
                let name = shown(&rest[at..end + 2]);
                self.all
                    .notes
                    .add_at(finding.to_owned(), || format!("`{name}` of {place}"));
            }
            out.push_str(&text(&rest[..begin]));
            let name = rest[begin + 2..end].trim();
            rest = &rest[end + 2..];
            if let Some(template) = self.dynamic(name, purpose) {
                if out.ends_with('{') {
                    // `{{{` would begin another tag.
                    out.pop();
                    out.push_str("{{ '{' }}");
                }
                out.push_str(&template);
                continue;
            }
            let inline = self.fixed(&format!("{{{{{name}}}}}")).filter(|value| {
                purpose == TextUse::Url && percent::escaped(value) != value.as_str()
            });
            if let Some(value) = inline {
                // A template of the variable can't be part of a URL, so its value is inserted.
                out.push_str(&text(&value));
            } else if let Some(known) = self.names.get(name) {
                out.extend(["${", known, "}"]);
            } else {
                let variable = variable_of(name);
                out.push_str(&self.of_environment(name, &variable));
            }
        }
        out.push_str(&text(rest));
        out
    }

    /// The reference for a variable that the collection lacks.
    fn of_environment(&mut self, name: &str, usual: &str) -> String {
        let variable = variable_of(name);
        let kind = match name.starts_with('$') {
            true => "a generated value that drumfire has",
            false => "a variable of the collection",
        };
        let finding = format!(
            "`{{{{{}}}}}` is not {kind}; the plan reads the environment variable {variable}",
            shown(name)
        );
        let place = self.place.clone();
        self.all.notes.add_at(finding, || place);
        format!("${{env:{variable}:-{usual}}}")
    }
}

/// The name of the environment variable for a variable without a value.
fn variable_of(name: &str) -> String {
    name_of(name.trim_start_matches('$')).to_uppercase()
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
