//! The inherent `impl` blocks of a Rust file.

use crate::RustFile;
use crate::rust_file::{body_start, matching};

/// An inherent block, `impl Type { … }`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ImplBlock<'a> {
    /// The type's name.
    pub(crate) name: &'a str,
    /// The line of its keyword, from 1.
    pub(crate) line: usize,
    /// The number of its functions, including associated ones.
    pub(crate) methods: usize,
    /// The number of its code lines, without blanks and comments, so that comments cost nothing.
    pub(crate) lines: usize,
}

/// The inherent blocks at the top level of a file, without tests.
pub(crate) fn impl_blocks(file: &RustFile) -> Vec<ImplBlock<'_>> {
    let mut at = 0;
    let mut found = Vec::new();
    for line in file.code.lines() {
        found.extend(impl_block(file, line, at));
        at += line.len() + 1;
    }
    found
}

/// The block that begins with this line, at this byte offset.
fn impl_block<'a>(file: &'a RustFile, line: &'a str, start: usize) -> Option<ImplBlock<'a>> {
    let rest = line.strip_prefix("impl")?;
    let open = body_start(&file.code, start)?;
    let number = file.line_of(start);
    if file.code[start..open].contains(" for ") || file.is_test_line(number) {
        return None;
    }
    let end = matching(&file.code, open)?;
    Some(ImplBlock {
        name: first_name(skip_parameters(rest))?,
        line: number,
        methods: functions_within(&file.code[open + 1..end - 1]),
        lines: file.code_lines(number..=file.line_of(end - 1)),
    })
}

/// The number of functions directly in this body, not in one of its functions.
fn functions_within(body: &str) -> usize {
    let mut depth = 0_i32;
    let mut functions = 0;
    for (at, byte) in body.bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            b'f' if depth == 0 => {
                let before = body[..at].bytes().next_back();
                let is_word = before.is_none_or(|byte| byte.is_ascii_whitespace());
                functions += usize::from(is_word && body[at..].starts_with("fn "));
            }
            _ => {}
        }
    }
    functions
}

/// The text after a leading `<…>`, if there is one; `->` does not occur there.
fn skip_parameters(text: &str) -> &str {
    if !text.starts_with('<') {
        return text;
    }
    let mut depth = 0_i32;
    for (at, byte) in text.bytes().enumerate() {
        depth += i32::from(byte == b'<') - i32::from(byte == b'>');
        if depth == 0 {
            return &text[at + 1..];
        }
    }
    text
}

fn first_name(text: &str) -> Option<&str> {
    let text = text.trim_start();
    let end = text.find(|c: char| !(c.is_alphanumeric() || c == '_'))?;
    (end > 0).then(|| &text[..end])
}

#[cfg(test)]
mod tests {
    use super::impl_blocks;
    use crate::RustFile;

    #[test]
    fn methods_and_lines_of_code_are_counted() {
        let text = "impl<T: Into<u8>> A<T> {\n    /// Doc.\n    pub(crate) fn a(&self) -> impl Fn() {\n        \
                    fn inner() {}\n        // Why.\n        let f: fn (u8) = inner;\n    }\n\n    \
                    const fn b() {}\n}\nimpl From<u8> for A {\n    fn from() {}\n}\nimpl B {\n}\n\
                    #[cfg(test)]\nmod tests {\nimpl C {\n}\n}\n";
        let file = RustFile::new("crates/x/src/a.rs", text);
        let blocks = impl_blocks(&file);
        let seen: Vec<_> = blocks
            .iter()
            .map(|block| (block.name, block.line, block.methods, block.lines))
            .collect();
        assert_eq!(seen, [("A", 1, 2, 7), ("B", 14, 0, 2)]);
    }
}
