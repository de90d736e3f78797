//! Turns JSON whose strings contain templates into one template.
//!
//! A body that is written as YAML or JSON in a plan becomes JSON text, with tags inside strings.
//! [`template`] returns the text in which these are tags again: their quotes and backslashes are
//! not escaped, and a tag that makes a number is not enclosed in the string's quotes. The value of
//! a tag inside a string is escaped when it is rendered, because the kind of the body is JSON.

use drumfire_document::json_strings::{literal, map};

/// Filters whose result is inserted into JSON without quotes.
const BARE: [&str; 4] = ["int", "float", "bool", "tojson"];

/// Converts JSON whose strings contain templates to one template, with tags as they were written. A
/// string that consists of one tag, whose last filter makes a number or JSON, loses its quotes.
pub(crate) fn template(json: &str) -> String {
    map(json, |text| {
        let pieces = pieces(text);
        if let [Piece::Value(inside)] = pieces.as_slice()
            && let Some((_, filter)) = inside.rsplit_once('|')
            && BARE.contains(&filter.trim().trim_end_matches(['-', '+']).trim_end())
        {
            return text.to_owned();
        }
        let mut out = "\"".to_owned();
        for piece in pieces {
            match piece {
                Piece::Text(text) => {
                    let literal = literal(text);
                    out.push_str(&literal[1..literal.len() - 1]);
                }
                Piece::Value(inside) => out.extend(["{{", inside, "}}"]),
                Piece::Tag(tag) => out.push_str(tag),
            }
        }
        out.push('"');
        out
    })
}

/// A part of a text that may be a template.
#[derive(Debug, PartialEq)]
pub(crate) enum Piece<'t> {
    /// Text without tags.
    Text(&'t str),
    /// The text between `{{` and `}}`.
    Value(&'t str),
    /// A tag of another kind, with its delimiters.
    Tag(&'t str),
}

/// Splits a text into its parts, in order. A tag without an end extends to the end of the text; the
/// template parser then reports the mistake.
///
/// The concatenated parts are the text.
pub(crate) fn pieces(text: &str) -> Vec<Piece<'_>> {
    const TAGS: [(&str, &str); 3] = [("{{", "}}"), ("{%", "%}"), ("{#", "#}")];
    let mut pieces = Vec::new();
    let mut rest = text;
    let next = |rest: &str| {
        let found = TAGS
            .iter()
            .filter_map(|(open, close)| Some((rest.find(open)?, *close)));
        found.min()
    };
    while let Some((at, close)) = next(rest) {
        if at > 0 {
            pieces.push(Piece::Text(&rest[..at]));
        }
        rest = &rest[at..];
        let Some(length) = tag_end(rest, close) else {
            pieces.push(Piece::Tag(rest));
            return pieces;
        };
        let (tag, behind) = rest.split_at(length);
        pieces.push(match close {
            "}}" => Piece::Value(&tag[2..tag.len() - 2]),
            _ => Piece::Tag(tag),
        });
        rest = behind;
    }
    if !rest.is_empty() {
        pieces.push(Piece::Text(rest));
    }
    pieces
}

/// The length of the tag at the start of a text; `None` without an end. Quotes within a tag may
/// contain the tag's closing delimiter.
fn tag_end(text: &str, close: &str) -> Option<usize> {
    let mut quote = None;
    for (at, c) in text.char_indices().skip(2) {
        match (quote, c) {
            (None, _) if text[at..].starts_with(close) => return Some(at + close.len()),
            (None, '"' | '\'') if close != "#}" => quote = Some(c),
            (Some(open), c) if open == c => quote = None,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::template;

    #[test]
    fn tags_stand_in_json_as_they_were_written() {
        for (json, expected) in [
            (r#"{"a":"b","n":1}"#, r#"{"a":"b","n":1}"#),
            (
                r#"{"a{{ x }}":"{{ p[\"x\"] }}\n"}"#,
                r#"{"a{{ x }}":"{{ p["x"] }}\n"}"#,
            ),
            (
                r#"["{{ n | int }}","{{ n|tojson }}","{{ n | int }} "]"#,
                r#"[{{ n | int }},{{ n|tojson }},"{{ n | int }} "]"#,
            ),
            (
                r#"["{% if a %}\"{% endif %}"]"#,
                r#"["{% if a %}\"{% endif %}"]"#,
            ),
            (r#"["{{ '}}' }}","{{ x"]"#, r#"["{{ '}}' }}","{{ x"]"#),
            (r#"["\u00e9\\"]"#, r#"["é\\"]"#),
        ] {
            assert_eq!(template(json), expected);
        }
    }
}
