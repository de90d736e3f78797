//! Why a request's data could not be rendered.

use std::fmt;

/// Why a request's data could not be rendered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataError {
    /// The reason, as text.
    pub words: String,
    /// The part that failed.
    pub cause: DataCause,
}

/// The part that failed when data was rendered.
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
    /// Whether a name is unknown, so that other data would fail as well.
    #[must_use]
    pub const fn is_name(self) -> bool {
        matches!(self, Self::Name | Self::Function)
    }
}

impl DataError {
    /// An error of a template, a feed or a file.
    pub fn new(words: impl Into<String>) -> Self {
        Self {
            words: words.into(),
            cause: DataCause::Data,
        }
    }

    /// An error of a script's function.
    pub fn of_script(words: impl Into<String>) -> Self {
        Self {
            cause: DataCause::Script,
            ..Self::new(words)
        }
    }

    /// An error with its text rewritten.
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
