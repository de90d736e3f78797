//! From the places of the linked code to those of its modules.

use std::fmt;

/// A place in a module. Line and column count from 1, and columns count characters.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The name of the module.
    pub module: String,
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.module, self.line, self.column)
    }
}

/// The source of a module as its author wrote it.
#[derive(Debug)]
pub(crate) struct Written {
    pub(crate) name: String,
    pub(crate) text: String,
    /// For TypeScript: places of the JavaScript that was made of it, each with its place in `text`. Lines and
    /// columns count from 0, and columns count UTF-16 units, as in source maps.
    pub(crate) map: Option<SourceMapping>,
}

/// The places of generated code, in order.
#[derive(Debug)]
pub(crate) struct SourceMapping {
    /// The generated code.
    pub(crate) code: String,
    /// Generated line and column, then those of the source.
    pub(crate) tokens: Vec<((u32, u32), (u32, u32))>,
}

impl Written {
    /// The JavaScript of the module.
    pub(crate) fn code(&self) -> &str {
        self.map.as_ref().map_or(&self.text, |map| &map.code)
    }

    /// The place of a byte of the JavaScript of this module.
    pub(crate) fn place(&self, offset: usize) -> Place {
        let (line, column) = match &self.map {
            None => position(&self.text, offset),
            Some(map) => map.source(offset),
        };
        Place {
            module: self.name.clone(),
            line,
            column,
        }
    }
}

impl SourceMapping {
    fn source(&self, offset: usize) -> (usize, usize) {
        let offset = floor(&self.code, offset);
        let before = &self.code[..offset];
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        let line = before.bytes().filter(|&byte| byte == b'\n').count();
        let at = (line as u32, before[start..].encode_utf16().count() as u32);
        let next = self.tokens.partition_point(|(code, _)| *code <= at);
        let (line, column) = next
            .checked_sub(1)
            .map_or((0, 0), |last| self.tokens[last].1);
        (line as usize + 1, column as usize + 1)
    }
}

/// Line and column, from 1, of a byte.
fn position(text: &str, offset: usize) -> (usize, usize) {
    let before = &text[..floor(text, offset)];
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    (
        before.bytes().filter(|&byte| byte == b'\n').count() + 1,
        before[start..].chars().count() + 1,
    )
}

/// The begin of the character at a byte.
fn floor(text: &str, offset: usize) -> usize {
    text.floor_char_boundary(offset)
}

/// A part of the linked code that was copied from a module.
#[derive(Debug)]
struct Copied {
    /// The first byte, in the linked code.
    code: usize,
    /// The number of bytes.
    length: usize,
    /// The module, and its first byte.
    module: usize,
    source: usize,
}

/// The places of the linked code.
#[derive(Debug, Default)]
pub(crate) struct Places {
    /// The first byte of each line.
    lines: Vec<usize>,
    copied: Vec<Copied>,
    written: Vec<Written>,
}

impl Places {
    /// Note that bytes of the linked code are those of a module. Calls come in order.
    pub(crate) fn copy(&mut self, code: usize, module: usize, source: usize, length: usize) {
        self.copied.push(Copied {
            code,
            length,
            module,
            source,
        });
    }

    /// Note the whole code, and the sources of its modules.
    pub(crate) fn finish(&mut self, code: &str, written: Vec<Written>) {
        self.lines = std::iter::once(0)
            .chain(code.match_indices('\n').map(|(at, _)| at + 1))
            .collect();
        self.written = written;
    }

    pub(crate) fn find(&self, line: usize, column: usize) -> Option<Place> {
        let offset = self.lines.get(line.checked_sub(1)?)? + column.checked_sub(1)?;
        let next = self.copied.partition_point(|part| part.code <= offset);
        let part = &self.copied[next.checked_sub(1)?];
        // What stands for a name of the module is at the end of the part before it.
        let within = (offset - part.code).min(part.length);
        Some(self.written[part.module].place(part.source + within))
    }

    /// Replace `name:LINE:COLUMN` by places of modules.
    pub(crate) fn translate(&self, text: &str, name: &str) -> String {
        let mut result = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(name) {
            let (before, found) = rest.split_at(at);
            result.push_str(before);
            let after = &found[name.len()..];
            let (line, after_line) = number(after);
            let (column, after_column) = number(after_line);
            let place = line
                .zip(column)
                .and_then(|(line, column)| self.find(line, column));
            match place {
                Some(place) => {
                    result.push_str(&place.to_string());
                    rest = after_column;
                }
                None => {
                    result.push_str(name);
                    rest = after;
                }
            }
        }
        result + rest
    }
}

/// The number after a colon, and the rest.
fn number(text: &str) -> (Option<usize>, &str) {
    let Some(digits) = text.strip_prefix(':') else {
        return (None, text);
    };
    let end = digits
        .find(|letter: char| !letter.is_ascii_digit())
        .unwrap_or(digits.len());
    (digits[..end].parse().ok(), &digits[end..])
}
