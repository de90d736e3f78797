//! The objects of a format and their keys: the keys that a reader uses, and those without meaning
//! for a load. Every other key is noted.

use crate::library::Node;
use crate::notes::Notes;
use serde_json::Value;
use std::collections::HashSet;

/// The keys of one kind of object.
#[derive(Debug)]
pub(crate) struct Shape {
    /// The plural noun for such objects.
    pub(crate) of: &'static str,
    /// The used keys, with the kinds of their values.
    pub(crate) used: &'static [(&'static str, Inner)],
    /// The keys without meaning for a load.
    pub(crate) idle: &'static [&'static str],
}

/// The value of a key.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Inner {
    /// A value that is not examined further.
    Value,
    /// An object.
    One(&'static Shape),
    /// A list of objects.
    List(&'static Shape),
    /// Objects by name.
    Map(&'static Shape),
}

/// The objects examined so far.
#[derive(Debug, Default)]
pub(crate) struct Seen(HashSet<usize>);

impl Seen {
    /// Notes the keys of an object and of all nested objects that are neither used nor idle. An
    /// object is examined once.
    pub(crate) fn check(&mut self, node: Node<'_>, shape: &Shape, notes: &mut Notes) {
        if !self.0.insert(node.address()) {
            return;
        }
        if let Some(referred) = node.referred() {
            // An unresolvable reference is noted where it is used.
            if let Ok(referred) = referred {
                self.check(referred, shape, notes);
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
            notes.at(format!("one of the {of} is not an object"), || node.place());
        }
        for (key, value) in node.own_entries() {
            let used = shape.used.iter().find(|(known, _)| *known == key);
            match used {
                Some((_, inner)) => self.inner(value, *inner, key, notes),
                None if shape.idle.contains(&key) || value.is_null() => {}
                None if key.starts_with("x-") || key.starts_with('_') => {
                    let begin = if key.starts_with('_') { "_" } else { "x-" };
                    let finding = format!("keys that begin with `{begin}` are not read");
                    notes.at(finding, || value.place());
                }
                None => {
                    let key = shown(key);
                    notes.at(format!("`{key}` of {of} is not read"), || value.place());
                }
            }
        }
    }

    fn inner(&mut self, value: Node<'_>, inner: Inner, key: &str, notes: &mut Notes) {
        let is_one = matches!(inner, Inner::One(_) | Inner::Value);
        // Some documents have a reference to a whole map or list.
        if let Some(Err(why)) = value.referred().filter(|_| !is_one) {
            return notes.at(why, || value.place());
        }
        let is_list = matches!(value.whole().value(), Value::Array(_));
        match inner {
            Inner::Value => {}
            Inner::One(shape) => self.check(value, shape, notes),
            Inner::List(shape) if is_list => {
                value.list().for_each(|item| self.check(item, shape, notes));
            }
            Inner::List(_) if value.is_null() => {}
            Inner::List(_) => notes.at(format!("`{}` is not a list", shown(key)), || value.place()),
            Inner::Map(shape) => {
                for (name, item) in value.entries() {
                    match name.starts_with("x-") && !item.value().is_object() {
                        true => {}
                        false => self.check(item, shape, notes),
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
