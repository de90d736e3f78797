//! A function fits a screen: at most 70 lines from its `fn` to its closing brace.

use crate::rust_file::{body_start, matching};
use crate::{Finding, Repository, RustFile};

/// The most lines a function may have, comments and blank lines included.
const LINES_MAX: usize = 70;

/// Every function outside tests that is too long.
#[must_use]
pub fn check(repository: &Repository) -> Vec<Finding> {
    let files = repository.rust_files();
    files.iter().flat_map(long_functions).collect()
}

fn long_functions(file: &RustFile) -> Vec<Finding> {
    functions(file)
        .into_iter()
        .filter(|function| function.lines > LINES_MAX && !file.is_test_line(function.line))
        .map(|Function { name, line, lines }| {
            let message = format!("`{name}` has {lines} lines; split it to at most {LINES_MAX}");
            Finding::violation(&file.path, line, message)
        })
        .collect()
}

/// A function with a body.
#[derive(Debug, PartialEq, Eq)]
struct Function<'a> {
    name: &'a str,
    line: usize,
    lines: usize,
}

/// All functions of a file that have a body; a function type has no name and is none.
fn functions(file: &RustFile) -> Vec<Function<'_>> {
    let mut found = Vec::new();
    for (at, _) in file.words().filter(|(_, word)| *word == "fn") {
        let after = file.code[at + 2..].trim_start();
        let name_length = after
            .find(|c: char| !(c.is_alphanumeric() || "_$".contains(c)))
            .unwrap_or(after.len());
        if name_length == 0 {
            continue;
        }
        let end = body_start(&file.code, at).and_then(|open| matching(&file.code, open));
        if let Some(end) = end {
            let line = file.line_of(at);
            found.push(Function {
                name: &after[..name_length],
                line,
                lines: file.line_of(end - 1) - line + 1,
            });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{Function, LINES_MAX, check, functions};
    use crate::{Repository, RustFile};

    #[test]
    fn counts_from_the_signature_to_the_closing_brace() {
        let text = "trait T {\n    fn no_body(&self) -> [u8; 2];\n}\npub fn a(\n    f: fn(u8),\n) -> u8 {\n    // }\n    '}'\n}\n";
        let file = RustFile::new("a.rs", text);
        let a = Function {
            name: "a",
            line: 4,
            lines: 6,
        };
        assert_eq!(functions(&file), [a]);
    }

    #[test]
    fn the_limit_is_exact_and_tests_are_free() {
        let of = |lines: usize| format!("fn f() {{\n{}}}\n", "    g();\n".repeat(lines - 2));
        let findings = |path: &str, text: &str| check(&Repository::of(&[(path, text)])).len();
        assert_eq!(findings("crates/x/src/a.rs", &of(LINES_MAX)), 0);
        assert_eq!(findings("crates/x/src/a.rs", &of(LINES_MAX + 1)), 1);
        assert_eq!(findings("crates/x/tests/a.rs", &of(LINES_MAX + 1)), 0);
        let guarded = format!("#[cfg(test)]\nmod t {{\n{}}}\n", of(LINES_MAX + 1));
        assert_eq!(findings("crates/x/src/a.rs", &guarded), 0);
    }
}
