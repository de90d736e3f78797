//! Template values. Each has a Go type, which decides how it prints and which functions accept it.

mod collection;

pub(crate) use collection::NESTING_MAX;
pub use collection::{Element, Entry, List, Map};

use crate::time::GoTime;
use crate::version::Version;
use std::fmt;
use std::rc::Rc;

/// A template value. Cheap to clone; clones share their dictionaries, as in Go.
#[derive(Clone, Debug)]
pub enum Value {
    /// No value: the result of a missing key. An action prints it as `<no value>`.
    Missing,
    /// A nil interface.
    Nil,
    /// `bool`
    Bool(bool),
    /// An integer of a Go type; unsigned integers are stored with the same bits.
    Int(IntKind, i64),
    /// `float64`
    Float(f64),
    /// A whole number from JSON: a `float64` that keeps its digits and is also accepted as an
    /// `int`.
    Whole(i64),
    /// `string`; bytes that are not valid UTF-8 are encoded as in `raw_bytes`.
    Str(Rc<str>),
    /// A slice.
    List(Rc<List>),
    /// A map with string keys.
    Map(Rc<Map>),
    /// `time.Time`
    Time(Rc<GoTime>),
    /// `*semver.Version`
    Version(Rc<Version>),
    /// A structure from the caller.
    Object(Rc<dyn Object>),
}

/// Go's integer types in templates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntKind {
    /// `int`, 64 bits wide here as on every 64-bit machine.
    Int,
    /// `int64`
    Int64,
    /// `int32`
    Int32,
    /// `uint8`, the result of indexing a string.
    Uint8,
    /// `uint64`
    Uint64,
    /// `time.Duration`, in nanoseconds.
    Duration,
    /// `time.Month`
    Month,
    /// `time.Weekday`
    Weekday,
}

impl IntKind {
    /// Whether the type is unsigned.
    #[must_use]
    pub const fn is_unsigned(self) -> bool {
        matches!(self, Self::Uint8 | Self::Uint64)
    }

    /// The type's name.
    #[must_use]
    pub const fn type_name(self) -> &'static str {
        match self {
            Self::Int => "int",
            Self::Int64 => "int64",
            Self::Int32 => "int32",
            Self::Uint8 => "uint8",
            Self::Uint64 => "uint64",
            Self::Duration => "time.Duration",
            Self::Month => "time.Month",
            Self::Weekday => "time.Weekday",
        }
    }

    /// The name of the underlying type.
    #[must_use]
    pub const fn kind_name(self) -> &'static str {
        match self {
            Self::Duration => "int64",
            Self::Month | Self::Weekday => "int",
            other => other.type_name(),
        }
    }
}

/// A structure with fields for templates to read.
pub trait Object: fmt::Debug {
    /// The type name in error messages: `*runner.CallData`.
    fn type_name(&self) -> &str;

    /// The value of a field, or `None` if the field does not exist.
    fn field(&self, name: &str) -> Option<Value>;

    /// All fields in order, for printing the structure.
    fn field_names(&self) -> &[&str];
}

impl Value {
    /// An `int`.
    #[must_use]
    pub const fn int(value: i64) -> Self {
        Self::Int(IntKind::Int, value)
    }

    /// An `int64`.
    #[must_use]
    pub const fn int64(value: i64) -> Self {
        Self::Int(IntKind::Int64, value)
    }

    /// A `[]interface {}`.
    #[must_use]
    pub fn list(items: Vec<Self>) -> Self {
        Self::List(Rc::new(List::of_any(items)))
    }

    /// A `[]string`.
    pub fn strings<S: Into<Rc<str>>>(items: impl IntoIterator<Item = S>) -> Self {
        let items = items.into_iter().map(|item| Self::Str(item.into()));
        Self::List(Rc::new(List::of_strings(items.collect())))
    }

    /// A `map[string]interface {}`.
    pub fn dictionary<K: Into<Rc<str>>>(entries: impl IntoIterator<Item = (K, Self)>) -> Self {
        let map = Map::of_any();
        for (key, value) in entries {
            map.insert(key.into(), value);
        }
        Self::Map(Rc::new(map))
    }

    /// Whether the value is missing or a nil interface.
    #[must_use]
    pub const fn is_nil(&self) -> bool {
        matches!(self, Self::Missing | Self::Nil)
    }

    /// The text of a `string`; `None` for other types.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::Str(text) => Some(text),
            _ => None,
        }
    }

    /// The truth value for `if`: false for zero, empty, nil and missing values.
    #[must_use]
    pub fn is_true(&self) -> bool {
        match self {
            Self::Missing | Self::Nil => false,
            Self::Bool(value) => *value,
            Self::Int(_, value) => *value != 0,
            Self::Float(value) => *value != 0.0,
            Self::Whole(value) => *value != 0,
            Self::Str(text) => !text.is_empty(),
            Self::List(list) => !list.items().is_empty(),
            Self::Map(map) => !map.is_empty(),
            Self::Time(_) | Self::Version(_) | Self::Object(_) => true,
        }
    }

    /// The type name, as `%T` prints it.
    #[must_use]
    pub fn type_name(&self) -> &str {
        match self {
            Self::Missing | Self::Nil => "<nil>",
            Self::Bool(_) => "bool",
            Self::Int(kind, _) => kind.type_name(),
            Self::Float(_) | Self::Whole(_) => "float64",
            Self::Str(_) => "string",
            Self::List(list) => list.type_name(),
            Self::Map(map) => map.type_name(),
            Self::Time(_) => "time.Time",
            Self::Version(_) => "*semver.Version",
            Self::Object(object) => object.type_name(),
        }
    }

    /// The kind: the name of the underlying type.
    #[must_use]
    pub fn kind_name(&self) -> &'static str {
        match self {
            Self::Missing | Self::Nil => "invalid",
            Self::Bool(_) => "bool",
            Self::Int(kind, _) => kind.kind_name(),
            Self::Float(_) | Self::Whole(_) => "float64",
            Self::Str(_) => "string",
            Self::List(_) => "slice",
            Self::Map(_) => "map",
            Self::Time(_) => "struct",
            Self::Version(_) => "ptr",
            Self::Object(object) if object.type_name().starts_with('*') => "ptr",
            Self::Object(_) => "struct",
        }
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::int64(value)
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Self {
        Self::Float(value)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Str(text.into())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Str(text.into())
    }
}

impl From<Rc<str>> for Value {
    fn from(text: Rc<str>) -> Self {
        Self::Str(text)
    }
}

// Every step of a template moves values.
const _: () = assert!(size_of::<Value>() <= 24);
