//! Names that a JSON object has twice. A reader would keep one of the values, and nothing would
//! show which.

use super::{field, is_special};
use prost_reflect::{FieldDescriptor, Kind, MessageDescriptor};
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use std::collections::HashMap;
use std::fmt;

/// The first field or key that a JSON text gives twice, in words. The text was read as a message,
/// so its depth is bounded.
pub(super) fn find(descriptor: &MessageDescriptor, text: &str) -> Option<String> {
    let tree = serde_json::from_str::<JsonTree>(text).ok()?;
    in_tree(&tree, Some(descriptor), "")
}

/// A JSON value with all members of its objects.
enum JsonTree {
    Object(Vec<(String, Self)>),
    Array(Vec<Self>),
    /// A number, text, boolean or null.
    Other,
}

fn in_tree(tree: &JsonTree, descriptor: Option<&MessageDescriptor>, path: &str) -> Option<String> {
    let descriptor = descriptor.filter(|descriptor| !is_special(descriptor));
    match tree {
        JsonTree::Object(members) => in_object(members, descriptor, path),
        JsonTree::Array(elements) => (0usize..)
            .zip(elements)
            .find_map(|(n, element)| in_tree(element, descriptor, &format!("{path}[{n}]"))),
        JsonTree::Other => None,
    }
}

/// Two spellings of a field, such as `item_id` and `itemId`, are the same name.
fn in_object(
    members: &[(String, JsonTree)],
    descriptor: Option<&MessageDescriptor>,
    path: &str,
) -> Option<String> {
    let mut seen: HashMap<String, &str> = HashMap::new();
    for (name, value) in members {
        let known = descriptor.and_then(|descriptor| field(descriptor, name));
        let own = known.as_ref().map_or(&**name, FieldDescriptor::name);
        let place = match path {
            "" => name.clone(),
            path => format!("{path}.{name}"),
        };
        if let Some(first) = seen.insert(own.to_owned(), name) {
            let place = place.escape_debug();
            return Some(match first == name {
                true => format!("`{place}` is given twice; write it once"),
                false => {
                    let first = first.escape_debug();
                    format!("`{place}` and `{first}` are one field; write one of them")
                }
            });
        }
        if let Some(found) = in_member(known.as_ref(), value, &place) {
            return Some(found);
        }
    }
    None
}

/// The value of a member: a message, a list of them, a map, or something else.
fn in_member(field: Option<&FieldDescriptor>, value: &JsonTree, place: &str) -> Option<String> {
    let message = |field: &FieldDescriptor| match field.kind() {
        Kind::Message(message) => Some(message),
        _ => None,
    };
    let inner = field.and_then(message);
    match (field, value) {
        (Some(field), JsonTree::Object(entries)) if field.is_map() => {
            let values = inner.and_then(|entry| message(&entry.get_field(2)?));
            in_object(entries, None, place).or_else(|| {
                entries.iter().find_map(|(key, value)| {
                    in_tree(value, values.as_ref(), &format!("{place}.{key}"))
                })
            })
        }
        (_, value) => in_tree(value, inner.as_ref(), place),
    }
}

impl<'de> Deserialize<'de> for JsonTree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TreeVisitor)
    }
}

struct TreeVisitor;

impl<'de> Visitor<'de> for TreeVisitor {
    type Value = JsonTree;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, _: bool) -> Result<JsonTree, E> {
        Ok(JsonTree::Other)
    }

    fn visit_i64<E>(self, _: i64) -> Result<JsonTree, E> {
        Ok(JsonTree::Other)
    }

    fn visit_u64<E>(self, _: u64) -> Result<JsonTree, E> {
        Ok(JsonTree::Other)
    }

    fn visit_f64<E>(self, _: f64) -> Result<JsonTree, E> {
        Ok(JsonTree::Other)
    }

    fn visit_str<E>(self, _: &str) -> Result<JsonTree, E> {
        Ok(JsonTree::Other)
    }

    fn visit_unit<E>(self) -> Result<JsonTree, E> {
        Ok(JsonTree::Other)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<JsonTree, A::Error> {
        let mut elements = Vec::new();
        while let Some(element) = list.next_element()? {
            elements.push(element);
        }
        Ok(JsonTree::Array(elements))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<JsonTree, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(JsonTree::Object(members))
    }
}
