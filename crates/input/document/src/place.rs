//! The place where a value was written.
//!
//! Every written value keeps its place until the end of compilation, so that each mistake is
//! reported with a line and a key, or with a flag. A value that follows from others has no place,
//! and a mistake in it is reported at the places of those values.

use std::fmt;
use std::sync::Arc;

/// The place where a value was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Place {
    /// No place: the value follows from others, or belongs to the whole document.
    #[default]
    Nowhere,
    /// A place in a file.
    File {
        /// The name, as written.
        name: Arc<str>,
        /// The line, from 1.
        line: u64,
        /// The column, from 1; 0 if only the line is known.
        column: u64,
        /// The key of the value; may be empty.
        key: Arc<str>,
    },
    /// The value of a command-line flag.
    Flag {
        /// The flag with its dashes.
        name: &'static str,
    },
    /// Standard input, to which a flag refers.
    Stdin {
        /// The flag with its dashes.
        flag: &'static str,
    },
    /// A setting of the command line, which overrides a file's.
    Setting {
        /// The path of keys, separated by dots.
        path: Arc<str>,
    },
    /// The value of a flag on another tool's command line.
    Dialect {
        /// The tool.
        tool: &'static str,
        /// The flag, as the tool names it.
        name: &'static str,
    },
    /// A value in another tool's file, without a known line.
    Part {
        /// The file and the names on the path to the value, separated by colons.
        path: Arc<str>,
    },
}

impl Place {
    /// Whether the value was written on drumfire's own command line.
    #[must_use]
    pub const fn is_flag(&self) -> bool {
        matches!(self, Self::Flag { .. } | Self::Stdin { .. } | Self::Nowhere)
    }

    /// The key of the value, or the name of the flag; may be empty.
    #[must_use]
    pub fn key(&self) -> &str {
        match self {
            Self::Nowhere => "",
            Self::File { key, .. } => key,
            Self::Flag { name } | Self::Stdin { flag: name } | Self::Dialect { name, .. } => name,
            Self::Setting { path } => path.rsplit('.').next().unwrap_or_default(),
            Self::Part { path } => path.rsplit(": ").next().unwrap_or_default(),
        }
    }

    /// The line of a file, from 1; 0 elsewhere.
    #[must_use]
    pub const fn line(&self) -> u64 {
        self.position().0
    }

    /// The line of a file and the column in it, from 1; 0 elsewhere. Earlier places have lower
    /// positions.
    #[must_use]
    pub const fn position(&self) -> (u64, u64) {
        match self {
            Self::File { line, column, .. } => (*line, *column),
            _ => (0, 0),
        }
    }
}

impl fmt::Display for Place {
    /// `plan.yaml:4:11: rate`, `-r`; empty for [`Place::Nowhere`].
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nowhere => Ok(()),
            Self::File {
                name,
                line,
                column,
                key,
            } => {
                let colon = if key.is_empty() { "" } else { ": " };
                match column {
                    0 => write!(f, "{name}:{line}{colon}{key}"),
                    column => write!(f, "{name}:{line}:{column}{colon}{key}"),
                }
            }
            Self::Flag { name } | Self::Dialect { name, .. } => f.write_str(name),
            Self::Stdin { flag } => write!(f, "{flag}: stdin"),
            Self::Setting { path } => write!(f, "--set {path}"),
            Self::Part { path } => f.write_str(path),
        }
    }
}

/// A value with its place. Two are equal if their values and their written texts are equal; the
/// place is ignored.
#[derive(Clone, Debug, Default)]
pub struct Placed<T> {
    /// The value.
    pub value: T,
    /// The place at which it was written.
    pub place: Place,
    /// The written text, if the value comes from its references. Printing uses this text, because
    /// the value may be a secret.
    pub written: Option<Arc<str>>,
}

impl<T> Placed<T> {
    /// Another value with the same place and written text.
    #[must_use]
    pub fn with<U>(&self, value: U) -> Placed<U> {
        Placed {
            value,
            place: self.place.clone(),
            written: self.written.clone(),
        }
    }

    /// A value written at a place.
    pub const fn new(value: T, place: Place) -> Self {
        Self {
            value,
            place,
            written: None,
        }
    }
}

impl<T: PartialEq> PartialEq for Placed<T> {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value && self.written == other.written
    }
}

/// A text as it was written.
pub type Text = Placed<String>;
/// A whole number.
pub type Count = Placed<u64>;
/// A boolean.
pub type Switch = Placed<bool>;

#[cfg(test)]
mod tests {
    use super::{Place, Placed};

    #[test]
    fn a_place_is_said_before_what_is_wrong_there() {
        let file = |column, key: &str| Place::File {
            name: "plan.yaml".into(),
            line: 4,
            column,
            key: key.into(),
        };
        assert_eq!(file(11, "rate").to_string(), "plan.yaml:4:11: rate");
        assert_eq!(file(0, "").to_string(), "plan.yaml:4");
        assert_eq!(Place::Flag { name: "-r" }.to_string(), "-r");
        assert_eq!(Place::Stdin { flag: "-d" }.to_string(), "-d: stdin");
        assert_eq!(Place::Nowhere.to_string(), "");
    }

    #[test]
    fn a_value_is_the_same_wherever_it_was_written() {
        let flag = Place::Flag { name: "-c" };
        assert_eq!(Placed::new(5, flag), Placed::new(5, Place::Nowhere));
        assert_ne!(
            Placed::new(5, Place::Nowhere),
            Placed::new(6, Place::Nowhere)
        );
    }
}
