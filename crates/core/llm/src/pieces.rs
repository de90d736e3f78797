//! The generated texts of one event or of a whole answer.

use crate::json::Reader;
use crate::json::{skip, value};
use crate::links::Links;
use serde::de::MapAccess;

/// The memory for texts that is kept for the next event.
const KEPT_BYTES: usize = 64 * 1024;

/// A channel of generated text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channel {
    /// The visible answer.
    Text,
    /// Reasoning, which a user does not see.
    Reasoning,
    /// A call of a tool: its name or its arguments.
    Tool,
    /// A refusal, which a user sees.
    Refusal,
}

impl Channel {
    /// Whether the text is visible to the user or to the agent that the user runs.
    #[must_use]
    pub const fn is_visible(self) -> bool {
        !matches!(self, Self::Reasoning)
    }
}

/// Texts in their order. The memory is reused.
#[derive(Debug, Default)]
pub(crate) struct Pieces {
    text: String,
    /// The channel and the end of each piece in the text.
    ends: Vec<(Channel, usize)>,
    /// The parts that only a later request needs; `None` if they are not wanted.
    pub(crate) links: Option<Links>,
}

impl Pieces {
    /// Begins the next event.
    pub(crate) fn clear(&mut self) {
        self.clear_texts();
        if let Some(links) = &mut self.links {
            links.clear();
        }
    }

    /// Removes the texts.
    pub(crate) fn clear_texts(&mut self) {
        if self.text.capacity() > KEPT_BYTES {
            self.text = String::new();
        }
        self.text.clear();
        self.ends.clear();
    }

    /// Adds a text, unless it is empty.
    pub(crate) fn push(&mut self, channel: Channel, text: &str) {
        if !text.is_empty() {
            self.text.push_str(text);
            self.ends.push((channel, self.text.len()));
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Moves all texts into one channel.
    pub(crate) fn turn_into(&mut self, channel: Channel) {
        for (of, _) in &mut self.ends {
            *of = channel;
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    pub(crate) fn any(&self, is: impl Fn(Channel) -> bool) -> bool {
        self.ends.iter().any(|(channel, _)| is(*channel))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (Channel, &str)> {
        let mut start = 0;
        self.ends.iter().map(move |(channel, end)| {
            let text = &self.text[start..*end];
            start = *end;
            (*channel, text)
        })
    }
}

/// Reads a text of a channel: a text, or a list of parts with texts, as some servers send them.
pub(crate) struct Piece<'a> {
    pub(crate) pieces: &'a mut Pieces,
    pub(crate) channel: Channel,
}

impl Reader for Piece<'_> {
    fn text(&mut self, text: &str) {
        self.pieces.push(self.channel, text);
    }

    fn field<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        match key {
            "text" => value(map, self),
            "thinking" => value(
                map,
                &mut Piece {
                    pieces: self.pieces,
                    channel: Channel::Reasoning,
                },
            ),
            _ => skip(map),
        }
    }
}
