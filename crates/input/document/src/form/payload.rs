//! Bytes from one of several keys: literal text, a file, base64; for bodies also JSON and forms.
//!
//! JSON that is written as a tree becomes text immediately. If it has references, there are two
//! versions: one with their values, which is sent, and one with the references, which is printed.
//! The order of keys and the digits of numbers are preserved, because a server may depend on them.

use crate::diagnostic::Findings;
use crate::json_strings::literal;
use crate::keys::fields::{Entry, Fields, Known, text};
use crate::keys::node::Node;
use crate::keys::schema::{self, Definitions, Properties};
use crate::keys::tree::{Tree, escaped};
use crate::keys::{DocumentKey, Flag, Group, KeyValue, On};
use crate::{Field, JsonText, Layer, Part, Payload, Place, Placed, Text};
use serde_json::{Number, Value};

/// The keys of a payload; a document has at most one of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PayloadKeys {
    text: &'static str,
    file: &'static str,
    base64: &'static str,
    pub(crate) keys: &'static [DocumentKey],
}

/// The body of an HTTP request: bytes, JSON as a tree, or a web form.
pub(crate) const BODY: PayloadKeys = PayloadKeys {
    text: "body",
    file: "body_file",
    base64: "body_base64",
    keys: &[
        DocumentKey {
            name: "body",
            flag: Some(
                Flag::new(
                    Group::Request,
                    "-d, --data <DATA>",
                    "Body; @FILE reads a file, @- reads stdin. No Content-Type is added. URLs, headers \
                     and bodies are templates: {{request_number}}, {{uuid}} and others",
                )
                .on(On::HTTP)
                .first(),
            ),
            value: KeyValue::Scalar,
            words: "Body as a string",
        },
        DocumentKey {
            name: "body_file",
            flag: None,
            value: KeyValue::Scalar,
            words: "File with the content",
        },
        DocumentKey {
            name: "body_base64",
            flag: None,
            value: KeyValue::Scalar,
            words: "Content in base64",
        },
        DocumentKey {
            name: "json",
            flag: None,
            value: KeyValue::Tree,
            words: "Body as JSON, written as a tree; its strings are templates. The default \
                    `Content-Type` is `application/json`",
        },
        DocumentKey {
            name: "form",
            flag: None,
            value: Vec::<Field>::VALUE,
            words: "Fields of a web form; their values are templates, which drumfire encodes. The \
                    default `Content-Type` is `application/x-www-form-urlencoded`",
        },
        DocumentKey {
            name: "multipart",
            flag: Some(
                Flag::new(
                    Group::Request,
                    "-F, --form <PART>",
                    "Part of a multipart body: NAME=VALUE, or NAME=@FILE, which may end in ;type= and \
                     ;filename=; repeatable",
                )
                .on(On::HTTP)
                .excludes(&["data"]),
            ),
            value: Vec::<Part>::VALUE,
            words: "Parts of a web form with files: strings, which are templates, or mappings. The \
                    default `Content-Type` is `multipart/form-data` with a boundary",
        },
    ],
};

/// The data of a call.
pub(crate) const DATA: PayloadKeys = PayloadKeys {
    text: "data",
    file: "data_file",
    base64: "data_base64",
    keys: &[
        DocumentKey {
            name: "data",
            flag: Some(
                Flag::new(
                    Group::Call,
                    "-d, --data <JSON>",
                    "The message as JSON, or an array of messages; @FILE reads a file, @- reads stdin. \
                     Templates work: {{request_number}}, {{uuid}} and others [default: an empty \
                     message]",
                )
                .first(),
            ),
            value: KeyValue::Tree,
            words: "Message as JSON, written as a tree or as a string; its strings are templates. A \
                    list has several messages",
        },
        DocumentKey {
            name: "data_file",
            flag: None,
            value: KeyValue::Scalar,
            words: "File with the content",
        },
        DocumentKey {
            name: "data_base64",
            flag: None,
            value: KeyValue::Scalar,
            words: "Content in base64",
        },
    ],
};

/// The message that a request sends on a WebSocket.
pub(crate) const SEND: PayloadKeys = PayloadKeys {
    text: "send",
    file: "send_file",
    base64: "send_base64",
    keys: &[
        DocumentKey {
            name: "send",
            flag: Some(
                Flag::new(
                    Group::Request,
                    "-m, --message <TEXT>",
                    "Message to send; @FILE reads a file, @- reads stdin. Several are sent in turn. \
                     URLs, headers and messages are templates: {{request_number}}, {{uuid}} and others",
                )
                .on(On::WS)
                .first(),
            ),
            value: KeyValue::Tree,
            words: "Message to send on the WebSocket: a string, or JSON as a tree; its strings are \
                    templates",
        },
        DocumentKey {
            name: "send_file",
            flag: None,
            value: KeyValue::Scalar,
            words: "File with the message",
        },
        DocumentKey {
            name: "send_base64",
            flag: None,
            value: KeyValue::Scalar,
            words: "Message in base64, sent as a binary message",
        },
    ],
};

