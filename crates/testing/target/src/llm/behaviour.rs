//! How one request is answered: flags and query parameters of the same names.

use super::fault::StreamFault;
use super::timing::FirstTokenLaw;
use crate::events::LineEnd;
use crate::fault::Chance;
use crate::law::{DELAY_MAX, Law, Quantity as _, TokenCount};
use drumfire_units::Nanos;
use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

/// The maximum number of faults that can be combined.
const FAULTS_MAX: usize = 16;

/// How the mock answers one request for tokens. [`LlmBehaviour::set`] has the names.
#[derive(Clone, Debug, PartialEq)]
pub struct LlmBehaviour {
    pub(crate) ttft: FirstTokenLaw,
    pub(crate) itl: Law,
    pub(crate) output_tokens: Option<Law<TokenCount>>,
    pub(crate) tokens_per_event: Law<TokenCount>,
    pub(crate) events_per_write: NonZeroU32,
    pub(crate) cut_bytes: Option<NonZeroU32>,
    pub(crate) reasoning: u32,
    pub(crate) reasoning_field: ReasoningField,
    pub(crate) tool_calls: Chance,
    pub(crate) role_chunk: RoleChunk,
    pub(crate) usage: Option<UsagePlace>,
    pub(crate) done: Option<DoneMark>,
    pub(crate) line: LineEnd,
    pub(crate) bom: Switch,
    pub(crate) ping: Option<Nanos>,
    pub(crate) event_names: Switch,
    pub(crate) faults: Vec<StreamFault>,
}

impl Default for LlmBehaviour {
    fn default() -> Self {
        Self {
            ttft: FirstTokenLaw::Delay(Law::Constant(Nanos::from_millis(50))),
            itl: Law::Constant(Nanos::from_millis(10)),
            output_tokens: None,
            tokens_per_event: Law::Constant(TokenCount(1)),
            events_per_write: NonZeroU32::MIN,
            cut_bytes: None,
            reasoning: 0,
            reasoning_field: ReasoningField::ReasoningContent,
            tool_calls: Chance::NEVER,
            role_chunk: RoleChunk::First,
            usage: None,
            done: None,
            line: LineEnd::Lf,
            bom: Switch::No,
            ping: None,
            event_names: Switch::No,
            faults: Vec::new(),
        }
    }
}

/// The reason why a value of a parameter is invalid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadBehaviour(String);

impl fmt::Display for BadBehaviour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BadBehaviour {}

impl LlmBehaviour {
    /// Sets a parameter by its name, which is the flag without dashes. Returns whether there is
    /// such a parameter. `stream-fault` adds a fault to those that were set before.
    ///
    /// # Errors
    /// If the value is invalid.
    pub fn set(&mut self, name: &str, value: &str) -> Result<bool, BadBehaviour> {
        match name {
            "ttft" => self.ttft = read(value)?,
            "itl" => self.itl = read(value)?,
            "output-tokens" => self.output_tokens = Some(read(value)?),
            "tokens-per-event" => self.tokens_per_event = read(value)?,
            "events-per-write" => self.events_per_write = positive(value)?,
            "cut-bytes" => self.cut_bytes = Some(positive(value)?),
            "reasoning" => self.reasoning = count(value)?,
            "reasoning-field" => self.reasoning_field = read(value)?,
            "tool-calls" => self.tool_calls = read(value)?,
            "role-chunk" => self.role_chunk = read(value)?,
            "usage" => self.usage = Some(read(value)?),
            "done" => self.done = Some(read(value)?),
            "line" => self.line = read(value)?,
            "bom" => self.bom = read(value)?,
            "ping" => self.ping = Some(interval(value)?),
            "event-names" => self.event_names = read(value)?,
            "stream-fault" if self.faults.len() == FAULTS_MAX => {
                return Err(BadBehaviour(format!("at most {FAULTS_MAX} faults")));
            }
            "stream-fault" => self.faults.push(read(value)?),
            _ => return Ok(false),
        }
        Ok(true)
    }
}

fn read<T: FromStr<Err: fmt::Display>>(value: &str) -> Result<T, BadBehaviour> {
    value
        .parse()
        .map_err(|error: T::Err| BadBehaviour(error.to_string()))
}

/// A number of 1 to a million.
fn positive(value: &str) -> Result<NonZeroU32, BadBehaviour> {
    let number = value.parse::<NonZeroU32>().ok();
    let number = number.filter(|n| n.get() <= TokenCount::MAX.0);
    number.ok_or_else(|| BadBehaviour::of(value, "a number from 1 to 1000000"))
}

