//! The tags of a template: the length of their chains is checked before the interpreter reads them.
//!
//! minijinja bounds how deep brackets and blocks nest, but not the length of a chain. Signs,
//! operators, attributes, filters and `else` recurse once for each link: in its parser, in its
//! compiler, and when the result is released.

/// Names, numbers, texts and signs in a row, without a comma that ends them.
const CHAIN_MAX: usize = 500;
/// Tags `elif` of one template.
const BRANCHES_MAX: usize = 500;

/// A tag `{{ … }}` or `{% … %}`: the text between its delimiters.
struct Tag<'a> {
    inside: &'a str,
    /// Where the text begins in the template.
    start: usize,
    is_block: bool,
}

/// Checks the length of a template's chains.
///
/// # Errors
/// With line and column of the first chain that is too long.
pub(crate) fn check(source: &str) -> Result<(), String> {
    let mut branches = 0;
    let mut at = 0;
    while let Some(tag) = next(source, at) {
        at = tag.start + tag.inside.len();
        let deep = chain(tag.inside).map(|offset| ("a chain", CHAIN_MAX, offset));
        let word = tag.first_word();
        branches += usize::from(word == "elif");
        let many = (branches > BRANCHES_MAX).then_some(("`elif`", BRANCHES_MAX, 0));
        if let Some((what, max, offset)) = deep.or(many) {
            let place = place(source, tag.start + offset);
            return Err(format!("{what} of more than {max} parts at {place}"));
        }
        if word == "raw" {
            at += source[at..].find("endraw").unwrap_or(source.len() - at);
        }
    }
    Ok(())
}

/// Whether a tag tests if a variable has a value (`is defined`), or provides another one
/// (`default`).
pub(crate) fn asks_for(source: &str, variable: &str) -> bool {
    let is_word = |c: char| c == '_' || c.is_alphanumeric();
    let word = |text: &'_ str| text[..text.find(|c| !is_word(c)).unwrap_or(text.len())].to_owned();
    let asks = |rest: &str| match rest.trim_start() {
        rest if rest.starts_with('|') => {
            let filter = word(rest[1..].trim_start());
            filter == "default" || filter == "d"
        }
        rest if word(rest) == "is" => {
            let test = rest["is".len()..].trim_start();
            let test = test.strip_prefix("not ").unwrap_or(test).trim_start();
            matches!(word(test).as_str(), "defined" | "undefined")
        }
        _ => false,
    };
    let mut at = 0;
    while let Some(tag) = next(source, at) {
        at = tag.start + tag.inside.len();
        let mut places = tag.inside.match_indices(variable);
        let found = places.any(|(from, _)| {
            let before = tag.inside[..from].chars().next_back();
            let behind = &tag.inside[from + variable.len()..];
            let is_whole = !before.is_some_and(|c| is_word(c) || c == '.')
                && !behind.starts_with(|c| is_word(c) || c == '.');
            is_whole && asks(behind)
        });
        if found {
            return true;
        }
    }
    false
}

impl Tag<'_> {
    /// The first word of a block; empty for an expression.
    fn first_word(&self) -> &str {
        let text = self.inside.trim_start_matches(['-', '+']).trim_start();
        let end = text.find(|c: char| !c.is_ascii_alphanumeric());
        match self.is_block {
            true => &text[..end.unwrap_or(text.len())],
            false => "",
        }
    }
}

/// The first tag from `at` on.
fn next(source: &str, mut at: usize) -> Option<Tag<'_>> {
    loop {
        let bytes = &source.as_bytes()[at..];
        let mut pairs = bytes.windows(2);
        let open = pairs.position(|pair| matches!(pair, [b'{', b'{' | b'%' | b'#']))?;
        let start = at + open + 2;
        let kind = bytes[open + 1];
        if kind != b'#' {
            let is_block = kind == b'%';
            let inside = &source[start..];
            let inside = &inside[..tag_length(inside, is_block)];
            return Some(Tag {
                inside,
                start,
                is_block,
            });
        }
        at = start + source[start..].find("#}")?;
    }
}

