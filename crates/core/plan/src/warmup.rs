//! The beginning of a run that is not measured.

use drumfire_units::{Nanos, ParseNanosError};
use std::fmt;
use std::str::FromStr;

/// The text for a length that is detected from the figures.
const AUTO: &str = "auto";

/// The beginning of a run that is not measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Warmup {
    /// A fixed length: requests whose intended start is inside it are sent but not measured.
    Span(Nanos),
    /// As long as the figures take to settle, detected at the end of the run.
    Auto,
}

impl Warmup {
    /// No warm-up: everything is measured.
    pub const NONE: Self = Self::Span(Nanos::ZERO);

    /// The length that is known before the run; zero if it is detected.
    #[must_use]
    pub const fn span(self) -> Nanos {
        match self {
            Self::Span(span) => span,
            Self::Auto => Nanos::ZERO,
        }
    }
}

impl Default for Warmup {
    fn default() -> Self {
        Self::NONE
    }
}

impl fmt::Display for Warmup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Span(span) => span.fmt(f),
            Self::Auto => f.write_str(AUTO),
        }
    }
}

impl FromStr for Warmup {
    type Err = ParseNanosError;

    fn from_str(text: &str) -> Result<Self, ParseNanosError> {
        match text {
            AUTO => Ok(Self::Auto),
            span => span.parse().map(Self::Span),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_comes_back() {
        for (text, warmup) in [
            ("auto", Warmup::Auto),
            ("5s", Warmup::Span(Nanos::from_secs(5))),
        ] {
            assert_eq!(text.parse(), Ok(warmup));
            assert_eq!(warmup.to_string(), text);
        }
        assert!("soon".parse::<Warmup>().is_err());
    }
}
