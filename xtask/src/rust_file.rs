//! One Rust file: its text without comments and literals, and which of its lines are tests.

use crate::mask::mask;
use std::ops::RangeInclusive;

/// The content of one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LineKind {
    /// Only white space.
    Blank,
    /// Only a comment that documents an item, `///` or `//!`.
    Doc,
    /// Only another comment.
    Comment,
    /// Anything else, including the inner lines of literals.
    Code,
}

impl LineKind {
    /// Classifies a line by its beginning, and by whether the mask left anything of it. A block
    /// comment counts as a comment only on its first line; our sources have no block comments.
    fn classify(line: &str, masked: &str) -> Self {
        let line = line.trim_start();
        if line.is_empty() {
            Self::Blank
        } else if !masked.trim().is_empty() || !line.starts_with("/") {
            Self::Code
        } else if line.starts_with("//!") || line.starts_with("///") && !line.starts_with("////") {
            Self::Doc
        } else {
            Self::Comment
        }
    }
}

/// A Rust file that has been read.
#[derive(Debug)]
pub struct RustFile {
    /// The path from the repository's root.
    pub path: String,
    /// The source with comments and literals blanked out; the lines are unchanged.
    pub code: String,
    /// For every line, whether it belongs to a test.
    test_lines: Vec<bool>,
    /// For every line, the kind of its content.
    line_kinds: Vec<LineKind>,
    /// For every line, the byte offset of its start.
    line_starts: Vec<usize>,
    /// Modules declared as `#[cfg(test)] mod name;`.
    test_module_names: Vec<String>,
}

impl RustFile {
    /// Analyses a file.
    #[must_use]
    pub fn new(path: &str, text: &str) -> Self {
        let code = mask(text);
        let all = path.contains("/tests/") || path.ends_with("/tests.rs");
        let mut file = Self {
            path: path.to_owned(),
            test_lines: vec![all; text.lines().count()],
            line_kinds: text
                .lines()
                .zip(code.lines())
                .map(|(line, masked)| LineKind::classify(line, masked))
                .collect(),
            line_starts: std::iter::once(0)
                .chain(code.match_indices('\n').map(|(at, _)| at + 1))
                .collect(),
            test_module_names: Vec::new(),
            code,
        };
        file.find_test_items();
        file
    }

    /// Marks the items after `#[cfg(test)]`.
    fn find_test_items(&mut self) {
        let marks: Vec<usize> = self
            .code
            .match_indices("#[cfg(test)]")
            .map(|(at, _)| at)
            .collect();
        for start in marks {
            let item = skip_attributes(&self.code, start);
            let end = item_end(&self.code, item);
            let declaration = self.code[item..end].trim();
            if let Some(name) = declaration
                .strip_suffix(';')
                .and_then(|d| d.strip_prefix("mod "))
            {
                self.test_module_names.push(name.trim().to_owned());
            }
            let (first, last) = (self.line_of(start), self.line_of(end.saturating_sub(1)));
            for line in first..=last {
                if let Some(mark) = self.test_lines.get_mut(line - 1) {
                    *mark = true;
                }
            }
        }
    }

    /// Marks the whole file as a test.
    pub(crate) fn mark_as_test(&mut self) {
        self.test_lines.fill(true);
    }

    /// The paths, without `.rs`, of the modules that exist only for tests.
    pub(crate) fn test_modules(&self) -> Vec<String> {
        let stem = self.path.strip_suffix(".rs").unwrap_or(&self.path);
        let folder = match stem.rsplit_once('/') {
            Some((folder, "lib" | "main" | "mod")) => folder,
            _ => stem,
        };
        self.test_module_names
            .iter()
            .map(|name| format!("{folder}/{name}"))
            .collect()
    }

    /// The line, from 1, that contains this byte.
    #[must_use]
    pub fn line_of(&self, at: usize) -> usize {
        self.line_starts.partition_point(|start| *start <= at)
    }