/// The length of a tag's text; all that follows if the tag does not end.
fn tag_length(text: &str, is_block: bool) -> usize {
    let mut depth = 0usize;
    for token in Tokens::new(text) {
        match token.byte {
            b'%' if is_block && text.as_bytes().get(token.at + 1) == Some(&b'}') => {
                return token.at;
            }
            b'}' if !is_block && depth == 0 => return token.at,
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    text.len()
}

/// Where a chain in a tag becomes too long.
fn chain(text: &str) -> Option<usize> {
    let mut length = 0;
    // The length before each bracket that is open.
    let mut open = Vec::new();
    for token in Tokens::new(text) {
        length += 1;
        if length > CHAIN_MAX {
            return Some(token.at);
        }
        match token.byte {
            b'(' | b'[' | b'{' => open.push(length),
            b')' | b']' | b'}' => length = open.pop().unwrap_or(length),
            b',' => length = open.last().copied().unwrap_or(0),
            _ => {}
        }
    }
    None
}

/// Line and column of a place, from 1.
fn place(source: &str, at: usize) -> String {
    let before = &source[..at];
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default();
    format!("line {line}, column {}", column.chars().count() + 1)
}

/// A name, number, text or sign.
pub(crate) struct Token {
    /// The place of its first byte.
    pub(crate) at: usize,
    /// Its first byte.
    pub(crate) byte: u8,
}

/// The tokens of a tag.
pub(crate) struct Tokens<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Tokens<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self {
            bytes: text.as_bytes(),
            at: 0,
        }
    }

    /// Skips bytes of a kind.
    fn skip(&mut self, is_such: impl Fn(u8) -> bool) {
        let rest = &self.bytes[self.at..];
        self.at += rest.iter().take_while(|byte| is_such(**byte)).count();
    }

    /// Skips to the byte after the quote that ends a text.
    fn skip_text(&mut self, quote: u8) {
        while let Some(&byte) = self.bytes.get(self.at) {
            self.at += if byte == b'\\' { 2 } else { 1 };
            if byte == quote {
                return;
            }
        }
    }
}

impl Iterator for Tokens<'_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80;
        self.at = self.at.min(self.bytes.len());
        self.skip(|byte| byte.is_ascii_whitespace());
        let (at, byte) = (self.at, *self.bytes.get(self.at)?);
        self.at += 1;
        match byte {
            b'"' | b'\'' => self.skip_text(byte),
            byte if is_name(byte) => self.skip(is_name),
            _ => {}
        }
        Some(Token { at, byte })
    }
}

#[cfg(test)]
mod tests {
    use super::{CHAIN_MAX, check};

    #[test]
    fn chains_end_at_commas() {
        let of = |link: &str, links: usize| format!("é\n{{{{ {}1 }}}}", link.repeat(links));
        for link in [
            "-",
            "not ",
            "1 + ",
            "1 if 1 else ",
            "a.",
            "a|",
            "a[1] ~ ",
            "(",
        ] {
            let error = check(&of(link, CHAIN_MAX)).unwrap_err();
            let start = "a chain of more than 500 parts at line 2, column ";
            assert!(error.starts_with(start), "{link}: {error}");
        }
        let error = check(&of("-", CHAIN_MAX)).unwrap_err();
        assert!(
            error.ends_with(&format!("column {}", CHAIN_MAX + 4)),
            "{error}"
        );
        for fine in [
            of("-", CHAIN_MAX - 1),
            format!(
                "{{{{ [{}1] }}}}",
                "1, -1, 'a', {'b': 2}, ".repeat(CHAIN_MAX)
            ),
            "{{ a + b }}".repeat(CHAIN_MAX),
            format!("{}{{{{ a }}}}", "- ".repeat(CHAIN_MAX)),
            format!("{{% raw %}}{{{{ {} {{% endraw %}}", "- ".repeat(CHAIN_MAX)),
            format!("{{# {} #}}", "- ".repeat(CHAIN_MAX)),
        ] {
            assert_eq!(check(&fine), Ok(()));
        }
        let branches = |count| format!("{{% if a %}}{}", "{% elif a %}".repeat(count));
        assert!(check(&branches(500)).is_ok());
        assert!(check(&branches(501)).is_err());
    }
}
