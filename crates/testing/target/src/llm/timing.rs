//! When tokens are due: laws that depend on the prompt, and on the streams in progress.

use crate::law::{DELAY_MAX, Law, ParseLawError};
use drumfire_units::{Nanos, Xoshiro256};
use std::fmt;
use std::str::FromStr;

/// The time from the start of a request to its first token.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum FirstTokenLaw {
    /// Independent of the prompt.
    Delay(Law),
    /// `prefill:20ms+0.1ms/token`: proportional to the tokens of the prompt that are not cached.
    Prefill { base: Nanos, per_token: Nanos },
}

impl FirstTokenLaw {
    /// One draw, for a prompt with this many tokens that are not cached.
    pub(crate) fn draw(self, uncached: u32, random: &mut Xoshiro256) -> Nanos {
        match self {
            Self::Delay(law) => law.draw(random),
            Self::Prefill { base, per_token } => sum(base, per_token, uncached),
        }
    }
}

/// base + n · each, at most [`DELAY_MAX`].
fn sum(base: Nanos, each: Nanos, n: u32) -> Nanos {
    let total = each.0.saturating_mul(n.into()).saturating_add(base.0);
    Nanos(total).min(DELAY_MAX)
}

/// A duration of at most an hour.
fn span(text: &str) -> Option<Nanos> {
    text.parse().ok().filter(|span| *span <= DELAY_MAX)
}

impl FromStr for FirstTokenLaw {
    type Err = ParseTimingError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let Some(rest) = text.strip_prefix("prefill:") else {
            return text.parse().map(Self::Delay).map_err(ParseTimingError::Law);
        };
        let prefill = || {
            let (base, each) = rest.strip_suffix("/token")?.split_once('+')?;
            Some((span(base)?, span(each)?))
        };
        let (base, per_token) = prefill().ok_or_else(|| ParseTimingError::Form {
            text: text.chars().take(64).collect(),
            remedy: "a law of the prompt; use prefill:20ms+0.1ms/token",
        })?;
        Ok(Self::Prefill { base, per_token })
    }
}

/// `itl=10ms+0.05ms*n`: the time between two tokens of a stream while n streams are in progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchLaw {
    base: Nanos,
    per_stream: Nanos,
}

impl BatchLaw {
    /// The time to the next token, with `n` streams in progress.
    pub(crate) fn gap(self, n: u32) -> Nanos {
        sum(self.base, self.per_stream, n)
    }
}

impl FromStr for BatchLaw {
    type Err = ParseTimingError;

    /// Parses `itl=10ms+0.05ms*n`, or without `itl=`.
    ///
    /// # Errors
    /// If the text has another form.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parts = || {
            let rest = text.strip_prefix("itl=").unwrap_or(text);
            let (base, each) = rest.strip_suffix("*n")?.split_once('+')?;
            Some((span(base)?, span(each)?))
        };
        let (base, per_stream) = parts().ok_or_else(|| ParseTimingError::Form {
            text: text.chars().take(64).collect(),
            remedy: "a law of the streams in progress; use itl=10ms+0.05ms*n",
        })?;
        Ok(Self { base, per_stream })
    }
}

/// The reason why a text is not a law of times.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParseTimingError {
    /// The text is not a law of delays.
    Law(ParseLawError),
    /// The text has another form.
    Form {
        /// The text.
        text: String,
        /// What to write instead.
        remedy: &'static str,
    },
}

impl fmt::Display for ParseTimingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Law(error) => write!(f, "{error}, or prefill:20ms+0.1ms/token"),
            Self::Form { text, remedy } => {
                write!(f, "`{}` is not {remedy}", text.escape_default())
            }
        }
    }
}

impl std::error::Error for ParseTimingError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_first_token_depends_on_the_uncached_prompt() {
        let mut random = Xoshiro256::new(1, 0);
        let mut draw = |text: &str, uncached| {
            let law = text.parse::<FirstTokenLaw>().unwrap();
            law.draw(uncached, &mut random)
        };
        let prefill = "prefill:20ms+0.1ms/token";
        assert_eq!(draw(prefill, 0), Nanos::from_millis(20));
        assert_eq!(draw(prefill, 300), Nanos::from_millis(50));
        assert_eq!(draw(prefill, u32::MAX), DELAY_MAX);
        assert_eq!(draw("50ms", 300), Nanos::from_millis(50));
    }

    #[test]
    fn a_batch_slows_all_its_streams() {
        for text in ["itl=10ms+0.05ms*n", "10ms+50us*n"] {
            let law = text.parse::<BatchLaw>().unwrap();
            assert_eq!(law.gap(100), Nanos::from_millis(15), "{text}");
        }
    }

    #[test]
    fn other_forms_are_refused_with_the_right_one() {
        for text in [
            "",
            "prefill:20ms",
            "prefill:20ms+1ms",
            "prefill:2h+1ms/token",
            "soon",
        ] {
            let error = text.parse::<FirstTokenLaw>().unwrap_err().to_string();
            assert!(error.contains("prefill:20ms+0.1ms/token"), "{error}");
        }
        for text in ["", "10ms", "10ms*n", "itl=10+1ms*n"] {
            let error = text.parse::<BatchLaw>().unwrap_err().to_string();
            assert!(error.contains("itl=10ms+0.05ms*n"), "{error}");
        }
    }
}
