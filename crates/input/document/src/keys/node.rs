//! A document's text as a tree of values, each with its place.
//!
//! The library parses, with budgets. This file keeps the places, the digits of numbers as written,
//! and the order of keys, which the library's maps would lose. The library's messages are
//! translated by their beginnings; an unknown message is shown unchanged.
//!
//! Bounds: [`VALUES_MAX`] values, [`TEXT_BYTES_MAX`] bytes of text in total, and the library's
//! bounds for depth and for anchors, which could otherwise multiply a small text (a "billion
//! laughs").

use super::unquoted::Unquoted;
use crate::diagnostic::Findings;
use crate::{Diagnostic, Place, Placed};
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::budget::BudgetBreach;
use serde_saphyr::options::{DuplicateKeyPolicy, NonFiniteFloatPolicy};
use serde_saphyr::{Location, Spanned};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

/// The maximum length of a key, in characters.
const KEY_MAX: usize = 1 << 16;
/// The maximum number of values in a document, which includes lists of URLs from standard input.
const VALUES_MAX: usize = 4_000_000;
/// The maximum size of all texts of a document together, in bytes.
const TEXT_BYTES_MAX: usize = 1 << 30;

/// A value and its parts.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Node {
    /// `null`, or an empty value.
    Null,
    Switch(bool),
    /// A number as it was written.
    Number(String),
    Text(String),
    List(Vec<Placed<Self>>),
    Map(Vec<(Placed<String>, Placed<Self>)>),
}

impl Node {
    /// The kind, for messages.
    pub(crate) const fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Switch(_) => "a boolean",
            Self::Number(_) => "a number",
            Self::Text(_) => "a string",
            Self::List(_) => "a list",
            Self::Map(_) => "a mapping",
        }
    }

    /// The message for a value that should be a mapping, with the correct form if other tools use
    /// another one. `what` is the noun for the mapping.
    pub(crate) fn no_mapping(&self, what: &str) -> String {
        let form = match (what, self) {
            ("a request" | "a step", Self::Text(_)) => "; write it as `get: /`",
            ("`pools`", Self::List(_)) => "; write each pool under its name, as `main: { … }`",
            ("`expect`", Self::Number(_)) => "; write `expect: { status: 200 }`",
            ("`stop`", Self::Number(_) | Self::Text(_)) => {
                "; write `stop: { after: 30s }` or `stop: { requests: 1000 }`"
            }
            _ => "",
        };
        format!("{what} must be a mapping, not {}{form}", self.kind())
    }

    /// Notes each key that occurs twice in a mapping. The second occurrence is kept if its value
    /// has keys or items, so that their mistakes are found as well.
    pub(crate) fn note_repeated(&mut self, found: &mut Findings) {
        match self {
            Self::List(items) => {
                for item in items {
                    item.value.note_repeated(found);
                }
            }
            Self::Map(entries) => {
                let mut first: HashMap<String, u64> = HashMap::with_capacity(entries.len());
                entries.retain(|(key, value)| {
                    let Some(line) = first.get(&key.value) else {
                        first.insert(key.value.clone(), key.place.line());
                        return true;
                    };
                    let name = key.value.escape_debug();
                    let at = match line {
                        0 => String::new(),
                        line => format!(" (first in line {line})"),
                    };
                    let message = format!("duplicate key `{name}`{at}; remove one, or rename it");
                    found.add(&key.place, message);
                    matches!(value.value, Self::List(_) | Self::Map(_))
                });
                for (_, value) in entries {
                    value.value.note_repeated(found);
                }
            }
            Self::Null | Self::Switch(_) | Self::Number(_) | Self::Text(_) => {}
        }
    }

    /// The value of a key, if the node is a mapping that contains it.
    pub(crate) fn entry(&self, key: &str) -> Option<&Placed<Self>> {
        let Self::Map(entries) = self else {
            return None;
        };
        let mut entries = entries.iter();
        let found = entries.find(|(name, _)| name.value == key);
        found.map(|(_, value)| value)
    }
}

