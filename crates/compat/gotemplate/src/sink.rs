//! A text output with a maximum length.

use crate::fault::Fault;
use std::fmt::Write as _;

/// A text with a maximum length.
pub(crate) struct Sink<'a> {
    out: &'a mut String,
    length_max: usize,
}

impl<'a> Sink<'a> {
    /// Appends to `out` until it has `length_max` bytes.
    pub(crate) const fn new(out: &'a mut String, length_max: usize) -> Self {
        Self { out, length_max }
    }

    /// Appends a text.
    #[inline]
    pub(crate) fn text(&mut self, text: &str) -> Result<(), Fault> {
        if text.len() > self.length_max.saturating_sub(self.out.len()) {
            return Err(too_long());
        }
        self.out.push_str(text);
        Ok(())
    }

    /// Appends a number in decimal.
    pub(crate) fn number(&mut self, number: i64) -> Result<(), Fault> {
        const DIGITS_MAX: usize = 20;
        if DIGITS_MAX > self.length_max.saturating_sub(self.out.len()) {
            return self.text(&number.to_string());
        }
        // Writing to a string cannot fail.
        let _ = write!(self.out, "{number}");
        Ok(())
    }

    /// Appends a character.
    pub(crate) fn char(&mut self, c: char) -> Result<(), Fault> {
        self.text(c.encode_utf8(&mut [0; 4]))
    }

    /// Appends a character `count` times.
    pub(crate) fn fill(&mut self, c: char, count: usize) -> Result<(), Fault> {
        let bytes = count.saturating_mul(c.len_utf8());
        if bytes > self.length_max.saturating_sub(self.out.len()) {
            return Err(too_long());
        }
        self.out.extend(std::iter::repeat_n(c, count));
        Ok(())
    }
}

fn too_long() -> Fault {
    Fault::from("the text exceeds its limit")
}
