//! Objects of JSON as Go's decoder reads them: keys are found in any case, the last of several counts,
//! one with null is as absent, and unknown keys are skipped.
//!
//! [`keyed`] reads an object and hands each known key to its [`Keyed`], which takes its value. Keys
//! that are unknown or stand twice are collected, for notes.

use super::remark::Remark;
use crate::json_tree::{Repeated, TreeSeed};
use serde::de::{DeserializeSeed, Error, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

/// What is read from an object.
pub(super) trait Keyed<'de>: Default {
    /// The known keys; at most 32.
    const KEYS: &'static [&'static str];

    /// Takes the value of a known key, and notes a key that stands twice within it.
    fn read_value<A: MapAccess<'de>>(
        &mut self,
        key: &'static str,
        entries: &mut A,
        repeated: &mut Repeated,
    ) -> Result<(), A::Error>;
}

/// A text that is not copied where it has no escapes. `Cow` alone, in a map, always is.
#[derive(Deserialize, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Text<'a>(#[serde(borrow)] pub(super) Cow<'a, str>);

/// An object, and remarks on its keys.
pub(super) type Found<T> = (T, Vec<Remark>);

/// Reads an object that nothing follows.
pub(super) fn keyed<'de, T: Keyed<'de>>(json: &'de str) -> Result<Found<T>, serde_json::Error> {
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

/// Any value behind a key; `None` for null.
pub(super) fn value<'de, A: MapAccess<'de>>(
    entries: &mut A,
    repeated: &mut Repeated,
) -> Result<Option<Value>, A::Error> {
    let value = entries.next_value_seed(TreeSeed(repeated))?;
    Ok(Some(value).filter(|value| !value.is_null()))
}

/// An object of texts behind a key, by name. A value that is null is empty.
pub(super) type TextPairs<'a> = BTreeMap<Text<'a>, Option<Text<'a>>>;

/// The object of texts behind a key; `None` for null.
pub(super) fn pairs<'de, A: MapAccess<'de>>(
    entries: &mut A,
    repeated: &mut Repeated,
) -> Result<Option<TextPairs<'de>>, A::Error> {
    entries.next_value_seed(PairsVisitor(repeated))
}

/// Reads an object of texts, or null.
struct PairsVisitor<'a>(&'a mut Repeated);

impl<'de> DeserializeSeed<'de> for PairsVisitor<'_> {
    type Value = Option<TextPairs<'de>>;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Self::Value, D::Error> {
        json.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for PairsVisitor<'_> {
    type Value = Option<TextPairs<'de>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map")
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
        let mut pairs = TextPairs::new();
        while let Some((key, value)) = entries.next_entry::<Text<'de>, Option<Text<'de>>>()? {
            if pairs.contains_key(&key) {
                self.0.note(&key.0);
            }
            pairs.insert(key, value);
        }
        Ok(Some(pairs))
    }
}

struct KeyedVisitor<T>(PhantomData<T>);

impl<'de, T: Keyed<'de>> Visitor<'de> for KeyedVisitor<T> {
    type Value = Found<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Found<T>, A::Error> {
        let mut object = T::default();
        let mut remarks = Vec::new();
        // A bit for each known key that was taken.
        let mut taken = 0_u32;
        while let Some(Text(key)) = entries.next_key()? {
            let mut known = T::KEYS.iter();
            let Some(place) = known.position(|known| key.eq_ignore_ascii_case(known)) else {
                let IgnoredAny = entries.next_value()?;
                remarks.push(Remark::UnknownKey {
                    key: key.into_owned(),
                    known: T::KEYS,
                });
                continue;
            };
            if taken & (1 << place) != 0 {
                remarks.push(Remark::RepeatedKey(T::KEYS[place].to_owned()));
            }
            taken |= 1 << place;
            let mut repeated = Repeated::default();
            object.read_value(T::KEYS[place], &mut entries, &mut repeated)?;
            if let Some(inner) = repeated.first {
                let dot = if inner.starts_with('[') { "" } else { "." };
                let path = format!("{}{dot}{inner}", T::KEYS[place]);
                remarks.push(Remark::RepeatedKey(path));
            }
        }
        Ok((object, remarks))
    }
}
