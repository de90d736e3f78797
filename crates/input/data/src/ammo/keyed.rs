//! Objects of JSON as Go's decoder reads them: keys are found in any case, the last of several counts,
//! one with null is as absent, and unknown keys are skipped.
//!
//! [`keyed`] reads an object and hands each key to its [`Keyed`], which takes the value of a key that
//! it knows. The other keys are collected, for a note.

use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

/// What is read from an object.
pub(super) trait Keyed<'de>: Default {
    /// Takes the value of a known key. Returns false, with the value unread, if the key is unknown.
    fn take<A: MapAccess<'de>>(&mut self, key: &str, entries: &mut A) -> Result<bool, A::Error>;
}

/// A text that is not copied where it has no escapes. `Cow` alone, in a map, always is.
#[derive(Deserialize, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Text<'a>(#[serde(borrow)] pub(super) Cow<'a, str>);

/// An object, and its unknown keys.
pub(super) type Found<'a, T> = (T, Vec<Cow<'a, str>>);

/// Reads an object that nothing follows.
pub(super) fn keyed<'de, T: Keyed<'de>>(
    json: &'de str,
) -> Result<Found<'de, T>, serde_json::Error> {
    let mut deserializer = serde_json::Deserializer::from_str(json);
    let object = deserializer.deserialize_map(KeyedVisitor(PhantomData))?;
    deserializer.end()?;
    Ok(object)
}

/// The text behind a key.
pub(super) fn text<'de, A: MapAccess<'de>>(
    entries: &mut A,
) -> Result<Option<Cow<'de, str>>, A::Error> {
    let text: Option<Text<'de>> = entries.next_value()?;
    Ok(text.map(|Text(text)| text))
}

struct KeyedVisitor<T>(PhantomData<T>);

impl<'de, T: Keyed<'de>> Visitor<'de> for KeyedVisitor<T> {
    type Value = Found<'de, T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Found<'de, T>, A::Error> {
        let mut object = T::default();
        let mut unknown = Vec::new();
        while let Some(Text(key)) = entries.next_key()? {
            if !object.take(&key, &mut entries)? {
                let IgnoredAny = entries.next_value()?;
                unknown.push(key);
            }
        }
        Ok((object, unknown))
    }
}