    /// Whether this line, from 1, belongs to a test.
    #[must_use]
    pub fn is_test_line(&self, line: usize) -> bool {
        self.test_lines.get(line - 1).is_some_and(|test| *test)
    }

    /// The number of lines that are not tests.
    #[must_use]
    pub fn product_lines(&self) -> usize {
        self.test_lines.iter().filter(|test| !**test).count()
    }

    /// The kinds of all lines that are not tests, from the top.
    pub(crate) fn product_kinds(&self) -> impl Iterator<Item = LineKind> {
        let lines = self.line_kinds.iter().zip(&self.test_lines);
        lines.filter(|(_, test)| !**test).map(|(kind, _)| *kind)
    }

    /// The number of these lines, from 1, with code.
    pub(crate) fn code_lines(&self, lines: RangeInclusive<usize>) -> usize {
        lines
            .filter(|line| self.line_kinds.get(line - 1) == Some(&LineKind::Code))
            .count()
    }

    /// Every word of the code, identifiers and keywords alike, with its byte offset.
    pub fn words(&self) -> impl Iterator<Item = (usize, &str)> {
        let mut at = 0;
        self.code
            .split(|c: char| !(c.is_alphanumeric() || c == '_'))
            .map(move |word| {
                let start = at;
                // Every non-ASCII separator was blanked or does not occur in Rust code.
                at += word.len() + 1;
                (start, word)
            })
            .filter(|(_, word)| !word.is_empty())
    }
}

/// The start of the item that an attribute precedes.
fn skip_attributes(code: &str, start: usize) -> usize {
    let mut at = start;
    while code[at..].starts_with("#[") {
        at = matching(code, at + 1).unwrap_or(code.len());
        at += code[at..].len() - code[at..].trim_start().len();
    }
    at
}

/// The end of the item that starts here: after its closing brace or its semicolon.
pub(crate) fn item_end(code: &str, start: usize) -> usize {
    match body_start(code, start) {
        Some(open) => matching(code, open).unwrap_or(code.len()),
        None => code[start..]
            .find(';')
            .map_or(code.len(), |semicolon| start + semicolon + 1),
    }
}

/// The opening brace of an item's body; `None` if a semicolon ends the item first.
pub(crate) fn body_start(code: &str, start: usize) -> Option<usize> {
    let mut depth = 0_i32;
    for (offset, byte) in code.bytes().enumerate().skip(start) {
        match byte {
            b'(' | b'[' => depth += 1,
            b')' | b']' => depth -= 1,
            b'{' if depth == 0 => return Some(offset),
            b';' if depth == 0 => return None,
            _ => {}
        }
    }
    None
}

/// The position after the bracket that closes the one at `open`. All three kinds are counted as
/// one, which is sufficient for code that compiles.
pub(crate) fn matching(code: &str, open: usize) -> Option<usize> {
    let mut depth = 0_i32;
    for (offset, byte) in code.bytes().enumerate().skip(open) {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(offset + 1);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::RustFile;

    #[test]
    fn tells_test_lines_from_the_rest() {
        let text =
            "fn a() {}\n#[cfg(test)]\n#[expect(x)]\nmod tests {\n    fn b() {}\n}\nfn c() {}\n";
        let file = RustFile::new("crates/x/src/a.rs", text);
        let tests: Vec<usize> = (1..=7).filter(|line| file.is_test_line(*line)).collect();
        assert_eq!(tests, [2, 3, 4, 5, 6]);
        assert_eq!(file.product_lines(), 2);
    }

    #[test]
    fn finds_modules_that_exist_for_tests_only() {
        let text = "#[cfg(test)]\nmod script;\nmod other;\n";
        let of = |path: &str| RustFile::new(path, text).test_modules();
        assert_eq!(of("crates/x/src/lib.rs"), ["crates/x/src/script"]);
        assert_eq!(of("crates/x/src/a.rs"), ["crates/x/src/a/script"]);
    }
}
