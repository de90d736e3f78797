//! Values of `plan` and `measure` as words of the contract.

use crate::answer::Answer;
use crate::round::{RoundForm, RoundsEnd};
use drumfire_measure::{
    ArrivalClock, Coverage, LatencyKind, Model, StoredState, TargetState, Validity,
};
use drumfire_plan::StopReason;
#[cfg(test)]
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A closed set of values, each with a word that never changes.
pub trait Word: Copy + 'static {
    /// The name of the set in the singular, for messages about unknown words.
    const NOUN: &'static str;
    /// All values.
    const ALL: &'static [Self];

    /// The word of a value.
    fn word(self) -> &'static str;
}

/// A value that JSON contains as its word. An unknown word is an error: it may be from a later
/// version, and a run that ended early or is invalid must not look like any other run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Named<T>(pub T);

impl<T: Word> Serialize for Named<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.word())
    }
}

impl<'de, T: Word> Deserialize<'de> for Named<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = String::deserialize(deserializer)?;
        let found = T::ALL.iter().find(|value| value.word() == word);
        found.map(|value| Self(*value)).ok_or_else(|| {
            let known: Vec<String> = words::<T>().map(|word| format!("`{word}`")).collect();
            D::Error::custom(format!(
                "unknown {} `{}`; use {}",
                T::NOUN,
                word.escape_default(),
                known.join(", ")
            ))
        })
    }
}

fn words<T: Word>() -> impl Iterator<Item = &'static str> {
    T::ALL.iter().map(|value| value.word())
}

#[cfg(test)]
impl<T: Word> JsonSchema for Named<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        T::NOUN.into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "enum": words::<T>().collect::<Vec<_>>() })
    }
}

/// A row for each set: its type, its noun, its values and the method that returns the word.
macro_rules! words {
    ($($type:ty, $noun:literal, $all:expr, $word:ident;)*) => {
        $(impl Word for $type {
            const NOUN: &'static str = $noun;
            const ALL: &'static [Self] = &$all;

            fn word(self) -> &'static str {
                self.$word()
            }
        })*
    };
}

words! {
    Answer, "answer", [Answer::Worse, Answer::Better, Answer::Equal, Answer::Open], name;
    ArrivalClock, "clock", ArrivalClock::ALL, name;
    Coverage, "coverage", Coverage::ALL, name;
    LatencyKind, "kind of latency", LatencyKind::ALL, key;
    Model, "model", [Model::Open, Model::Closed], name;
    RoundForm, "form of a round", [RoundForm::Turns, RoundForm::Duet], name;
    RoundsEnd, "end of an experiment",
        [RoundsEnd::Planned, RoundsEnd::Shown, RoundsEnd::Signal, RoundsEnd::Unsound], name;
    StoredState, "state of a stored run", StoredState::ALL, name;
    StopReason, "reason of an end", StopReason::ALL, name;
    TargetState, "state of a target", TargetState::ALL, name;
    Validity, "validity", [Validity::Valid, Validity::Suspect, Validity::Invalid], name;
}
