//! JSON texts in which an object has each key once. Otherwise the last value would replace the
//! others without a note.

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use serde_json::error::Category;
use std::collections::HashSet;
use std::fmt;

/// Parses JSON.
///
/// # Errors
/// The first mistake, or the first key that occurs twice in an object, with its line and column.
pub(crate) fn parsed(text: &str) -> Result<Value, String> {
    let unique = serde_json::from_str::<Unique>(text);
    unique.map_err(|error| match error.classify() {
        Category::Data => format!("{error}; remove one, or rename it"),
        Category::Io | Category::Syntax | Category::Eof => error.to_string(),
    })?;
    serde_json::from_str(text).map_err(|error| error.to_string())
}

/// A value whose objects have each key once.
struct Unique;

impl<'de> Deserialize<'de> for Unique {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Self)
    }
}

impl<'de> Visitor<'de> for Unique {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_unit<E>(self) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self, A::Error> {
        while items.next_element::<Self>()?.is_some() {}
        Ok(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self, A::Error> {
        let mut keys = HashSet::new();
        while let Some(key) = members.next_key::<String>()? {
            if keys.contains(&key) {
                let shown: String = key.chars().take(60).collect();
                return Err(A::Error::custom(format!("duplicate key `{shown}`")));
            }
            keys.insert(key);
            members.next_value::<Self>()?;
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::parsed;
    use serde_json::json;

    #[test]
    fn keys_that_occur_twice_are_refused_with_their_place() {
        for (text, error) in [
            (
                r#"{"a": 1, "a": 1}"#,
                "duplicate key `a` at line 1 column 12; remove one, or rename it",
            ),
            (
                "[{\"b\": {}},\n {\"b\": {\"\\u0061\": null,\n \"a\": []}}]",
                "duplicate key `a` at line 3 column 4; remove one, or rename it",
            ),
            ("{", "EOF while parsing an object at line 1 column 1"),
            ("[1] x", "trailing characters at line 1 column 5"),
        ] {
            assert_eq!(parsed(text).unwrap_err(), error, "{text}");
        }
        let text = r#"{"a": [-1, 1, 0.5, "x", null, true, {"a": {}}]}"#;
        let value = json!({"a": [-1, 1, 0.5, "x", null, true, {"a": {}}]});
        assert_eq!(parsed(text), Ok(value));
    }
}
