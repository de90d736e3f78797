//! Bytes as one of three keys: the text itself, a file, or base64.

use super::fields::{Fields, Known, text};
use super::node::Node;
use super::tree::Tree;
use crate::diagnostic::Findings;
use drumfire_plan::document::{Payload, Place, Placed, Text};
use serde::{Serialize, Serializer};
use serde_json::Number;

/// The keys of one payload.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PayloadKeys {
    text: &'static str,
    file: &'static str,
    base64: &'static str,
}

/// The body of an HTTP request.
pub(crate) const BODY: PayloadKeys = PayloadKeys {
    text: "body",
    file: "body_file",
    base64: "body_base64",
};

/// The data of a call.
pub(crate) const DATA: PayloadKeys = PayloadKeys {
    text: "data",
    file: "data_file",
    base64: "data_base64",
};

impl PayloadKeys {
    /// Its names.
    pub(crate) const fn names(self) -> [&'static str; 3] {
        [self.text, self.file, self.base64]
    }

    /// Reads one of the keys; two of them contradict each other.
    pub(crate) fn set(
        self,
        payload: &mut Option<Payload>,
        key: &str,
        node: &Placed<Node>,
        found: &mut Findings,
    ) -> Known {
        if !self.names().contains(&key) {
            return Known::No;
        }
        let given = match key == DATA.text {
            true => json_text(node, found),
            false => text(node, found),
        };
        let Some(text) = given else {
            return Known::Yes;
        };
        if payload.is_some() {
            let [text, file, base64] = self.names();
            let message = format!("give one of `{text}`, `{file}` and `{base64}`");
            found.add(&node.place, message);
        }
        *payload = Some(match key {
            key if key == self.file => Payload::File(text),
            key if key == self.base64 => Payload::Base64(text),
            _ => Payload::Text(text),
        });
        Known::Yes
    }

    /// Appends the key that it is written with.
    pub(crate) fn show(self, payload: Option<&Payload>, out: &mut Vec<(String, Tree)>) {
        let (key, text) = match payload {
            None => return,
            Some(Payload::Text(text)) => (self.text, text),
            Some(Payload::File(text)) => (self.file, text),
            Some(Payload::Base64(text)) => (self.base64, text),
        };
        out.push((key.to_owned(), Tree::Scalar(text.value.clone())));
    }
}

/// A text, or the JSON that a tree stands for.
pub(super) fn json_text(node: &Placed<Node>, found: &mut Findings) -> Option<Text> {
    if !matches!(node.value, Node::List(_) | Node::Map(_)) {
        return text(node, found);
    }
    let json = serde_json::to_string(&Json(&node.value));
    let json = found.ok(&node.place, json);
    json.map(|json| Placed::new(json, node.place.clone()))
}

/// Data that is written as a tree, as the JSON that it stands for; keys keep their order.
struct Json<'a>(&'a Node);

impl Serialize for Json<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Node::Null => serializer.serialize_unit(),
            Node::Switch(value) => serializer.serialize_bool(*value),
            Node::Text(text) => serializer.serialize_str(text),
            // What JSON does not know for a number, such as 0x10, is a text to it.
            Node::Number(text) => match text.parse::<Number>() {
                Ok(number) => number.serialize(serializer),
                Err(_) => serializer.serialize_str(text),
            },
            Node::List(items) => serializer.collect_seq(items.iter().map(|item| Json(&item.value))),
            Node::Map(entries) => serializer.collect_map(
                entries
                    .iter()
                    .map(|(key, value)| (&key.value, Json(&value.value))),
            ),
        }
    }
}

/// The body that a pool's requests have.
impl Fields for Option<Payload> {
    fn keys(out: &mut Vec<&'static str>) {
        out.extend(BODY.names());
    }

    fn set(&mut self, key: &str, node: &Placed<Node>, found: &mut Findings) -> Known {
        BODY.set(self, key, node, found)
    }

    fn show(&self, out: &mut Vec<(String, Tree)>) {
        BODY.show(self.as_ref(), out);
    }

    fn fill(&mut self, below: &Self) {
        if self.is_none() {
            self.clone_from(below);
        }
    }

    fn place(&self, _: &str) -> Option<&Place> {
        None
    }
}

/// The data of a call, as a request's keys have it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct CallPayload(pub(crate) Option<Payload>);

impl Fields for CallPayload {
    fn keys(out: &mut Vec<&'static str>) {
        out.extend(DATA.names());
    }

    fn set(&mut self, key: &str, node: &Placed<Node>, found: &mut Findings) -> Known {
        DATA.set(&mut self.0, key, node, found)
    }

    fn show(&self, out: &mut Vec<(String, Tree)>) {
        DATA.show(self.0.as_ref(), out);
    }

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
    use super::Json;
    use crate::form::node::read;

    #[test]
    fn data_may_be_written_as_a_tree() {
        let node = read("{b: [x, 2.50, true, null], a: 1, c: 0x10, d: {}}", "p").expect("yaml");
        assert_eq!(
            serde_json::to_string(&Json(&node.value)).expect("json"),
            r#"{"b":["x",2.5,true,null],"a":1,"c":"0x10","d":{}}"#
        );
    }
}
