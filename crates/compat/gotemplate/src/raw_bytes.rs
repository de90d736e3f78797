//! Go strings that are not valid UTF-8: a partial character, or decoded base64.
//!
//! A Go string consists of bytes. This crate uses `str` and encodes each byte outside a valid
//! character as one of 128 characters: the last of plane 16, which are for private use and do not
//! occur in texts. Functions on bytes convert with [`of_text`] and [`to_text`]; all other functions
//! treat these characters like any other. At the end of a template's output, [`end`] replaces each
//! byte as Go's JSON encoder does.

use std::borrow::Cow;

/// The character of the byte 0x80.
const FIRST: char = '\u{10FF80}';
const _: () = assert!(FIRST as u32 + 0x7f == char::MAX as u32);

/// The first UTF-8 byte of these characters, and of few others.
const LEAD: u8 = 0xf4;

/// The character that encodes a byte outside a valid character.
fn char_of(byte: u8) -> char {
    let code = u32::from(FIRST) + u32::from(byte & 0x7f);
    char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// The byte that a character encodes; `None` for all other characters.
pub(crate) fn byte_of(c: char) -> Option<u8> {
    let byte = u32::from(c).checked_sub(u32::from(FIRST))?;
    Some(0x80 | byte as u8)
}

/// The bytes of a string, with encoded bytes decoded.
pub(crate) fn of_text(text: &str) -> Cow<'_, [u8]> {
    if !text.as_bytes().contains(&LEAD) {
        return Cow::Borrowed(text.as_bytes());
    }
    let mut bytes = Vec::with_capacity(text.len());
    for c in text.chars() {
        match byte_of(c) {
            Some(byte) => bytes.push(byte),
            None => bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    Cow::Owned(bytes)
}

/// The string of these bytes.
pub(crate) fn to_text(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        push_valid(&mut text, chunk.valid());
        text.extend(chunk.invalid().iter().map(|byte| char_of(*byte)));
    }
    text
}

/// Appends characters. A character that would encode a byte is written as its own four bytes.
fn push_valid(text: &mut String, valid: &str) {
    if !valid.as_bytes().contains(&LEAD) {
        text.push_str(valid);
        return;
    }
    for c in valid.chars() {
        match byte_of(c) {
            None => text.push(c),
            Some(_) => text.extend(c.encode_utf8(&mut [0; 4]).bytes().map(char_of)),
        }
    }
}

/// Ends an output that begins at `start`: encoded bytes that form characters become these
/// characters, and each other becomes U+FFFD.
pub(crate) fn finish_output(out: &mut String, start: usize) {
    if !out.as_bytes()[start..].contains(&LEAD) {
        return;
    }
    let written = out.split_off(start);
    for chunk in of_text(&written).utf8_chunks() {
        out.push_str(chunk.valid());
        let lost = chunk.invalid().iter();
        out.extend(lost.map(|_| char::REPLACEMENT_CHARACTER));
    }
}
