//! JSON whose strings have templates, as a template of the whole.
//!
//! A body that is written as YAML or JSON in a plan becomes JSON text, in which tags stand within
//! strings. [`template`] gives back the text in which the tags are tags again: their quotes and
//! backslashes are not escaped, and a tag that makes a number stands without the string's quotes.
//! The value of a tag within a string is escaped when it is rendered, since the body's kind is
//! JSON.

use drumfire_document::json_strings::{literal, map};

/// Filters behind which a template's value stands in JSON as it is, and not as a string.
const BARE: [&str; 4] = ["int", "float", "bool", "tojson"];

/// JSON whose strings have templates, as a template: tags stand as they were written. A string that
/// is one tag alone whose last filter makes a number, or JSON, has no quotes.
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

/// A text in parts, in order. A tag without an end is one part up to the text's end, whose mistake
/// the template's own parser finds.
///
/// The parts make up the text: nothing is lost between them.
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

/// The length of the tag with which a text begins; `None` without an end. Quotes within a tag may
/// contain its end sign.
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