/// Reads YAML, which includes JSON. `name` is the file's, for places.
///
/// # Errors
/// The first mistake, if the text is not YAML or is too large.
pub(crate) fn read(text: &str, name: &str) -> Result<Placed<Node>, Box<Diagnostic>> {
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_events: 2 * VALUES_MAX,
            max_nodes: VALUES_MAX,
            max_total_scalar_bytes: TEXT_BYTES_MAX,
            simple_key_max_lookahead: KEY_MAX,
        },
        strict_booleans: true,
        underscored_numbers_as_strings: true,
        leading_zero_numbers_as_strings: true,
        non_finite_float_policy: NonFiniteFloatPolicy::AsString,
        // A repeated key is noted together with other mistakes: [`Node::note_repeated`].
        duplicate_keys: DuplicateKeyPolicy::PassThrough,
        with_snippet: false,
    };
    let reader = Reader {
        text,
        name: name.into(),
    };
    match serde_saphyr::from_str_with_options::<Spanned<Raw>>(text, options) {
        Ok(raw) => {
            let node = reader.node(raw, &"".into());
            match reader.tagged(&node) {
                Some(mistake) => Err(Box::new(mistake)),
                None => Ok(node),
            }
        }
        Err(error) => {
            let place = reader.place(error.location().unwrap_or(Location::UNKNOWN), &"".into());
            let words = match error.without_snippet() {
                serde_saphyr::Error::Budget { breach, .. } => too_large(breach).to_owned(),
                other => first_line(&other.to_string()),
            };
            let words = match reader.advice(&place, &words) {
                Some(advice) => format!("{words}; {advice}"),
                None => words,
            };
            Err(Box::new(Diagnostic::new(&place, words)))
        }
    }
}

impl Reader<'_> {
    /// The probable mistake if the text is not YAML, from the lines near the place.
    fn advice(&self, place: &Place, words: &str) -> Option<String> {
        let line = usize::try_from(place.line()).ok()?.checked_sub(1)?;
        let text = self.text.lines().nth(line).unwrap_or_default();
        if words.contains("unexpected character: `\\u{") {
            return Some("a plan can't contain control characters; remove it".to_owned());
        }
        if text.len() <= KEY_MAX && !self.has_bare_template(line) {
            let depth = usize::from(words.contains("flow"));
            let unquoted = Unquoted::find(text, 0).or_else(|| Unquoted::find(text, depth));
            if let Some(unquoted) = unquoted {
                return Some(unquoted.to_string());
            }
        }
        self.general_advice(line, words).map(str::to_owned)
    }

    /// Whether a value near this line begins with an unquoted template.
    fn has_bare_template(&self, line: usize) -> bool {
        self.near_lines(line).any(|line| {
            line.match_indices("{{").any(|(at, _)| {
                let before = line[..at].trim_end();
                // Within quotes, braces are ordinary text.
                let quotes = |quote| before.matches(quote).count() % 2 == 1;
                before.ends_with([':', ',', '[', '-', '{']) && !quotes('"') && !quotes('\'')
            })
        })
    }

    /// The lines `line - 1` and `line`, counted from 0.
    fn near_lines(&self, line: usize) -> impl Iterator<Item = &str> {
        self.text.lines().skip(line.saturating_sub(1)).take(2)
    }

    /// The usual cause of these messages.
    fn general_advice(&self, line: usize, words: &str) -> Option<&'static str> {
        let is_indent = [
            "did not find expected",
            "mapping values are not allowed",
            "block",
        ];
        let is_long = self
            .text
            .lines()
            .nth(line)
            .is_some_and(|line| line.len() > KEY_MAX);
        let is_flow = self.near_lines(line).any(|line| line.contains(['{', '[']));
        if is_long && is_indent.iter().any(|theirs| words.contains(theirs)) {
            Some("a key has at most 65,536 characters, and this line is longer")
        } else if self.has_bare_template(line) {
            Some("quote a value that begins with `{{`, as in \"{{ uuid }}\"")
        } else if words.contains("block sequence entries are not allowed")
            && self
                .near_lines(line)
                .any(|line| line.trim_end().ends_with(": -"))
        {
            Some("a lone dash begins a list; quote it: \"-\"")
        } else if is_flow && words.contains("unexpected character") {
            Some("within `{ }` or `[ ]`, quote a value that contains one of `{}[],`")
        } else if is_indent.iter().any(|theirs| words.contains(theirs)) {
            Some(
                "check the indentation: the keys of a mapping begin in the same column; quote a \
                 value that contains `: `",
            )
        } else {
            None
        }
    }
}

/// The library's message without its place, which is printed in drumfire's form.
fn first_line(message: &str) -> String {
    let line = message.lines().next().unwrap_or_default();
    let line = line.strip_prefix("error: ").unwrap_or(line);
    let words = line
        .strip_prefix("line ")
        .and_then(|rest| rest.split_once(": "))
        .map_or(line, |(_, words)| words);
    let words = words.split(" at line ").next().unwrap_or_default();
    // Settings of the library do not exist in a plan.
    let words = words.split(", set ").next().unwrap_or_default();
    let ours = OURS.iter().find(|(theirs, _)| words.starts_with(theirs));
    ours.map_or(words, |(_, ours)| ours).to_owned()
}

