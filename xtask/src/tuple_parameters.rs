//! Functions with a tuple as a parameter: a caller sees no names, and the lint that limits the
//! number of parameters counts several as one. A struct with named fields is the advice.

use crate::rust_file::matching;
use crate::{Finding, Repository, RustFile};

/// Every parameter of a function outside tests whose type is a tuple, or a reference to one.
#[must_use]
pub fn check(repository: &Repository) -> Vec<Finding> {
    let files = repository.rust_files();
    files.iter().flat_map(tuple_parameters).collect()
}

fn tuple_parameters(file: &RustFile) -> Vec<Finding> {
    let keywords = file.words().filter(|(_, word)| *word == "fn");
    let items = keywords.filter(|(at, word)| {
        // A `fn` without a name is a type, `fn(u8) -> u8`.
        file.code[at + word.len()..].starts_with(' ') && !file.is_test_line(file.line_of(*at))
    });
    items
        .filter(|(at, _)| parameters(&file.code, *at).is_some_and(has_tuple))
        .map(|(at, _)| {
            let message = "a parameter is a tuple; use a struct with named fields".to_owned();
            Finding::advice(&file.path, file.line_of(at), message)
        })
        .collect()
}

/// The text between the parentheses of a function. Those of a bound in its generics, `F: Fn(u8)`,
/// come before; they are the ones inside `<…>`.
fn parameters(code: &str, at: usize) -> Option<&str> {
    let mut depth = 0_i32;
    let mut before = b' ';
    for (offset, byte) in code.bytes().enumerate().skip(at) {
        match byte {
            b'<' => depth += 1,
            b'>' if before != b'-' => depth -= 1,
            b'(' if depth == 0 => return Some(&code[offset + 1..matching(code, offset)? - 1]),
            b'{' | b';' if depth == 0 => return None,
            _ => {}
        }
        before = byte;
    }
    None
}

/// Whether the type of a parameter is a tuple: after its colon comes an opening parenthesis.
fn has_tuple(parameters: &str) -> bool {
    let mut depth = 0_i32;
    let mut before = b' ';
    for (offset, byte) in parameters.bytes().enumerate() {
        match byte {
            b'(' | b'[' | b'<' => depth += 1,
            b'>' if before == b'-' => {}
            b')' | b']' | b'>' => depth -= 1,
            b':' if depth == 0 => {
                let kind = parameters[offset + 1..].trim_start();
                let kind = kind.trim_start_matches('&').trim_start();
                let kind = kind.strip_prefix("mut ").unwrap_or(kind).trim_start();
                if kind.starts_with('(') && !kind.starts_with("()") {
                    return true;
                }
            }
            _ => {}
        }
        before = byte;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::Repository;

    #[test]
    fn only_parameters_of_functions_that_are_tuples_are_found() {
        let findings =
            |text: &str| check(&Repository::in_memory(&[("crates/x/src/a.rs", text)])).len();
        for found in [
            "fn a((x, y): (u8, u8)) {}\n",
            "fn a(\n    x: u8,\n    pair: &(u8, u8),\n) -> u8 {}\n",
            "fn a(f: impl Fn(u8) -> u8, (x, y): (u8, u8)) {}\n",
            "trait T {\n    fn a(&self, pair: &mut (u8, u8));\n}\n",
        ] {
            assert_eq!(findings(found), 1, "{found}");
        }
        for none in [
            "fn a(x: u8, y: &[(u8, u8)]) -> (u8, u8) {}\n",
            "fn a<F: Fn((u8, u8)) -> u8>(f: F) {}\n",
            "fn a(f: impl Fn((u8, u8)), u: ()) {}\n",
            "#[cfg(test)]\nmod tests {\n    fn a(x: (u8, u8)) {}\n}\n",
            "type A = fn((u8, u8));\n",
        ] {
            assert_eq!(findings(none), 0, "{none}");
        }
    }
}
