//! The fields of a head that has already been checked.

use crate::BodyKind;
use std::fmt;

/// A final response's head.
#[derive(Clone, Copy, Debug)]
pub struct Head<'a> {
    /// The status as sent. If it is below 100 or above 599, it is invalid, and the exchange has
    /// failed (RFC 9110 section 15); the framing is still read.
    pub status: u16,
    /// The fields.
    pub headers: Headers<'a>,
    /// The value of Content-Length, if it applies; a response to HEAD, or a 304, may have one
    /// without a body.
    pub content_length: Option<u64>,
    /// How the body ends.
    pub body: BodyKind,
}

/// The fields of one head in their order. They are searched for in the raw bytes on request, so
/// that an unread head costs nothing.
#[derive(Clone, Copy)]
pub struct Headers<'a> {
    /// A complete head, with every field on one line.
    head: &'a [u8],
}

impl<'a> Headers<'a> {
    /// Wraps a head that has been checked and unfolded.
    pub(crate) fn new(head: &'a [u8]) -> Self {
        Self { head }
    }

    /// Names and values, without the white space around a value.
    pub fn iter(&self) -> impl Iterator<Item = (&'a str, &'a [u8])> + use<'a> {
        let lines = self
            .head
            .split(|&byte| byte == b'\n')
            .map(<[u8]>::trim_ascii);
        // Empty lines may precede the status line, which is the first line that is not empty.
        lines
            .skip_while(|line| line.is_empty())
            .skip(1)
            .filter_map(split)
    }

    /// The first value of the field with this name, ignoring case.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&'a [u8]> {
        self.iter()
            .find(|(field, _)| field.eq_ignore_ascii_case(name))
            .map(|(_, value)| value)
    }

    /// The complete head, from the status line to the empty line, with folded lines unfolded.
    #[must_use]
    pub fn as_bytes(&self) -> &'a [u8] {
        self.head
    }
}

impl fmt::Debug for Headers<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map()
            .entries(
                self.iter()
                    .map(|(name, value)| (name, value.escape_ascii().to_string())),
            )
            .finish()
    }
}

/// A field line's name and value; `None` for the empty line.
fn split(line: &[u8]) -> Option<(&str, &[u8])> {
    let colon = line.iter().position(|&byte| byte == b':')?;
    // A checked name is a token, and therefore ASCII.
    let name = str::from_utf8(&line[..colon]).ok()?;
    Some((name, line[colon + 1..].trim_ascii()))
}
