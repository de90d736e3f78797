//! A template's text, split into literal and computed parts.

/// A part of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Part<'a> {
    /// Text that stands for itself.
    Text(&'a str),
    /// The text between `{{` and `}}`.
    Expression(&'a str),
}

/// The kind of template that a text is.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum SplitTemplate<'a> {
    /// Nothing is computed.
    Static,
    /// Text and expressions.
    Parts(Vec<Part<'a>>),
    /// Blocks, comments, control of white space, or something that does not end.
    Whole,
}

/// Cuts a template.
pub(crate) fn split(source: &str) -> SplitTemplate<'_> {
    let mut parts = Vec::new();
    let mut rest = source;
    loop {
        let Some(at) = next_tag(rest) else {
            if parts.is_empty() {
                return SplitTemplate::Static;
            }
            push_text(&mut parts, rest);
            return SplitTemplate::Parts(parts);
        };
        let inside = &rest[at + 2..];
        if rest.as_bytes()[at + 1] != b'{' || inside.starts_with(['-', '+']) {
            return SplitTemplate::Whole;
        }
        let Some(end) = expression_end(inside) else {
            return SplitTemplate::Whole;
        };
        push_text(&mut parts, &rest[..at]);
        parts.push(Part::Expression(inside[..end].trim()));
        rest = &inside[end + 2..];
    }
}

fn push_text<'a>(parts: &mut Vec<Part<'a>>, text: &'a str) {
    if !text.is_empty() {
        parts.push(Part::Text(text));
    }
}

/// Where `{{`, `{%` or `{#` begins.
fn next_tag(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut pairs = bytes.windows(2);
    pairs.position(|pair| matches!(pair, [b'{', b'{' | b'%' | b'#']))
}

/// Where the `}}` lies that ends an expression: outside its strings and its own brackets. `None`
/// if there is none, or if white space is trimmed by it.
fn expression_end(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut depth = 0u32;
    let mut quote = None;
    let mut at = 0;
    while at < bytes.len() {
        match (quote, bytes[at]) {
            (Some(_), b'\\') => at += 1,
            (Some(open), byte) if byte == open => quote = None,
            (Some(_), _) => {}
            (None, byte @ (b'"' | b'\'')) => quote = Some(byte),
            (None, b'}') if depth == 0 => {
                let trims = at > 0 && matches!(bytes[at - 1], b'-' | b'+');
                return (bytes.get(at + 1) == Some(&b'}') && !trims).then_some(at);
            }
            (None, b'(' | b'[' | b'{') => depth += 1,
            (None, b')' | b']' | b'}') => depth = depth.saturating_sub(1),
            (None, _) => {}
        }
        at += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{Part, SplitTemplate, split};

    #[test]
    fn templates_are_cut_where_expressions_are() {
        use Part::{Expression, Text};
        for (source, parts) in [
            ("{{a}}", vec![Expression("a")]),
            ("x{{ a }}y", vec![Text("x"), Expression("a"), Text("y")]),
            ("{{ '}}' }}", vec![Expression("'}}'")]),
            ("{{ '\\'}}' }}", vec![Expression("'\\'}}'")]),
            (
                "{{ {'a': {'b': 1}}.a }}",
                vec![Expression("{'a': {'b': 1}}.a")],
            ),
            (
                "{\"a\":{\"b\":\"{{ n }}\"}}",
                vec![Text("{\"a\":{\"b\":\""), Expression("n"), Text("\"}}")],
            ),
        ] {
            assert_eq!(split(source), SplitTemplate::Parts(parts), "{source}");
        }
    }

    #[test]
    fn what_is_more_than_expressions_is_not_cut() {
        for source in [
            "{% if a %}b{% endif %}",
            "{# a #}",
            "{{- a }}",
            "{{ a -}}",
            "{{ a",
            "{{ a }",
        ] {
            assert_eq!(split(source), SplitTemplate::Whole, "{source}");
        }
        for source in ["", "a", "{ {", "{\"a\": {}}", "}}"] {
            assert_eq!(split(source), SplitTemplate::Static, "{source}");
        }
    }
}
