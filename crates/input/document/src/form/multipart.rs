//! The parts of a multipart body: `{ note: hello, upload: { file: a.png, type: image/png } }`.

use crate::diagnostic::Findings;
use crate::keys::KeyValue;
use crate::keys::fields::{
    Entry, entries, fields_schema, items, read_fields, show_fields, table, text,
};
use crate::keys::node::Node;
use crate::keys::schema::{self, Definitions};
use crate::keys::tree::Tree;
use crate::{Part, PartContent, Place, Placed, Text};
use serde_json::{Value, json};

table! {
    /// The keys of one part.
    pub(super) struct PartKeys [] {
        text: Option<Text> = "Content of the part, as a string";
        file: Option<Text> = "File with the content";
        "filename" => file_name: Option<Text> = "File name to send to the server";
        "type" => media_type: Option<Text> = "Media type, such as `image/png`";
    } []
}

impl PartKeys {
    /// Builds the part from the keys.
    fn part(self, name: &Placed<String>, found: &mut Findings) -> Option<Part> {
        let content = match (self.text, self.file) {
            (Some(text), None) => PartContent::Text(text),
            (None, Some(file)) => PartContent::File(file),
            _ => {
                found.add(&name.place, "a part needs exactly one of `text` and `file`");
                return None;
            }
        };
        Some(Part {
            name: name.clone(),
            content,
            file_name: self.file_name,
            media_type: self.media_type,
        })
    }

    /// The keys of a part.
    fn from_part(part: &Part) -> Self {
        let (text, file) = match &part.content {
            PartContent::Text(text) => (Some(text.clone()), None),
            PartContent::File(file) => (None, Some(file.clone())),
        };
        Self {
            text,
            file,
            file_name: part.file_name.clone(),
            media_type: part.media_type.clone(),
        }
    }
}

impl Entry for Vec<Part> {
    const VALUE: KeyValue = KeyValue::NamedOf("parts");

    fn read(node: &Placed<Node>, found: &mut Findings) -> Self {
        let mut parts = Self::new();
        for item in items(node) {
            for (name, value) in entries(item, "the parts", found) {
                let part = match &value.value {
                    Node::Map(_) => {
                        let keys: PartKeys = read_fields(value, "a part", found);
                        keys.part(name, found)
                    }
                    // An empty part is allowed.
                    Node::Null => Some(Part::text(name.clone(), value.with(String::new()))),
                    _ => text(value, found).map(|text| Part::text(name.clone(), text)),
                };
                parts.extend(part);
            }
        }
        parts
    }

    fn show(&self) -> Option<Tree> {
        let parts = self.iter().map(|part| {
            let tree = match part {
                Part {
                    content: PartContent::Text(text),
                    file_name: None,
                    media_type: None,
                    ..
                } => Tree::scalar(text),
                part => {
                    show_fields(&PartKeys::from_part(part)).unwrap_or_else(|| Tree::Map(Vec::new()))
                }
            };
            // In a list of mappings, a name may occur twice.
            Tree::Map(vec![(part.name.value.clone(), tree)])
        });
        (!self.is_empty()).then(|| Tree::List(parts.collect()))
    }

    fn fill(&mut self, _: &Self) {}

    fn place(&self) -> Option<&Place> {
        self.first().map(|part| &part.name.place)
    }

    fn schema(definitions: &mut Definitions) -> Value {
        let part = fields_schema::<PartKeys>(definitions);
        let parts = schema::named(&json!({ "anyOf": [schema::scalar(), part] }));
        schema::one_or_many(&parts)
    }
}
