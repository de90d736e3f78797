//! The functions of a Rust file.

use crate::RustFile;
use crate::rust_file::{body_start, matching};

/// The number of code lines of every function with a body, from its `fn` to its closing brace,
/// without blanks and comments. Tests are excluded.
pub(crate) fn function_lines(file: &RustFile) -> Vec<usize> {
    let keywords = file.words().filter(|(_, word)| *word == "fn");
    keywords
        .filter_map(|(at, word)| {
            let line = file.line_of(at);
            // A `fn` without a name is a type, `fn(u8) -> u8`.
            let is_item = file.code[at + word.len()..].starts_with(' ');
            if !is_item || file.is_test_line(line) {
                return None;
            }
            let end = matching(&file.code, body_start(&file.code, at)?)?;
            Some(file.code_lines(line..=file.line_of(end - 1)))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::function_lines;
    use crate::RustFile;

    #[test]
    fn lines_of_code_are_counted_from_the_keyword_to_the_brace() {
        let text = "trait T {\n    fn a(x: [u8; 2]);\n    fn b() {}\n}\n\
                    /// Doc.\n#[must_use]\npub fn c(\n    f: fn(u8) -> u8,\n) {\n    // Why.\n\n    f(1);\n}\n\
                    #[cfg(test)]\nmod tests {\n    fn d() {}\n}\n";
        let file = RustFile::new("crates/x/src/a.rs", text);
        assert_eq!(function_lines(&file), [1, 5]);
    }
}
