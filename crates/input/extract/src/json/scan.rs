//! Finds values in the bytes of a JSON text without building a tree.
//!
//! Only the brackets and quotes of skipped values are checked; everything on the way to a value is
//! checked completely. The scanner needs neither recursion nor a stack, so depth has no cost.

use crate::NoValue;

/// The maximum number of bytes scanned for one value, including repeated scans: a quarter of a
/// second of work. Only paths that visit nested values come near it.
const WORK_MAX: usize = 1 << 28;

/// The reason why a value was not reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BrokenJson {
    cause: Cause,
    at: usize,
    reason: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cause {
    /// The bytes are not a JSON text.
    Form,
    /// A limit was exceeded.
    Limit,
}

impl From<BrokenJson> for NoValue {
    fn from(broken: BrokenJson) -> Self {
        let BrokenJson { cause, at, reason } = broken;
        Self::unreadable(match cause {
            Cause::Form => format!("the body is not JSON: {reason}, at byte {at}"),
            Cause::Limit => format!("the body {reason}, at byte {at}"),
        })
    }
}

/// A position in a JSON text.
#[derive(Clone, Debug)]
pub(super) struct Scanner<'a> {
    body: &'a [u8],
    at: usize,
    work: usize,
}

/// The class of a byte while a value is skipped.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Other,
    Quote,
    Open,
    Close,
}

const CLASSES: [Class; 256] = {
    let mut classes = [Class::Other; 256];
    classes[b'"' as usize] = Class::Quote;
    classes[b'{' as usize] = Class::Open;
    classes[b'[' as usize] = Class::Open;
    classes[b'}' as usize] = Class::Close;
    classes[b']' as usize] = Class::Close;
    classes
};

impl<'a> Scanner<'a> {
    /// Starts at the text's value, after an optional byte order mark.
    pub(super) fn new(body: &'a [u8]) -> Result<Self, BrokenJson> {
        let at = if body.starts_with("\u{feff}".as_bytes()) {
            3
        } else {
            0
        };
        let mut scanner = Self { body, at, work: 0 };
        scanner.skip_space();
        if scanner.at == body.len() {
            return Err(scanner.broken("it is empty"));
        }
        Ok(scanner)
    }

    pub(super) const fn position(&self) -> usize {
        self.at
    }

    pub(super) const fn go_to(&mut self, at: usize) {
        self.at = at;
    }

