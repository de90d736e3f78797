//! A tree of values printed as YAML. Each value has one form, which can be read back.
//!
//! A text is printed without quotes only if every YAML reader, including version 1.1, reads it as
//! that text. Lines are printed as a block; everything else is quoted. Nothing is folded or
//! aligned, so that documents that differ in a value differ only in its lines.

use crate::json_strings;
use crate::{Placed, Text};
use drumfire_plan::is_dangerous;
use serde::de::IgnoredAny;
use std::fmt::Write as _;

/// The beginning of a reference.
pub(crate) const OPEN: &str = "${";
/// An escaped beginning of a reference.
const ESCAPED: &str = "$${";

/// The text with the beginnings of references escaped.
pub(crate) fn escaped(text: &str) -> String {
    text.replace(OPEN, ESCAPED)
}

/// Words that some YAML readers parse as a value other than a text.
const WORDS: [&str; 9] = ["null", "true", "false", "yes", "no", "on", "off", "y", "n"];

/// A value to print.
#[derive(Clone, Debug, PartialEq)]
pub enum Tree {
    /// `true` or `false`.
    Switch(bool),
    /// A single value.
    Scalar(String),
    /// A text with references as written, and its value.
    Written {
        /// The text with its references.
        written: String,
        /// The text with the values of its references.
        value: String,
    },
    /// Literal JSON.
    Json(String),
    /// A list.
    List(Vec<Self>),
    /// A mapping, in order.
    Map(Vec<(String, Self)>),
}

impl Tree {
    /// A scalar of anything with a text form: the text with its references, if it has any.
    pub(crate) fn scalar<T: ToString>(value: &Placed<T>) -> Self {
        match &value.written {
            Some(written) => Self::Written {
                written: written.to_string(),
                value: value.value.to_string(),
            },
            None => Self::Scalar(value.value.to_string()),
        }
    }

    /// JSON that was written as a tree.
    pub(crate) fn json(text: &Text) -> Self {
        Self::Json(match &text.written {
            Some(written) => written.to_string(),
            None => json_strings::map(&text.value, |text| json_strings::literal(&escaped(text))),
        })
    }

    /// A text that may have been written as a tree: one with references is printed as a tree.
    pub(crate) fn json_or_text(text: &Text) -> Self {
        let is_json = |written: &str| serde_json::from_str::<IgnoredAny>(written).is_ok();
        match text
            .written
            .as_ref()
            .is_some_and(|written| is_json(written))
        {
            true => Self::json(text),
            false => Self::scalar(text),
        }
    }

    /// Prints the tree as a document.
    pub(crate) fn print(&self) -> String {
        let mut out = String::new();
        self.push(0, &mut out);
        out
    }

    /// Appends the tree at the beginning of a line, or after the beginning of a line.
    fn push(&self, indent: usize, out: &mut String) {
        match self {
            Self::Switch(value) => {
                out.push_str(if *value { "true" } else { "false" });
                out.push('\n');
            }
            Self::Scalar(text) => push_scalar(&escaped(text), indent, out),
            Self::Written { written, .. } => push_scalar(written, indent, out),
            Self::Json(text) => {
                push_json(text, out);
                out.push('\n');
            }
            Self::List(items) => {
                for (n, item) in items.iter().enumerate() {
                    indent_item(n, indent, out);
                    out.push_str("- ");
                    item.push(indent + 2, out);
                }
            }
            Self::Map(entries) => {
                for (n, (key, value)) in entries.iter().enumerate() {
                    indent_item(n, indent, out);
                    push_key(key, out);
                    out.push(':');
                    value.push_after_key(indent + 2, out);
                }
            }
        }
    }

    fn push_after_key(&self, indent: usize, out: &mut String) {
        match self {
            Self::Switch(_) | Self::Scalar(_) | Self::Written { .. } | Self::Json(_) => {
                out.push(' ');
                self.push(indent, out);
            }
            Self::List(items) if items.is_empty() => out.push_str(" []\n"),
            Self::Map(entries) if entries.is_empty() => out.push_str(" {}\n"),
            Self::List(_) | Self::Map(_) => {
                out.push('\n');
                indent_item(1, indent, out);
                self.push(indent, out);
            }
        }
    }
}

/// Appends the indentation of every item except the first, which already has it.
fn indent_item(n: usize, indent: usize, out: &mut String) {
    if n > 0 {
        out.extend(std::iter::repeat_n(' ', indent));
    }
}