/// Messages of the library by their beginnings, and the advice for a plan.
const OURS: [(&str, &str); 12] = [
    ("recursion limit exceeded", TOO_DEEP),
    ("multiple YAML documents", ONE_DOCUMENT),
    // When an alias is expanded, the library does not distinguish the kinds of bounds.
    ("budget breached: ScalarBytes", TOO_LONG),
    ("budget breached: Depth", TOO_DEEP),
    ("budget breached: Nodes", TOO_MANY),
    ("budget breached: Events", TOO_MANY),
    ("budget breached", ALIASES),
    (
        "recursive references",
        "an alias can't refer to a value that contains it; write out the value",
    ),
    (
        "alias references unknown anchor",
        "unknown anchor; write `&name` before the value that `*name` repeats",
    ),
    (
        "YAML merge value must be",
        "`<<` takes a mapping, or a list of mappings, such as `*name`",
    ),
    ("tabs disallowed", "a tab can't indent a line; use spaces"),
    // The reported place is the end of the value above.
    (
        "while scanning a plain scalar, found a tab",
        "the next line begins with a tab, which can't indent a line; use spaces",
    ),
];
const ONE_DOCUMENT: &str =
    "a plan is a single document; remove the second one, after `---` or `...`";
const TOO_LONG: &str = "the strings of the plan are longer than 1 GiB in total; move them to files";
const TOO_MANY: &str = "the plan has more than 4,000,000 values; move them to files";
const ALIASES: &str = "the plan has too many anchors and aliases; write out their values";

/// The message on lists and mappings that are nested too deeply.
const TOO_DEEP: &str = "lists and mappings are nested too deeply; nest them less";

/// The message for the exceeded bound of a document's size.
fn too_large(breach: &BudgetBreach) -> &'static str {
    match breach {
        BudgetBreach::Depth { .. } => TOO_DEEP,
        BudgetBreach::ScalarBytes { .. } => TOO_LONG,
        BudgetBreach::Documents { .. } => ONE_DOCUMENT,
        BudgetBreach::Aliases { .. }
        | BudgetBreach::AliasAnchorRatio { .. }
        | BudgetBreach::Anchors { .. }
        | BudgetBreach::MergeKeys { .. }
        | BudgetBreach::RecordedAnchorEvents { .. } => ALIASES,
        _ => TOO_MANY,
    }
}

/// A value from the library.
#[derive(Debug)]
enum Raw {
    Null,
    Switch(bool),
    Number(String),
    Text(String),
    List(Vec<Spanned<Self>>),
    Map(Vec<(Spanned<String>, Spanned<Self>)>),
}

/// Adds places to values.
struct Reader<'a> {
    text: &'a str,
    name: Arc<str>,
}

impl Reader<'_> {
    fn place(&self, location: Location, key: &Arc<str>) -> Place {
        Place::File {
            name: Arc::clone(&self.name),
            line: location.line().max(1),
            column: location.column(),
            key: Arc::clone(key),
        }
    }

    fn node(&self, raw: Spanned<Raw>, key: &Arc<str>) -> Placed<Node> {
        let place = self.place(raw.referenced, key);
        let node = match raw.value {
            Raw::Null => Node::Null,
            Raw::Switch(value) => Node::Switch(value),
            Raw::Text(text) => Node::Text(text),
            Raw::Number(number) => Node::Number(self.as_written(raw.defined, number)),
            Raw::List(items) => {
                let items = items.into_iter().map(|item| self.node(item, key));
                Node::List(items.collect())
            }
            Raw::Map(entries) => {
                let entries = entries.into_iter().map(|(name, value)| {
                    let own: Arc<str> = name.value.as_str().into();
                    let place = self.place(name.referenced, &"".into());
                    (Placed::new(name.value, place), self.node(value, &own))
                });
                Node::Map(entries.collect())
            }
        };
        Placed::new(node, place)
    }

    /// A number's own text; if a tag made the value a number, the parsed number.
    fn as_written(&self, location: Location, number: String) -> String {
        let span = location.span();
        let bytes = span.byte_offset().zip(span.byte_len());
        let text = bytes.and_then(|(start, length)| {
            let start = usize::try_from(start).ok()?;
            let length = usize::try_from(length).ok()?;
            self.text.get(start..start.checked_add(length)?)
        });
        let plain = |text: &&str| {
            let mut bytes = text.bytes();
            let numeric = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
            !text.is_empty() && bytes.all(numeric)
        };
        text.map(str::trim)
            .filter(plain)
            .map_or(number, str::to_owned)
    }
}

