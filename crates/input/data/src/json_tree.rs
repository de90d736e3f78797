//! JSON values, and the keys that their objects have twice.
//!
//! Readers of JSON keep the last of two values with one key. [`read`] keeps it, too, and returns
//! the first such key, so that no value is dropped unnoticed; [`read_unique`] refuses it.

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use std::fmt;

/// What becomes of a key that an object has twice.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Repeated {
    /// The path of the first such key, such as `user.name` or `items[2].id`.
    pub(crate) first: Option<String>,
    /// Whether such a key is an error.
    is_refused: bool,
}

impl Repeated {
    /// Notes a key that an object has twice.
    pub(crate) fn note(&mut self, key: &str) {
        if self.first.is_none() {
            self.first = Some(key.to_owned());
        }
    }

    /// Reads a part of a value; a key in it gets the path before it.
    fn within<T>(&mut self, before: impl Fn() -> String, read: impl FnOnce(&mut Self) -> T) -> T {
        if self.first.is_some() {
            return read(self);
        }
        let made = read(self);
        if let Some(inner) = &mut self.first {
            let dot = if inner.starts_with('[') { "" } else { "." };
            *inner = format!("{}{dot}{inner}", before());
        }
        made
    }
}

/// The value of a text, and the path of the first key that an object in it has twice.
///
/// # Errors
/// If the text is not JSON.
pub fn read(text: &str) -> Result<(Value, Option<String>), serde_json::Error> {
    let mut repeated = Repeated::default();
    let value = whole(text, &mut repeated)?;
    Ok((value, repeated.first))
}

/// The value of a text whose objects have each key once.
///
/// # Errors
/// The first mistake, or the first key that occurs twice in an object.
pub fn read_unique(text: &str) -> Result<Value, serde_json::Error> {
    let mut repeated = Repeated {
        first: None,
        is_refused: true,
    };
    whole(text, &mut repeated)
}

fn whole(text: &str, repeated: &mut Repeated) -> Result<Value, serde_json::Error> {
    let mut json = serde_json::Deserializer::from_str(text);
    let value = TreeSeed(repeated).deserialize(&mut json)?;
    json.end()?;
    Ok(value)
}

/// Reads a value.
pub(crate) struct TreeSeed<'a>(pub(crate) &'a mut Repeated);

impl<'de> DeserializeSeed<'de> for TreeSeed<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Value, D::Error> {
        json.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for TreeSeed<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any valid JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Value, E> {
        Ok(text.into())
    }

    fn visit_string<E>(self, text: String) -> Result<Value, E> {
        Ok(text.into())
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        loop {
            let place = || format!("[{}]", list.len());
            let element = self.0.within(place, |repeated| {
                elements.next_element_seed(TreeSeed(repeated))
            });
            match element? {
                Some(value) => list.push(value),
                None => return Ok(Value::Array(list)),
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(key) = members.next_key::<String>()? {
            if self.0.is_refused && map.contains_key(&key) {
                let shown: String = key.chars().take(60).collect();
                return Err(A::Error::custom(format!("duplicate key `{shown}`")));
            }
            let place = || key.clone();
            let value = self.0.within(place, |repeated| {
                members.next_value_seed(TreeSeed(repeated))
            })?;
            if map.contains_key(&key) {
                self.0.note(&key);
            }
            map.insert(key, value);
        }
        Ok(Value::Object(map))
    }
}

#[cfg(test)]
mod tests {
    use super::read;
    use proptest::prelude::*;
    use serde_json::Value;

    #[test]
    fn a_key_that_stands_twice_has_its_path() {
        for (text, path) in [
            ("{\"a\": 1, \"b\": 2}", None),
            ("{\"a\": 1, \"a\": 1}", Some("a")),
            ("{\"a\": {\"a\": 1}, \"b\": [{\"a\": 1}, {\"a\": 1}]}", None),
            ("{\"a\": {\"b\": 1, \"b\": 2}}", Some("a.b")),
            (
                "{\"a\": [1, {\"b\": [{}, {\"c\": 1, \"c\": 1}]}]}",
                Some("a[1].b[1].c"),
            ),
            ("[[], [{\"a\": 1, \"a\": 2}]]", Some("[1][0].a")),
            ("{\"a\": 1, \"\\u0061\": 2, \"b\": 1, \"b\": 1}", Some("a")),
        ] {
            assert_eq!(read(text).unwrap().1.as_deref(), path, "{text}");
        }
    }

    proptest! {
        /// Values and mistakes are those of the library.
        #[test]
        fn values_are_those_of_the_library(
            text in "[ ,\\[\\]{}:\"ab0-9.eE\\\\+-]{0,30}|\\{(\"[ab]\":(1|-2|3e5|1.5|\"x\\\\n\"|null|true|\\[\\{\\}\\]),?){0,3}\\}",
        ) {
            match (read(&text), serde_json::from_str::<Value>(&text)) {
                (Ok((own, _)), Ok(other)) => prop_assert_eq!(own, other),
                (Err(own), Err(other)) => prop_assert_eq!(own.to_string(), other.to_string()),
                (own, other) => prop_assert!(false, "{:?} {:?}", own, other),
            }
        }
    }
}
