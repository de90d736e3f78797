//! The values of a row of a trace.

use super::format::{Role, TraceFormat};
use crate::feed::{Feed, FeedError};
use crate::prompts::LENGTH_MAX;
use drumfire_plan::DataError;
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use minijinja::value::Kwargs;
use minijinja::{Value, filters};
use serde_json::Value as Json;

/// The characters of an answer that count as one token, where a file has texts without counts.
const TOKEN_CHARS: u64 = 4;

/// The columns of a feed that a trace uses.
#[derive(Clone, Debug)]
pub(super) struct Columns {
    /// Columns with their meanings and names.
    roles: Vec<(usize, Role, String)>,
}

/// What a row says about its request.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowFacts {
    /// Nanoseconds on the trace's clock.
    pub(super) at: Option<u64>,
    pub(super) input: u64,
    pub(super) output: u64,
    /// A number of the conversation, or of the row.
    pub(super) session: u64,
    /// The session that this one continues.
    pub(super) parent: Option<u64>,
}

impl Columns {
    /// The columns of a feed in a format.
    pub(super) fn of(feed: &Feed, format: TraceFormat) -> Result<Self, FeedError> {
        let known = format.columns();
        let wrong = |message: String| {
            let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
            FeedError::at_line(
                0,
                format!(
                    "{message}; a {} trace has {}",
                    format.name(),
                    names.join(", ")
                ),
            )
        };
        let mut roles = Vec::new();
        for (at, name) in feed.columns().enumerate() {
            let role = known.iter().find(|(known, _)| *known == name);
            let Some((_, role)) = role else {
                let shown = name.escape_debug();
                return Err(wrong(format!(
                    "drumfire does not know the member `{shown}`"
                )));
            };
            roles.push((at, *role, name.to_owned()));
        }
        let columns = Self { roles };
        let has = |role| columns.find(role).is_some();
        let has_text = has(Role::Prompt) || has(Role::Messages) || has(Role::Conversation);
        if !has_text && !has(Role::Input) {
            return Err(wrong("the length of the prompts is missing".to_owned()));
        }
        Ok(columns)
    }

    fn find(&self, role: Role) -> Option<&(usize, Role, String)> {
        self.roles.iter().find(|(_, known, _)| *known == role)
    }

    /// The column of the numbers of blocks.
    pub(super) fn blocks(&self) -> Option<usize> {
        self.find(Role::Blocks).map(|(at, ..)| *at)
    }

    /// Whether the rows have texts.
    pub(super) fn has_texts(&self) -> bool {
        let texts = [Role::Prompt, Role::Messages, Role::Conversation];
        texts.iter().any(|role| self.find(*role).is_some())
    }

    /// Whether the rows may have lists of messages.
    pub(super) fn has_messages(&self) -> bool {
        self.find(Role::Messages).is_some()
    }

    /// The value of the first column of a role that the row has.
    fn value(&self, feed: &Feed, row: u64, role: Role) -> Result<Option<(Value, &str)>, String> {
        for (at, _, name) in self.roles.iter().filter(|(_, known, _)| *known == role) {
            let value = feed.value(row, *at).map_err(|error| error.words)?;
            if !value.is_undefined() && !value.is_none() {
                return Ok(Some((value, name.as_str())));
            }
        }
        Ok(None)
    }

    /// The facts of a row; `None` for a request that failed or has no text to send.
    ///
    /// # Errors
    /// In words, a value that the format does not have.
    pub(super) fn facts(
        &self,
        feed: &Feed,
        row: u64,
        format: TraceFormat,
    ) -> Result<Option<RowFacts>, String> {
        if self.find(Role::Conversation).is_some() {
            return self.conversation_facts(feed, row);
        }
        let length = |role| -> Result<Option<u64>, String> {
            let value = self.value(feed, row, role)?;
            value.map(|(value, name)| length(&value, name)).transpose()
        };
        let has_text = self.value(feed, row, Role::Prompt)?.is_some()
            || self.value(feed, row, Role::Messages)?.is_some();
        let input = length(Role::Input)?;
        if input.is_none() && !has_text {
            return Err("the row has neither a text nor the length of a prompt".to_owned());
        }
        let output = length(Role::Output)?;
        let is_failed = output == Some(0) && format == TraceFormat::BurstGpt || input == Some(0);
        if is_failed {
            return Ok(None);
        }
        if let Some((ids, name)) = self.value(feed, row, Role::Blocks)? {
            check_blocks(&ids, name, input.unwrap_or(0), format)?;
        }
        let at = self.value(feed, row, Role::Time)?;
        let at = at
            .map(|(value, name)| time(&value, name, format))
            .transpose()?;
        let session = match self.value(feed, row, Role::Session)? {
            Some((session, _)) => super::block_number(&session),
            None => row,
        };
        let parent = self.value(feed, row, Role::Parent)?;
        let parent = parent.filter(|(parent, _)| parent.as_i64() != Some(-1));
        Ok(Some(RowFacts {
            parent: parent.map(|(parent, _)| super::block_number(&parent)),
            at,
            input: input.unwrap_or(0),
            output: output.unwrap_or(1).max(1),
            session,
        }))
    }

    /// The facts of a conversation: its first prompt and the length of the answer. `None` if it has
    /// no prompt with an answer.
    fn conversation_facts(&self, feed: &Feed, row: u64) -> Result<Option<RowFacts>, String> {
        let turns = self.turns(feed, row)?;
        let Some([(_, prompt), (_, answer)]) = first_exchange(&turns) else {
            return Ok(None);
        };
        let tokens = |text: &str| (text.chars().count() as u64).div_ceil(TOKEN_CHARS);
        Ok(Some(RowFacts {
            at: None,
            input: tokens(prompt),
            output: tokens(answer).clamp(1, LENGTH_MAX),
            session: row,
            parent: None,
        }))
    }

