//! The value of a key: how it is read, printed, and filled from defaults.
//!
//! [`table!`] defines a struct of a document and its form in one table.
//!
//! An [`Entry`] is the type of one value, a [`Fields`] a struct whose keys are in one mapping. A
//! struct that is the value of a key is both (`nested!`). Reading never fails: a mistake is noted,
//! and the value is absent. Absent values are not printed. An unknown key is noted with the most
//! similar known key, and read as that key.

use super::key::{DocumentKey, KeyValue};
use super::node::Node;
use super::schema::{self, Definitions, Properties};
use super::tree::Tree;
use crate::diagnostic::Findings;
use crate::habits::{self, HabitPlace};
use crate::{Count, Field, Layer, Place, Placed, Switch, Text};
use drumfire_plan::nearest;
use serde_json::Value;

/// The maximum number of keys that a message lists.
const LISTED_MAX: usize = 24;

/// The value of a key, as a field contains it. `read` and `show` are inverse: reading the shown
/// tree gives the same value.
pub(crate) trait Entry: Sized {
    /// The kind of the value, for the reference.
    const VALUE: KeyValue;
    /// Reads the value.
    fn read(node: &Placed<Node>, found: &mut Findings) -> Self;
    /// The tree to print, if any.
    fn show(&self) -> Option<Tree>;
    /// Takes the values of `below` that are absent in `self`.
    fn fill(&mut self, below: &Self);
    /// The place where the value was written, if it was.
    fn place(&self) -> Option<&Place>;
    /// The JSON Schema of readable values.
    fn schema(definitions: &mut Definitions) -> Value;
}

/// A struct whose fields are keys of one mapping.
pub(crate) trait Fields: Default + Layer {
    /// The keys of this struct, without the keys of structs that share its mapping.
    const KEYS: &'static [DocumentKey];
    /// Appends the names of all keys.
    fn keys(out: &mut Vec<&'static str>) {
        out.extend(Self::KEYS.iter().map(|key| key.name));
    }
    /// Reads the value of a key of this struct.
    fn set(&mut self, key: &str, node: &Placed<Node>, found: &mut Findings) -> Known;
    /// Appends keys with the trees to print.
    fn show(&self, out: &mut Vec<(String, Tree)>);
    /// Appends the keys with the JSON Schemas of their values.
    fn properties(out: &mut Properties, definitions: &mut Definitions);
}

/// Whether a struct has a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Known {
    Yes,
    No,
}