impl PayloadKeys {
    /// The names of the keys.
    pub(crate) fn names(self) -> impl Iterator<Item = &'static str> {
        self.keys.iter().map(|key| key.name)
    }

    /// Reads one of the keys; two of them contradict each other.
    pub(crate) fn set(
        self,
        payload: &mut Option<Payload>,
        key: &str,
        node: &Placed<Node>,
        found: &mut Findings,
    ) -> Known {
        if !self.names().any(|name| name == key) {
            return Known::No;
        }
        let Some(given) = self.read(key, node, found) else {
            return Known::Yes;
        };
        if payload.is_some() {
            let names: Vec<String> = self.names().map(|name| format!("`{name}`")).collect();
            let (last, others) = names.split_last().map_or(("", &[][..]), |(l, o)| (l, o));
            let message = format!("use only one of {} and {last}", others.join(", "));
            found.add(&node.place, message);
        }
        *payload = Some(given);
        Known::Yes
    }

    /// The payload of a key.
    fn read(self, key: &str, node: &Placed<Node>, found: &mut Findings) -> Option<Payload> {
        match key {
            "json" => json(node, found).map(Payload::Json),
            "form" => {
                let fields = Vec::<Field>::read(node, found);
                (!fields.is_empty()).then_some(Payload::Form(fields))
            }
            "multipart" => {
                let parts = Vec::<Part>::read(node, found);
                (!parts.is_empty()).then_some(Payload::Multipart(parts))
            }
            key if key == self.file => text(node, found).map(Payload::File),
            key if key == self.base64 => text(node, found).map(Payload::Base64),
            key if [DATA.text, SEND.text].contains(&key) => match node.value {
                Node::List(_) | Node::Map(_) => Some(Payload::Json(tree_text(node))),
                _ => text(node, found).map(Payload::Text),
            },
            _ => {
                if matches!(node.value, Node::Map(_) | Node::List(_)) {
                    let message = "a body must be a string; use `json` for JSON as a tree, `form` \
                                   for a form, or `multipart` for a form with files";
                    found.add(&node.place, message);
                    return None;
                }
                text(node, found).map(Payload::Text)
            }
        }
    }

    /// Appends the keys with the schemas of their values.
    pub(crate) fn properties(self, out: &mut Properties, definitions: &mut Definitions) {
        for key in self.keys {
            let schema = match key.value {
                KeyValue::Tree => Value::Bool(true),
                KeyValue::Mapping => Vec::<Field>::schema(definitions),
                KeyValue::NamedOf(_) => Vec::<Part>::schema(definitions),
                _ => schema::scalar(),
            };
            out.insert(key.name.to_owned(), schema::described(schema, key.words));
        }
    }

    /// Appends the key of the payload.
    pub(crate) fn show(self, payload: Option<&Payload>, out: &mut Vec<(String, Tree)>) {
        let Some(payload) = payload else {
            return;
        };
        let (key, tree) = match payload {
            Payload::Text(text) => (self.text, Tree::scalar(text)),
            Payload::File(text) => (self.file, Tree::scalar(text)),
            Payload::Base64(text) => (self.base64, Tree::scalar(text)),
            Payload::Json(text) if [DATA.text, SEND.text].contains(&self.text) => {
                (self.text, Tree::json(text))
            }
            Payload::Json(text) => ("json", Tree::json(text)),
            Payload::Form(fields) => match fields.show() {
                Some(tree) => ("form", tree),
                None => return,
            },
            Payload::Multipart(parts) => match parts.show() {
                Some(tree) => ("multipart", tree),
                None => return,
            },
        };
        out.push((key.to_owned(), tree));
    }
}

impl Entry for JsonText {
    const VALUE: KeyValue = KeyValue::Tree;

    fn read(node: &Placed<Node>, found: &mut Findings) -> Self {
        Self(json_text(node, found))
    }

    fn show(&self) -> Option<Tree> {
        self.0.as_ref().map(Tree::json_or_text)
    }

    fn fill(&mut self, below: &Self) {
        if self.0.is_none() {
            self.0.clone_from(&below.0);
        }
    }

    fn place(&self) -> Option<&Place> {
        self.0.place()
    }

    fn schema(_: &mut Definitions) -> Value {
        Value::Bool(true)
    }
}

/// A text, or the JSON of a tree.
fn json_text(node: &Placed<Node>, found: &mut Findings) -> Option<Text> {
    match node.value {
        Node::List(_) | Node::Map(_) => Some(tree_text(node)),
        _ => text(node, found),
    }
}

/// A JSON body.
fn json(node: &Placed<Node>, found: &mut Findings) -> Option<Text> {
    match &node.value {
        Node::Text(text) if text.trim_start().starts_with(['{', '[']) => {
            // Without quotes, YAML would parse a template as a tree.
            let message = match text.trim_start().starts_with("{{") {
                true => {
                    "`json` takes JSON as a tree; for a template of the whole, use `body` with \
                     `headers: { Content-Type: application/json }`"
                }
                false => "`json` takes JSON as a tree; remove the quotes, or use `body`",
            };
            found.add(&node.place, message);
            None
        }
        _ => Some(tree_text(node)),
    }
}

