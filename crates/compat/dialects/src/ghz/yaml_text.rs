//! The literal texts of a YAML config file: `NO`, `1.10` and `0049123` are texts if the key expects
//! a text, although YAML gives them other types.

use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, Visitor};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fmt;

/// How many texts the value of a key contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Texts {
    /// None: the value has another type.
    None,
    /// The value is a text.
    One,
    /// The value is an object of texts.
    Many,
}

/// Replaces the values of a file by their literal texts in `yaml`. `kind` decides which values of
/// the file's keys are texts. A file with values of the wrong types is left unchanged; the mistake
/// is reported where the values are used.
pub(super) fn replace_texts(
    yaml: &str,
    kind: impl Fn(&str) -> Texts,
    values: &mut Map<String, Value>,
) {
    let read = serde_saphyr::with_deserializer_from_str(yaml, |deserializer| {
        File(Part::Texts, &kind).deserialize(deserializer)
    });
    for (key, text) in read.unwrap_or_default() {
        values.insert(key, text);
    }
}

/// The values of a file with its texts. A text may be a literal that JSON has no value for, such as
/// `.inf`.
///
/// # Errors
/// If an expected text has another type, or another value is not valid JSON.
pub(super) fn all(
    yaml: &str,
    options: serde_saphyr::Options,
    kind: impl Fn(&str) -> Texts,
) -> Result<Map<String, Value>, serde_saphyr::Error> {
    serde_saphyr::with_deserializer_from_str_with_options(yaml, options, |deserializer| {
        File(Part::All, &kind).deserialize(deserializer)
    })
}

/// The values to read from a file.
#[derive(Clone, Copy)]
enum Part {
    Texts,
    All,
}

/// Reads some values of a file.
struct File<'a, K>(Part, &'a K);

impl<'de, K: Fn(&str) -> Texts> DeserializeSeed<'de> for File<'_, K> {
    type Value = Map<String, Value>;

    fn deserialize<D: serde::Deserializer<'de>>(self, file: D) -> Result<Self::Value, D::Error> {
        file.deserialize_map(self)
    }
}

impl<'de, K: Fn(&str) -> Texts> Visitor<'de> for File<'_, K> {
    type Value = Map<String, Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a mapping")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
        let mut texts = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            match (self.0, self.1(&key)) {
                (Part::All, Texts::None) => {
                    texts.insert(key, entries.next_value()?);
                }
                (Part::Texts, Texts::None) => {
                    let IgnoredAny = entries.next_value()?;
                }
                (_, Texts::One) => {
                    let text: Option<String> = entries.next_value()?;
                    texts.extend(text.map(|text| (key, text.into())));
                }
                (_, Texts::Many) => {
                    let many: Option<BTreeMap<String, Option<String>>> = entries.next_value()?;
                    let many = many.into_iter().flatten();
                    let many = many.map(|(key, text)| (key, Value::from(text)));
                    let many: Map<String, Value> = many.collect();
                    if !many.is_empty() {
                        texts.insert(key, many.into());
                    }
                }
            }
        }
        Ok(texts)
    }
}
