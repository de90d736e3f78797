//! The error of a function.

use std::borrow::Cow;
use std::fmt;

/// A function's error; the message is printed after `error calling NAME: `.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault(Cow<'static, str>);

impl Fault {
    /// The message.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.0
    }
}

impl From<&'static str> for Fault {
    fn from(text: &'static str) -> Self {
        Self(Cow::Borrowed(text))
    }
}

impl From<String> for Fault {
    fn from(text: String) -> Self {
        Self(Cow::Owned(text))
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Fault {}
