//! Faults within a stream of tokens.

use crate::fault::Chance;
use drumfire_units::Xoshiro256;
use std::fmt;
use std::str::FromStr;

/// A fault that happens to a stream with a probability.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct StreamFault {
    kind: StreamFaultKind,
    chance: Chance,
    /// The number of tokens before the fault; `None`: half of them.
    after: Option<u32>,
}

/// What happens to a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StreamFaultKind {
    /// The body ends as if it were complete.
    Cut,
    /// The connection closes within the body; over HTTP/2 the stream is reset.
    Close,
    /// The connection is reset; over HTTP/2 the stream.
    Reset,
    /// An error is sent instead of the rest.
    Error,
    /// Nothing more is sent.
    Stall,
    /// Half of a JSON object is sent as a separate event, and the stream continues.
    BadJson,
}

impl StreamFaultKind {
    const ALL: [(&'static str, Self); 6] = [
        ("cut", Self::Cut),
        ("close", Self::Close),
        ("reset", Self::Reset),
        ("error", Self::Error),
        ("stall", Self::Stall),
        ("bad-json", Self::BadJson),
    ];

    /// The word of the fault.
    pub(crate) fn name(self) -> &'static str {
        let named = Self::ALL.iter().find(|(_, kind)| *kind == self);
        named.map_or("", |(name, _)| name)
    }
}

/// A fault of one stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DueFault {
    pub(crate) kind: StreamFaultKind,
    /// The number of tokens before the fault.
    pub(crate) after: u32,
}

impl DueFault {
    /// The first of the faults that happens to a stream of this many tokens. All probabilities are
    /// drawn.
    pub(crate) fn draw(
        faults: &[StreamFault],
        tokens: u32,
        random: &mut Xoshiro256,
    ) -> Option<Self> {
        let mut due = None;
        for fault in faults {
            if fault.chance.happens(random) {
                due = due.or_else(|| {
                    Some(Self {
                        kind: fault.kind,
                        after: fault.after.unwrap_or(tokens / 2).min(tokens),
                    })
                });
            }
        }
        due
    }
}

/// The reason why a text is not a fault of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ParseStreamFaultError(String);

impl fmt::Display for ParseStreamFaultError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}` is not a fault; use cut, close, reset, error, stall or bad-json, with a \
             probability and the number of tokens before it: cut:10%@5",
            self.0.escape_default()
        )
    }
}

impl std::error::Error for ParseStreamFaultError {}

impl FromStr for StreamFault {
    type Err = ParseStreamFaultError;

    /// Parses `cut`, `cut:10%`, `cut:0.1@5` or `cut@5`.
    ///
    /// # Errors
    /// If the fault is unknown, or the probability or the number of tokens is malformed.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let fail = || ParseStreamFaultError(text.chars().take(64).collect());
        let (rest, after) = match text.split_once('@') {
            Some((rest, after)) => (rest, Some(after.parse().map_err(|_| fail())?)),
            None => (text, None),
        };
        let (name, chance) = match rest.split_once(':') {
            Some((name, chance)) => (name, chance.parse().map_err(|_| fail())?),
            None => (rest, Chance::ALWAYS),
        };
        let kind = StreamFaultKind::ALL.iter().find(|(word, _)| *word == name);
        let (_, kind) = kind.ok_or_else(fail)?;
        Ok(Self {
            kind: *kind,
            chance,
            after,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_has_a_kind_a_probability_and_a_place() {
        let draw = |texts: &[&str], tokens| {
            let faults: Vec<StreamFault> = texts.iter().map(|text| text.parse().unwrap()).collect();
            let due = DueFault::draw(&faults, tokens, &mut Xoshiro256::new(1, 0));
            due.map(|fault| (fault.kind.name(), fault.after))
        };
        assert_eq!(draw(&["cut:1@3"], 10), Some(("cut", 3)));
        assert_eq!(draw(&["reset"], 10), Some(("reset", 5)));
        assert_eq!(draw(&["bad-json@20"], 10), Some(("bad-json", 10)));
        assert_eq!(draw(&["cut:0", "stall@0"], 10), Some(("stall", 0)));
        assert_eq!(draw(&["error:0%"], 10), None);
    }

    #[test]
    fn what_is_no_fault_is_refused() {
        for text in ["", "cut:2", "cut@x", "melt", "cut:", "@3"] {
            let error = text.parse::<StreamFault>().unwrap_err().to_string();
            assert!(error.contains("cut:10%@5"), "{error}");
        }
    }
}
