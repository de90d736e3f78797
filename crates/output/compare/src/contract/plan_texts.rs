//! The facts of a plan by their keys, in the plan's order.

#[cfg(test)]
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
#[cfg(test)]
use std::collections::BTreeMap;
use std::fmt;

/// Keys with their texts. A map of texts instead of typed fields, because plans gain keys faster
/// than the contract.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlanTexts(pub Vec<(String, Texts)>);

/// The value of a key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
#[cfg_attr(test, derive(JsonSchema))]
pub enum Texts {
    /// Of a key that occurs once.
    One(String),
    /// Of a key that occurs more than once.
    Several(Vec<String>),
}

impl Texts {
    /// All texts, joined.
    #[must_use]
    pub fn joined(&self) -> String {
        match self {
            Self::One(text) => text.clone(),
            Self::Several(texts) => texts.join(", "),
        }
    }
}

impl Serialize for PlanTexts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, texts)| (key, texts)))
    }
}

impl<'de> Deserialize<'de> for PlanTexts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;

        impl<'de> Visitor<'de> for Entries {
            type Value = PlanTexts;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a plan")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<PlanTexts, M::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(PlanTexts(entries))
            }
        }

        deserializer.deserialize_map(Entries)
    }
}

#[cfg(test)]
impl JsonSchema for PlanTexts {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "plan".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        generator.subschema_for::<BTreeMap<String, Texts>>()
    }
}
