//! Keys, read from the bytes that a terminal sends.

/// A key that the screen handles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    /// A character.
    Char(char),
    /// The Enter key.
    Enter,
    /// The Escape key.
    Escape,
    /// The Backspace key.
    Backspace,
    /// The Tab key.
    Tab,
    /// The Tab key with Shift.
    BackTab,
    /// The up arrow.
    Up,
    /// The down arrow.
    Down,
    /// The left arrow.
    Left,
    /// The right arrow.
    Right,
    /// The Page Up key.
    PageUp,
    /// The Page Down key.
    PageDown,
}

/// Sequences of xterm and similar terminals, without their escape character.
const SEQUENCES: [(&str, Key); 11] = [
    ("[A", Key::Up),
    ("[B", Key::Down),
    ("[C", Key::Right),
    ("[D", Key::Left),
    ("OA", Key::Up),
    ("OB", Key::Down),
    ("OC", Key::Right),
    ("OD", Key::Left),
    ("[Z", Key::BackTab),
    ("[5~", Key::PageUp),
    ("[6~", Key::PageDown),
];

/// The keys in bytes that were read at once. A terminal sends a sequence in one piece, so an escape
/// character at the end is the Escape key. Unknown sequences and bytes are ignored.
pub(crate) fn keys(bytes: &[u8]) -> Vec<Key> {
    let text = String::from_utf8_lossy(bytes);
    let mut keys = Vec::new();
    let mut rest = &*text;
    while let Some(first) = rest.chars().next() {
        rest = &rest[first.len_utf8()..];
        let key = match first {
            '\u{1b}' => match sequence(rest) {
                Some((length, key)) => {
                    rest = &rest[length..];
                    key
                }
                None => Some(Key::Escape),
            },
            '\r' | '\n' => Some(Key::Enter),
            '\u{7f}' | '\u{8}' => Some(Key::Backspace),
            '\t' => Some(Key::Tab),
            char::REPLACEMENT_CHARACTER => None,
            first if first.is_control() => None,
            first => Some(Key::Char(first)),
        };
        keys.extend(key);
    }
    keys
}

/// The length of the sequence after an escape character, and its key if the screen handles it;
/// `None` without a sequence.
fn sequence(rest: &str) -> Option<(usize, Option<Key>)> {
    let known = SEQUENCES.iter().find(|(text, _)| rest.starts_with(text));
    if let Some((text, key)) = known {
        return Some((text.len(), Some(*key)));
    }
    // A control sequence ends with a character from `@` to `~` (ECMA-48, section 5.4).
    let parameters = rest.strip_prefix('[')?;
    let end = parameters.find(|c: char| ('@'..='~').contains(&c));
    Some((end.map_or(rest.len(), |end| end + 2), None))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn sequences_are_keys_and_unknown_ones_are_none() {
        assert_eq!(keys(b"q"), [Key::Char('q')]);
        assert_eq!(keys(b"\x1b[A\x1b[Bx"), [Key::Up, Key::Down, Key::Char('x')]);
        assert_eq!(keys(b"\x1b"), [Key::Escape]);
        assert_eq!(keys(b"\x1b[15~\x1b[1;5Cq"), [Key::Char('q')]);
        assert_eq!(keys(b"\x1b[5~\t\x1b[Z\r\x7f").len(), 5);
        assert_eq!(keys("é".as_bytes()), [Key::Char('é')]);
        assert_eq!(keys(b"\x00\x07\xff"), []);
    }

    proptest! {
        #[test]
        fn any_bytes_can_be_read(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            prop_assert!(keys(&bytes).len() <= bytes.len());
        }
    }
}