impl Reader<'_> {
    /// The first value with a tag of an application, such as `!include`, which the library passes over.
    fn tagged(&self, node: &Placed<Node>) -> Option<Diagnostic> {
        if !self.text.contains('!') {
            return None;
        }
        let lines: Vec<&str> = self.text.lines().collect();
        let (tag, place) = first_tag(node, &lines)?;
        let message = format!(
            "tag `{}` is not supported; write the value itself, or a reference such as ${{file:PATH}} or \
             ${{env:NAME}}",
            tag.escape_debug()
        );
        Some(Diagnostic::new(place, message))
    }
}

/// The first tag before a value of a tree, and the value's place.
fn first_tag<'n, 't>(node: &'n Placed<Node>, lines: &[&'t str]) -> Option<(&'t str, &'n Place)> {
    if let Some(tag) = tag_before(lines, &node.place) {
        return Some((tag, &node.place));
    }
    match &node.value {
        Node::List(items) => items.iter().find_map(|item| first_tag(item, lines)),
        Node::Map(entries) => entries
            .iter()
            .find_map(|(_, value)| first_tag(value, lines)),
        _ => None,
    }
}

/// The tag of an application before a place, in its line or alone at the end of the line above.
fn tag_before<'t>(lines: &[&'t str], place: &Place) -> Option<&'t str> {
    let Place::File { line, column, .. } = place else {
        return None;
    };
    let row = usize::try_from(*line).ok()?.checked_sub(1)?;
    let column = usize::try_from(*column).ok()?.checked_sub(1)?;
    let text = lines.get(row)?;
    let mut before = text
        .char_indices()
        .nth(column)
        .map_or(*text, |(at, _)| &text[..at]);
    if before.trim().is_empty() {
        before = lines.get(row.checked_sub(1)?)?;
    }
    let before = before.trim_end();
    let is_border = |c: char| c.is_whitespace() || "[{,".contains(c);
    let begin = before.char_indices().rfind(|(_, c)| is_border(*c));
    let begin = begin.map_or(0, |(at, c)| at + c.len_utf8());
    let (rest, word) = (before[..begin].trim_end(), &before[begin..]);
    // Anything else belongs to a key.
    let is_letter = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
    let tag = word.strip_prefix('!').unwrap_or_default();
    let is_tag = !tag.is_empty() && tag.chars().all(is_letter);
    let begins_value = rest.is_empty() || rest.ends_with([':', '-', '?', '[', '{', ',']);
    (is_tag && begins_value).then_some(word)
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RawVisitor)
    }
}

struct RawVisitor;

