//! A look through a row of JSON that makes no values of it: which columns it has, and which of its
//! values are texts and numbers.

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

/// The columns that are known, by name.
#[derive(Clone, Copy)]
pub(super) struct Known<'a> {
    pub(super) names: &'a [String],
    pub(super) places: &'a HashMap<String, usize>,
}

/// Looks through an object all of whose members are columns that are known, and clears the mark of
/// those columns whose value is neither text nor number. `false` if it is no such object, or has a
/// key twice; the marks hold all the same. `seen` is memory that is used again.
pub(super) fn skim(
    text: &str,
    known: Known<'_>,
    plain: &mut [bool],
    seen: &mut Vec<usize>,
) -> bool {
    let mut json = serde_json::Deserializer::from_str(text);
    let read = Row { known, plain, seen }.deserialize(&mut json);
    read.is_ok() && json.end().is_ok()
}

struct Row<'a> {
    known: Known<'a>,
    plain: &'a mut [bool],
    /// The places of its members.
    seen: &'a mut Vec<usize>,
}

/// Whether something stands twice in a list, which is sorted.
fn has_twice<T: Ord>(list: &mut [T]) -> bool {
    // Most rows have their members in the same order.
    if !list.is_sorted() {
        list.sort_unstable();
    }
    list.windows(2).any(|pair| pair[0] == pair[1])
}

impl<'de> DeserializeSeed<'de> for Row<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Row<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        // Most rows have their members in the same order.
        let mut expected = 0;
        let known = self.known;
        self.seen.clear();
        while let Some(place) = members.next_key_seed(ColumnName { known, expected })? {
            expected = place + 1;
            self.seen.push(place);
            self.plain[place] &= members.next_value_seed(Plain)?;
        }
        match has_twice(self.seen) {
            true => Err(A::Error::custom("a key twice")),
            false => Ok(()),
        }
    }
}

/// The place of a column, from its name.
struct ColumnName<'a> {
    known: Known<'a>,
    expected: usize,
}

impl<'de> DeserializeSeed<'de> for ColumnName<'_> {
    type Value = usize;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<usize, D::Error> {
        json.deserialize_str(self)
    }
}

impl Visitor<'_> for ColumnName<'_> {
    type Value = usize;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<usize, E> {
        let Known { names, places } = self.known;
        match names.get(self.expected) {
            Some(expected) if expected == name => Ok(self.expected),
            _ => places
                .get(name)
                .copied()
                .ok_or_else(|| E::custom("a new column")),
        }
    }
}

/// Whether a value is a text or a number.
struct Plain;

impl<'de> DeserializeSeed<'de> for Plain {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<bool, D::Error> {
        json.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Plain {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<bool, E> {
        Ok(true)
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<bool, E> {
        Ok(true)
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<bool, E> {
        Ok(true)
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<bool, E> {
        Ok(true)
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_unit<E: Error>(self) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<bool, A::Error> {
        while elements.next_element_seed(Self)?.is_some() {}
        Ok(false)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<bool, A::Error> {
        let mut keys = Vec::new();
        while let Some(key) = members.next_key::<Key<'de>>()? {
            keys.push(key);
            members.next_value_seed(Self)?;
        }
        match has_twice(&mut keys) {
            true => Err(A::Error::custom("a key twice")),
            false => Ok(false),
        }
    }
}

/// A key of an object in a row, which is not copied where it has no escapes.
#[derive(Deserialize, PartialEq, Eq, PartialOrd, Ord)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);
