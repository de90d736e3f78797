//! Values as XML, by the `xml` objects of their schemas.

use super::{Reader, keys};
use crate::library::{Node, text};
use crate::sample;
use serde_json::Value;

/// The maximum nesting depth of elements.
const DEPTH_MAX: usize = 64;
/// The default name of an element.
const ROOT: &str = "root";

impl Reader<'_> {
    /// The document of a value; the name of the schema is the name of its outermost element.
    pub(super) fn xml(&mut self, schema: Node<'_>, value: &Value) -> String {
        let reference = schema.get("$ref").str().unwrap_or(ROOT);
        let name = reference.rsplit('/').next().unwrap_or(ROOT);
        let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
        self.element(Some(schema), name, value, &mut out, 0);
        out
    }

    /// The `xml` object of a schema.
    fn form_of<'s>(&mut self, schema: Option<Node<'s>>) -> Option<Node<'s>> {
        let form = sample::key(schema?, "xml", &mut self.all.notes)?;
        self.seen.check(form, &keys::XML, &mut self.all.notes);
        Some(form)
    }

    /// Appends the element of a value, or the elements of a list's items.
    fn element(
        &mut self,
        schema: Option<Node<'_>>,
        name: &str,
        value: &Value,
        out: &mut String,
        depth: usize,
    ) {
        let form = self.form_of(schema);
        let has = |key: &str| form.is_some_and(|form| form.get(key).is_true());
        let own = |key: &str| form.and_then(|form| form.get(key).str());
        let prefix = own("prefix").map_or_else(String::new, |prefix| format!("{prefix}:"));
        let namespace = own("namespace").map_or_else(String::new, |namespace| {
            let sign = own("prefix").map_or_else(String::new, |prefix| format!(":{prefix}"));
            format!(" xmlns{sign}=\"{}\"", escaped(namespace))
        });
        let (tag, items) = match value {
            // Without a wrapping element, the items have the list's name.
            Value::Array(items) if !has("wrapped") && depth > 0 => {
                let of = self.items(schema);
                for item in items {
                    self.element(of, name, item, out, depth);
                }
                return;
            }
            Value::Array(items) => (own("name").unwrap_or(name), Some(items)),
            _ => (own("name").unwrap_or(name), None),
        };
        if depth >= DEPTH_MAX {
            let finding = format!("elements that are nested deeper than {DEPTH_MAX} are left out");
            return self.all.note(finding);
        }
        let mut inner = String::new();
        let mut attributes = namespace;
        if let Some(items) = items {
            let of = self.items(schema);
            for item in items {
                self.element(of, name, item, &mut inner, depth + 1);
            }
        } else if let Value::Object(members) = value {
            for (key, value) in members {
                let of = schema.and_then(|it| sample::property(it, key, &mut self.all.notes));
                let form = self.form_of(of);
                match form.filter(|form| form.get("attribute").is_true()) {
                    Some(form) => {
                        let name = form.get("name").str().unwrap_or(key);
                        let value = text(value).unwrap_or_default();
                        attributes.push_str(&format!(" {name}=\"{}\"", escaped(&value)));
                    }
                    None => self.element(of, key, value, &mut inner, depth + 1),
                }
            }
        } else {
            inner = escaped(&text(value).unwrap_or_default());
        }
        out.push_str(&format!(
            "<{prefix}{tag}{attributes}>{inner}</{prefix}{tag}>"
        ));
    }

    fn items<'s>(&mut self, schema: Option<Node<'s>>) -> Option<Node<'s>> {
        sample::key(schema?, "items", &mut self.all.notes)
    }
}

/// A text in an element or an attribute.
fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    text.replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::Reader;
    use crate::library::FileLibrary;
    use serde_json::json;

    /// The examples of OpenAPI 3.1, section "XML Object".
    #[test]
    fn values_are_written_as_the_specification_has_them() {
        let text = || json!({"type": "string"});
        let animals = |xml: serde_json::Value, items: serde_json::Value| json!({"properties": {"animals": {"type": "array", "xml": xml, "items": items}}});
        let list = json!({"animals": ["a", "b"]});
        for (schema, value, xml) in [
            (
                json!({"properties": {"n": text()}}),
                json!({"n": "<&"}),
                "<root><n>&lt;&amp;</n></root>",
            ),
            (
                json!({"xml": {"name": "Person"}, "properties": {"id": {"xml": {"attribute": true}},
                    "name": {"xml": {"namespace": "http://e.test/s", "prefix": "sample"}}}}),
                json!({"id": 1, "name": "x"}),
                "<Person id=\"1\"><sample:name xmlns:sample=\"http://e.test/s\">x</sample:name></Person>",
            ),
            (
                animals(json!({}), text()),
                list.clone(),
                "<root><animals>a</animals><animals>b</animals></root>",
            ),
            (
                animals(
                    json!({"name": "aliens"}),
                    json!({"xml": {"name": "animal"}}),
                ),
                list.clone(),
                "<root><animal>a</animal><animal>b</animal></root>",
            ),
            (
                animals(json!({"wrapped": true}), text()),
                list.clone(),
                "<root><animals><animals>a</animals><animals>b</animals></animals></root>",
            ),
            (
                animals(
                    json!({"name": "aliens", "wrapped": true}),
                    json!({"xml": {"name": "animal"}}),
                ),
                list,
                "<root><aliens><animal>a</animal><animal>b</animal></aliens></root>",
            ),
        ] {
            let library = FileLibrary::from_value(schema);
            let made = Reader::new(&library, true).xml(library.root(), &value);
            let made = made.split_once('\n').map(|(_, made)| made.to_owned());
            assert_eq!(made.as_deref(), Some(xml));
        }
    }
}
