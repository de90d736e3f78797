//! Tests that every key of a form's specification is used, noted, or listed as idle in the form's
//! table.

use crate::shape::Shape;
use crate::{Form, Source, Wishes, import};
use drumfire_document::form;
use serde_json::Value;

/// The keys of one kind of object, according to its specification.
pub(crate) struct Keys<'a> {
    pub(crate) shape: &'a Shape,
    /// The pointer to the object in the document.
    pub(crate) pointer: &'a str,
    /// A key with a significant value, in the object itself or in one that replaces it.
    pub(crate) rows: Vec<(&'a str, Value, Option<Value>)>,
}

/// The plans and notes for a document, or the error: with all requests, and with the default ones.
fn outcome(form: Form, document: &Value) -> String {
    let of = |keeps_all| {
        let wishes = Wishes {
            keeps_all,
            ..Wishes::default()
        };
        match import(form, &Source::alone(&document.to_string()), &wishes) {
            Ok(imported) => {
                let plan = form::print(&imported.document);
                format!("{plan}\n{}\n", imported.notes.join("\n"))
            }
            Err(error) => error,
        }
    };
    of(true) + &of(false)
}

/// Checks that each key changes the plan or its notes, unless the key is idle: then it must change
/// nothing. The rows must include every key of the table.
#[track_caller]
pub(crate) fn check(form: Form, document: &Value, keys: &Keys<'_>) {
    let of = keys.shape.of;
    for (key, value, object) in &keys.rows {
        let mut without = document.clone();
        let Some(at) = without.pointer_mut(keys.pointer) else {
            panic!("{of}: the document has no {}", keys.pointer);
        };
        if let Some(object) = object {
            *at = object.clone();
        }
        let mut with = without.clone();
        if let Some(Value::Object(at)) = without.pointer_mut(keys.pointer) {
            at.remove(*key);
        }
        with.pointer_mut(keys.pointer).expect("it is there")[*key] = value.clone();
        let (without, with) = (outcome(form, &without), outcome(form, &with));
        let is_idle = keys.shape.idle.contains(key);
        assert_eq!(
            without == with,
            is_idle,
            "`{key}` of {of}, with {value}:\n{without}\n---\n{with}"
        );
    }
    let known = keys.shape.used.iter().map(|(key, _)| *key);
    for key in known.chain(keys.shape.idle.iter().copied()) {
        let is_tried = keys.rows.iter().any(|(tried, ..)| *tried == key);
        assert!(is_tried, "no row tries `{key}` of {of}");
    }
}

/// A key with a value.
pub(crate) fn row(key: &str, value: Value) -> (&str, Value, Option<Value>) {
    (key, value, None)
}

/// A key with a value in an object that replaces the original.
pub(crate) fn row_in(key: &str, value: Value, object: Value) -> (&str, Value, Option<Value>) {
    (key, value, Some(object))
}