fn push_key(key: &str, out: &mut String) {
    if is_plain(key) && !key.contains([':', ' ']) {
        out.push_str(key);
    } else {
        push_quoted(key, out);
    }
}

/// Appends a scalar and the end of its line.
fn push_scalar(text: &str, indent: usize, out: &mut String) {
    if is_plain(text) {
        out.push_str(text);
    } else if is_block(text) {
        return push_block(text, indent, out);
    } else {
        push_quoted(text, out);
    }
    out.push('\n');
}

/// Whether a text may be printed without quotes: every reader reads it as this text, or as the
/// number that it represents.
fn is_plain(text: &str) -> bool {
    let first = text.starts_with(|c: char| c.is_ascii_alphanumeric() || "/_".contains(c));
    let inside = |c: char| c.is_ascii_alphanumeric() || " /_.:(),;%+@=?&~<>!*$|^-".contains(c);
    let marks = text.contains(": ") || text.ends_with([':', ' ']);
    let word = WORDS.iter().any(|word| text.eq_ignore_ascii_case(word));
    first && text.chars().all(inside) && !marks && !word && (is_number(text) || !is_numeric(text))
}

/// Whether a text is a number in plain decimal form.
fn is_number(text: &str) -> bool {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let canonical = whole == "0" || !whole.starts_with('0');
    digits(whole) && digits(fraction) && canonical && text.len() <= 20
}

/// Whether a text could be read as a number, a date or a time.
fn is_numeric(text: &str) -> bool {
    let letters = |c: char| c.is_ascii_hexdigit() || "xob_.+:-infINF".contains(c);
    let begins = text.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c));
    begins && text.chars().all(letters) && text.matches('.').count() < 2
}

/// Whether a character may be printed unescaped. A plan is shown on terminals, and a name may come
/// from a description by another author.
fn is_printable(c: char) -> bool {
    !is_dangerous(c) && !matches!(c, '\u{fffe}' | '\u{ffff}')
}

/// Whether a text of several lines may be printed as a block below its key.
fn is_block(text: &str) -> bool {
    text.contains('\n')
        && !text.starts_with([' ', '\n'])
        && text.chars().all(|c| c == '\n' || is_printable(c))
}

/// Appends lines unchanged, with the sign for their end.
fn push_block(text: &str, indent: usize, out: &mut String) {
    let kept = text.trim_end_matches('\n');
    let (sign, lines) = match text.len() - kept.len() {
        0 => ("|-", text),
        1 => ("|", kept),
        _ => ("|+", &text[..text.len() - 1]),
    };
    out.push_str(sign);
    out.push('\n');
    for line in lines.split('\n') {
        if !line.is_empty() {
            indent_item(1, indent.max(2), out);
            out.push_str(line);
        }
        out.push('\n');
    }
}

/// Appends JSON. YAML accepts it unchanged, except for some characters, which occur in strings.
fn push_json(text: &str, out: &mut String) {
    for c in text.chars() {
        if is_printable(c) {
            out.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            // Writing to a String can't fail.
            let _ = write!(out, "\\u{unit:04x}");
        }
    }
}

