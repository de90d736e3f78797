//! A line that a person types: the text of a mark, or a part of steps' names.

use crate::key::Key;

/// The longest text that is taken, in characters.
const LENGTH_MAX: usize = 80;

/// The use of a typed line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    /// The text of a mark.
    Mark,
    /// The part of a name that steps are chosen by.
    Filter,
}

/// A line in the making.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Prompt {
    pub(crate) asked: Asked,
    pub(crate) text: String,
}

/// The effect of a key on a prompt.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Typed {
    /// The line goes on.
    More,
    /// It is complete.
    Done,
    /// It was given up.
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

    /// The words before the line.
    pub(crate) const fn words(&self) -> &'static str {
        match self.asked {
            Asked::Mark => "mark this moment as: ",
            Asked::Filter => "show steps whose names contain: ",
        }
    }

    /// Takes a key.
    pub(crate) fn press(&mut self, key: Key) -> Typed {
        match key {
            Key::Enter => return Typed::Done,
            Key::Escape => return Typed::Dropped,
            Key::Backspace => drop(self.text.pop()),
            Key::Char(letter) if self.text.chars().count() < LENGTH_MAX => self.text.push(letter),
            _ => {}
        }
        Typed::More
    }
}
