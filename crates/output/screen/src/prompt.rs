//! A line that the user types: the text of a mark, or a part of the names of steps.

use crate::key::Key;

/// The maximum length of a text, in characters.
const LENGTH_MAX: usize = 80;

/// The use of a typed line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    /// The text of a mark.
    Mark,
    /// The text that the names of shown steps contain.
    Filter,
}

/// A line that is being typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Prompt {
    pub(crate) asked: Asked,
    pub(crate) text: String,
}

/// The effect of a key on a prompt.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum PromptEffect {
    /// The line continues.
    More,
    /// The line is complete.
    Done,
    /// The line was cancelled.
    Dropped,
}

impl Prompt {
    /// An empty line.
    pub(crate) const fn new(asked: Asked) -> Self {
        Self {
            asked,
            text: String::new(),
        }
    }

    /// The label of the line.
    pub(crate) const fn words(&self) -> &'static str {
        match self.asked {
            Asked::Mark => "mark this moment as: ",
            Asked::Filter => "show steps whose names contain: ",
        }
    }

    /// Handles a key.
    pub(crate) fn press(&mut self, key: Key) -> PromptEffect {
        match key {
            Key::Enter => return PromptEffect::Done,
            Key::Escape => return PromptEffect::Dropped,
            Key::Backspace => drop(self.text.pop()),
            Key::Char(letter) if self.text.chars().count() < LENGTH_MAX => self.text.push(letter),
            _ => {}
        }
        PromptEffect::More
    }
}