impl<'de> Visitor<'de> for RawVisitor {
    type Value = Raw;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Raw, E> {
        Ok(Raw::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Raw, E> {
        Ok(Raw::Switch(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Raw, E> {
        Ok(Raw::Number(value.to_string()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Raw, E> {
        Ok(Raw::Number(value.to_string()))
    }

    fn visit_i128<E>(self, value: i128) -> Result<Raw, E> {
        Ok(Raw::Number(value.to_string()))
    }

    fn visit_u128<E>(self, value: u128) -> Result<Raw, E> {
        Ok(Raw::Number(value.to_string()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Raw, E> {
        Ok(Raw::Number(value.to_string()))
    }

    fn visit_str<E>(self, value: &str) -> Result<Raw, E> {
        Ok(Raw::Text(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Raw, E> {
        Ok(Raw::Text(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Raw, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Raw::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Raw, A::Error> {
        let mut map = Vec::new();
        while let Some(entry) = entries.next_entry()? {
            map.push(entry);
        }
        Ok(Raw::Map(map))
    }
}

#[cfg(test)]
mod tests {
    use super::{KEY_MAX, Node, read};

    /// Every value with its place, one per line.
    fn shown(text: &str) -> String {
        fn show(node: &super::Placed<Node>, out: &mut String) {
            let line = |what: &str| format!("{}: {what}\n", node.place);
            match &node.value {
                Node::List(items) => items.iter().for_each(|item| show(item, out)),
                Node::Map(entries) => entries.iter().for_each(|(_, value)| show(value, out)),
                Node::Text(text) => out.push_str(&line(&format!("text {text}"))),
                Node::Number(text) => out.push_str(&line(&format!("number {text}"))),
                other => out.push_str(&line(&format!("{other:?}"))),
            }
        }
        let mut out = String::new();
        show(&read(text, "p").expect(text), &mut out);
        out
    }

    #[test]
    fn every_value_knows_its_line_its_column_and_its_key() {
        assert_eq!(
            shown("a: 1\nb:\n  - {c: x, d: }\n  - 500/s\n"),
            "p:1:4: a: number 1\np:3:9: c: text x\np:3:13: d: Null\np:4:5: b: text 500/s\n"
        );
    }

    #[test]
    fn values_are_taken_as_they_are_written() {
        let text = "[2.50, 0x10, 010, 1_000, yes, True, ~, 'x', 99999999999999999999, 2001-01-01, \"5\", -3]";
        let shown = shown(text);
        let values: Vec<&str> = shown
            .lines()
            .map(|line| line.rsplit_once(": ").expect("a place").1)
            .collect();
        assert_eq!(
            values,
            [
                "number 2.50",
                "number 0x10",
                "text 010",
                "text 1_000",
                "text yes",
                "Switch(true)",
                "Null",
                "text x",
                "number 99999999999999999999",
                "text 2001-01-01",
                "text 5",
                "number -3",
            ]
        );
    }

    #[test]
    fn an_alias_is_read_where_it_is_used() {
        assert_eq!(
            shown("a: &x 1.50\nb: *x\n"),
            "p:1:7: a: number 1.50\np:2:4: b: number 1.50\n"
        );
    }

    #[test]
    fn what_is_no_yaml_is_said_with_its_line() {
        // Each line repeats the previous one nine times.
        let line = |n: u8| {
            let (before, own) = (char::from(b'a' + n), char::from(b'b' + n));
            let aliases = vec![format!("*{before}"); 9].join(",");
            format!("{own}: &{own} [{aliases}]\n")
        };
        let lines: String = (0..9).map(line).collect();
        let bomb = format!("a: &a [{}]\n{lines}", ["x"; 9].join(","));
        for (text, place, words) in [
            ("a: [1\nb: 2\n", "p:", ""),
            ("a: \"x\n", "p:", ""),
            ("a:\n\t- b: 1\n", "p:2:", "a tab can't indent a line"),
            ("a: 1\n\tb: 2\n", "p:1:", "next line begins with a tab"),
            ("a: 1\n---\nb: 2\n", "p:3:1", "a plan is a single document"),
            ("a: 1\n...\nfoo\n", "p:3:1", "a plan is a single document"),
            (
                "a: &a [*a]\n",
                "p:1:8",
                "an alias can't refer to a value that contains it",
            ),
            ("a: *b\n", "p:1:4", "unknown anchor; write `&name`"),
            ("a: {<<: 5}\n", "p:1:9", "takes a mapping"),
            (&bomb, "p:7:", "too many anchors and aliases"),
            (
                "a: { n: {{ uuid }} }\n",
                "p:1:",
                "quote a value that begins with `{{`, as in \"{{ uuid }}\"",
            ),
            (
                "a: {{ uuid }}\n",
                "p:1:",
                "quote a value that begins with `{{`, as in \"{{ uuid }}\"",
            ),
            (
                "a:\n  - { t: css b[c] @d }\n",
                "p:2:",
                "quote a value that contains `[`: 'css b[c] @d'",
            ),
            (
                "a: {\n  t: json $.a[0],\n  u: 1 }\n",
                "p:2:",
                "quote a value that contains `[`: 'json $.a[0]'",
            ),
            ("a: { b: c\0 }\n", "p:1:", "control characters; remove it"),
            ("a: { b: c #1 }\n", "p:1:", "` #` begins a comment"),
            ("a:\n  b: 1\n   c: 2\n", "p:", "check the indentation"),
            ("a:\n    b: 1\n  c: 2\n", "p:3", "check the indentation"),
        ] {
            let error = read(text, "p").expect_err(text).to_string();
            assert!(error.starts_with(place), "{text:?}: {error}");
            assert!(error.to_lowercase().contains(words), "{text:?}: {error}");
            assert!(!error.contains('\n'), "{error}");
        }
        for text in [
            format!("\"{}\": 1", "x".repeat(KEY_MAX + 1)),
            format!("{{\"{}\": 1}}", "x".repeat(KEY_MAX + 1)),
        ] {
            let error = read(&text, "p").expect_err("a long key").to_string();
            assert!(
                error.contains("at most 65,536 characters, and this line is longer"),
                "{error}"
            );
        }
    }
}
