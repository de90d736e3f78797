//! Text from outside, which is printed only with all characters escaped that a terminal would obey.
//! An escape sequence in a status line could hide the lines above it. The type has no `Display`, so
//! that the compiler finds a forgotten escape.
//!
//! Mask a text before it is escaped ([`crate::secret`], [`drumfire_plan::Secrets`]): an escaped
//! secret is harder to find.

use crate::style::Unicode;
use drumfire_plan::{escaped_lines, push_escape, secret};
use std::borrow::Cow;
use std::fmt;

pub use drumfire_plan::is_dangerous;

/// The maximum number of characters of a foreign text: one message must not fill a page.
const FOREIGN_MAX: usize = 300;

/// A foreign text, cut, without secrets in URLs and headers, and without what acts on a terminal.
pub(crate) fn foreign(text: &str, unicode: Unicode) -> String {
    Untrusted::new(&secret::setting("", text)).escaped_up_to(FOREIGN_MAX, unicode)
}

/// Text that a server, a certificate or a file supplied.
#[derive(Clone, PartialEq, Eq)]
pub struct Untrusted<'a>(Cow<'a, str>);

impl<'a> Untrusted<'a> {
    /// Takes text as it came.
    #[must_use]
    pub const fn new(text: &'a str) -> Self {
        Self(Cow::Borrowed(text))
    }

    /// Takes received bytes; those that are not UTF-8 become U+FFFD.
    #[must_use]
    pub fn from_bytes(bytes: &'a [u8]) -> Self {
        Self(String::from_utf8_lossy(bytes))
    }

    /// The text with every character escaped that could act on a terminal or hide itself; with
    /// [`Unicode::Off`] also every character outside ASCII.
    #[must_use]
    pub fn escaped(&self, unicode: Unicode) -> String {
        self.escaped_up_to(usize::MAX, unicode)
    }

    /// The text escaped except for line ends and tabs: for texts of several lines, whose foreign
    /// parts were escaped before.
    #[must_use]
    pub fn escaped_lines(&self) -> String {
        escaped_lines(&self.0)
    }

    /// The text escaped, of at most `limit` characters of the original, with a mark at a cut.
    #[must_use]
    pub fn escaped_up_to(&self, limit: usize, unicode: Unicode) -> String {
        let mut out = String::with_capacity(self.0.len().min(limit));
        let mut letters = self.0.chars().enumerate().peekable();
        // The letter before, unless it was escaped.
        let mut before = None;
        while let Some((index, c)) = letters.next() {
            if index == limit {
                out.push_str(if unicode == Unicode::On { "…" } else { "..." });
                break;
            }
            let after = letters.peek().map(|(_, after)| *after);
            let is_hidden = is_dangerous(c) && !is_of_emoji(before, c, after);
            if is_hidden || (unicode == Unicode::Off && !c.is_ascii()) {
                push_escape(&mut out, c);
                before = None;
            } else {
                out.push(c);
                before = Some(c);
            }
        }
        out
    }
}

/// Whether an invisible character is a part of an emoji, and so hides nothing: a joiner between two
/// emoji, or a selector behind one.
fn is_of_emoji(before: Option<char>, c: char, after: Option<char>) -> bool {
    let is_emoji = |c: char| {
        matches!(c,
            '\u{2190}'..='\u{21ff}' | '\u{2300}'..='\u{23ff}' | '\u{2600}'..='\u{27bf}'
            | '\u{2b00}'..='\u{2bff}' | '\u{1f300}'..='\u{1faff}')
    };
    match c {
        '\u{200d}' => {
            before.is_some_and(|c| is_emoji(c) || c == '\u{fe0f}') && after.is_some_and(is_emoji)
        }
        '\u{fe0f}' => before.is_some_and(is_emoji),
        _ => false,
    }
}

impl fmt::Debug for Untrusted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Untrusted({:?})", self.escaped(Unicode::Off))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn escapes_what_acts_on_a_terminal() {
        for (raw, shown) in [
            ("plain text", "plain text"),
            ("\u{1b}]0;owned\u{7}", "\\x1b]0;owned\\x07"),
            ("\u{9b}2J", "\\x9b2J"),
            ("a\r\nb\tc\u{7f}", "a\\r\\nb\\tc\\x7f"),
            ("gpj.\u{202e}exe", "gpj.\\u{202e}exe"),
            ("zero\u{200b}width\u{feff}", "zero\\u{200b}width\\u{feff}"),
            ("\u{e0041}", "\\u{e0041}"),
            ("größe 日本", "größe 日本"),
            // Emoji keep their joiners and selectors; letters get none.
            ("👩\u{200d}💻 ok ❤\u{fe0f}", "👩\u{200d}💻 ok ❤\u{fe0f}"),
            ("a\u{200d}b 👩\u{200d}", "a\\u{200d}b 👩\\u{200d}"),
            ("a\u{fe0f}\u{200d}💻", "a\\u{fe0f}\\u{200d}💻"),
        ] {
            assert_eq!(Untrusted::new(raw).escaped(Unicode::On), shown);
        }
        let ascii = Untrusted::new("größe").escaped(Unicode::Off);
        assert_eq!(ascii, "gr\\xf6\\u{df}e".replace("\\u{df}", "\\xdf"));
    }

    #[test]
    fn lines_may_stay_lines() {
        let text = Untrusted::new("a\tb\nc\r\u{1b}[2J\u{202e}");
        assert_eq!(text.escaped_lines(), "a\tb\nc\\r\\x1b[2J\\u{202e}");
    }

    #[test]
    fn bounds_what_it_shows() {
        let long = Untrusted::new("abcdef");
        assert_eq!(long.escaped_up_to(3, Unicode::On), "abc…");
        assert_eq!(long.escaped_up_to(3, Unicode::Off), "abc...");
        assert_eq!(long.escaped_up_to(6, Unicode::On), "abcdef");
        assert_eq!(
            Untrusted::from_bytes(b"\xff\x1b").escaped(Unicode::Off),
            "\\u{fffd}\\x1b"
        );
        assert_eq!(
            format!("{:?}", Untrusted::new("\u{1b}")),
            r#"Untrusted("\\x1b")"#
        );
    }

    proptest! {
        #[test]
        fn never_lets_a_control_through(raw in ".*", bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
            for text in [Untrusted::new(&raw), Untrusted::from_bytes(&bytes)] {
                let hides = |c: char| is_dangerous(c) && !matches!(c, '\u{200d}' | '\u{fe0f}');
                prop_assert!(!text.escaped(Unicode::On).chars().any(|c| c.is_control() || hides(c)));
                let lines = text.escaped_lines();
                prop_assert!(!lines.chars().any(|c| is_dangerous(c) && c != '\n' && c != '\t'));
                prop_assert!(text.escaped(Unicode::Off).chars().all(|c| matches!(c, ' '..='~')));
            }
        }
    }
}
