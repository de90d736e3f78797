//! The place at which a value was written.
//!
//! Every value that a user gave keeps its place to the end of compilation, so that each mistake
//! names a line and a key, or a flag. A value that follows from others has none, and a mistake in
//! it is reported where those were given.

use std::fmt;
use std::sync::Arc;

/// The place at which a value was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Place {
    /// Nowhere: the value follows from others, or the whole is meant.
    #[default]
    Nowhere,
    /// A place in a file.
    File {
        /// Its name, as it was given.
        name: Arc<str>,
        /// The line, from 1.
        line: u64,
        /// The column, from 1; 0 where the line is all that is known.
        column: u64,
        /// The key whose value it is; empty where there is none.
        key: Arc<str>,
    },
    /// The value of a flag of the command line.
    Flag {
        /// The flag with its dashes.
        name: &'static str,
    },
    /// Standard input, which a flag named.
    Stdin {
        /// The flag with its dashes.
        flag: &'static str,
    },
    /// A setting of the command line, which stands above a file's.
    Setting {
        /// The keys on the way to it, with points between them.
        path: Arc<str>,
    },
    /// The value of a flag on another tool's command line.
    Dialect {
        /// The tool.
        tool: &'static str,
        /// The flag, as the tool names it.
        name: &'static str,
    },
    /// A value in a file of another tool's, of which no line is known.
    Part {
        /// The file, and the names on the way to the value, with colons between them.
        path: Arc<str>,
    },
}

impl Place {
    /// Whether it was written on our own command line.
    #[must_use]
    pub const fn is_flag(&self) -> bool {
        matches!(self, Self::Flag { .. } | Self::Stdin { .. } | Self::Nowhere)
    }

    /// The key whose value it is, or the name of the flag; empty where there is none.
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

    /// The line of a file and the column in it, from 1; 0 elsewhere. What stands first is less.
    #[must_use]
    pub const fn position(&self) -> (u64, u64) {
        match self {
            Self::File { line, column, .. } => (*line, *column),
            _ => (0, 0),
        }
    }
}

impl fmt::Display for Place {
    /// `plan.yaml:4:11: rate`, `-r`; nothing for [`Place::Nowhere`].
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

/// A value with the place at which it was written. Two are equal when their values are, and the
/// texts that were written for them; the place does not count.
#[derive(Clone, Debug, Default)]
pub struct Placed<T> {
    /// The value.
    pub value: T,
    /// The place at which it was written.
    pub place: Place,
    /// The text with references for which the value stands, if it was not written as it is. This is
    /// printed; the value may be a secret.
    pub written: Option<Arc<str>>,
}

impl<T> Placed<T> {
    /// Another value, written at the same place with the same text.
    #[must_use]
    pub fn with<U>(&self, value: U) -> Placed<U> {
        Placed {
            value,
            place: self.place.clone(),
            written: self.written.clone(),
        }
    }

    /// A value that was written there.
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
/// Yes or no.
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