/// Defines a struct of a document with the table of its keys, in the order of printing.
///
/// A row has a field, its type, its description for the manual and for editors, and the
/// [`Flag`](super::Flag) that sets it, if any. The key has the field's name, unless the row begins with
/// another one:
///
/// ```text
/// table! {
///     /// Pings of idle connections.
///     pub struct Pings [] {
///         ping: Option<Text> = "Ping a connection that has been silent for this time";
///         "ping_timeout" => timeout: Option<Text> = "How long to wait for the reply to a ping",
///             Flag::new(Group::Connections, "--ping-timeout <TIME>", "Close …").needs("ping");
///     } []
/// }
/// ```
///
/// The brackets before and after the rows contain fields whose keys share the mapping. Parentheses
/// before them contain fields without a key.
macro_rules! table {
    (
        $(#[$attribute:meta])*
        $vis:vis struct $name:ident
        $(($($(#[$unkeyed_attribute:meta])* $unkeyed:ident: $unkeyed_type:ty),* $(,)?))?
        [$($(#[$before_attribute:meta])* $before:ident: $before_type:ty),* $(,)?] {
            $($($key:literal =>)? $field:ident: $type:ty = $words:literal $(, $flag:expr)?;)*
        } [$($(#[$after_attribute:meta])* $after:ident: $after_type:ty),* $(,)?]
    ) => {
        $(#[$attribute])*
        #[derive(Clone, Debug, Default, PartialEq)]
        $vis struct $name {
            $($($(#[$unkeyed_attribute])* $vis $unkeyed: $unkeyed_type,)*)?
            $($(#[$before_attribute])* $vis $before: $before_type,)*
            $(#[doc = $words] $vis $field: $type,)*
            $($(#[$after_attribute])* $vis $after: $after_type,)*
        }

        impl $crate::Layer for $name {
            fn fill(&mut self, below: &Self) {
                use $crate::keys::fields::Entry;
                $($crate::Layer::fill(&mut self.$before, &below.$before);)*
                $(Entry::fill(&mut self.$field, &below.$field);)*
                $($crate::Layer::fill(&mut self.$after, &below.$after);)*
            }

            fn place(&self, key: &str) -> Option<&$crate::Place> {
                use $crate::keys::fields::{Entry, key_name};
                $(if key == key_name!($($key)? $field) {
                    return Entry::place(&self.$field);
                })*
                let places = [
                    $($crate::Layer::place(&self.$before, key),)*
                    $($crate::Layer::place(&self.$after, key),)*
                    None,
                ];
                places.into_iter().flatten().next()
            }
        }

        impl $crate::keys::fields::Fields for $name {
            const KEYS: &'static [$crate::keys::DocumentKey] = &[$($crate::keys::DocumentKey {
                name: $crate::keys::fields::key_name!($($key)? $field),
                flag: $crate::keys::fields::flag_of_row!($($flag)?),
                value: <$type as $crate::keys::fields::Entry>::VALUE,
                words: $words,
            }),*];

            fn keys(out: &mut Vec<&'static str>) {
                $(<$before_type as $crate::keys::fields::Fields>::keys(out);)*
                out.extend(Self::KEYS.iter().map(|key| key.name));
                $(<$after_type as $crate::keys::fields::Fields>::keys(out);)*
            }

            fn set(
                &mut self,
                key: &str,
                node: &$crate::Placed<$crate::keys::node::Node>,
                found: &mut $crate::Findings,
            ) -> $crate::keys::fields::Known {
                use $crate::keys::fields::{Entry, Known, key_name};
                $(if key == key_name!($($key)? $field) {
                    self.$field = Entry::read(node, found);
                    return Known::Yes;
                })*
                let known = [
                    $($crate::keys::fields::Fields::set(&mut self.$before, key, node, found),)*
                    $($crate::keys::fields::Fields::set(&mut self.$after, key, node, found),)*
                    Known::No,
                ];
                known.into_iter().find(|known| *known == Known::Yes).unwrap_or(Known::No)
            }

            fn show(&self, out: &mut Vec<(String, $crate::keys::tree::Tree)>) {
                use $crate::keys::fields::{Entry, key_name};
                $($crate::keys::fields::Fields::show(&self.$before, out);)*
                $(if let Some(tree) = Entry::show(&self.$field) {
                    out.push((key_name!($($key)? $field).to_owned(), tree));
                })*
                $($crate::keys::fields::Fields::show(&self.$after, out);)*
            }

            fn properties(
                out: &mut $crate::keys::schema::Properties,
                definitions: &mut $crate::keys::schema::Definitions,
            ) {
                use $crate::keys::fields::{Entry, key_name};
                $(<$before_type as $crate::keys::fields::Fields>::properties(out, definitions);)*
                $(
                    let value = <$type as Entry>::schema(definitions);
                    let value = $crate::keys::schema::described(value, $words);
                    out.insert(key_name!($($key)? $field).to_owned(), value);
                )*
                $(<$after_type as $crate::keys::fields::Fields>::properties(out, definitions);)*
            }
        }
    };
}
pub(crate) use table;

/// The key of a row: the explicit one, or the name of its field.
macro_rules! key_name {
    ($key:literal $field:ident) => {
        $key
    };
    ($field:ident) => {
        stringify!($field)
    };
}
pub(crate) use key_name;

/// The flag of a row, if it has one.
macro_rules! flag_of_row {
    () => {
        None
    };
    ($flag:expr) => {
        Some($flag)
    };
}
pub(crate) use flag_of_row;

/// The schema of a mapping with only the keys of a struct.
pub(crate) fn fields_schema<T: Fields>(definitions: &mut Definitions) -> Value {
    let mut properties = Properties::new();
    T::properties(&mut properties, definitions);
    schema::mapping(properties)
}

/// The entries of a mapping; empty for null. Notes a value of another kind.
pub(crate) fn entries<'a>(
    node: &'a Placed<Node>,
    what: &str,
    found: &mut Findings,
) -> &'a [(Placed<String>, Placed<Node>)] {
    match &node.value {
        Node::Map(entries) => entries,
        Node::Null => &[],
        other => {
            found.add(&node.place, other.no_mapping(what));
            &[]
        }
    }
}

/// The items of a list; a single value counts as a list of one.
pub(crate) fn items(node: &Placed<Node>) -> &[Placed<Node>] {
    match &node.value {
        Node::List(items) => items,
        Node::Null => &[],
        _ => std::slice::from_ref(node),
    }
}

/// Notes an unknown key; returns the known key that was probably meant, if any.
pub(crate) fn unknown<'a>(
    key: &Text,
    what: &str,
    known: &[&'a str],
    found: &mut Findings,
) -> Option<&'a str> {
    let name = key.value.escape_debug();
    if let Some(habit) = habits::find(HabitPlace::Key, &key.value) {
        let message = format!("{what} has no key `{name}`; {}", habit.ours);
        found.add(&key.place, message);
        return None;
    }
    let near = nearest(&key.value, known.iter().copied());
    let of_pool = found.pool_keys.iter().copied();
    let advice = match (near, nearest(&key.value, of_pool)) {
        (Some(near), _) => format!("; did you mean `{near}`?"),
        (None, Some(near)) => format!("; a pool has `{near}`"),
        (None, None) if known.len() > LISTED_MAX => String::new(),
        (None, None) => format!("; its keys are {}", known.join(", ")),
    };
    found.add(&key.place, format!("{what} has no key `{name}`{advice}"));
    near
}

/// Sets the values of the keys of a mapping. A misspelt key is read as the one that was probably
/// meant, so that it causes no further findings.
pub(crate) fn set_fields<T: Fields>(
    value: &mut T,
    entries: &[(Placed<String>, Placed<Node>)],
    what: &str,
    found: &mut Findings,
) {
    let is_written = |name: &str| entries.iter().any(|(key, _)| key.value == name);
    for (key, node) in entries {
        if value.set(&key.value, node, found) == Known::Yes {
            continue;
        }
        let mut known = Vec::new();
        T::keys(&mut known);
        if let Some(meant) = unknown(key, what, &known, found)
            && !is_written(meant)
        {
            value.set(meant, node, found);
        }
    }
}

/// Reads a mapping with the keys of one struct.
pub(crate) fn read_fields<T: Fields>(node: &Placed<Node>, what: &str, found: &mut Findings) -> T {
    let mut value = T::default();
    let entries = entries(node, what, found);
    set_fields(&mut value, entries, what, found);
    value
}

/// The mapping of a struct, if any of its values was written.
pub(crate) fn show_fields(value: &impl Fields) -> Option<Tree> {
    let mut entries = Vec::new();
    value.show(&mut entries);
    (!entries.is_empty()).then_some(Tree::Map(entries))
}

/// Defines a struct as the value of a key, with the name of its table.
macro_rules! nested {
    ($($type:ty => $table:literal),* $(,)?) => {
        $(impl $crate::keys::fields::Entry for $type {
            const VALUE: $crate::keys::KeyValue = $crate::keys::KeyValue::Keys($table);

            fn read(
                node: &$crate::Placed<$crate::keys::node::Node>,
                found: &mut $crate::Findings,
            ) -> Self {
                $crate::keys::fields::read_fields(node, concat!("`", $table, "`"), found)
            }

            fn show(&self) -> Option<$crate::keys::tree::Tree> {
                $crate::keys::fields::show_fields(self)
            }

            fn fill(&mut self, below: &Self) {
                $crate::Layer::fill(self, below);
            }

            fn place(&self) -> Option<&$crate::Place> {
                None
            }

            fn schema(definitions: &mut $crate::keys::schema::Definitions) -> serde_json::Value {
                $crate::keys::fields::fields_schema::<Self>(definitions)
            }
        })*
    };
}
pub(crate) use nested;

/// The advice on a rule that is written as a mapping, such as `{ p99: <50ms }`.
fn rule(entries: &[(Placed<String>, Placed<Node>)]) -> String {
    let rules = entries
        .iter()
        .filter_map(|(key, value)| match &value.value {
            Node::Text(text) if text.trim_start().starts_with(['<', '>', '=']) => {
                let rule = format!("{}{}", key.value, text.trim());
                Some(format!("`\"{}\"`", rule.escape_debug()))
            }
            _ => None,
        });
    let rules: Vec<String> = rules.collect();
    match rules.is_empty() {
        true => String::new(),
        false => format!("; a rule is a single string: write {}", rules.join(", ")),
    }
}

/// A scalar as text.
pub(crate) fn text(node: &Placed<Node>, found: &mut Findings) -> Option<Text> {
    let value = match &node.value {
        Node::Text(text) | Node::Number(text) => text.clone(),
        Node::Switch(value) => value.to_string(),
        Node::Null => return None,
        other => {
            let kind = other.kind();
            let advice = match other {
                Node::Map(entries) => rule(entries),
                Node::List(items) if is_dash(items) => {
                    "; a lone dash begins a list in YAML; quote it: \"-\"".to_owned()
                }
                _ => String::new(),
            };
            let message = format!("expected a single value, not {kind}{advice}");
            found.add(&node.place, message);
            return None;
        }
    };
    Some(node.with(value))
}

/// Whether a list is the result of `key: -` in YAML.
fn is_dash(items: &[Placed<Node>]) -> bool {
    matches!(items, [item] if item.value == Node::Null)
}

impl Entry for Option<Text> {
    const VALUE: KeyValue = KeyValue::Scalar;

    fn read(node: &Placed<Node>, found: &mut Findings) -> Self {
        text(node, found)
    }

    fn show(&self) -> Option<Tree> {
        self.as_ref().map(Tree::scalar)
    }

    fn fill(&mut self, below: &Self) {
        if self.is_none() {
            self.clone_from(below);
        }
    }

    fn place(&self) -> Option<&Place> {
        self.as_ref().map(|value| &value.place)
    }

    fn schema(_: &mut Definitions) -> Value {
        schema::scalar()
    }
}

impl Entry for Option<Count> {
    const VALUE: KeyValue = KeyValue::Count;

    fn read(node: &Placed<Node>, found: &mut Findings) -> Self {
        let text = text(node, found)?;
        let digits = text.value.bytes().all(|byte| byte.is_ascii_digit());
        match text.value.parse() {
            Ok(count) if digits => Some(text.with(count)),
            _ => {
                let shown = text.value.escape_debug();
                let message = match digits && !text.value.is_empty() {
                    true => format!("{shown} is too large; write at most {}", u64::MAX),
                    false => format!("`{shown}` is not a whole number; write one such as 100"),
                };
                found.add(&text.place, message);
                None
            }
        }
    }

    fn show(&self) -> Option<Tree> {
        self.as_ref().map(Tree::scalar)
    }

    fn fill(&mut self, below: &Self) {
        if self.is_none() {
            self.clone_from(below);
        }
    }

    fn place(&self) -> Option<&Place> {
        self.as_ref().map(|value| &value.place)
    }

    fn schema(_: &mut Definitions) -> Value {
        schema::count()
    }
}

impl Entry for Option<Switch> {
    const VALUE: KeyValue = KeyValue::Switch;

    fn read(node: &Placed<Node>, found: &mut Findings) -> Self {
        match &node.value {
            Node::Null => None,
            Node::Switch(value) => Some(node.with(*value)),
            // The value of a reference is a text.
            Node::Text(text) if node.written.is_some() && ["true", "false"].contains(&&**text) => {
                Some(node.with(text == "true"))
            }
            other => {
                let kind = other.kind();
                found.add(&node.place, format!("write true or false, not {kind}"));
                None
            }
        }
    }

    fn show(&self) -> Option<Tree> {
        self.as_ref().map(|switch| match switch.written {
            Some(_) => Tree::scalar(switch),
            None => Tree::Switch(switch.value),
        })
    }

    fn fill(&mut self, below: &Self) {
        if self.is_none() {
            self.clone_from(below);
        }
    }

    fn place(&self) -> Option<&Place> {
        self.as_ref().map(|value| &value.place)
    }

    fn schema(_: &mut Definitions) -> Value {
        schema::switch()
    }
}

impl Entry for Vec<Text> {
    const VALUE: KeyValue = KeyValue::List;

    fn read(node: &Placed<Node>, found: &mut Findings) -> Self {
        let items = items(node).iter();
        items.filter_map(|item| text(item, found)).collect()
    }

    fn show(&self) -> Option<Tree> {
        let items = self.iter().map(Tree::scalar);
        (!self.is_empty()).then(|| Tree::List(items.collect()))
    }

    fn fill(&mut self, below: &Self) {
        if self.is_empty() {
            self.clone_from(below);
        }
    }

    fn place(&self) -> Option<&Place> {
        self.first().map(|value| &value.place)
    }

    fn schema(_: &mut Definitions) -> Value {
        schema::one_or_many(&schema::scalar())
    }
}

/// A mapping from names to values, or a list of such mappings if a name occurs twice. A value may
/// also be a list.
impl Entry for Vec<Field> {
    const VALUE: KeyValue = KeyValue::Mapping;

    fn read(node: &Placed<Node>, found: &mut Findings) -> Self {
        let mut fields = Self::new();
        for part in items(node) {
            if let Node::Text(text) = &part.value {
                // The value may be a secret, and is not shown.
                let message = match text.contains(':') {
                    true => {
                        "a name and its value must be a mapping, not a string; remove the quotes \
                         around both, as in `X-Id: 7`"
                    }
                    false => "names and values must be a mapping, such as `X-Id: 7`, not a string",
                };
                found.add(&part.place, message);
                continue;
            }
            for (name, value) in entries(part, "names and values", found) {
                for value in items(value) {
                    // An empty value is allowed.
                    let value = match value.value {
                        Node::Null => Some(value.with(String::new())),
                        _ => text(value, found),
                    };
                    let name = name.clone();
                    fields.extend(value.map(|value| Field { name, value }));
                }
            }
        }
        fields
    }

    fn show(&self) -> Option<Tree> {
        if self.is_empty() {
            return None;
        }
        let entry = |field: &Field| (field.name.value.clone(), Tree::scalar(&field.value));
        let is_new = |(n, field): (usize, &Field)| {
            let mut earlier = self[..n].iter();
            earlier.all(|other| other.name != field.name)
        };
        Some(match self.iter().enumerate().all(is_new) {
            true => Tree::Map(self.iter().map(entry).collect()),
            false => {
                let single = |field| Tree::Map(vec![entry(field)]);
                Tree::List(self.iter().map(single).collect())
            }
        })
    }

    /// Fields of `below` with other names follow the fields of `self`.
    fn fill(&mut self, below: &Self) {
        let named = |field: &Field, own: &[Field]| {
            let name = &field.name.value;
            own.iter()
                .any(|other| other.name.value.eq_ignore_ascii_case(name))
        };
        let own = self.len();
        for field in below {
            if !named(field, &self[..own]) {
                self.push(field.clone());
            }
        }
    }

    fn place(&self) -> Option<&Place> {
        self.first().map(|field| &field.value.place)
    }

    fn schema(_: &mut Definitions) -> Value {
        schema::listed()
    }
}