/// The JSON of a tree; if the tree has references, also the JSON with the references.
fn tree_text(node: &Placed<Node>) -> Text {
    let mut text = Placed::new(json_of(node, View::Values), node.place.clone());
    if has_references(node) {
        text.written = Some(json_of(node, View::Written).into());
    }
    text
}

fn json_of(node: &Placed<Node>, view: View) -> String {
    let text = String::new();
    let mut json = Json { view, text };
    json.push(node);
    json.text
}

/// Whether a value in a tree was written with references.
fn has_references(node: &Placed<Node>) -> bool {
    node.written.is_some()
        || match &node.value {
            Node::List(items) => items.iter().any(has_references),
            Node::Map(entries) => entries.iter().any(|(_, value)| has_references(value)),
            _ => false,
        }
}

/// JSON under construction.
struct Json {
    view: View,
    text: String,
}

/// Which texts of a tree to use.
#[derive(Clone, Copy)]
enum View {
    /// The texts with references replaced.
    Values,
    /// The texts as written.
    Written,
}

impl Json {
    /// Appends the JSON of a tree; the order of keys and the digits of numbers are preserved.
    fn push(&mut self, node: &Placed<Node>) {
        if let (View::Written, Some(written)) = (self.view, &node.written) {
            return self.push_text(written);
        }
        match (&node.value, self.view) {
            (Node::Null, _) => self.text.push_str("null"),
            (Node::Switch(true), _) => self.text.push_str("true"),
            (Node::Switch(false), _) => self.text.push_str("false"),
            (Node::Text(text), View::Values) => self.push_text(text),
            (Node::Text(text), View::Written) => self.push_text(&escaped(text)),
            // A number that is invalid in JSON, such as 0x10, becomes a text.
            (Node::Number(text), _) => match text.parse::<Number>() {
                Ok(_) => self.text.push_str(text),
                Err(_) => self.push_text(text),
            },
            (Node::List(items), _) => self.row(['[', ']'], items, Self::push),
            (Node::Map(entries), _) => self.row(['{', '}'], entries, |json, (key, value)| {
                json.push_text(&key.value);
                json.text.push(':');
                json.push(value);
            }),
        }
    }

    /// Appends parts between brackets, separated by commas.
    fn row<T>(&mut self, [open, close]: [char; 2], parts: &[T], push: impl Fn(&mut Self, &T)) {
        self.text.push(open);
        for (at, part) in parts.iter().enumerate() {
            if at > 0 {
                self.text.push(',');
            }
            push(self, part);
        }
        self.text.push(close);
    }

    fn push_text(&mut self, text: &str) {
        self.text.push_str(&literal(text));
    }
}

/// The body of a pool's requests.
impl Fields for Option<Payload> {
    const KEYS: &'static [DocumentKey] = BODY.keys;

    fn set(&mut self, key: &str, node: &Placed<Node>, found: &mut Findings) -> Known {
        BODY.set(self, key, node, found)
    }

    fn show(&self, out: &mut Vec<(String, Tree)>) {
        BODY.show(self.as_ref(), out);
    }

    fn properties(out: &mut Properties, definitions: &mut Definitions) {
        BODY.properties(out, definitions);
    }
}

impl Layer for Option<Payload> {
    fn fill(&mut self, below: &Self) {
        if self.is_none() {
            self.clone_from(below);
        }
    }

    fn place(&self, _: &str) -> Option<&Place> {
        None
    }
}

/// The data of a call, as a request's keys contain it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct CallPayload(pub(crate) Option<Payload>);

impl Fields for CallPayload {
    const KEYS: &'static [DocumentKey] = DATA.keys;

    fn set(&mut self, key: &str, node: &Placed<Node>, found: &mut Findings) -> Known {
        DATA.set(&mut self.0, key, node, found)
    }

    fn show(&self, out: &mut Vec<(String, Tree)>) {
        DATA.show(self.0.as_ref(), out);
    }

    fn properties(out: &mut Properties, definitions: &mut Definitions) {
        DATA.properties(out, definitions);
    }
}

impl Layer for CallPayload {
    fn fill(&mut self, below: &Self) {
        if self.0.is_none() {
            self.0.clone_from(&below.0);
        }
    }

    fn place(&self, _: &str) -> Option<&Place> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::{View, json_of};
    use crate::keys::node::read;

    #[test]
    fn data_may_be_written_as_a_tree() {
        let text = "{b: [x, 2.50, true, null], a: 1, c: 0x10, d: {}, \"e\\n\": \"\\\"\", \
                    f: 12345678901234567890123, g: -1e-3}";
        let node = read(text, "p").expect("yaml");
        assert_eq!(
            json_of(&node, View::Values),
            r#"{"b":["x",2.50,true,null],"a":1,"c":"0x10","d":{},"e\n":"\"","f":12345678901234567890123,"g":-1e-3}"#
        );
    }
}
