//! The types that a Rust file declares: structs, enums, unions, traits and aliases.

use crate::RustFile;
use crate::rust_file::{body_start, item_end, matching};

/// A declared type.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TypeItem<'a> {
    /// The name.
    pub(crate) name: &'a str,
    /// The line of the keyword, from 1.
    pub(crate) line: usize,
    /// The number of named fields; for an enum, of its largest variant.
    pub(crate) fields: usize,
    /// The number of a struct's fields that are visible beyond its module, but not beyond the
    /// crate: `pub(crate)`, `pub(super)` and similar.
    pub(crate) visible_fields: usize,
}

/// The keywords that declare a type.
const KEYWORDS: &[&str] = &["struct", "enum", "union", "trait", "type"];

/// The types of a file, without tests and associated types.
pub(crate) fn types(file: &RustFile) -> Vec<TypeItem<'_>> {
    file.words()
        .filter(|(at, word)| KEYWORDS.contains(word) && !file.is_test_line(file.line_of(*at)))
        .filter_map(|(at, keyword)| declared(file, at, keyword))
        .collect()
}

/// The type that the keyword at `at` declares; `None` if the keyword declares no item: a field's
/// name, a part of a macro, an associated type.
fn declared<'a>(file: &'a RustFile, at: usize, keyword: &str) -> Option<TypeItem<'a>> {
    let code = &file.code;
    let line_start = code[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let before = code[line_start..at].trim();
    let is_item = before.is_empty() || before.starts_with("pub") || before == "unsafe";
    let is_associated = keyword == "type" && code[line_start..at].starts_with([' ', '\t']);
    let rest = code[at + keyword.len()..].strip_prefix(' ')?;
    let end = rest
        .find(|c: char| !(c.is_alphanumeric() || c == '_'))
        .unwrap_or(rest.len());
    let is_name = rest.starts_with(|c: char| c.is_ascii_uppercase());
    (is_item && !is_associated && is_name).then(|| TypeItem {
        name: &rest[..end],
        line: file.line_of(at),
        fields: match keyword {
            "struct" | "union" => body(code, at).map_or(0, direct_fields),
            "enum" => body(code, at).map_or(0, largest_variant),
            _ => 0,
        },
        visible_fields: match keyword {
            "struct" => visible_fields(code, at),
            _ => 0,
        },
    })
}

/// The text between the braces of the item at `at`.
fn body(code: &str, at: usize) -> Option<&str> {
    let open = body_start(code, at)?;
    let end = matching(code, open)?;
    code.get(open + 1..end - 1)
}

/// The number of fields directly in this body: each has one colon outside all brackets that does
/// not belong to a path.
fn direct_fields(body: &str) -> usize {
    let bytes = body.as_bytes();
    let mut depth = 0_i32;
    let mut fields = 0;
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth -= 1,
            b':' if depth == 0 => {
                let in_path = bytes.get(at + 1) == Some(&b':') || at > 0 && bytes[at - 1] == b':';
                fields += usize::from(!in_path);
            }
            _ => {}
        }
    }
    fields
}

/// The number of fields, named or not, of the struct at `at` that begin with `pub(`.
fn visible_fields(code: &str, at: usize) -> usize {
    let end = item_end(code, at);
    code[at..end].matches("pub(").count()
}

fn largest_variant(body: &str) -> usize {
    let mut largest = 0;
    let mut at = 0;
    while let Some(open) = body[at..].find('{').map(|offset| at + offset) {
        let end = matching(body, open).unwrap_or(body.len());
        largest = largest.max(direct_fields(&body[open + 1..end - 1]));
        at = end;
    }
    largest
}

#[cfg(test)]
mod tests {
    use super::types;
    use crate::RustFile;

    fn seen(text: &str) -> Vec<(String, usize, usize)> {
        let file = RustFile::new("crates/x/src/a.rs", text);
        let types = types(&file);
        let own = types.iter();
        own.map(|t| (t.name.to_owned(), t.line, t.fields)).collect()
    }

    #[test]
    fn items_are_told_from_words() {
        let text = "pub(crate) struct Plain;\nstruct Pair(u8, u8);\npub trait Io {\n    type Slot;\n}\n\
                    type Failure = (u8, u8);\nfn f() { let r#struct = 1; }\nmacro!(pub struct $name);\n\
                    #[cfg(test)]\nmod tests {\n    struct T;\n}\n";
        let named: Vec<_> = seen(text).into_iter().map(|t| (t.0, t.1)).collect();
        let expected = [("Plain", 1), ("Pair", 2), ("Io", 3), ("Failure", 6)];
        let expected = expected.map(|(name, line)| (name.to_owned(), line));
        assert_eq!(named, expected);
    }

    #[test]
    fn fields_are_counted_once_each() {
        let of = |text: &str| seen(text)[0].2;
        let text = "struct A<T: Clone> {\n    // a: comment\n    pub a: Vec<std::fmt::Error>,\n    \
                    b: Box<dyn Fn(u8) -> [u8; 2]>,\n    #[serde(rename = \"x: y\")]\n    c: T,\n}\n";
        assert_eq!(of(text), 3);
        assert_eq!(of("struct A {}\n"), 0);
        assert_eq!(of("struct A(u8);\nstruct B { a: u8 }\n"), 0);
        let text = "enum E {\n    A,\n    B { x: u8 },\n    C { x: u8, y: u8 },\n    D(u8),\n}\n";
        assert_eq!(of(text), 2);
    }

    #[test]
    fn visible_fields_are_those_within_the_crate() {
        let of = |text: &str| types(&RustFile::new("crates/x/src/a.rs", text))[0].visible_fields;
        let text = "pub(crate) struct A {\n    pub(crate) a: u8,\n    pub(super) b: u8,\n    \
                    pub c: u8,\n    d: u8,\n}\npub(crate) struct B(u8);\n";
        assert_eq!(of(text), 2);
        assert_eq!(of("struct A(pub(crate) u8);\n"), 1);
        assert_eq!(of("struct A;\nstruct B(pub(crate) u8);\n"), 0);
    }
}