    pub(super) fn bytes(&self, start: usize, end: usize) -> &'a [u8] {
        &self.body[start..end]
    }

    pub(super) const fn broken(&self, reason: &'static str) -> BrokenJson {
        let (cause, at) = (Cause::Form, self.at);
        BrokenJson { cause, at, reason }
    }

    /// An exceeded limit at this position; the reason describes the body.
    pub(super) const fn beyond(&self, reason: &'static str) -> BrokenJson {
        let (cause, at) = (Cause::Limit, self.at);
        BrokenJson { cause, at, reason }
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.body.get(self.at).copied()
    }

    /// Skips a byte if it is next.
    pub(super) fn consume(&mut self, byte: u8) -> bool {
        let is_here = self.peek() == Some(byte);
        self.at += usize::from(is_here);
        is_here
    }

    pub(super) fn skip_space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    /// Moves from the value's first byte into the value, if it is a nonempty object or array
    /// (`open`).
    pub(super) fn enter(&mut self, open: u8) -> bool {
        if !self.consume(open) {
            return false;
        }
        self.skip_space();
        // In ASCII, `]` and `}` are two above their opening brackets.
        self.peek() != Some(open + 2)
    }

    /// Reads a member's name and moves to its value; returns the bytes between the quotes.
    pub(super) fn name(&mut self) -> Result<&'a [u8], BrokenJson> {
        let name = self.string()?;
        self.skip_space();
        if !self.consume(b':') {
            return Err(self.broken("expected a `:` after the name"));
        }
        self.skip_space();
        Ok(name)
    }

    /// Called after an element or member: moves to the next one, and returns whether there is one.
    pub(super) fn next(&mut self, open: u8) -> Result<bool, BrokenJson> {
        self.skip_space();
        if self.consume(b',') {
            self.skip_space();
            return Ok(true);
        }
        if self.consume(open + 2) {
            return Ok(false);
        }
        Err(self.broken("expected a `,` or the closing bracket"))
    }

    /// Skips a string; returns the bytes between its quotes, unmodified.
    pub(super) fn string(&mut self) -> Result<&'a [u8], BrokenJson> {
        if !self.consume(b'"') {
            return Err(self.broken("expected a string"));
        }
        let start = self.at;
        loop {
            let rest = &self.body[self.at..];
            match quote_or_backslash(rest) {
                Some(length) if rest[length] == b'"' => {
                    let end = self.at + length;
                    self.at = end + 1;
                    return Ok(&self.body[start..end]);
                }
                // The byte after a backslash may be a quote, or may be missing.
                Some(length) if length + 2 <= rest.len() => self.at += length + 2,
                _ => {
                    self.at = self.body.len();
                    return Err(self.broken("a string is cut off"));
                }
            }
        }
    }

    /// Skips a value.
    pub(super) fn skip_value(&mut self) -> Result<(), BrokenJson> {
        let start = self.at;
        match self.peek() {
            Some(b'"') => {
                self.string()?;
            }
            Some(open @ (b'{' | b'[')) => self.skip_nested(open)?,
            _ => {
                self.scalar()?;
            }
        }
        self.work(self.at - start)
    }

    /// Counts work equal to scanning this many bytes.
    pub(super) fn work(&mut self, bytes: usize) -> Result<(), BrokenJson> {
        self.work += bytes;
        if self.work > WORK_MAX {
            return Err(self.beyond("is too large for this path"));
        }
        Ok(())
    }

    fn skip_nested(&mut self, open: u8) -> Result<(), BrokenJson> {
        let mut depth = 0_usize;
        // A local variable stays in a register: this loop is most of the work.
        let mut at = self.at;
        while let Some(byte) = self.body.get(at) {
            match CLASSES[usize::from(*byte)] {
                Class::Other => at += 1,
                Class::Quote => {
                    self.at = at;
                    self.string()?;
                    at = self.at;
                }
                Class::Open => {
                    depth += 1;
                    at += 1;
                }
                Class::Close if depth > 1 => {
                    depth -= 1;
                    at += 1;
                }
                Class::Close => {
                    self.at = at;
                    if *byte != open + 2 {
                        return Err(self.broken("the closing bracket does not match"));
                    }
                    self.at += 1;
                    return Ok(());
                }
            }
        }
        self.at = self.body.len();
        Err(self.broken("an object or array is cut off"))
    }

    /// Skips a number, `true`, `false` or `null` (RFC 8259, sections 3 and 6).
    pub(super) fn scalar(&mut self) -> Result<&'a [u8], BrokenJson> {
        let start = self.at;
        for word in [&b"true"[..], b"false", b"null"] {
            if self.body[start..].starts_with(word) {
                self.at += word.len();
                return self.ended(start);
            }
        }
        let _ = self.consume(b'-');
        if !self.consume(b'0') {
            self.digits()?;
        }
        if self.consume(b'.') {
            self.digits()?;
        }
        if self.consume(b'e') || self.consume(b'E') {
            let _ = self.consume(b'+') || self.consume(b'-');
            self.digits()?;
        }
        self.ended(start)
    }

    fn digits(&mut self) -> Result<(), BrokenJson> {
        let rest = &self.body[self.at..];
        let length = rest.iter().take_while(|b| b.is_ascii_digit()).count();
        self.at += length;
        if length == 0 {
            return Err(self.broken("expected a value"));
        }
        Ok(())
    }

    /// The bytes of a scalar, unless more letters follow.
    fn ended(&self, start: usize) -> Result<&'a [u8], BrokenJson> {
        match self.peek() {
            None | Some(b' ' | b'\t' | b'\n' | b'\r' | b',' | b'}' | b']') => {
                Ok(&self.body[start..self.at])
            }
            Some(_) => Err(self.broken("expected the end of the value")),
        }
    }

    /// Called after a value: checks that the text continues correctly. A number at the end of a
    /// truncated body may lack digits.
    pub(super) fn check_behind(&mut self, is_root: bool) -> Result<(), BrokenJson> {
        self.skip_space();
        match self.peek() {
            None if is_root => Ok(()),
            None => Err(self.broken("it is cut off")),
            Some(b',' | b'}' | b']') if !is_root => Ok(()),
            Some(_) => Err(self.broken("unexpected text after the value")),
        }
    }
}

/// The position of the first `"` or `\`. Most strings are shorter than the cost of calling
/// `memchr`, so the first bytes are examined eight at a time.
fn quote_or_backslash(bytes: &[u8]) -> Option<usize> {
    const WORDS_MAX: usize = 4;
    let (words, _) = bytes.as_chunks::<8>();
    let mut at = 0;
    for word in words.iter().take(WORDS_MAX) {
        let word = u64::from_le_bytes(*word);
        let found = zeros(word ^ each(b'"')) | zeros(word ^ each(b'\\'));
        if found != 0 {
            return Some(at + found.trailing_zeros() as usize / 8);
        }
        at += 8;
    }
    Some(at + memchr::memchr2(b'"', b'\\', &bytes[at..])?)
}

/// A word with the byte repeated eight times.
const fn each(byte: u8) -> u64 {
    u64::from_le_bytes([byte; 8])
}

/// The highest bit of each zero byte, up to the first one; bits above it may be wrong (Warren,
/// Hacker's Delight, section 6-1).
const fn zeros(word: u64) -> u64 {
    word.wrapping_sub(each(0x01)) & !word & each(0x80)
}

#[cfg(test)]
mod tests {
    use super::quote_or_backslash;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_first_is_found(bytes in prop::collection::vec(prop_oneof![9 => any::<u8>(), 1 => Just(b'"')], 0..80)) {
            let first = bytes.iter().position(|b| matches!(b, b'"' | b'\\'));
            prop_assert_eq!(quote_or_backslash(&bytes), first);
        }
    }
}