    /// The turns of a conversation, each with its speaker.
    fn turns(&self, feed: &Feed, row: u64) -> Result<Vec<(String, String)>, String> {
        let Some((turns, name)) = self.value(feed, row, Role::Conversation)? else {
            return Ok(Vec::new());
        };
        let wrong = || format!("`{name}` is not a list of turns with `from` and `value`");
        let turns = turns.try_iter().map_err(|_| wrong())?;
        let turns = turns.map(|turn| {
            let text = |key| {
                let text = turn.get_attr(key).ok();
                text.and_then(|text| text.as_str().map(str::to_owned))
            };
            text("from").zip(text("value")).ok_or_else(wrong)
        });
        turns.collect()
    }

    /// The prompt of a row with a text.
    pub(super) fn prompt(&self, feed: &Feed, row: u64) -> Result<String, DataError> {
        if self.find(Role::Conversation).is_some() {
            let turns = self.turns(feed, row).map_err(DataError::new)?;
            let prompt = first_exchange(&turns).map(|[(_, prompt), _]| prompt.clone());
            return prompt.ok_or_else(|| DataError::new("the conversation has no prompt"));
        }
        let prompt = self
            .value(feed, row, Role::Prompt)
            .map_err(DataError::new)?;
        match prompt {
            Some((prompt, _)) => Ok(prompt.to_string()),
            None => Err(DataError::new("the row has no prompt")),
        }
    }

    /// The messages of a row; `None` if it has none.
    pub(super) fn messages(&self, feed: &Feed, row: u64) -> Result<Option<Json>, DataError> {
        let messages = self
            .value(feed, row, Role::Messages)
            .map_err(DataError::new)?;
        let Some((messages, _)) = messages else {
            return Ok(None);
        };
        json_of(&messages).map(Some)
    }
}

/// A value as JSON.
pub(in crate::prompts) fn json_of(value: &Value) -> Result<Json, DataError> {
    let none = Kwargs::from_iter::<[(&str, Value); 0]>([]);
    let text = filters::tojson(value, None, none);
    let text = text.map_err(|error| DataError::new(error.to_string()))?;
    let json = serde_json::from_str(text.as_str().unwrap_or_default());
    json.map_err(|error| DataError::new(error.to_string()))
}

/// The first turn of a person, and the answer to it.
fn first_exchange(turns: &[(String, String)]) -> Option<&[(String, String); 2]> {
    let is_person = |from: &str| ["human", "user"].contains(&from);
    let is_model = |from: &str| ["gpt", "assistant", "chatgpt", "bing", "bard"].contains(&from);
    let mut pairs = turns.windows(2);
    let found =
        pairs.find(|pair| is_person(&pair[0].0) && is_model(&pair[1].0) && !pair[0].1.is_empty());
    found.and_then(|pair| pair.try_into().ok())
}

/// Checks that a row has as many blocks as its length needs.
fn check_blocks(ids: &Value, name: &str, input: u64, format: TraceFormat) -> Result<(), String> {
    let wrong = || format!("`{name}` is not a list of numbers");
    let count = ids.try_iter().map_err(|_| wrong())?.count() as u64;
    let words = format.block_words();
    let needed = input.div_ceil(words);
    match count == needed {
        true => Ok(()),
        false => Err(format!(
            "`{name}` has {count} blocks of {words} tokens, but {input} tokens need {needed}"
        )),
    }
}

/// A length in tokens.
fn length(value: &Value, name: &str) -> Result<u64, String> {
    let number = match value.as_str() {
        Some(text) => text.trim().parse::<u64>().ok(),
        None => u64::try_from(value.clone()).ok(),
    };
    let in_range = number.filter(|number| *number <= LENGTH_MAX);
    in_range.ok_or_else(|| {
        let shown = value.to_string();
        let shown = drumfire_plan::secret::excerpt(&shown);
        format!("`{name}` is not a number of tokens from 0 to {LENGTH_MAX}: {shown}")
    })
}

/// A time in nanoseconds: a number in the format's unit, or a date.
fn time(value: &Value, name: &str, format: TraceFormat) -> Result<u64, String> {
    let time = match (value.as_str(), format) {
        (Some(text), TraceFormat::Azure) => date(text.trim()),
        (Some(text), _) => text
            .trim()
            .parse()
            .ok()
            .and_then(|n| nanos(n, format.unit())),
        (None, _) => f64::try_from(value.clone())
            .ok()
            .and_then(|number| nanos(number, format.unit())),
    };
    time.ok_or_else(|| {
        let shown = value.to_string();
        let shown = drumfire_plan::secret::excerpt(&shown);
        format!("`{name}` is not a time: {shown}")
    })
}

/// Nanoseconds of a number in a unit; `None` if it is negative or beyond three centuries.
fn nanos(number: f64, unit: f64) -> Option<u64> {
    let nanos = number * unit;
    (0.0..9e18).contains(&nanos).then_some(nanos.round() as u64)
}

/// Nanoseconds since 1970 of a date such as `2023-11-16 18:00:00.1234567`, in UTC unless it has an
/// offset.
pub(in crate::prompts) fn date(text: &str) -> Option<u64> {
    let stamp: Option<Timestamp> = text.parse().ok();
    let stamp = stamp.or_else(|| {
        let civil: DateTime = text.parse().ok()?;
        TimeZone::UTC.to_timestamp(civil).ok()
    });
    u64::try_from(stamp?.as_nanosecond()).ok()
}
