//! A document's text in TOML, as a tree of values that know their places.
//!
//! TOML has no references, anchors or tags, so that the tree is the parser's, with places computed
//! from its spans. Dates are texts: no key takes one.

use super::node::Node;
use crate::Diagnostic;
use crate::{Place, Placed};
use std::ops::Range;
use std::sync::Arc;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Reads TOML. `name` is the file's, for places.
///
/// # Errors
/// The first mistake of the text.
pub(super) fn read(text: &str, name: &str) -> Result<Placed<Node>, Box<Diagnostic>> {
    let reader = Reader {
        text,
        name: name.into(),
    };
    match DeTable::parse(text) {
        Ok(table) => {
            let span = table.span();
            let map = reader.map(table.into_inner());
            Ok(Placed::new(map, reader.place(&span, &"".into())))
        }
        Err(error) => {
            let place = reader.place(&error.span().unwrap_or(0..0), &"".into());
            let words = error.message().lines().collect::<Vec<_>>().join("; ");
            Err(Box::new(Diagnostic::new(&place, words)))
        }
    }
}

/// Gives values their places.
struct Reader<'a> {
    text: &'a str,
    name: Arc<str>,
}

impl Reader<'_> {
    fn place(&self, span: &Range<usize>, key: &Arc<str>) -> Place {
        let before = self.text.get(..span.start).unwrap_or_default();
        let line = before.rfind('\n').map_or(0, |at| at + 1);
        Place::File {
            name: Arc::clone(&self.name),
            line: before.matches('\n').count() as u64 + 1,
            column: before[line..].chars().count() as u64 + 1,
            key: Arc::clone(key),
        }
    }

    /// The entries of a table in the order in which they are written.
    fn map(&self, table: DeTable<'_>) -> Node {
        let mut entries: Vec<_> = table.into_iter().collect();
        entries.sort_by_key(|(key, _)| key.span().start);
        let entries = entries.into_iter().map(|(key, value)| {
            let place = self.place(&key.span(), &"".into());
            let name = key.into_inner().into_owned();
            let own: Arc<str> = name.as_str().into();
            (Placed::new(name, place), self.node(value, &own))
        });
        Node::Map(entries.collect())
    }

    fn node(&self, value: Spanned<DeValue<'_>>, key: &Arc<str>) -> Placed<Node> {
        let span = value.span();
        let written = || self.text.get(span.clone()).unwrap_or_default().to_owned();
        let node = match value.into_inner() {
            DeValue::String(text) => Node::Text(text.into_owned()),
            DeValue::Boolean(value) => Node::Switch(value),
            // Digits may be grouped by `_`.
            DeValue::Integer(_) | DeValue::Float(_) => Node::Number(written().replace('_', "")),
            DeValue::Datetime(_) => Node::Text(written()),
            DeValue::Array(items) => {
                let items = items.into_iter().map(|item| self.node(item, key));
                Node::List(items.collect())
            }
            DeValue::Table(table) => self.map(table),
        };
        Placed::new(node, self.place(&span, key))
    }
}

#[cfg(test)]
mod tests {
    use super::read;
    use crate::form::node::Node;

    #[test]
    fn values_have_their_places_and_tables_their_order() {
        let text = "b = 1_000\n[z]\na = [\"é\", 2.50, true]\n[[a.x]]\ng = '/'\n";
        let root = read(text, "p").expect("toml");
        let Node::Map(entries) = &root.value else {
            panic!("{root:?}");
        };
        let keys: Vec<&str> = entries.iter().map(|(key, _)| &*key.value).collect();
        assert_eq!(keys, ["b", "z", "a"]);
        assert_eq!(entries[0].1.value, Node::Number("1000".to_owned()));
        assert_eq!(entries[0].1.place.to_string(), "p:1:5: b");
        let Node::Map(z) = &entries[1].1.value else {
            panic!("{entries:?}");
        };
        let Node::List(items) = &z[0].1.value else {
            panic!("{z:?}");
        };
        assert_eq!(items[1].place.to_string(), "p:3:11: a");
        assert_eq!(items[1].value, Node::Number("2.50".to_owned()));
    }

    #[test]
    fn a_mistake_is_said_with_its_place() {
        let error = read("a = 1\na = 2\n", "p").expect_err("twice").to_string();
        assert!(error.starts_with("p:2:1: duplicate key"), "{error}");
    }
}
