//! A document's text in TOML, as a tree of values with their places.
//!
//! TOML has no references, anchors or tags, so the tree is the parser's, with places computed from
//! its spans. Dates become texts, because no key takes a date.

use crate::Diagnostic;
use crate::keys::node::Node;
use crate::{Place, Placed};
use std::cell::Cell;
use std::ops::Range;
use std::sync::Arc;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Reads TOML. `name` is the file's, for places.
///
/// # Errors
/// The first mistake of the text.
pub(super) fn read(text: &str, name: &str) -> Result<Placed<Node>, Box<Diagnostic>> {
    let ends = text.match_indices('\n').map(|(at, _)| at + 1);
    let reader = Reader {
        text,
        name: name.into(),
        lines: std::iter::once(0).chain(ends).collect(),
        last: Cell::new(TextPosition { at: 0, column: 1 }),
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

/// Adds places to values.
struct Reader<'a> {
    text: &'a str,
    name: Arc<str>,
    /// The byte offset of each line.
    lines: Vec<usize>,
    /// The last place that was computed.
    last: Cell<TextPosition>,
}

/// A byte offset in the text, and its column from 1.
#[derive(Clone, Copy)]
struct TextPosition {
    at: usize,
    column: u64,
}

impl Reader<'_> {
    /// The place at which a span begins.
    ///
    /// Values are mostly read in the order of their places, so a long line is scanned only once:
    /// from the last place on, or otherwise from its start.
    fn place(&self, span: &Range<usize>, key: &Arc<str>) -> Place {
        let line = self.lines.partition_point(|start| *start <= span.start);
        let start = line.checked_sub(1).map_or(0, |line| self.lines[line]);
        let from = match self.last.get() {
            last if (start..=span.start).contains(&last.at) => last,
            _ => TextPosition {
                at: start,
                column: 1,
            },
        };
        let between = self.text.get(from.at..span.start).unwrap_or_default();
        let column = from.column + between.chars().count() as u64;
        self.last.set(TextPosition {
            at: span.start,
            column,
        });
        Place::File {
            name: Arc::clone(&self.name),
            line: line as u64,
            column,
            key: Arc::clone(key),
        }
    }

    /// The entries of a table in their written order.
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
        // Compute this place before the places of the parts, which come later in the text.
        let place = self.place(&span, key);
        let written = || self.text.get(span.clone()).unwrap_or_default().to_owned();
        let node = match value.into_inner() {
            DeValue::String(text) => Node::Text(text.into_owned()),
            DeValue::Boolean(value) => Node::Switch(value),
            // `_` may group digits.
            DeValue::Integer(_) | DeValue::Float(_) => Node::Number(written().replace('_', "")),
            DeValue::Datetime(_) => Node::Text(written()),
            DeValue::Array(items) => {
                let items = items.into_iter().map(|item| self.node(item, key));
                Node::List(items.collect())
            }
            DeValue::Table(table) => self.map(table),
        };
        Placed::new(node, place)
    }
}

#[cfg(test)]
mod tests {
    use super::read;
    use crate::keys::node::Node;

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

    /// A text with many values is scanned once, regardless of its lines.
    #[test]
    fn a_long_line_is_read_as_fast_as_many_short_ones() {
        let values = "1, ".repeat(200_000);
        let root = read(
            &format!("a = [\n{values}]\n[[t]]\nb = {{ c = [{values}] }}\n"),
            "p",
        );
        let Node::Map(entries) = root.expect("toml").value else {
            panic!("a map");
        };
        let Node::List(items) = &entries[0].1.value else {
            panic!("a list");
        };
        assert_eq!(items[199_999].place.to_string(), "p:2:599998: a");
    }

    #[test]
    fn a_mistake_is_said_with_its_place() {
        let error = read("a = 1\na = 2\n", "p").expect_err("twice").to_string();
        assert!(error.starts_with("p:2:1: duplicate key"), "{error}");
    }
}
