//! Bodies as web forms send them: `name=value` pairs, percent-encoded
//! (application/x-www-form-urlencoded).
//!
//! Texts are encoded here, once. The value of a tag is encoded when it is rendered, by a filter
//! that is added to the tag.

use crate::json_template::{Piece, pieces};
use drumfire_document::Field;
use drumfire_plan::percent;

/// The meaning of tags in values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TagMeaning {
    /// `{{` begins a template.
    Templates,
    /// Tags are literal text.
    Text,
}

/// The fields of a form as the text of a body, in order; names are never templates.
pub(crate) fn body(fields: &[Field], tags: TagMeaning) -> String {
    let pairs = fields.iter().map(|field| {
        let mut pair = String::new();
        pair.push_str(&percent::encoded(&field.name.value));
        pair.push('=');
        let value = &field.value.value;
        match tags {
            TagMeaning::Text => pair.push_str(&percent::encoded(value)),
            TagMeaning::Templates => template(value, &mut pair),
        }
        pair
    });
    pairs.collect::<Vec<_>>().join("&")
}

/// Appends the template of an encoded value. Signs that trim blanks around a tag stay at its ends.
fn template(value: &str, out: &mut String) {
    for piece in pieces(value) {
        match piece {
            Piece::Text(text) => out.push_str(&percent::encoded(text)),
            Piece::Tag(tag) => out.push_str(tag),
            Piece::Value(inside) => {
                // The filter goes between the signs, so `{{- x -}}` still trims the blanks around
                // it. The parentheses keep an operator in `x` from taking the filter as its right
                // operand.
                let trims = ['-', '+'];
                let (before, inside) = match inside.strip_prefix(trims) {
                    Some(rest) => inside.split_at(inside.len() - rest.len()),
                    None => ("", inside),
                };
                let (inside, after) = match inside.strip_suffix(trims) {
                    Some(rest) => inside.split_at(rest.len()),
                    None => (inside, ""),
                };
                out.extend(["{{", before, " (", inside.trim(), ") | string | urlencode "]);
                out.extend([after, "}}"]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{TagMeaning, body};
    use drumfire_document::{Field, Text};

    #[test]
    fn names_and_values_are_encoded() {
        let text = |text: &str| Text::new(text.to_owned(), Default::default());
        let fields: Vec<Field> = [
            ("a b", "c&d=é"),
            ("x", "1 {{- p['=']}}+{% if a %}"),
            ("x", ""),
        ]
        .iter()
        .map(|(name, value)| Field {
            name: text(name),
            value: text(value),
        })
        .collect();
        assert_eq!(
            body(&fields, TagMeaning::Templates),
            "a%20b=c%26d%3D%C3%A9&x=1%20{{- (p['=']) | string | urlencode }}%2B{% if a %}&x="
        );
        assert_eq!(body(&fields[2..], TagMeaning::Text), "x=");
        assert_eq!(
            body(&fields[1..2], TagMeaning::Text),
            "x=1%20%7B%7B-%20p%5B%27%3D%27%5D%7D%7D%2B%7B%25%20if%20a%20%25%7D"
        );
    }
}