/// Appends a text in quotes: in single quotes if double quotes would need escapes.
fn push_quoted(text: &str, out: &mut String) {
    if text.contains(['"', '\\']) && text.chars().all(is_printable) {
        out.extend(["'", &text.replace('\'', "''"), "'"]);
        return;
    }
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if is_printable(c) => out.push(c),
            c => {
                // Writing to a String can't fail.
                let _ = match u32::from(c) {
                    code @ 0..=0xff => write!(out, "\\x{code:02x}"),
                    code @ 0x100..=0xffff => write!(out, "\\u{code:04x}"),
                    code => write!(out, "\\U{code:08x}"),
                };
            }
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::Tree;
    use crate::keys::node::{Node, read};
    use proptest::prelude::*;

    fn scalar(text: &str) -> Tree {
        Tree::Scalar(text.to_owned())
    }

    fn map(entries: &[(&str, Tree)]) -> Tree {
        let owned = |(key, value): &(&str, Tree)| ((*key).to_owned(), value.clone());
        Tree::Map(entries.iter().map(owned).collect())
    }

    #[test]
    fn a_tree_looks_as_a_person_would_write_it() {
        let tree = map(&[
            ("drumfire", scalar("1")),
            ("empty", Tree::List(Vec::new())),
            (
                "pools",
                map(&[(
                    "main",
                    map(&[
                        ("rate", scalar("line(5/s,200/s,1m) const(200/s,5m)")),
                        (
                            "requests",
                            Tree::List(vec![
                                map(&[
                                    ("post", scalar("http://h:80/?a=b")),
                                    ("body", scalar("{\n  \"n\": 1\n}\n")),
                                    ("name", scalar("a: b")),
                                ]),
                                map(&[("get", scalar(""))]),
                            ]),
                        ),
                    ]),
                )]),
            ),
            ("thresholds", Tree::List(vec![scalar("p99<5ms")])),
        ]);
        let text = "\
drumfire: 1
empty: []
pools:
  main:
    rate: line(5/s,200/s,1m) const(200/s,5m)
    requests:
      - post: http://h:80/?a=b
        body: |
          {
            \"n\": 1
          }
        name: \"a: b\"
      - get: \"\"
thresholds:
  - p99<5ms
";
        assert_eq!(tree.print(), text);
    }

    #[test]
    fn what_deceives_the_eye_is_escaped() {
        for text in [
            "get\u{202e}lave",
            "a\u{200b}b\nc",
            "\u{e0041}",
            "\"\u{2066}",
        ] {
            let printed = scalar(text).print();
            assert!(printed.is_ascii(), "{printed}");
            assert_eq!(tree(&read(&printed, "p").unwrap().value), scalar(text));
            let json = Tree::Json(format!("{:?}", text.replace(['\n', '"'], "")));
            assert!(json.print().is_ascii(), "{}", json.print());
        }
    }

    #[test]
    fn what_others_would_take_for_something_else_is_quoted() {
        for text in [
            "",
            " ",
            "a ",
            "~",
            "null",
            "True",
            "no",
            "010",
            "0x10",
            "1e5",
            "1_000",
            "2001-01-01",
            "1:30",
            "-",
            "- a",
            "#",
            "a #b",
            "a: b",
            "a:",
            "[a",
            "{a",
            "&a",
            "*a",
            "!a",
            "|",
            ">",
            "@a",
            "`a",
            "%a",
            "'a",
            "\"a",
            "?",
            ".inf",
            "...",
            "---",
            "=",
            "<<",
            "ä",
            "a\tb",
        ] {
            let printed = scalar(text).print();
            assert!(printed.starts_with(['"', '\'']), "{printed}");
        }
        assert_eq!(scalar("{\"a\": 'b\\'}").print(), "'{\"a\": ''b\\''}'\n");
        for text in [
            "0",
            "64",
            "2.5",
            "500/s",
            "10s",
            "/p",
            "a b",
            "GET",
            "127.0.0.1:80",
        ] {
            assert_eq!(scalar(text).print(), format!("{text}\n"));
        }
    }

    /// A tree as it is read back: numbers and texts are both scalars, and an escaped `${` is
    /// unescaped.
    fn tree(node: &Node) -> Tree {
        match node {
            Node::Null => panic!("nothing"),
            Node::Switch(value) => Tree::Switch(*value),
            Node::Number(text) | Node::Text(text) => scalar(&text.replace("$${", "${")),
            Node::List(items) => Tree::List(items.iter().map(|item| tree(&item.value)).collect()),
            Node::Map(entries) => Tree::Map(
                entries
                    .iter()
                    .map(|(key, value)| (key.value.clone(), tree(&value.value)))
                    .collect(),
            ),
        }
    }

    fn any_text() -> impl Strategy<Value = String> {
        prop_oneof![
            any::<String>(),
            "[ -~]{0,12}",
            "[a'\"\\\\ ]{0,5}",
            "[0-9a-fxob_.:+-]{1,8}",
            "([ a-z:#-]{0,4}\n){0,3}[ a-z]{0,3}",
            "(~|null|true|inf|nan|\\.inf|\\.NaN|0o7|1e400|<<|=)",
            prop::collection::vec(any::<char>(), 0..5).prop_map(String::from_iter),
        ]
    }

    fn any_tree() -> impl Strategy<Value = Tree> {
        let leaf = prop_oneof![
            any_text().prop_map(Tree::Scalar),
            any::<bool>().prop_map(Tree::Switch)
        ];
        leaf.prop_recursive(4, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 1..4).prop_map(Tree::List),
                prop::collection::btree_map(any_text(), inner, 1..4)
                    .prop_map(|map| Tree::Map(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn whatever_is_printed_reads_back(printed in any_tree()) {
            let text = printed.print();
            let node = read(&text, "p");
            prop_assert!(node.is_ok(), "{:?}\n{}", node, text);
            prop_assert_eq!(tree(&node.expect("read").value), printed, "{}", text);
        }
    }
}
