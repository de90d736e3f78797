//! Rust source with comments and literals blanked out, so that braces and words belong to code; and
//! the positions of its string literals.

use std::ops::Range;

/// The source with the content of every comment and literal replaced by blanks. Lines and byte
/// offsets stay unchanged.
pub(crate) fn mask(source: &str) -> String {
    // Only complete literals are blanked, never a part of a character, so the rest is UTF-8.
    String::from_utf8_lossy(&Masker::run(source).out).into_owned()
}

/// The byte ranges of all string literals, quotes included, in order.
pub(crate) fn strings(source: &str) -> Vec<Range<usize>> {
    Masker::run(source).strings
}

/// Walks over the source once.
struct Masker<'a> {
    source: &'a [u8],
    at: usize,
    out: Vec<u8>,
    strings: Vec<Range<usize>>,
}

impl<'a> Masker<'a> {
    fn run(source: &'a str) -> Self {
        let mut masker = Self {
            source: source.as_bytes(),
            at: 0,
            out: source.as_bytes().to_vec(),
            strings: Vec::new(),
        };
        while masker.at < masker.source.len() {
            masker.step();
        }
        masker
    }

    /// Consumes one comment, one literal, one word or one byte.
    fn step(&mut self) {
        let rest = &self.source[self.at..];
        let length = match rest {
            [b'/', b'/', ..] => line_length(rest),
            [b'/', b'*', ..] => block_length(rest),
            [b'"', ..] => string_length(rest),
            [b'\'', ..] => char_length(rest).unwrap_or(0),
            [first, ..] if is_word(*first) => return self.word(rest),
            _ => 0,
        };
        if rest.starts_with(b"\"") {
            self.strings.push(self.at..self.at + length);
        }
        self.blank(length);
        self.at += length.max(1);
    }

    /// Skips a word. If the word is the prefix of a raw string, also blanks the string.
    fn word(&mut self, rest: &[u8]) {
        let word = rest.iter().take_while(|b| is_word(**b)).count();
        let raw = matches!(&rest[..word], b"r" | b"br" | b"cr");
        let length = if raw { raw_length(rest, word) } else { None };
        if let Some(length) = length {
            self.strings.push(self.at..self.at + length);
            self.blank(length);
        }
        self.at += length.unwrap_or(word);
    }

    /// Blanks the next bytes, except for line ends.
    fn blank(&mut self, length: usize) {
        for byte in &mut self.out[self.at..self.at + length] {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// The length to the end of the line.
fn line_length(rest: &[u8]) -> usize {
    rest.iter().take_while(|b| **b != b'\n').count()
}

/// The length to the end of a block comment; block comments nest.
fn block_length(rest: &[u8]) -> usize {
    let (mut at, mut depth) = (0, 0);
    while at < rest.len() {
        match &rest[at..] {
            [b'/', b'*', ..] => (depth, at) = (depth + 1, at + 2),
            [b'*', b'/', ..] => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            break;
        }
    }
    at
}

/// The length to the end of a string literal with escapes.
fn string_length(rest: &[u8]) -> usize {
    let mut at = 1;
    while at < rest.len() {
        match rest[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    rest.len()
}

/// The length of a character literal; `None` for a lifetime or a label.
fn char_length(rest: &[u8]) -> Option<usize> {
    match rest {
        [_, b'\\', _, after @ ..] => Some(after.iter().position(|b| *b == b'\'')? + 4),
        [_, first, ..] => {
            // One character of one to four bytes, then the closing quote.
            let width = match first {
                0..0x80 => 1,
                0x80..0xe0 => 2,
                0xe0..0xf0 => 3,
                _ => 4,
            };
            (rest.get(1 + width) == Some(&b'\'')).then_some(2 + width)
        }
        _ => None,
    }
}

/// The length of a raw string whose prefix is `word` bytes long.
fn raw_length(rest: &[u8], word: usize) -> Option<usize> {
    let hashes = rest[word..].iter().take_while(|b| **b == b'#').count();
    let open = word + hashes;
    if rest.get(open) != Some(&b'"') {
        return None;
    }
    let close: Vec<u8> = std::iter::once(b'"')
        .chain(std::iter::repeat_n(b'#', hashes))
        .collect();
    let inside = &rest[open + 1..];
    let end = inside.windows(close.len()).position(|w| w == close);
    Some(end.map_or(rest.len(), |end| open + 1 + end + close.len()))
}

#[cfg(test)]
mod tests {
    use super::{mask, strings};

    #[test]
    fn strings_have_their_places() {
        let source = r##"f("a \" b", r#"c"#); // "d""##;
        let found = strings(source).into_iter().map(|place| &source[place]);
        assert_eq!(found.collect::<Vec<_>>(), [r#""a \" b""#, r##"r#"c"#"##]);
    }

    #[test]
    fn blanks_comments_and_literals_and_nothing_else() {
        for (source, expected) in [
            ("a // { b\nc", "a       \nc"),
            ("a /* { /* } */ { */ b", "a                     b"),
            (r#"f("{ \" {", x)"#, "f(         , x)"),
            (r##"f(r#"{"{"#, br"\")"##, "f(         ,       )"),
            (
                r"m('{', '\'', '\u{7d}', b'}')",
                "m(   ,     ,         , b   )",
            ),
            ("fn f<'a>(x: &'a str) {}", "fn f<'a>(x: &'a str) {}"),
            (
                "'outer: loop { break 'outer }",
                "'outer: loop { break 'outer }",
            ),
            ("r#type {", "r#type {"),
            ("'é' '→' {", "              {"),
        ] {
            assert_eq!(mask(source).len(), source.len(), "{source}");
            let squeeze = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
            assert_eq!(squeeze(&mask(source)), squeeze(expected), "{source}");
        }
    }
}