/// A number of 0 to a million.
fn count(value: &str) -> Result<u32, BadBehaviour> {
    let number = value.parse::<u32>().ok();
    let number = number.filter(|n| *n <= TokenCount::MAX.0);
    number.ok_or_else(|| BadBehaviour::of(value, "a number from 0 to 1000000"))
}

/// The time between two pings.
fn interval(value: &str) -> Result<Nanos, BadBehaviour> {
    let span = value.parse::<Nanos>().ok();
    let span = span.filter(|span| (Nanos::from_millis(1)..=DELAY_MAX).contains(span));
    span.ok_or_else(|| BadBehaviour::of(value, "an interval; use 1s, or 1ms to 1h"))
}

impl BadBehaviour {
    fn of(value: &str, remedy: &str) -> Self {
        let value: String = value.chars().take(64).collect();
        Self(format!("`{}` is not {remedy}", value.escape_default()))
    }
}

/// Implements parsing of an enum with one word for each variant.
macro_rules! words {
    ($type:ident, $remedy:literal, $($word:literal => $variant:ident),+) => {
        impl FromStr for $type {
            type Err = BadBehaviour;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                match text {
                    $($word => Ok(Self::$variant),)+
                    _ => Err(BadBehaviour::of(text, $remedy)),
                }
            }
        }
    };
}

/// The names of the field with reasoning in chunks of a chat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReasoningField {
    ReasoningContent,
    Reasoning,
    /// Both fields, with the same text.
    Both,
}

words!(ReasoningField, "a field; use reasoning_content, reasoning or both",
    "reasoning_content" => ReasoningContent, "reasoning" => Reasoning, "both" => Both);

/// When the head and the first chunk without a token are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RoleChunk {
    /// As soon as the request has arrived.
    Now,
    /// With the first token.
    First,
    /// The head is sent with the first token, and a chat has no chunk with the role.
    None,
}

words!(RoleChunk, "a time; use now, first or none",
    "now" => Now, "first" => First, "none" => None);

/// The place of the usage in a stream of chat or completions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UsagePlace {
    /// A separate chunk at the end.
    Last,
    /// Every chunk, and a separate one at the end.
    Each,
    None,
    /// In the chunk with the reason of the finish.
    WithFinish,
}

words!(UsagePlace, "a place; use last, each, with-finish or none",
    "last" => Last, "each" => Each, "none" => None, "with-finish" => WithFinish);

/// The event `[DONE]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DoneMark {
    Yes,
    No,
    /// Without the empty line that ends an event.
    Bare,
}

words!(DoneMark, "a mark; use yes, no or bare", "yes" => Yes, "no" => No, "bare" => Bare);

/// A property that a stream has or lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Switch {
    Yes,
    No,
}

words!(Switch, "yes or no", "yes" => Yes, "no" => No);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_parameter_has_a_name_and_a_message() {
        let mut behaviour = LlmBehaviour::default();
        for (name, value) in [
            ("ttft", "prefill:20ms+0.1ms/token"),
            ("itl", "exp:5ms"),
            ("output-tokens", "uniform:10,20"),
            ("tokens-per-event", "2"),
            ("events-per-write", "3"),
            ("cut-bytes", "7"),
            ("reasoning", "4"),
            ("reasoning-field", "both"),
            ("tool-calls", "10%"),
            ("role-chunk", "now"),
            ("usage", "each"),
            ("done", "bare"),
            ("line", "crlf"),
            ("bom", "yes"),
            ("ping", "1s"),
            ("event-names", "yes"),
            ("stream-fault", "cut:1%@3"),
        ] {
            let before = behaviour.clone();
            assert_eq!(behaviour.set(name, value), Ok(true), "{name}");
            assert_ne!(behaviour, before, "{name}");
            let error = behaviour.set(name, "-").unwrap_err().to_string();
            assert!(
                error.contains("use") || error.contains("yes or no") || error.contains("from"),
                "{name}: {error}"
            );
        }
        assert_eq!(behaviour.set("colour", "red"), Ok(false));
    }

    #[test]
    fn faults_add_up_to_a_limit() {
        let mut behaviour = LlmBehaviour::default();
        for _ in 0..FAULTS_MAX {
            assert_eq!(behaviour.set("stream-fault", "stall:1%"), Ok(true));
        }
        assert!(behaviour.set("stream-fault", "stall:1%").is_err());
    }
}
