//! Converts an HTML text to XML, for XPath: elements, attributes and texts. Comments and names that
//! are invalid in XML are omitted.

use super::bounded::{ELEMENTS_MAX, parse};
use crate::NoValue;
use scraper::Node;

/// The action of a traversal at a node: open its element, or close it.
enum Visit<'a> {
    Open(&'a Node),
    Close(&'a Node),
}

/// The body as XML.
///
/// # Errors
/// If the body is not UTF-8, or is too expensive to parse.
pub(crate) fn as_xml(body: &[u8]) -> Result<String, NoValue> {
    let text = super::text_of(body)?;
    let html = parse(text, ELEMENTS_MAX)?;
    let mut out = String::with_capacity(text.len() * 2);
    let mut next = html.tree.root().first_child();
    while let Some(node) = next {
        write(&Visit::Open(node.value()), &mut out);
        if node.has_children() {
            next = node.first_child();
            continue;
        }
        let mut done = Some(node);
        next = None;
        while let Some(node) = done {
            write(&Visit::Close(node.value()), &mut out);
            next = node.next_sibling();
            done = match next {
                None => node.parent(),
                Some(_) => None,
            };
        }
    }
    Ok(out)
}

fn write(visit: &Visit<'_>, out: &mut String) {
    match visit {
        Visit::Open(Node::Element(element)) if is_name(element.name()) => {
            out.extend(["<", element.name()]);
            let mut known: Vec<&str> = Vec::new();
            for (name, value) in element.attrs().filter(|(name, _)| is_name(name)) {
                // Without their prefixes, attributes of other namespaces may have the same name.
                if known.contains(&name) {
                    continue;
                }
                known.push(name);
                out.extend([" ", name, "=\""]);
                push(value, out);
                out.push('"');
            }
            out.push('>');
        }
        Visit::Close(Node::Element(element)) if is_name(element.name()) => {
            out.extend(["</", element.name(), ">"]);
        }
        Visit::Open(Node::Text(text)) => push(text, out),
        _ => {}
    }
}

/// Whether a text is a valid XML name without a prefix.
fn is_name(name: &str) -> bool {
    let mut letters = name.chars();
    let is_first = |c: char| c.is_ascii_alphabetic() || c == '_';
    let is_letter = |c: char| is_first(c) || c.is_ascii_digit() || matches!(c, '-' | '.');
    letters.next().is_some_and(is_first) && letters.all(is_letter)
}

/// Appends a text, with characters that are invalid in XML replaced. Equals signs are also escaped,
/// because they would be counted as attributes.
fn push(text: &str, out: &mut String) {
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '=' => out.push_str("&#61;"),
            '\r' => out.push_str("&#13;"),
            '\t' => out.push_str("&#9;"),
            '\n' => out.push_str("&#10;"),
            '\0'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
}
