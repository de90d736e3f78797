//! Why a request's data could not be rendered.

use std::fmt;

/// Why a request's data could not be rendered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataError {
    /// In words.
    pub words: String,
    /// What failed.
    pub cause: DataCause,
}

/// What keeps data from being rendered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DataCause {
    /// A template, a feed or a file.
    #[default]
    Data,
    /// A function of the plan's script.
    Script,
    /// A filter, a test or a function that the language lacks.
    Name,
    /// A function that the plan's script lacks.
    Function,
}

impl DataCause {
    /// Whether a name is unknown, which no other data would change.
    #[must_use]
    pub const fn is_name(self) -> bool {
        matches!(self, Self::Name | Self::Function)
    }
}

impl DataError {
    /// A template, a feed or a file that gave no valid data, in words.
    pub fn new(words: impl Into<String>) -> Self {
        Self {
            words: words.into(),
            cause: DataCause::Data,
        }
    }

    /// A function of a script that failed, in words.
    pub fn of_script(words: impl Into<String>) -> Self {
        Self {
            cause: DataCause::Script,
            ..Self::new(words)
        }
    }

    /// The same in other words.
    #[must_use]
    pub fn in_words(self, words: impl FnOnce(String) -> String) -> Self {
        Self {
            words: words(self.words),
            ..self
        }
    }
}

impl From<String> for DataError {
    fn from(words: String) -> Self {
        Self::new(words)
    }
}

impl fmt::Display for DataError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words)
    }
}

impl std::error::Error for DataError {}
