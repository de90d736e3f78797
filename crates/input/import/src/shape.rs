//! The objects of a format and their keys: the keys that a reader uses, and those without meaning
//! for a load. Every other key is noted.

use crate::library::Node;
use crate::notes::Notes;
use serde_json::Value;
use std::collections::HashSet;

/// The depth of objects below which the walk continues without recursion: a document can nest them
/// by references as deeply as it has objects.
const DEPTH_MAX: usize = 64;

/// The keys of one kind of object.
#[derive(Debug)]
pub(crate) struct Shape {
    /// The plural noun for such objects.
    pub(crate) of: &'static str,
    /// The used keys, with the kinds of their values.
    pub(crate) used: &'static [(&'static str, ValueShape)],
    /// The keys without meaning for a load.
    pub(crate) idle: &'static [&'static str],
}

/// The value of a key.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ValueShape {
    /// A value that is not examined further.
    Value,
    /// A number.
    Number,
    /// A text.
    Text,
    /// A text, or a list of them.
    Texts,
    /// `true` or `false`.
    Switch,
    /// A list of values that are not examined further.
    Values,
    /// An object.
    One(&'static Shape),
    /// A list of objects.
    List(&'static Shape),
    /// Objects by name.
    Map(&'static Shape),
}

impl ValueShape {
    /// The kind of value that a key must have, if a single value is of another kind.
    fn other_than(self, value: &Value) -> Option<&'static str> {
        match (self, value) {
            (_, Value::Null)
            | (Self::Number, Value::Number(_))
            | (Self::Text | Self::Texts, Value::String(_))
            | (Self::Texts | Self::Values, Value::Array(_))
            | (Self::Switch, Value::Bool(_))
            | (Self::Value | Self::One(_) | Self::List(_) | Self::Map(_), _) => None,
            (Self::Number, _) => Some("a number"),
            (Self::Text, _) => Some("a text"),
            (Self::Texts, _) => Some("a text or a list"),
            (Self::Switch, _) => Some("`true` or `false`"),
            (Self::Values, _) => Some("a list"),
        }
    }
}

/// The objects examined so far.
#[derive(Debug, Default)]
pub(crate) struct Seen(HashSet<usize>);

impl Seen {
    /// Notes the keys of an object and of all nested objects that are neither used nor idle. An
    /// object is examined once.
    pub(crate) fn check(&mut self, node: Node<'_>, shape: &'static Shape, notes: &mut Notes) {
        let mut walk = Walk {
            seen: &mut self.0,
            notes,
            later: vec![(node, shape)],
        };
        while let Some((node, shape)) = walk.later.pop() {
            walk.object(node, shape, 0);
        }
    }
}

/// A walk over the objects below one object.
struct Walk<'a, 'n> {
    seen: &'a mut HashSet<usize>,
    notes: &'a mut Notes,
    /// The objects that are nested too deeply for recursion.
    later: Vec<(Node<'n>, &'static Shape)>,
}

impl<'n> Walk<'_, 'n> {
    fn object(&mut self, node: Node<'n>, shape: &'static Shape, depth: usize) {
        if depth > DEPTH_MAX {
            return self.later.push((node, shape));
        }
        if !self.seen.insert(node.address()) {
            return;
        }
        if let Some(referred) = node.referred() {
            // An unresolvable reference is noted where it is used.
            if let Ok(referred) = referred {
                self.object(referred, shape, depth + 1);
            }
            if !node.has_siblings() {
                return;
            }
        }
        let of = shape.of;
        if !matches!(
            node.value(),
            Value::Object(_) | Value::Bool(_) | Value::Null
        ) {
            let finding = format!("one of the {of} is not an object");
            self.notes.add_at(finding, || node.place());
        }
        for (key, value) in node.own_entries() {
            let used = shape.used.iter().find(|(known, _)| *known == key);
            match used {
                Some((_, inner)) => self.inner(value, *inner, key, depth),
                None if shape.idle.contains(&key) || value.is_null() => {}
                None if key.starts_with("x-") || key.starts_with('_') => {
                    let begin = if key.starts_with('_') { "_" } else { "x-" };
                    let finding = format!("keys that begin with `{begin}` are not read");
                    self.notes.add_at(finding, || value.place());
                }
                None => {
                    let finding = format!("`{}` of {of} is not read", shown(key));
                    self.notes.add_at(finding, || value.place());
                }
            }
        }
    }

    fn inner(&mut self, value: Node<'n>, inner: ValueShape, key: &str, depth: usize) {
        let depth = depth + 1;
        let is_one = matches!(inner, ValueShape::One(_) | ValueShape::Value);
        // Some documents have a reference to a whole map or list.
        if let Some(Err(why)) = value.referred().filter(|_| !is_one) {
            return self.notes.add_at(why, || value.place());
        }
        let is_list = matches!(value.whole().value(), Value::Array(_));
        if let Some(kind) = inner.other_than(value.whole().value()) {
            let finding = format!("`{}` is not {kind}", shown(key));
            self.notes.add_at(finding, || value.place());
        }
        match inner {
            ValueShape::Value
            | ValueShape::Number
            | ValueShape::Text
            | ValueShape::Texts
            | ValueShape::Switch
            | ValueShape::Values => {}
            ValueShape::One(shape) => self.object(value, shape, depth),
            ValueShape::List(shape) if is_list => {
                for item in value.list() {
                    self.object(item, shape, depth);
                }
            }
            ValueShape::List(_) if value.is_null() => {}
            ValueShape::List(_) => {
                let finding = format!("`{}` is not a list", shown(key));
                self.notes.add_at(finding, || value.place());
            }
            ValueShape::Map(_) if !value.whole().is_mapping() => {
                let finding = format!("`{}` is not a mapping", shown(key));
                self.notes.add_at(finding, || value.place());
            }
            ValueShape::Map(shape) => {
                for (name, item) in value.entries() {
                    match name.starts_with("x-") && !item.value().is_object() {
                        true => {}
                        false => self.object(item, shape, depth),
                    }
                }
            }
        }
    }
}

/// A word of a document for a note, with a maximum length.
pub(crate) fn shown(word: &str) -> String {
    word.chars().take(60).collect()
}
