//! JSON without a tree: a reader receives the fields of objects, and skips what it does not want.
//!
//! Servers deviate from the types in their documentation, so a value of another type than the
//! reader wants is skipped instead of refused. Only a text that is not JSON is an error.

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// Receives a value: the fields of an object, a text or a number.
pub(crate) trait Reader {
    /// Receives a field of an object. The implementation must take the value from `map`.
    fn field<'de, A: MapAccess<'de>>(&mut self, _key: &str, map: &mut A) -> Result<(), A::Error> {
        skip(map)
    }

    /// Receives a text.
    fn text(&mut self, _text: &str) {}

    /// Receives a number; a fraction is cut off, and a negative number is 0.
    fn number(&mut self, _number: u64) {}

    /// Receives the beginning of an item of a list; the item itself follows like a value.
    fn item(&mut self) {}
}

/// Skips the value of a field.
pub(crate) fn skip<'de, A: MapAccess<'de>>(map: &mut A) -> Result<(), A::Error> {
    map.next_value::<IgnoredAny>().map(|_| ())
}

/// Reads the value of a field.
pub(crate) fn value<'de, A: MapAccess<'de>>(
    map: &mut A,
    reader: &mut impl Reader,
) -> Result<(), A::Error> {
    map.next_value_seed(Value(reader))
}

/// Reads a text of JSON.
///
/// # Errors
/// If the bytes are not one JSON value.
pub(crate) fn read(bytes: &[u8], reader: &mut impl Reader) -> Result<(), serde_json::Error> {
    let mut input = serde_json::Deserializer::from_slice(bytes);
    Value(reader).deserialize(&mut input)?;
    input.end()
}

/// A value that a reader receives.
struct Value<'r, R>(&'r mut R);

impl<'de, R: Reader> DeserializeSeed<'de> for Value<'_, R> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, input: D) -> Result<(), D::Error> {
        input.deserialize_any(self)
    }
}

impl<'de, R: Reader> Visitor<'de> for Value<'_, R> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key_seed(KeySeed)? {
            self.0.field(key.as_str(), &mut map)?;
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while items.next_element_seed(ListItem(&mut *self.0))?.is_some() {}
        Ok(())
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        self.0.text(text);
        Ok(())
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<(), E> {
        self.0.number(number);
        Ok(())
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<(), E> {
        self.0.number(u64::try_from(number).unwrap_or(0));
        Ok(())
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<(), E> {
        // A cast saturates.
        self.0.number(number as u64);
        Ok(())
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }
}

/// An item of a list.
struct ListItem<'r, R>(&'r mut R);

impl<'de, R: Reader> DeserializeSeed<'de> for ListItem<'_, R> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, input: D) -> Result<(), D::Error> {
        self.0.item();
        Value(self.0).deserialize(input)
    }
}

/// The number of bytes of the longest key that a reader knows.
const KEY_BYTES: usize = 32;

/// A key; longer ones than any known key are cut, and so unknown.
struct Key {
    bytes: [u8; KEY_BYTES],
    length: usize,
}

impl Key {
    fn as_str(&self) -> &str {
        std::str::from_utf8(&self.bytes[..self.length]).unwrap_or("")
    }
}

struct KeySeed;

impl<'de> DeserializeSeed<'de> for KeySeed {
    type Value = Key;

    fn deserialize<D: Deserializer<'de>>(self, input: D) -> Result<Key, D::Error> {
        input.deserialize_str(self)
    }
}

impl Visitor<'_> for KeySeed {
    type Value = Key;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Key, E> {
        let mut bytes = [0; KEY_BYTES];
        let length = match bytes.get_mut(..text.len()) {
            Some(room) => {
                room.copy_from_slice(text.as_bytes());
                text.len()
            }
            None => 0,
        };
        Ok(Key { bytes, length })
    }
}
